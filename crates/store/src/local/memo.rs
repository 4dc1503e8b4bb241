//! What the store remembers beyond its records: receipts of settled tasks, keyed requests, and the
//! specs it was just given.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use punctual_core::limits::{KEYED_REQUEST_MS, RECEIPT_MS, REMEMBERED_MAX};
use punctual_core::{Span, Spec, Timestamp};

use super::rows::ReceiptRow;

/// A bounded ring of receipts, in groups as they were committed.
#[derive(Default)]
pub(super) struct Receipts {
    groups: VecDeque<(u64, ReceiptRow)>,
    known: HashSet<u64>,
    pending: Vec<u64>,
    outdated: Vec<u64>,
    last_key: u64,
}

impl Receipts {
    /// Notes a receipt of the current group.
    pub(super) fn note(&mut self, fingerprint: u64) {
        self.pending.push(fingerprint);
    }

    /// The current group as a row to be written, if it has any.
    pub(super) fn pending_row(&self, at: Timestamp) -> Option<(u64, ReceiptRow)> {
        let fingerprints = self.pending.clone();
        (!fingerprints.is_empty()).then_some((self.last_key + 1, ReceiptRow { at, fingerprints }))
    }

    /// Remembers a group that is durable.
    pub(super) fn add(&mut self, key: u64, row: ReceiptRow) {
        self.known.extend(&row.fingerprints);
        self.last_key = self.last_key.max(key);
        self.groups.push_back((key, row));
        self.pending.clear();
    }

    /// The row after the last.
    pub(super) fn next_key(&self) -> u64 {
        self.last_key + 1
    }

    /// Groups after a row.
    pub(super) fn after(&self, key: u64) -> impl Iterator<Item = &(u64, ReceiptRow)> {
        self.groups.iter().skip_while(move |(at, _)| *at <= key)
    }

    /// Forgets the current group.
    pub(super) fn undo(&mut self) {
        self.pending.clear();
    }

    /// Forgets groups that are too old, or too many; their rows are yet to be removed.
    pub(super) fn forget_old(&mut self, now: Timestamp) {
        while let Some((key, row)) = self.groups.front() {
            let is_old = now.since(row.at) >= Span::from_millis(RECEIPT_MS);
            let is_over = self.known.len() - row.fingerprints.len() >= REMEMBERED_MAX;
            if !is_old && !is_over {
                break;
            }
            self.outdated.push(*key);
            for fingerprint in &row.fingerprints {
                self.known.remove(fingerprint);
            }
            self.groups.pop_front();
        }
    }

    /// Rows to be removed.
    pub(super) fn outdated(&self) -> &[u64] {
        &self.outdated
    }

    /// Those rows were removed.
    pub(super) fn outdated_are_gone(&mut self) {
        self.outdated.clear();
    }

    pub(super) fn knows(&self, fingerprint: u64) -> bool {
        self.known.contains(&fingerprint)
    }
}

/// Keyed requests by key, oldest first.
#[derive(Default)]
pub(super) struct KeyedRequests {
    rows: HashMap<u128, u64>,
    order: VecDeque<(u64, u128, Timestamp)>,
    outdated: Vec<u64>,
    last_row: u64,
}

impl KeyedRequests {
    /// The row of a key.
    pub(super) fn find(&self, key: u128) -> Option<u64> {
        self.rows.get(&key).copied()
    }

    /// The row the next request gets.
    pub(super) fn next_row(&self) -> u64 {
        self.last_row + 1
    }

    pub(super) fn add(&mut self, row: u64, key: u128, at: Timestamp) {
        self.last_row = self.last_row.max(row);
        self.rows.insert(key, row);
        self.order.push_back((row, key, at));
    }

    /// Rows after one of them: the first so many.
    pub(super) fn after(&self, row: u64, limit: usize) -> Vec<u64> {
        let rows = self.order.iter().map(|(row, ..)| *row).skip_while(move |at| *at <= row);
        rows.take(limit).collect()
    }

    /// Forgets the newest.
    pub(super) fn undo(&mut self) {
        if let Some((_, key, _)) = self.order.pop_back() {
            self.rows.remove(&key);
        }
    }

    /// Forgets requests that are too old, or too many; their rows are yet to be removed.
    pub(super) fn forget_old(&mut self, now: Timestamp) {
        while let Some((row, key, at)) = self.order.front() {
            let is_old = now.since(*at) >= Span::from_millis(KEYED_REQUEST_MS);
            if !is_old && self.order.len() <= REMEMBERED_MAX {
                break;
            }
            self.outdated.push(*row);
            self.rows.remove(key);
            self.order.pop_front();
        }
    }

    /// Rows to be removed.
    pub(super) fn outdated(&self) -> &[u64] {
        &self.outdated
    }

    /// Those rows were removed.
    pub(super) fn outdated_are_gone(&mut self) {
        self.outdated.clear();
    }
}

/// Specs of tasks pushed lately, so that a task taken soon after its push needs no reading.
#[derive(Default)]
pub(super) struct RecentSpecs {
    by_birth: HashMap<u64, Arc<Spec>>,
    order: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl RecentSpecs {
    const BYTES_MAX: usize = 8 << 20;
    /// What a spec takes besides its payload, roughly.
    const OVERHEAD_BYTES: usize = 448;

    pub(super) fn add(&mut self, birth: u64, spec: Arc<Spec>) {
        let bytes = spec.payload.len() + Self::OVERHEAD_BYTES;
        self.bytes += bytes;
        self.order.push_back((birth, bytes));
        self.by_birth.insert(birth, spec);
        while self.bytes > Self::BYTES_MAX {
            let Some((oldest, bytes)) = self.order.pop_front() else { break };
            self.bytes -= bytes;
            self.by_birth.remove(&oldest);
        }
    }

    /// Hands a spec out; its holder keeps it from now on.
    pub(super) fn take(&mut self, birth: u64) -> Option<Arc<Spec>> {
        self.by_birth.remove(&birth)
    }
}
