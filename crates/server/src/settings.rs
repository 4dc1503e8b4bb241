//! What a server was set to, for people to read. The server itself goes by [`crate::ServerConfig`].

use serde::Serialize;
use utoipa::ToSchema;

/// A setting that holds.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Setting {
    /// Its name, as in the file of settings.
    #[schema(example = "listen")]
    pub name: String,
    /// Its value; null: none. What is secret is `"***"`.
    pub value: serde_json::Value,
    /// Where it comes from.
    pub source: Source,
}

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The file of settings.
    File,
    /// A variable of the environment.
    Environment,
    /// The command line.
    Flag,
}
