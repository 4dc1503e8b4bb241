//! A field of a merging request: left out, `null`, or a value.

use serde::{Deserialize, Deserializer};

/// One field of a merging request. A field left out keeps its value, `null` resets it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Patch<T> {
    /// Left out: stays as it is.
    #[default]
    Keep,
    /// `null`: back to its default.
    Reset,
    /// A new value.
    Set(T),
}

impl<T> Patch<T> {
    /// The value after the patch.
    pub fn apply(self, current: T, default: T) -> T {
        match self {
            Self::Keep => current,
            Self::Reset => default,
            Self::Set(value) => value,
        }
    }

    /// The optional value after the patch; its default is none.
    pub fn apply_optional(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Reset => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Reset, Self::Set))
    }
}
