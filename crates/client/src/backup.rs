//! A backup of the server's store, a piece at a time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::error::Error;
use crate::transport::{Call, Client};

/// How long a server may take to make a copy of a large store, before the first of it comes.
const MADE_WITHIN: Duration = Duration::from_secs(3_600);
/// How long it may take until more of it comes.
const MORE_WITHIN: Duration = Duration::from_secs(60);

/// A backup on its way.
#[derive(Debug)]
pub struct BackupStream {
    client: Client,
    body: Incoming,
    bytes: Option<u64>,
}

impl Client {
    /// Has the server copy its store as it is now; only the embedded store can be. The file is what
    /// `punctual restore` makes a store of.
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
    /// How long the whole of it is, if the server said so.
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
