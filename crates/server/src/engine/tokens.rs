//! Access tokens in the store: made, revoked, read, and how much they were used.

use std::sync::Arc;
use std::time::Duration;

use punctual_core::access::{Granter, NewToken};
use punctual_core::limits::PAGE_EXAMINED_MAX;
use punctual_core::{
    AccessToken, Announcements, Owner, OwnerChange, OwnerKey, OwnerKind, Right, StoredOwner,
    TokenName, TokenUse, announce,
};
use punctual_store::{OwnerListing, StoreError};
use tracing::debug;

use super::transact::Verdict;
use super::{Engine, Failure};
use crate::access::{self, LEASE, Scope, TokenHash};

/// How long the use of tokens gathers before it is written down.
const GATHER: Duration = Duration::from_secs(5);
/// Records read at a time.
const CHUNK: usize = 500;

fn token_of(stored: StoredOwner) -> Option<AccessToken> {
    match stored.owner {
        Owner::Token(token) => Some(*token),
        _ => None,
    }
}

fn listing(cursor: Option<String>, limit: usize) -> OwnerListing {
    OwnerListing { kind: OwnerKind::Token, queue: None, prefix: String::new(), cursor, limit }
}

impl Engine {
    /// Makes a token, and says what it is: nobody can read that again.
    pub(crate) async fn create_token(
        &self,
        new: NewToken,
        granter: Option<Granter>,
    ) -> Result<(AccessToken, String), Failure> {
        let text = new.name.as_ref().map(access::make_up).unwrap_or_default();
        let token = new.record(TokenHash::of(&text).hex(), self.now())?;
        if let Some(granter) = granter {
            granter.check(&token, self.tokens.bytes_max).map_err(Failure::Forbidden)?;
        }
        // One at a time, so that what is first and last is still so when it is written.
        let _one = self.granting.lock().await;
        let is_first = self.tokens.is_open().await?;
        if is_first && !token.rights.contains(&Right::Admin) {
            let rule = "the first token must have admin, or nobody could make another";
            return Err(Failure::invalid("rights", rule));
        }
        let key = OwnerKey::token(&token.name);
        let made = self.transact(std::slice::from_ref(&key), |records, now| {
            if records.owner(&key)?.is_some() {
                return Err(Failure::TokenExists(token.name.clone()).into());
            }
            let change = OwnerChange::put(Owner::Token(Box::new(token.clone())), None);
            let news = announce::token::created(&token.name, now).into();
            Ok(Verdict::Write(change.into(), news, ()))
        });
        let made = made.await.and_then(super::transact::Done::answer);
        // Also if it is not known whether it was made: then the server is asked again.
        self.tokens.made(made.is_ok());
        made?;
        if is_first {
            self.outlast_leases().await;
        }
        Ok((token, text))
    }

    /// Revokes a token that is good for no other queues than these.
    pub(crate) async fn revoke_token(
        &self,
        name: &TokenName,
        scope: &Scope,
    ) -> Result<(), Failure> {
        let _one = self.granting.lock().await;
        let token = self.token(name, scope).await?;
        self.check_last(&token).await?;
        let key = OwnerKey::token(name);
        let revoked = self.transact(std::slice::from_ref(&key), |records, now| {
            let found = records.owner(&key)?;
            let found = found.ok_or_else(|| Failure::NoToken(name.clone()))?;
            let change = OwnerChange::remove(key.clone(), found.revision);
            let news = announce::token::revoked(name, now).into();
            Ok(Verdict::Write(change.into(), news, ()))
        });
        let revoked = revoked.await.and_then(super::transact::Done::answer);
        // It is read again if it is not known whether it is gone.
        self.tokens.forget(name);
        revoked?;
        if let Err(refused) = self.check_last(&token).await {
            // Another server has revoked the other last one at the same time.
            let change = OwnerChange::put(Owner::Token(Box::new(token)), None);
            self.write(change, Announcements::default()).await.map_err(StoreError::in_doubt)?;
            return Err(refused);
        }
        self.outlast_leases().await;
        Ok(())
    }

