//! Names of queues, workers and steps, ids of tasks, plans and flows.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Invalid;
use crate::limits::{NAME_BYTES_MAX, OWNER_ID_BYTES_MAX};

fn allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._:@~-".contains(&byte)
}

fn well_formed(text: &str, bytes_max: usize) -> bool {
    (1..=bytes_max).contains(&text.len()) && text.bytes().all(allowed)
}

fn rule(bytes_max: usize) -> String {
    format!("1 to {bytes_max} characters of A-Z a-z 0-9 . _ : @ ~ -")
}

/// Refuses `.` and `..` as something new: HTTP clients rewrite paths that contain them, and so reach
/// something else than they name.
pub(crate) fn check_dots(field: &'static str, text: &str) -> Result<(), Invalid> {
    if matches!(text, "." | "..") {
        return Err(Invalid::new(field, "not . or .., which HTTP clients rewrite in paths"));
    }
    Ok(())
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident, $field:literal, $bytes_max:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the text against the rule for names. Takes `.` and `..` too: records from before
            /// they were refused stay readable and removable.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                if well_formed(text, $bytes_max) {
                    Ok(Self(Arc::from(text)))
                } else {
                    Err(Invalid::new($field, rule($bytes_max)))
                }
            }

            /// Checks that something new may have this name: not `.` or `..`.
            pub fn check_new(&self) -> Result<(), Invalid> {
                check_dots($field, &self.0)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, shared with the name.
            pub fn shared(&self) -> Arc<str> {
                self.0.clone()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                Self::parse(&text).map_err(|invalid| serde::de::Error::custom(invalid.rule))
            }
        }
    )*};
}

names! {
    /// The name of a queue.
    QueueName, "queue", NAME_BYTES_MAX;
    /// The id of a task, unique in its queue.
    TaskId, "id", NAME_BYTES_MAX;
    /// The name of a worker.
    WorkerName, "worker", NAME_BYTES_MAX;
    /// The name of an access token.
    TokenName, "name", NAME_BYTES_MAX;
    /// The id of a plan. Short enough that the ids of its runs are ids of tasks.
    PlanId, "plan_id", OWNER_ID_BYTES_MAX;
    /// The id of a flow. Short enough that the ids of its steps' tasks are ids of tasks.
    FlowId, "id", OWNER_ID_BYTES_MAX;
    /// The name of a step of a flow, unique in it.
    StepName, "name", OWNER_ID_BYTES_MAX;
}

impl QueueName {
    /// The queues that always exist: mode http, not deletable.
    pub const BUILT_IN: [&str; 3] = ["notices", "bundles", "callbacks"];

    /// The queue of callbacks that call a URL.
    ///
    /// # Panics
    /// Never: the name follows the rule.
    pub fn callbacks() -> Self {
        Self::parse("callbacks").expect("a built-in name follows the rule")
    }

    /// The queue of bundles that are pushed to a URL.
    ///
    /// # Panics
    /// Never: the name follows the rule.
    pub fn bundles() -> Self {
        Self::parse("bundles").expect("a built-in name follows the rule")
    }

    /// The queue of notices.
    ///
    /// # Panics
    /// Never: the name follows the rule.
    pub fn notices() -> Self {
        Self::parse("notices").expect("a built-in name follows the rule")
    }

    /// Whether the queue always exists.
    pub fn is_built_in(&self) -> bool {
        Self::BUILT_IN.contains(&self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["a", "A.b_c:d@e~f-9", &"x".repeat(200)] {
            assert!(QueueName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "a/b", "é", "a\n", "*", &"x".repeat(201)] {
            assert_eq!(TaskId::parse(bad).unwrap_err().field, "id", "{bad}");
        }
    }

    #[test]
    fn dots_name_nothing_new_but_what_is_stored_can_be_read() {
        for dots in [".", ".."] {
            let id = TaskId::parse(dots).unwrap();
            assert_eq!(id.check_new().unwrap_err().field, "id", "{dots}");
            assert_eq!(QueueName::parse(dots).unwrap().check_new().unwrap_err().field, "queue");
        }
        for fine in ["...", ".a", "a..b", "-"] {
            assert_eq!(TaskId::parse(fine).unwrap().check_new(), Ok(()), "{fine}");
        }
    }
}
