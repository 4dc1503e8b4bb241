//! Access tokens that are made and revoked at run time.

use http::Method;
use punctual_core::{Right, Timestamp, TokenLimits};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

const TOKENS: &str = "/v1/tokens";

/// A token to make.
///
/// ```
/// use punctual_client::{NewAccessToken, Right};
///
/// let new = NewAccessToken::new("mailer", [Right::Consume]).queues(["mail", "mail-*"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewAccessToken {
    name: String,
    rights: Vec<Right>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queues: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<TokenLimits>,
}

impl NewAccessToken {
    /// A token with these rights on all queues, for ever.
    pub fn new(name: impl Into<String>, rights: impl IntoIterator<Item = Right>) -> Self {
        let rights = rights.into_iter().collect();
        Self { name: name.into(), rights, queues: None, expires: None, limits: None }
    }

    /// Limits it to these queues; `*` at the end of a name stands for any ending.
    #[must_use]
    pub fn queues<Q: Into<String>>(mut self, queues: impl IntoIterator<Item = Q>) -> Self {
        self.queues = Some(queues.into_iter().map(Into::into).collect());
        self
    }

    /// Sets from when on it is good no more.
    #[must_use]
    pub fn expires(mut self, expires: Timestamp) -> Self {
        self.expires = Some(expires);
        self
    }

    /// Sets what it may take of a server at most.
    #[must_use]
    pub fn limits(mut self, limits: TokenLimits) -> Self {
        self.limits = Some(limits);
        self
    }
}

/// A token as it reads: not what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessToken {
    /// Its name.
    pub name: String,
    /// Its rights.
    pub rights: Vec<Right>,
    /// The queues it is good for; none: all.
    pub queues: Option<Vec<String>>,
    /// From when on it is good no more.
    pub expires: Option<Timestamp>,
    /// The limits that hold.
    pub limits: TokenLimits,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used: Option<Timestamp>,
    /// Requests that carried it.
    pub requests: u64,
    /// Refused requests among them.
    pub refusals: u64,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MadeAccessToken {
    /// As it reads.
    #[serde(flatten)]
    pub read: AccessToken,
    /// The token itself, which is never shown again.
    pub token: String,
}

impl Client {
    /// Makes an access token.
    pub async fn create_token(&self, new: &NewAccessToken) -> Result<MadeAccessToken, Error> {
        self.send(Call::post(TOKENS.to_owned()).body(new)).await
    }

    /// Reads an access token.
    pub async fn token(&self, name: &str) -> Result<AccessToken, Error> {
        self.send(Call::get(path(TOKENS, &[name]))).await
    }

    /// Reads a page of access tokens.
    pub async fn tokens(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<AccessToken>, Error> {
        let query =
            query(&[("limit", Some(limit.to_string())), ("cursor", cursor.map(str::to_owned))]);
        self.send(Call::get(format!("{TOKENS}{query}"))).await
    }

    /// Revokes an access token.
    pub async fn revoke_token(&self, name: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, path(TOKENS, &[name]))).await.map(drop)
    }
}
