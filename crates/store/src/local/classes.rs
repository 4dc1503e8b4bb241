//! What a take may hand out of each lane class of a queue.

use std::sync::Arc;

use hashbrown::HashMap;

use super::numbers::Numbers;
use crate::port::Classes;

/// How many tasks of each class a take may still hand out.
#[derive(Debug)]
pub(super) struct Room<'a> {
    named: HashMap<u32, usize>,
    classes: &'a Classes,
}

impl<'a> Room<'a> {
    /// What a take may hand out. Classes no task has are passed over.
    pub(super) fn new(classes: &'a Classes, numbers: &Numbers) -> Self {
        let number = |(name, room): &(Arc<str>, usize)| Some((numbers.find(name)?, *room));
        Self { named: classes.named.iter().filter_map(number).collect(), classes }
    }

    pub(super) fn is_left(&self, class: u32) -> bool {
        self.named.get(&class).copied().unwrap_or(self.classes.others) > 0
    }

    /// Whether a class may be served at all.
    pub(super) fn covers(&self, class: &str) -> bool {
        self.classes.covers(class)
    }

    /// Classes whose room is used up, or that had none.
    pub(super) fn used_up(&self) -> impl Iterator<Item = u32> {
        self.named.iter().filter(|(_, room)| **room == 0).map(|(class, _)| *class)
    }

    /// A task of the class was handed out.
    pub(super) fn use_one(&mut self, class: u32) {
        let others = self.classes.others;
        if others != usize::MAX || !self.named.is_empty() {
            let room = self.named.entry(class).or_insert(others);
            *room = room.saturating_sub(1);
        }
    }
}
