//! Other ids for tasks that the server itself makes: a run, a step or a callback whose id belongs to a task
//! that somebody else made.

use crate::limits::NAME_BYTES_MAX;
use crate::name::TaskId;
use crate::task::Task;
use crate::time::Timestamp;

/// How many ids are tried for one task before it counts as one that cannot be made.
pub const IDS_MAX: u32 = 1_000;

impl TaskId {
    /// The `n`-th id for a task, from 1: its own, then the same with `~2`, `~3`… appended. Where that would
    /// pass the limit of ids, the end of the id is cut for it.
    ///
    /// # Panics
    /// Never: what is left follows the rule for names.
    #[must_use]
    pub fn nth(&self, n: u32) -> Self {
        if n <= 1 {
            return self.clone();
        }
        let suffix = format!("~{n}");
        let kept = self.as_str().len().min(NAME_BYTES_MAX - suffix.len());
        Self::parse(&format!("{}{suffix}", &self.as_str()[..kept]))
            .expect("an id that is cut and numbered follows the rule")
    }
}

impl Task {
    /// Whether no other task may be made under its id.
    pub fn keeps_id(&self, now: Timestamp) -> bool {
        !self.status.state.is_finished() || self.status.reserved_until.is_some_and(|at| at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_numbered_and_its_end_cut_where_needed() {
        let id = |text: &str| TaskId::parse(text).unwrap();
        assert_eq!(id("p@1").nth(1), id("p@1"));
        assert_eq!(id("p@1").nth(2), id("p@1~2"));
        assert_eq!(id(&"x".repeat(198)).nth(2), id(&format!("{}~2", "x".repeat(198))));
        assert_eq!(id(&"x".repeat(200)).nth(2), id(&format!("{}~2", "x".repeat(198))));
        assert_eq!(id(&"x".repeat(200)).nth(1_000), id(&format!("{}~1000", "x".repeat(195))));
    }
}
