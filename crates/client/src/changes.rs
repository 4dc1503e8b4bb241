//! The fields of a request by their names. In a merging request a field left out keeps its value, and
//! `null` resets it.

use std::collections::BTreeMap;

use punctual_core::RawJson;
use serde::{Deserialize, Serialize};

/// The fields to change, and their new values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Changes(BTreeMap<String, RawJson>);

impl Changes {
    /// A field and its new value; `null` resets it.
    pub(crate) fn set(mut self, field: &str, value: RawJson) -> Self {
        self.0.insert(field.to_owned(), value);
        self
    }

    /// Merges other fields into these; the others win.
    pub(crate) fn and(mut self, others: &Self) -> Self {
        self.0.extend(others.0.clone());
        self
    }
}
