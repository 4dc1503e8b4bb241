//! The port's operations on owners, as changes of a [`Shard`].
//!
//! A change writes the owner's record and the items that are new, never the others. Items that go
//! are removed at once if they are few; otherwise the record says where those begin that count, and
//! the rest is swept later.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use punctual_core::limits::{PAGE_BYTES_MAX, TAKE_BYTES_MAX};
use punctual_core::{Owner, OwnerKey, OwnerKind, QueueName, RawJson};

use super::journal::{Journal, JournalError, ReadRows, Table};
use super::owner_index::{OwnerEntry, OwnerHead, OwnerPlace, Shelves};
use super::rows::{ItemRow, OwnerRow, pack, put, uneven, unpack};
use super::shard::{Remains, Shard, Undo};
use crate::port::{
    Change, Changes, OwnerChange, OwnerListing, Pushed, Revision, StoreError, StoredOwner,
    Transaction, Written,
};

/// Items that are removed in the transaction they go with; more are swept later, so that nobody waits.
const AT_ONCE_MAX: usize = 256;

/// A row of [`Table::Owner`] as it was read.
pub(super) type RawOwner = Option<(u64, Vec<u8>)>;

impl Shard {
    /// Carries out a transaction, if nothing has changed that it was decided from.
    pub(super) fn write(&mut self, transaction: Transaction) -> Result<Written, JournalError> {
        match transaction {
            Transaction::Task(change) => Ok(self.commit_one(change)?.into()),
            Transaction::Records(changes) => self.write_together(*changes),
        }
    }

    fn write_together(&mut self, changes: Changes) -> Result<Written, JournalError> {
        if let Some(keyed) = &changes.keyed
            && let Some(answer) = self.replay(keyed)?
        {
            return Ok(match answer {
                Pushed::Replayed { status, items } => Written::Replayed { status, items },
                _ => Written::KeyReused,
            });
        }
        let is_possible = |change: &Change| self.find_expected(change).is_some();
        let is_current = |change: &OwnerChange| self.is_current(change);
        if !changes.tasks.iter().all(is_possible) || !changes.owners.iter().all(is_current) {
            return Ok(Written::Lost);
        }
        let queue = changes.queue().cloned();
        let mut tasks = Vec::with_capacity(changes.tasks.len());
        for change in changes.tasks {
            tasks.extend(self.commit_one(change)?.ok());
        }
        let owners = changes.owners.into_iter().map(|change| self.change_owner(change));
        let owners = owners.collect::<Result<_, _>>()?;
        for spec in changes.births {
            self.spawn(Arc::new(spec))?;
        }
        if let Some(keyed) = changes.keyed {
            self.remember(keyed, queue, &[])?;
        }
        Ok(Written::Records { owners, tasks })
    }

    /// Whether an owner is as a change expects it, and may be made where it is new.
    fn is_current(&self, change: &OwnerChange) -> bool {
        let OwnerKey { kind, queue, name } = &change.key;
        let has_place = || match kind {
            OwnerKind::Plan => self.owners.station(name).is_none_or(|station| station == queue),
            kind => !kind.goes_with_queue() || self.numbers.contains_key(queue),
        };
        let revision = self.owners.get(&change.key).map(|entry| entry.head.revision);
        revision == change.expected && (change.after.is_none() || has_place())
    }

    fn change_owner(&mut self, change: OwnerChange) -> Result<Option<Revision>, JournalError> {
        let OwnerChange { key, after, drop_first, append, .. } = change;
        match after {
            Some(owner) => self.put_owner(key, owner, drop_first, &append).map(Some),
            None => self.remove_owner(&key).map(|()| None),
        }
    }

