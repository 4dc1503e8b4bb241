//! The names of the fields of a task's hash: the one place that lists them.
//!
//! Records are written and read by these names only, and scripts get their lists from here, so that a new
//! field cannot be forgotten in one of them.

/// The name of a field.
pub(super) trait Name: Copy {
    /// The name as it stands in Redis.
    fn text(self) -> &'static str;
}

impl Name for &'static str {
    fn text(self) -> &'static str {
        self
    }
}

macro_rules! names {
    ($(#[$doc:meta])* $kind:ident { $($name:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum $kind { $($name),* }

        impl $kind {
            /// Every one of them.
            const ALL: &[Self] = &[$(Self::$name),*];
        }

        impl Name for $kind {
            fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text),*
                }
            }
        }
    };
}

names! {
    /// Fields of what was pushed. An edit writes all of them anew; nothing else changes them.
    Pushed {
        Id = "id",
        Create = "create",
        Due = "due",
        Priority = "priority",
        Class = "class",
        Requires = "requires",
        Hold = "hold",
        Attempts = "attempts",
        Runtime = "runtime",
        Retry = "retry",
        Unique = "unique",
        Expires = "expires",
        Http = "http",
        Callback = "callback",
        Notice = "notice",
        Trace = "trace",
        Tags = "tags",
        Plan = "plan",
        PlanId = "plan_id",
        Flow = "flow",
        FlowStep = "flow_step",
        Bundle = "bundle",
        Big = "big",
        // Scripts alone write it.
        Birth = "birth",
    }
}

names! {
    /// Fields of all that changes. A change writes those that are set and removes all others.
    Changing {
        Status = "status",
        Ready = "ready",
        Counter = "counter",
        Taken = "taken",
        Timeout = "timeout",
        Token = "token",
        Since = "since",
        Length = "length",
        Granted = "granted",
        Starts = "starts",
        Failures = "failures",
        Notices = "notices",
        Success = "success",
        Again = "again",
        Finished = "finished",
        Keep = "keep",
        Reserved = "reserved",
        Worker = "worker",
        Progress = "progress",
        Message = "message",
        Checkpoint = "checkpoint",
        Result = "result",
        Error = "error",
        Settled = "settled",
        History = "history",
        // Scripts alone write it.
        Change = "change",
    }
}

impl Changing {
    /// Whether a record may be large by it, besides its payload.
    fn is_large(&self) -> bool {
        use Changing::{Checkpoint, Error, History, Message, Result};
        matches!(self, Message | Checkpoint | Result | Error | History)
    }
}

/// The lists that scripts need, as sets.
pub(super) fn lua() -> String {
    let large = Changing::ALL.iter().filter(|name| name.is_large());
    format!("local PUSHED = {}\nlocal LARGE = {}\n", set(Pushed::ALL), set(large))
}

fn set<'a, N: Name + 'a>(names: impl IntoIterator<Item = &'a N>) -> String {
    let names = names.into_iter().map(|name| format!("{} = true", name.text()));
    format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of long values are told by what comes after the name, and the payload by digits alone.
    #[test]
    fn no_name_is_there_twice_or_looks_like_a_piece() {
        let mut names: Vec<&str> = Pushed::ALL.iter().map(|name| name.text()).collect();
        names.extend(Changing::ALL.iter().map(|name| name.text()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
    }
}
