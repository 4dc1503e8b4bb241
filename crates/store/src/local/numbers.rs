//! Numbers that stand for names tasks have in common: the lane classes of a queue, workers.
//!
//! There may be as many classes as there are hosts in the world, so a number is given back once no
//! task has it: not at once, as a change may still be undone, but when its group has ended.

use std::sync::Arc;

use hashbrown::HashMap;

/// Names and their numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Name>,
    free: Vec<u32>,
    /// Those that may have no task any more.
    idle: Vec<u32>,
}

#[derive(Debug)]
struct Name {
    text: Arc<str>,
    tasks: u32,
}

impl Numbers {
    /// The number of a name, a new one if it has none.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let name = Name { text: Arc::from(name), tasks: 0 };
        let key = Arc::clone(&name.text);
        let number = match self.free.pop() {
            Some(number) => {
                self.names[number as usize] = name;
                number
            }
            None => {
                self.names.push(name);
                u32::try_from(self.names.len() - 1).expect("names are fewer than tasks")
            }
        };
        self.numbers.insert(key, number);
        self.idle.push(number);
        number
    }

    /// The number of a name, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub(super) fn name(&self, number: u32) -> &Arc<str> {
        &self.names[number as usize].text
    }

    /// One more task has the name.
    pub(super) fn enter(&mut self, number: u32) {
        self.names[number as usize].tasks += 1;
    }

    /// One task less has the name.
    pub(super) fn leave(&mut self, number: u32) {
        let name = &mut self.names[number as usize];
        name.tasks -= 1;
        if name.tasks == 0 {
            self.idle.push(number);
        }
    }

    /// Gives back the numbers of names without tasks. Not while a change may be undone.
    pub(super) fn forget_idle(&mut self) {
        for number in self.idle.drain(..) {
            let Name { text, tasks } = &self.names[number as usize];
            // It may stand here twice, and may have been given back by the first.
            if *tasks == 0 && self.numbers.get(text) == Some(&number) {
                self.numbers.remove(text);
                self.free.push(number);
            }
        }
        if self.numbers.is_empty() {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_back_when_no_task_has_it() {
        let mut numbers = Numbers::default();
        for round in 0..100 {
            let name = format!("host-{round}");
            let number = numbers.number(&name);
            numbers.enter(number);
            numbers.leave(number);
            // An undone change puts the task back.
            numbers.enter(number);
            numbers.forget_idle();
            assert_eq!(&**numbers.name(number), name);
            assert_eq!(numbers.number(&name), number);
            numbers.leave(number);
            if round % 2 == 0 {
                numbers.number("never-used");
            }
            numbers.forget_idle();
            assert!(numbers.numbers.is_empty() && numbers.names.len() <= 2);
        }
    }
}
