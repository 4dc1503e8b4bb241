//! Reading owners, their items, and what time has done to them.

use futures_util::stream::{FuturesUnordered, StreamExt};
use punctual_core::limits::PAGE_BYTES_MAX;
use punctual_core::{OwnerKey, OwnerKind, QueueName, RawJson};
use tracing::error;

use super::fields::corrupt;
use super::node::Node;
use super::owner_record::Shown;
use super::scripts::{ALARMS, FIRST_DUE, ITEMS, OWNER_NAMES, QUIET, READ_OWNERS, STATION};
use crate::port::{OwnerListing, OwnerPage, StoreError, StoredOwner};

/// Owners of one call.
const OWNERS_MAX: usize = 500;
/// More items than an owner has, and few enough for a script to count.
const ITEMS_MAX: usize = u32::MAX as usize;
/// More owners than there are of a kind that all are named of.
const NAMES_MAX: usize = 1_000_000;
/// Owners of a page that are read at once.
const SLICE: usize = 50;

impl Node {
    pub(super) async fn owners(
        &self,
        keys: &[OwnerKey],
    ) -> Result<Vec<Option<StoredOwner>>, StoreError> {
        let shown = self.shown(keys).await?.into_iter();
        shown.map(|shown| shown.map(Shown::stored).transpose()).collect()
    }

    async fn shown(&self, keys: &[OwnerKey]) -> Result<Vec<Option<Shown>>, StoreError> {
        let mut all: Vec<Option<Shown>> = keys.iter().map(|_| None).collect();
        for (shard, places) in self.by_shard(keys, |key| self.keys.shard_of(&key.queue)) {
            let mut rest = &places[..];
            while !rest.is_empty() {
                let mut call = self.call(&READ_OWNERS, shard).await;
                for place in rest.iter().take(OWNERS_MAX) {
                    call.owner_key(&keys[*place]);
                }
                let parts = call.send().await?.body.list()?;
                let (read, after) = rest.split_at(parts.len());
                for (place, part) in read.iter().zip(parts) {
                    all[*place] = Shown::read(part)?;
                }
                rest = after;
            }
        }
        Ok(all)
    }

    pub(super) async fn items(
        &self,
        key: &OwnerKey,
        from: usize,
        limit: usize,
    ) -> Result<Vec<RawJson>, StoreError> {
        let mut call = self.call(&ITEMS, self.keys.shard_of(&key.queue)).await;
        call.owner_key(key).arg(from.min(ITEMS_MAX)).arg(limit.min(ITEMS_MAX));
        let items = call.send().await?.body.list()?.into_iter();
        items.map(|item| Ok(RawJson::stored(&item.text()?))).collect()
    }

    pub(super) async fn list_owners(&self, listing: OwnerListing) -> Result<OwnerPage, StoreError> {
        let after = listing.cursor.as_deref().map(|text| read_cursor(listing.kind, text));
        let after = after.transpose()?;
        let mut keys = match &listing.queue {
            Some(queue) => {
                self.names_in(self.keys.shard_of(queue), &listing, after.as_ref()).await?
            }
            None => {
                let names = async |shard| self.names_in(shard, &listing, after.as_ref()).await;
                self.everywhere(names).await?.concat()
            }
        };
        keys.sort_unstable();
        let has_more = keys.len() > listing.limit;
        keys.truncate(listing.limit);
        let (items, read) = self.page(&keys).await?;
        let last = keys[..read].last().filter(|_| has_more || read < keys.len());
        Ok(OwnerPage { items, next: last.map(write_cursor) })
    }

    /// Reads owners until a page is full. Also says how many of them are on it.
    pub(super) async fn page(
        &self,
        keys: &[OwnerKey],
    ) -> Result<(Vec<StoredOwner>, usize), StoreError> {
        let (mut items, mut read, mut bytes) = (Vec::new(), 0, 0);
        for slice in keys.chunks(SLICE) {
            for shown in self.shown(slice).await? {
                bytes += shown.as_ref().map_or(0, Shown::bytes);
                if bytes > PAGE_BYTES_MAX && !items.is_empty() {
                    return Ok((items, read));
                }
                read += 1;
                match shown.map(Shown::stored) {
                    Some(Ok(owner)) => items.push(owner),
                    Some(Err(error)) => error!(%error, "it is left out of a list"),
                    None => {}
                }
            }
        }
        Ok((items, read))
    }

    /// All owners of a kind.
    pub(super) async fn owner_names(&self, kind: OwnerKind) -> Result<Vec<OwnerKey>, StoreError> {
        let prefix = String::new();
        let listing = OwnerListing { kind, queue: None, prefix, cursor: None, limit: NAMES_MAX };
        let names = async |shard| self.names_in(shard, &listing, None).await;
        Ok(self.everywhere(names).await?.concat())
    }

