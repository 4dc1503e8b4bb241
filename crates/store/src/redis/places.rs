//! Places for calls: what lets a shard recognise a call that is repeated, or late.
//!
//! A node has so many places per shard. A call takes one for as long as it is under way and gets the next
//! number there. The shard keeps the last number and answer per place (see `lua/index.lua`), so what it
//! remembers is bounded by the places, not by time.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Calls of a node that may be under way at one shard.
const PLACES: usize = 256;

/// The places at one shard.
pub(super) struct Places {
    free: Semaphore,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Places that are free. The one given back last is used first, so that few are ever used.
    free: Vec<usize>,
    numbers: Vec<u64>,
}

/// A place, until it is dropped.
pub(super) struct Place<'a> {
    places: &'a Places,
    /// Which one.
    pub(super) place: usize,
    /// The number of the call there.
    pub(super) number: u64,
    _permit: SemaphorePermit<'a>,
}

impl Places {
    /// All free.
    pub(super) fn new() -> Self {
        let inner = Inner { free: (0..PLACES).rev().collect(), numbers: vec![0; PLACES] };
        Self { free: Semaphore::new(PLACES), inner: Mutex::new(inner) }
    }

    /// Waits for a place.
    pub(super) async fn take(&self) -> Place<'_> {
        let permit = self.free.acquire().await.expect("the semaphore is never closed");
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let place = inner.free.pop().expect("there are as many places as permits");
        inner.numbers[place] += 1;
        Place { places: self, place, number: inner.numbers[place], _permit: permit }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut inner = self.places.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.free.push(self.place);
    }
}