    /// Writes a record and the items that are new. Memory follows when everything is written.
    fn put_owner(
        &mut self,
        key: OwnerKey,
        owner: Owner,
        drop_first: usize,
        append: &[RawJson],
    ) -> Result<Revision, JournalError> {
        let entry = self.owners.get(&key);
        let before = entry.map(|entry| entry.head);
        let (dropped, next, left) = match entry {
            Some(OwnerEntry { items, .. }) => {
                let count = drop_first.min(items.len());
                let dropped: Vec<u64> = items.range(..count).copied().collect();
                (dropped, items.get(count).copied(), items.len() - count)
            }
            None => (Vec::new(), None, 0),
        };
        let revision = match before.map(|head| head.revision) {
            Some(revision) => Revision { change: revision.change + 1, ..revision },
            None => Revision { birth: self.next_birth(), change: 0 },
        };
        let appended = self.append_items(revision.birth, append)?;
        let head = OwnerHead::new(revision, &owner);
        let row = OwnerRow {
            queue: key.kind.goes_with_queue().then(|| self.numbers[&key.queue]),
            change: revision.change,
            first_item: next.or(appended.first().copied()).unwrap_or(self.last_birth + 1),
            items: (left + appended.len()) as u64,
            owner,
        };
        pack(&row, &mut self.buffer);
        put(&mut *self.journal, Table::Owner, revision.birth, &mut self.buffer)?;
        let dead = drop_items(&mut *self.journal, &mut self.dead, dropped.iter().copied())?;
        self.note_owner(&key, before.as_ref(), Some(&head));
        let (gone, came) = (dropped.len(), appended.len());
        self.undo.push(Undo::Owner { key: key.clone(), before, dropped, appended: came, dead });
        match before {
            Some(_) => self.owners.update(&key, head, |items| {
                items.drain(..gone);
                items.extend(appended);
            }),
            None => self.owners.insert(key, OwnerEntry { head, items: appended.into() }),
        }
        Ok(revision)
    }

