//! A backup of the server's store, a piece at a time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::error::Error;
use crate::transport::{Call, Client};

/// How long a server may take to copy a large store before it sends the first piece.
const MADE_WITHIN: Duration = Duration::from_secs(3_600);
/// How long the next piece may take.
const MORE_WITHIN: Duration = Duration::from_secs(60);

/// A backup that is being received.
#[derive(Debug)]
pub struct BackupStream {
    client: Client,
    body: Incoming,
    bytes: Option<u64>,
}

impl Client {
    /// Asks the server for a copy of its store, which must be the embedded one. `punctual restore` makes a store
    /// from the file.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use std::io::Write;
    ///
    /// let mut backup = client.backup().await?;
    /// let mut file = std::fs::File::create("punctual.backup")?;
    /// while let Some(piece) = backup.next().await? {
    ///     file.write_all(&piece)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn backup(&self) -> Result<BackupStream, Error> {
        let call = Call::post("/v1/backup".to_owned()).wait(MADE_WITHIN);
        let body = self.stream(call).await?;
        let bytes = body.size_hint().exact();
        Ok(BackupStream { client: self.clone(), body, bytes })
    }
}

impl BackupStream {
    /// Returns the length of the backup, if the server sent it.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// The next piece; none: that was all. A backup that breaks off is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = tokio::time::timeout(MORE_WITHIN, self.body.frame()).await;
            let frame = frame.map_err(|error| self.client.broken_off(&error))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| self.client.broken_off(&error))?;
            if let Ok(piece) = frame.into_data() {
                return Ok(Some(piece));
            }
        }
    }
}