    /// Names of a shard that come after a place, one more than a page has.
    async fn names_in(
        &self,
        shard: usize,
        listing: &OwnerListing,
        after: Option<&OwnerKey>,
    ) -> Result<Vec<OwnerKey>, StoreError> {
        let OwnerListing { kind, queue, prefix, limit, .. } = listing;
        if let (Some(only), Some(after)) = (queue, after)
            && *only < after.queue
        {
            return Ok(Vec::new());
        }
        let from = match after {
            Some(after) if *after.name >= **prefix => format!("({}", after.name),
            _ => format!("[{prefix}"),
        };
        let mut call = self.call(&OWNER_NAMES, shard).await;
        call.arg(kind.name()).arg(queue.as_ref().map_or("", QueueName::as_str)).arg(prefix);
        call.arg(after.map_or("", |after| after.queue.as_str())).arg(from).arg(limit + 1);
        let mut parts = call.send().await?.body.list()?.into_iter();
        let mut keys = Vec::new();
        while let (Some(queue), Some(name)) = (parts.next(), parts.next()) {
            keys.push(OwnerKey { kind: *kind, queue: queue.name()?, name: name.text()?.into() });
        }
        Ok(keys)
    }

    /// The queue that has a plan of this id.
    pub(super) async fn station(&self, plan: &str) -> Result<Option<QueueName>, StoreError> {
        let shards = (0..self.keys.shards()).map(|shard| self.station_in(shard, plan));
        let mut answers = shards.collect::<FuturesUnordered<_>>();
        let mut trouble = None;
        // Once it is found, no shard that is away matters.
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(Some(station)) => return Ok(Some(station)),
                Ok(None) => {}
                Err(error) => trouble = Some(error),
            }
        }
        trouble.map_or(Ok(None), Err)
    }

    async fn station_in(&self, shard: usize, plan: &str) -> Result<Option<QueueName>, StoreError> {
        let mut call = self.call(&STATION, shard).await;
        call.arg(plan);
        call.send().await?.body.list()?.into_iter().next().map(|part| part.name()).transpose()
    }

    pub(super) async fn first_due(
        &self,
        queue: &QueueName,
    ) -> Result<Option<StoredOwner>, StoreError> {
        loop {
            let mut call = self.call(&FIRST_DUE, self.keys.shard_of(queue)).await;
            call.arg(queue.as_str());
            let Some(part) = call.send().await?.body.list()?.into_iter().next() else {
                return Ok(None);
            };
            let shown = Shown::read(part)?.ok_or_else(|| corrupt("a bundle", "it is not there"))?;
            let (key, revision) = (shown.key.clone(), shown.revision);
            match shown.stored() {
                Ok(owner) => return Ok(Some(owner)),
                Err(error) => self.quiet(&key, revision, &error.to_string()).await?,
            }
        }
    }

    pub(super) async fn alarms(&self, limit: usize) -> Result<Vec<StoredOwner>, StoreError> {
        let mut found = self.wherever_possible(|shard| self.alarms_in(shard, limit)).await?;
        found.sort_by_key(|stored| (stored.owner.alarm_at(), stored.owner.key()));
        found.truncate(limit);
        Ok(found)
    }

    async fn alarms_in(&self, shard: usize, limit: usize) -> Result<Vec<StoredOwner>, StoreError> {
        let mut call = self.call(&ALARMS, shard).await;
        call.arg(limit.min(OWNERS_MAX));
        let mut found = Vec::new();
        for part in call.send().await?.body.list()? {
            let Some(shown) = Shown::read(part)? else { continue };
            let (key, revision) = (shown.key.clone(), shown.revision);
            match shown.stored() {
                Ok(stored) if stored.owner.alarm_at().is_some() => found.push(stored),
                Ok(_) => self.quiet(&key, revision, "it waits for nothing").await?,
                Err(error) => self.quiet(&key, revision, &error.to_string()).await?,
            }
        }
        Ok(found)
    }

    /// Takes an owner whose record cannot be read out of what is sorted by time. Its keys stay as they
    /// are, for people to look at.
    async fn quiet(
        &self,
        key: &OwnerKey,
        revision: crate::port::Revision,
        reason: &str,
    ) -> Result<(), StoreError> {
        error!(%key, reason, "nothing will happen to it until it is changed or removed");
        let mut call = self.call(&QUIET, self.keys.shard_of(&key.queue)).await;
        call.owner_key(key).arg(revision.birth).arg(revision.change);
        call.send().await.map(drop)
    }
}

/// Where a page ended, in digits: queue, a zero, and name.
fn write_cursor(key: &OwnerKey) -> String {
    let text = format!("{}\0{}", key.queue, key.name);
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn read_cursor(kind: OwnerKind, cursor: &str) -> Result<OwnerKey, StoreError> {
    let digits = cursor.as_bytes().chunks(2).map(|two| {
        let two = std::str::from_utf8(two).ok().filter(|two| two.len() == 2)?;
        u8::from_str_radix(two, 16).ok()
    });
    let text = digits.collect::<Option<Vec<u8>>>().and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or(StoreError::BadCursor)?;
    let (queue, name) = text.split_once('\0').ok_or(StoreError::BadCursor)?;
    let queue = QueueName::parse(queue).map_err(|_| StoreError::BadCursor)?;
    Ok(OwnerKey { kind, queue, name: name.into() })
}