    fn append_items(&mut self, owner: u64, items: &[RawJson]) -> Result<Vec<u64>, JournalError> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let key = self.next_birth();
            pack(&ItemRow { owner, item: item.as_str() }, &mut self.buffer);
            put(&mut *self.journal, Table::Item, key, &mut self.buffer)?;
            keys.push(key);
        }
        Ok(keys)
    }

    fn remove_owner(&mut self, key: &OwnerKey) -> Result<(), JournalError> {
        let Some(OwnerEntry { head, items }) = self.owners.get(key) else { return Ok(()) };
        self.journal.remove(Table::Owner, head.revision.birth)?;
        let dead = drop_items(&mut *self.journal, &mut self.dead, items.iter().copied())?;
        if let Some(entry) = self.owners.remove(key) {
            self.note_owner(key, Some(&entry.head), None);
            self.undo.push(Undo::OwnerGone { key: key.clone(), entry: Box::new(entry), dead });
        }
        Ok(())
    }

    /// Notes whom to wake for a change, and when next.
    fn note_owner(
        &mut self,
        key: &OwnerKey,
        before: Option<&OwnerHead>,
        after: Option<&OwnerHead>,
    ) {
        if [before, after].into_iter().flatten().any(OwnerHead::is_to_be_due) {
            self.bundled.insert(key.queue.clone());
        }
        self.owners_touched = true;
    }

    /// Drops all owners that go with a queue; their rows are swept later. Answers them, and how many
    /// rows.
    pub(super) fn detach_owners(&mut self, queue: &QueueName) -> (Shelves, usize) {
        let shelves = self.owners.detach(queue);
        let before = self.dead.len();
        for entry in shelves.iter().flat_map(|(_, shelf)| shelf.entries()) {
            self.dead.push_back((Remains::Owner, entry.head.revision.birth));
            self.dead.extend(entry.items.iter().map(|item| (Remains::Item, *item)));
        }
        (shelves, self.dead.len() - before)
    }

    /// The rows of owners, in the order asked.
    pub(super) fn owner_rows(&mut self, keys: &[OwnerKey]) -> Result<Vec<RawOwner>, StoreError> {
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            let birth = self.owners.get(key).map(|entry| entry.head.revision.birth);
            rows.push(self.owner_row(birth)?);
        }
        Ok(rows)
    }

    /// The row of the bundle of a queue that is due first.
    pub(super) fn first_due_row(&mut self, queue: &QueueName) -> Result<RawOwner, StoreError> {
        self.owner_row(self.owners.first_due(queue).map(|entry| entry.head.revision.birth))
    }

    fn owner_row(&mut self, birth: Option<u64>) -> Result<RawOwner, StoreError> {
        let Some(birth) = birth else { return Ok(None) };
        Ok(self.journal.get(Table::Owner, birth)?.map(|row| (birth, row)))
    }

    /// The rows of items of an owner.
    pub(super) fn item_keys(&self, key: &OwnerKey, from: usize, limit: usize) -> Vec<u64> {
        let Some(OwnerEntry { items, .. }) = self.owners.get(key) else { return Vec::new() };
        let from = from.min(items.len());
        // No item is shorter than a byte.
        items.range(from..).take(limit.min(TAKE_BYTES_MAX)).copied().collect()
    }

    /// The rows on a page of owners, and where the next page begins.
    pub(super) fn list_owners(
        &self,
        listing: &OwnerListing,
    ) -> Result<(Vec<u64>, Option<String>), StoreError> {
        let after = listing.cursor.as_deref().map(parse_cursor).transpose()?;
        let (births, last) = self.owners.list(listing, after.as_ref());
        Ok((births, last.map(|(queue, name)| write_cursor(&queue, &name))))
    }

    /// Rebuilds the indexes of owners from their rows.
    pub(super) fn load_owners(&mut self, journal: &mut dyn Journal) -> Result<(), StoreError> {
        let mut loaded: HashMap<u64, Loaded> = HashMap::new();
        journal.scan(Table::Owner, &mut |birth, row| {
            let row: OwnerRow = unpack(Table::Owner, birth, row)?;
            self.last_birth = self.last_birth.max(birth);
            // A number is not used again while rows of a queue that had it are left.
            self.last_number = self.last_number.max(row.queue.unwrap_or_default());
            if row.queue.is_some_and(|number| !self.queues.contains_key(&number)) {
                self.dead.push_back((Remains::Owner, birth));
                return Ok(());
            }
            let head = OwnerHead::new(Revision { birth, change: row.change }, &row.owner);
            let entry = OwnerEntry { head, items: VecDeque::new() };
            let OwnerRow { owner, first_item, items, .. } = row;
            loaded.insert(birth, Loaded { key: owner.key(), entry, first_item, items });
            Ok(())
        })?;
        journal.scan(Table::Item, &mut |key, row| {
            let row: ItemRow<'_> = unpack(Table::Item, key, row)?;
            self.last_birth = self.last_birth.max(key);
            match loaded.get_mut(&row.owner).filter(|owner| key >= owner.first_item) {
                Some(owner) => owner.entry.items.push_back(key),
                None => self.dead.push_back((Remains::Item, key)),
            }
            Ok(())
        })?;
        for (birth, Loaded { key, entry, items, .. }) in loaded {
            if items != entry.items.len() as u64 {
                return Err(uneven(Table::Owner, birth, items, entry.items.len()));
            }
            self.owners.insert(key, entry);
        }
        Ok(())
    }
}

/// An owner whose items are being found.
struct Loaded {
    key: OwnerKey,
    entry: OwnerEntry,
    first_item: u64,
    /// How many there must be.
    items: u64,
}

/// Removes items, or leaves them to be swept if they are many. Returns how many it left.
fn drop_items(
    journal: &mut dyn Journal,
    dead: &mut VecDeque<(Remains, u64)>,
    items: impl ExactSizeIterator<Item = u64>,
) -> Result<usize, JournalError> {
    let count = items.len();
    if count > AT_ONCE_MAX {
        dead.extend(items.map(|item| (Remains::Item, item)));
        return Ok(count);
    }
    for item in items {
        journal.remove(Table::Item, item)?;
    }
    Ok(0)
}

/// The place in a list after an owner.
pub(super) fn write_cursor(queue: &QueueName, name: &str) -> String {
    format!("{queue}/{name}")
}

