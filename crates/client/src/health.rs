//! Whether the server runs, and whether it is ready.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::transport::{Call, Client};

/// The answer of a server that is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ready {
    /// Always true: a server that is not ready answers with an error.
    pub ready: bool,
    /// The kind of its store.
    pub store: String,
    /// The durability of an acknowledged change.
    pub durability: String,
}

impl Client {
    /// Checks that the server is ready: its store accepts writes, and it is not stopping.
    pub async fn ready(&self) -> Result<Ready, Error> {
        self.send(Call::get("/readyz".to_owned())).await
    }

    /// Checks that the server runs.
    pub async fn live(&self) -> Result<(), Error> {
        self.send_unread(Call::get("/livez".to_owned())).await.map(drop)
    }
}
