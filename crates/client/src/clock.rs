//! Moves the clock of a server that was started with `--dev`, to test the future.

use punctual_core::{Span, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::transport::{Call, Client};

/// The time of the server's clock.
#[derive(Deserialize)]
struct Clock {
    now: Timestamp,
}

impl Client {
    /// Advances the clock of a server started with `--dev`, as if it had slept. Returns its new time after all due
    /// work was handed out.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::Span;
    ///
    /// let now = client.advance_clock(Span::from_secs(31 * 86_400)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn advance_clock(&self, span: Span) -> Result<Timestamp, Error> {
        self.move_clock(&json!({"advance": span})).await
    }

    /// Sets the clock of a server started with `--dev`. Moving it back repeats nothing.
    pub async fn set_clock(&self, time: Timestamp) -> Result<Timestamp, Error> {
        self.move_clock(&json!({"set": time})).await
    }

    async fn move_clock(&self, how: &Value) -> Result<Timestamp, Error> {
        let call = Call::post("/v1/dev/clock".to_owned()).body(how);
        self.send(call).await.map(|Clock { now }| now)
    }
}
