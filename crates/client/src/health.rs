//! Whether the server runs, and whether it can do its work.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::transport::{Call, Client};

/// What a server that can do its work says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ready {
    /// Always true: a server that is not ready answers with an error.
    pub ready: bool,
    /// The kind of its store.
    pub store: String,
    /// What an acknowledgement is worth.
    pub durability: String,
}

impl Client {
    /// Whether the server can do its work: its store takes writes, and it is not stopping.
    pub async fn ready(&self) -> Result<Ready, Error> {
        self.send(Call::get("/readyz".to_owned())).await
    }

    /// Whether the server runs, whatever it can do.
    pub async fn live(&self) -> Result<(), Error> {
        self.send_unread(Call::get("/livez".to_owned())).await.map(drop)
    }
}
