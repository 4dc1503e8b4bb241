//! Numbers for the lane classes of a queue, and what of each a take may hand out.
//!
//! There may be as many classes as there are hosts in the world, so a number is given back once no
//! task has it: not at once, as a change may still be undone, but when its group has ended.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::port::Classes;

/// The classes of a queue's tasks.
#[derive(Debug, Default)]
pub(super) struct ClassNumbers {
    numbers: HashMap<Arc<str>, u32>,
    classes: Vec<Class>,
    free: Vec<u32>,
    /// Classes that may have no task any more.
    idle: Vec<u32>,
}

#[derive(Debug)]
struct Class {
    name: Arc<str>,
    tasks: u32,
}

impl ClassNumbers {
    /// The number of a class, a new one if it has none.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let class = Class { name: Arc::from(name), tasks: 0 };
        let key = Arc::clone(&class.name);
        let number = match self.free.pop() {
            Some(number) => {
                self.classes[number as usize] = class;
                number
            }
            None => {
                self.classes.push(class);
                u32::try_from(self.classes.len() - 1).expect("classes are fewer than tasks")
            }
        };
        self.numbers.insert(key, number);
        self.idle.push(number);
        number
    }

    pub(super) fn name(&self, number: u32) -> &Arc<str> {
        &self.classes[number as usize].name
    }

    /// One more task is of the class.
    pub(super) fn enter(&mut self, number: u32) {
        self.classes[number as usize].tasks += 1;
    }

    /// One task less is of the class.
    pub(super) fn leave(&mut self, number: u32) {
        let class = &mut self.classes[number as usize];
        class.tasks -= 1;
        if class.tasks == 0 {
            self.idle.push(number);
        }
    }

    /// Gives back the numbers of classes without tasks. Not while a change may be undone.
    pub(super) fn forget_idle(&mut self) {
        for number in self.idle.drain(..) {
            let Class { name, tasks } = &self.classes[number as usize];
            // It may stand here twice, and may have been given back by the first.
            if *tasks == 0 && self.numbers.get(name) == Some(&number) {
                self.numbers.remove(name);
                self.free.push(number);
            }
        }
        if self.numbers.is_empty() {
            *self = Self::default();
        }
    }

    /// What a take may hand out, by number. Classes no task has are passed over.
    pub(super) fn room(&self, classes: &Classes) -> Room {
        let number = |(name, room): &(Arc<str>, usize)| Some((*self.numbers.get(name)?, *room));
        Room { named: classes.named.iter().filter_map(number).collect(), others: classes.others }
    }
}

/// How many tasks of each class a take may still hand out.
#[derive(Debug)]
pub(super) struct Room {
    named: HashMap<u32, usize>,
    others: usize,
}

impl Room {
    pub(super) fn is_left(&self, class: u32) -> bool {
        self.named.get(&class).copied().unwrap_or(self.others) > 0
    }

    /// Classes whose room is used up, or that had none.
    pub(super) fn used_up(&self) -> impl Iterator<Item = u32> {
        self.named.iter().filter(|(_, room)| **room == 0).map(|(class, _)| *class)
    }

    /// A task of the class was handed out.
    pub(super) fn use_one(&mut self, class: u32) {
        if self.others != usize::MAX || !self.named.is_empty() {
            let room = self.named.entry(class).or_insert(self.others);
            *room = room.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_back_when_no_task_has_it() {
        let mut classes = ClassNumbers::default();
        for round in 0..100 {
            let name = format!("host-{round}");
            let number = classes.number(&name);
            classes.enter(number);
            classes.leave(number);
            // An undone change puts the task back.
            classes.enter(number);
            classes.forget_idle();
            assert_eq!(&**classes.name(number), name);
            assert_eq!(classes.number(&name), number);
            classes.leave(number);
            if round % 2 == 0 {
                classes.number("never-used");
            }
            classes.forget_idle();
            assert!(classes.numbers.is_empty() && classes.classes.len() <= 2);
        }
    }
}