fn parse_cursor(text: &str) -> Result<OwnerPlace, StoreError> {
    let (queue, name) = text.split_once('/').ok_or(StoreError::BadCursor)?;
    let queue = QueueName::parse(queue).map_err(|_| StoreError::BadCursor)?;
    Ok((queue, name.into()))
}

/// A place among the plans that wait for a time.
pub(super) fn parse_time_cursor(text: &str) -> Result<(i64, u64), StoreError> {
    let (at, birth) = text.split_once('-').ok_or(StoreError::BadCursor)?;
    let place = at.parse().ok().zip(birth.parse().ok());
    place.ok_or(StoreError::BadCursor)
}

/// The time a plan waits for, or [`NEVER`].
pub(super) fn timed_at(stored: &StoredOwner) -> i64 {
    OwnerHead::new(stored.revision, &stored.owner).timed_at()
}

/// Whether a transaction needs space of its own: such are refused where there is little.
pub(super) fn grows(transaction: &Transaction) -> bool {
    let Transaction::Records(changes) = transaction else { return false };
    changes.owners.iter().any(|change| {
        !change.append.is_empty() || (change.expected.is_none() && change.after.is_some())
    })
}

/// Unpacks an owner.
pub(super) fn stored_owner((birth, row): (u64, Vec<u8>)) -> Result<StoredOwner, StoreError> {
    let row: OwnerRow = unpack(Table::Owner, birth, &row)?;
    Ok(StoredOwner { owner: row.owner, revision: Revision { birth, change: row.change } })
}

/// Reads owners as far as they fit on a page, at least one; those that have gone meanwhile are left
/// out. Also says whether that was all.
pub(super) fn read_owners(
    reader: &mut dyn ReadRows,
    births: &[u64],
) -> Result<(Vec<StoredOwner>, bool), StoreError> {
    /// So many at a time, because few of them may fit.
    const CHUNK: usize = 64;
    let (mut owners, mut bytes) = (Vec::new(), 0);
    for births in births.chunks(CHUNK) {
        let rows = reader.get_many(Table::Owner, births)?;
        for (birth, row) in births.iter().zip(rows) {
            let Some(row) = row else { continue };
            bytes += row.len();
            if bytes > PAGE_BYTES_MAX && !owners.is_empty() {
                return Ok((owners, false));
            }
            owners.push(stored_owner((*birth, row))?);
        }
    }
    Ok((owners, true))
}

/// Reads items as far as they fit into an answer; those that have gone meanwhile are left out.
pub(super) fn read_items(
    reader: &mut dyn ReadRows,
    keys: &[u64],
) -> Result<Vec<RawJson>, StoreError> {
    /// So many at a time, because few of them may fit.
    const CHUNK: usize = 256;
    let mut items = Vec::new();
    let mut bytes = 0;
    for keys in keys.chunks(CHUNK) {
        let rows = reader.get_many(Table::Item, keys)?;
        for (key, row) in keys.iter().zip(rows) {
            let Some(row) = row else { continue };
            let row: ItemRow<'_> = unpack(Table::Item, *key, &row)?;
            bytes += row.item.len();
            if bytes > TAKE_BYTES_MAX && !items.is_empty() {
                return Ok(items);
            }
            items.push(RawJson::stored(row.item));
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::owners::{a_bundle, bundle, changed, made, removed};
    use punctual_core::Timestamp;

    #[test]
    fn only_what_adds_needs_space() {
        let owner = a_bundle(bundle("q", "k", Timestamp::EPOCH));
        let before =
            StoredOwner { owner: owner.clone(), revision: Revision { birth: 1, change: 0 } };
        let step = |change: OwnerChange| Transaction::from(change);
        let append = vec![RawJson::null()];
        assert!(grows(&step(made(owner.clone()))));
        assert!(grows(&step(OwnerChange { append, ..changed(&before, owner.clone()) })));
        assert!(!grows(&step(OwnerChange { drop_first: 1, ..changed(&before, owner) })));
        assert!(!grows(&step(removed(&before))));
        assert!(!grows(&Changes::default().into()));
    }
}
