//! Whose turn it is: free places go first to the queue that had one least recently.
//!
//! A queue that is looked at yields to hungry ones that have waited longer. They are looked at next, and
//! what they cannot use is its own after all: nobody is held back twice by the same look.

use std::collections::{HashMap, HashSet};

use punctual_core::QueueName;

/// When queues were looked at and served, counted in looks.
#[derive(Debug, Default)]
pub(super) struct Turns {
    looks: u64,
    queues: HashMap<QueueName, Turn>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Turn {
    looked: u64,
    served: u64,
    /// The look in which it yielded, if that was its last.
    yielded: Option<u64>,
}

/// Those that a queue shares free places with.
#[derive(Debug, Default)]
pub(super) struct Rivals {
    /// Hungry queues whose turn it is no later.
    pub(super) waiting: Vec<QueueName>,
    /// Whether it is earlier for some, so that they come first.
    pub(super) yields: bool,
}

impl Turns {
    /// A queue is looked at; says whom it shares free places with.
    pub(super) fn begin(&mut self, name: &QueueName, hungry: &HashSet<QueueName>) -> Rivals {
        self.looks += 1;
        let own = self.queues.entry(name.clone()).or_default();
        own.looked = self.looks;
        let (served, yielded) = (own.served, own.yielded.take());
        let mut rivals = Rivals::default();
        for rival in hungry.iter().filter(|rival| *rival != name) {
            let turn = self.queues.get(rival).copied().unwrap_or_default();
            let was_asked = yielded.is_some_and(|at| turn.looked > at);
            if turn.served <= served && !was_asked {
                rivals.yields |= turn.served < served;
                rivals.waiting.push(rival.clone());
            }
        }
        rivals
    }

    /// It was given places.
    pub(super) fn served(&mut self, name: &QueueName) {
        if let Some(turn) = self.queues.get_mut(name) {
            turn.served = self.looks;
        }
    }

    /// It left places to those who wait.
    pub(super) fn yielded(&mut self, name: &QueueName) {
        if let Some(turn) = self.queues.get_mut(name) {
            turn.yielded = Some(self.looks);
        }
    }

    /// When it was last given places; 0 if it never was.
    pub(super) fn last_served(&self, name: &QueueName) -> u64 {
        self.queues.get(name).map_or(0, |turn| turn.served)
    }

    /// It is gone.
    pub(super) fn forget(&mut self, name: &QueueName) {
        self.queues.remove(name);
    }
}

impl Rivals {
    /// Those of them that a worker serves.
    pub(super) fn served_by<'a>(
        &'a self,
        serves: &'a [QueueName],
    ) -> impl Iterator<Item = &'a QueueName> {
        self.waiting.iter().filter(|queue| serves.binary_search(queue).is_ok())
    }

    /// How many free places of a worker they leave to the queue, those of them that it serves.
    pub(super) fn leave(&self, free: usize, serves: &[QueueName]) -> usize {
        let sharing = self.served_by(serves).count() + 1;
        if self.yields { free / sharing } else { free.div_ceil(sharing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> QueueName {
        QueueName::parse(text).unwrap()
    }

    /// What a queue would be left of free places at a worker that serves all.
    fn left(turns: &mut Turns, queue: &str, free: usize) -> usize {
        let all = ["a", "b", "c"].map(name);
        turns.begin(&name(queue), &all.iter().cloned().collect()).leave(free, &all)
    }

    #[test]
    fn those_who_never_had_a_place_share_them() {
        let mut turns = Turns::default();
        assert_eq!(left(&mut turns, "a", 9), 3);
        turns.served(&name("a"));
        assert_eq!(left(&mut turns, "b", 6), 3);
        turns.served(&name("b"));
        assert_eq!(left(&mut turns, "c", 3), 3);
    }

    #[test]
    fn who_was_served_yields_until_the_others_were_asked() {
        let mut turns = Turns::default();
        assert_eq!(left(&mut turns, "a", 1), 1);
        turns.served(&name("a"));
        assert_eq!(left(&mut turns, "a", 1), 0, "b and c have waited longer");
        turns.yielded(&name("a"));
        left(&mut turns, "b", 0);
        assert_eq!(left(&mut turns, "a", 1), 0, "c was not asked");
        turns.yielded(&name("a"));
        left(&mut turns, "b", 0);
        left(&mut turns, "c", 0);
        assert_eq!(left(&mut turns, "a", 1), 1, "nobody else can use it");
        turns.served(&name("a"));
        assert_eq!(left(&mut turns, "a", 2), 0, "they are asked again for the next");
    }

    #[test]
    fn rivals_at_other_workers_do_not_count() {
        let mut turns = Turns::default();
        let hungry = ["a", "b", "c"].map(name).into_iter().collect();
        let rivals = turns.begin(&name("a"), &hungry);
        assert_eq!(rivals.leave(4, &["a", "b"].map(name)), 2);
        assert_eq!(rivals.leave(4, &["a"].map(name)), 4);
    }
}
