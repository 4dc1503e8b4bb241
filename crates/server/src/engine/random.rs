//! The one place where random values are drawn: seeds of takes, ids of tasks, rolls of retries.

use std::cell::{Cell, RefCell};
use std::sync::{Mutex, PoisonError};

use punctual_core::{Seed, TaskId, Timestamp};

const ID_CHARS: usize = 26;
const RANDOM_BITS: u32 = 80;
/// Sorts like the number it spells, and has no letters that are taken for digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 128 random bits from the system, which is asked for many at a time.
pub(crate) fn bits() -> u128 {
    thread_local! {
        static DRAWN: RefCell<Vec<u128>> = const { RefCell::new(Vec::new()) };
    }
    DRAWN.with_borrow_mut(|drawn| {
        if drawn.is_empty() {
            let mut bytes = [0; 512];
            getrandom::fill(&mut bytes).expect("the system gives random numbers");
            drawn.extend(bytes.as_chunks().0.iter().map(|bits| u128::from_ne_bytes(*bits)));
        }
        drawn.pop().expect("some were drawn")
    })
}

/// The seed of one take.
pub(crate) fn seed() -> Seed {
    Seed::new(bits())
}

/// A random number in 0…1 for the spread of retries. Cheap, and not a secret.
pub(crate) fn roll() -> f64 {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(bits() as u64);
    }
    // The splitmix64 generator.
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Makes ids of tasks: 48 bits of time, then 80 random ones. Ids of one server sort in the order in
/// which they were made, also within a millisecond and when the clock is set back.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    last: Mutex<u128>,
}

impl Ids {
    /// One new id.
    pub(crate) fn one(&self, now: Timestamp) -> TaskId {
        spelled(self.reserve(now, 1))
    }

    /// New ids, as many as are asked for.
    pub(crate) fn many(&self, now: Timestamp, count: usize) -> impl Iterator<Item = TaskId> {
        let first = self.reserve(now, count);
        (0..count as u128).map(move |offset| spelled(first + offset))
    }

    fn reserve(&self, now: Timestamp, count: usize) -> u128 {
        let time = (now.as_millis().unsigned_abs() as u128) << RANDOM_BITS;
        // The highest random bit stays free, so that counting on never reaches the time.
        let fresh = time | (bits() >> (128 - RANDOM_BITS + 1));
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = fresh >> RANDOM_BITS > *last >> RANDOM_BITS;
        let first = if passed { fresh } else { *last + 1 };
        *last = first + count as u128;
        first
    }
}

fn spelled(number: u128) -> TaskId {
    let mut text = [0; ID_CHARS];
    for (place, byte) in text.iter_mut().rev().enumerate() {
        *byte = ALPHABET[(number >> (5 * place)) as usize & 31];
    }
    let text = std::str::from_utf8(&text).expect("the alphabet is ASCII");
    TaskId::parse(text).expect("the alphabet is allowed in ids")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_in_the_order_they_were_made() {
        let ids = Ids::default();
        let (now, earlier) = (Timestamp::from_millis(1_763_189_428_123), Timestamp::default());
        let mut made: Vec<_> = ids.many(now, 1_000).collect();
        made.push(ids.one(now));
        made.push(ids.one(earlier));
        made.push(ids.one(Timestamp::MAX));
        assert!(made.is_sorted());
        made.dedup();
        assert_eq!(made.len(), 1_003);
        assert!(made.iter().all(|id| id.as_str().len() == ID_CHARS));
    }

    #[test]
    fn rolls_spread_over_the_whole_range() {
        let rolls: Vec<f64> = (0..1_000).map(|_| roll()).collect();
        assert!(rolls.iter().all(|roll| (0.0..1.0).contains(roll)));
        assert!(rolls.iter().any(|roll| *roll < 0.1) && rolls.iter().any(|roll| *roll > 0.9));
    }
}
