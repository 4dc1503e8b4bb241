//! Fair shares: how much of what can be delivered at once each queue has.
//!
//! A queue may have at most as many deliveries under way as places are free. So one greedy queue leaves half of
//! all places to others, and n of them leave 1/(n+1). Bytes of payloads are shared out the same way.

use std::collections::{HashMap, HashSet};

use punctual_core::QueueName;

/// Bytes of payloads under way at once, give or take one take.
const BYTES_MAX: usize = 64 << 20;

/// Deliveries under way, by queue.
pub(super) struct Shares {
    /// Most of them at once.
    max: usize,
    all: Share,
    by_queue: HashMap<QueueName, Share>,
    /// Queues that have more to deliver than their share allows.
    held_back: HashSet<QueueName>,
}

/// Tasks that are being delivered, and the bytes of their payloads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) tasks: usize,
    pub(super) bytes: usize,
}

impl Shares {
    pub(super) fn new(max: usize) -> Self {
        Self { max, all: Share::default(), by_queue: HashMap::new(), held_back: HashSet::new() }
    }

    /// How many are under way, or are yet to be stored.
    pub(super) fn under_way(&self) -> usize {
        self.all.tasks
    }

    /// How many more can be made.
    pub(super) fn room(&self) -> usize {
        if self.all.bytes >= BYTES_MAX { 0 } else { self.max.saturating_sub(self.all.tasks) }
    }

    /// How many more a queue can make. The first is never denied to it.
    pub(super) fn room_of(&self, queue: &QueueName) -> usize {
        let free = self.room();
        let Some(mine) = self.by_queue.get(queue) else { return free.div_ceil(2) };
        if mine.bytes > BYTES_MAX - self.all.bytes.min(BYTES_MAX) {
            return 0;
        }
        free.saturating_sub(mine.tasks) / 2
    }

    /// Whether a queue has more to deliver than its share allows.
    pub(super) fn is_held_back(&self, queue: &QueueName) -> bool {
        self.held_back.contains(queue)
    }

    /// Remembers that a queue has more to deliver than its share allows.
    pub(super) fn hold_back(&mut self, queue: QueueName) {
        self.held_back.insert(queue);
    }

    /// Forgets that a queue was held back: it is looked at.
    pub(super) fn let_go(&mut self, queue: &QueueName) {
        self.held_back.remove(queue);
    }

    /// A delivery begins.
    pub(super) fn begin(&mut self, queue: &QueueName, bytes: usize) {
        let mine = self.by_queue.entry(queue.clone()).or_default();
        for share in [mine, &mut self.all] {
            share.tasks += 1;
            share.bytes += bytes;
        }
    }

    /// Deliveries have ended. The queues that can be looked at again.
    pub(super) fn end(&mut self, queue: &QueueName, ended: Share) -> Vec<QueueName> {
        if let Some(mine) = self.by_queue.get_mut(queue) {
            for share in [&mut *mine, &mut self.all] {
                share.tasks -= ended.tasks;
                share.bytes -= ended.bytes;
            }
            if mine.tasks == 0 {
                self.by_queue.remove(queue);
            }
        }
        let waiting = self.held_back.iter().filter(|queue| self.room_of(queue) > 0);
        waiting.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(name: &str) -> QueueName {
        QueueName::parse(name).unwrap()
    }

    /// Lets a queue have all it can get.
    fn greedy(shares: &mut Shares, name: &str) -> usize {
        while shares.room_of(&queue(name)) > 0 {
            (0..shares.room_of(&queue(name))).for_each(|_| shares.begin(&queue(name), 1));
        }
        shares.by_queue.get(&queue(name)).map_or(0, |share| share.tasks)
    }

    #[test]
    fn greedy_queues_leave_a_share_to_others() {
        let mut shares = Shares::new(1_000);
        assert_eq!(greedy(&mut shares, "a"), 500);
        assert_eq!(greedy(&mut shares, "b"), 250, "half of what is left");
        assert_eq!(greedy(&mut shares, "a"), 500);
        shares.hold_back(queue("b"));
        let ended = Share { tasks: 400, bytes: 400 };
        assert_eq!(shares.end(&queue("a"), ended), [queue("b")]);
        assert!(greedy(&mut shares, "b") > 400);
    }

    #[test]
    fn the_first_delivery_of_a_queue_needs_a_place_only() {
        let mut shares = Shares::new(1);
        assert_eq!(shares.room_of(&queue("a")), 1);
        shares.begin(&queue("a"), 1);
        assert_eq!((shares.room_of(&queue("a")), shares.room_of(&queue("b"))), (0, 0));
        shares.hold_back(queue("b"));
        assert_eq!(shares.end(&queue("a"), Share { tasks: 1, bytes: 1 }), [queue("b")]);
        shares.let_go(&queue("b"));
        assert!(!shares.is_held_back(&queue("b")) && shares.by_queue.is_empty());
    }

    #[test]
    fn large_payloads_are_shared_out_too() {
        let mut shares = Shares::new(1_000);
        shares.begin(&queue("a"), BYTES_MAX / 2 + 1);
        assert_eq!((shares.room_of(&queue("a")), shares.room_of(&queue("b"))), (0, 500));
        shares.begin(&queue("b"), BYTES_MAX);
        assert_eq!(shares.room(), 0);
    }
}