    /// Waits until no server believes any more in how things were before.
    async fn outlast_leases(&self) {
        if !self.store.is_exclusive() {
            tokio::time::sleep(LEASE).await;
        }
    }

    /// Refuses to revoke the last token that can make every other.
    async fn check_last(&self, token: &AccessToken) -> Result<(), Failure> {
        let (has_fixed, has_fixed_root) = self.tokens.fixed();
        let (mut has_other, mut has_other_root) = (has_fixed, has_fixed_root);
        let mut cursor = None;
        while !(has_other && (has_other_root || !token.is_root())) {
            let page = self.store.list_owners(listing(cursor, CHUNK)).await?;
            let others = page.items.into_iter().filter_map(token_of);
            for other in others.filter(|other| other.name != token.name) {
                has_other = true;
                has_other_root |= other.is_root();
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        if token.is_root() && !has_other_root {
            let text = "it is the last admin without queue limit and expiry; make another first";
            return Err(Failure::WrongState(text.to_owned()));
        }
        if !has_other {
            let text = "it is the last token, and without any everybody could do everything";
            return Err(Failure::WrongState(text.to_owned()));
        }
        Ok(())
    }

    /// Reads a token that is good for no other queues than these.
    pub(crate) async fn token(
        &self,
        name: &TokenName,
        scope: &Scope,
    ) -> Result<AccessToken, Failure> {
        let stored = self.store.owners(&[OwnerKey::token(name)]).await?.pop().flatten();
        let token = stored.and_then(token_of).filter(|token| token.scope().is_within(scope));
        Ok(self.with_use(token.ok_or_else(|| Failure::NoToken(name.clone()))?))
    }

    /// The same with the use that is not written down yet.
    fn with_use(&self, mut token: AccessToken) -> AccessToken {
        token.used = token.used.and(self.tokens.unwritten(&token));
        token
    }

    /// Lists tokens that are good for no other queues than these, and says where the next page begins.
    pub(crate) async fn list_tokens(
        &self,
        scope: &Scope,
        limit: usize,
        mut cursor: Option<String>,
    ) -> Result<(Vec<AccessToken>, Option<String>), Failure> {
        let (mut found, mut examined) = (Vec::new(), 0);
        loop {
            let chunk = limit - found.len();
            let page = self.store.list_owners(listing(cursor, chunk)).await?;
            examined += chunk;
            let tokens = page.items.into_iter().filter_map(token_of);
            let tokens = tokens.filter(|token| token.scope().is_within(scope));
            found.extend(tokens.map(|token| self.with_use(token)));
            if page.next.is_none() || found.len() >= limit || examined >= PAGE_EXAMINED_MAX {
                return Ok((found, page.next));
            }
            cursor = page.next;
        }
    }

    /// Writes down how much tokens were used, some time after the first use.
    pub(crate) async fn note_token_uses(self: Arc<Self>) {
        loop {
            self.tokens.used.notified().await;
            tokio::time::sleep(GATHER).await;
            self.write_token_uses().await;
        }
    }

    /// Writes down how much tokens were used.
    pub(crate) async fn write_token_uses(&self) {
        for (name, hash, used) in self.tokens.take_uses() {
            if let Err(error) = self.write_token_use(&name, &hash, used).await {
                debug!(%error, token = %name, "the use of a token is written down later");
                self.tokens.give_back(&name, used);
                self.tokens.used.notify_one();
            }
        }
    }

    async fn write_token_use(
        &self,
        name: &TokenName,
        hash: &str,
        used: TokenUse,
    ) -> Result<(), Failure> {
        let key = OwnerKey::token(name);
        let written = self.transact(std::slice::from_ref(&key), |records, _| {
            let Some(StoredOwner { owner: Owner::Token(token), revision }) = records.owner(&key)?
            else {
                return Ok(Verdict::Answer(()));
            };
            if token.hash != hash {
                return Ok(Verdict::Answer(()));
            }
            let token = AccessToken { used: token.used.and(used), ..AccessToken::clone(token) };
            let change = OwnerChange::put(Owner::Token(Box::new(token)), Some(*revision));
            Ok(Verdict::Write(change.into(), Announcements::default(), ()))
        });
        written.await?.answer()
    }
}
