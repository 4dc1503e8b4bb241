//! Formats of packed records: which fields each has, and how records of older formats are read.
//!
//! A packed record is the values of its fields in the order of the struct, without names. A field that
//! came later is not there in older records, so its place must be known. [`ADDED`] has one line for each;
//! that and the field itself are all that a new field needs. It may stand anywhere in its struct, and the
//! struct anywhere in a record, but it must be an `Option` or a list.
//!
//! A record of the current format is read by postcard alone, so older ones cost nothing on the hot path.
//! Whatever is written is of the current format: an old record is rewritten when it changes.

mod older;

use serde::{Deserialize, Serialize};

/// The first format: that of release 0.1.
const FIRST: u8 = 1;
/// The format this version writes.
pub(crate) const CURRENT: u8 = 2;
/// The first byte of a packed record that says its format. No record of the first format begins with it:
/// each begins with a short length, or the number of a variant.
const MARK: u8 = 0xff;

/// A field that older formats lack.
#[derive(Debug)]
struct Added {
    record: &'static str,
    field: &'static str,
    /// The first format that has it.
    since: u8,
}

/// The fields that records of a format lack.
#[derive(Debug, Clone, Copy)]
struct Missing {
    format: u8,
    added: &'static [Added],
}

impl Missing {
    /// Which fields of a struct are not there: one bit each, the first the lowest.
    fn of(self, record: &str, fields: &[&str]) -> u64 {
        let is_missing = |field: &str| {
            let mut added = self.added.iter();
            added.any(|it| it.record == record && it.field == field && it.since > self.format)
        };
        fields
            .iter()
            .enumerate()
            .fold(0, |bits, (n, field)| bits | u64::from(is_missing(field)) << n)
    }
}

/// Every field that came after the first format.
const ADDED: &[Added] = &[
    Added { record: "Spec", field: "max_runtime", since: 2 },
    Added { record: "NewTask", field: "max_runtime", since: 2 },
    Added { record: "TaskRow", field: "max_runtime", since: 2 },
    Added { record: "Settings", field: "max_runtime", since: 2 },
    Added { record: "Settings", field: "made_by", since: 2 },
    Added { record: "Ballot", field: "max_runtime", since: 2 },
    Added { record: "Ballot", field: "started", since: 2 },
    Added { record: "Order", field: "on_error", since: 2 },
    Added { record: "Plan", field: "failures", since: 2 },
    Added { record: "Plan", field: "asked", since: 2 },
    Added { record: "FlowStep", field: "task", since: 2 },
];

/// A record that cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FormatError {
    #[error("its format {0} is newer than this version's {CURRENT}; use a newer punctual")]
    Newer(u8),
    #[error(transparent)]
    Malformed(#[from] postcard::Error),
}

/// Fails if this version cannot read a format.
pub(crate) fn check(format: u8) -> Result<(), FormatError> {
    match format {
        FIRST..=CURRENT => Ok(()),
        newer => Err(FormatError::Newer(newer)),
    }
}

/// Unpacks a record of a format.
pub(crate) fn unpack<'de, T: Deserialize<'de>>(
    format: u8,
    packed: &'de [u8],
) -> Result<T, FormatError> {
    if format == CURRENT {
        return Ok(postcard::from_bytes(packed)?);
    }
    check(format)?;
    Ok(older::unpack(Missing { format, added: ADDED }, packed)?)
}

/// Packs a record, and says in front which format it has.
pub(crate) fn marked<T: Serialize>(record: &T) -> Vec<u8> {
    postcard::to_extend(record, vec![MARK, CURRENT])
        .expect("a vector grows as needed and records have known lengths")
}

/// Unpacks a record that says its format, or of the first format, which did not.
pub(crate) fn unpack_marked<'de, T: Deserialize<'de>>(packed: &'de [u8]) -> Result<T, FormatError> {
    match packed {
        [MARK, format, packed @ ..] => unpack(*format, packed),
        packed => unpack(FIRST, packed),
    }
}

/// Whether a record that may say its format is of an older one.
pub(crate) fn is_older(packed: &[u8]) -> bool {
    !packed.starts_with(&[MARK, CURRENT])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Before<'a> {
        name: &'a str,
        kind: KindBefore,
        inner: Vec<Option<Box<InnerBefore>>>,
        by_name: BTreeMap<String, InnerBefore>,
        pair: (u8, InnerBefore),
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct InnerBefore {
        first: u64,
        last: Option<u8>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum KindBefore {
        Plain,
        Tuple(u8, InnerBefore),
        Struct { inner: InnerBefore },
        Newtype(InnerBefore),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Record<'a> {
        early: Option<String>,
        name: &'a str,
        kind: Kind,
        inner: Vec<Option<Box<Inner>>>,
        list: Vec<u32>,
        by_name: BTreeMap<String, Inner>,
        pair: (u8, Inner),
        late: Option<Inner>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Inner {
        first: u64,
        middle: Option<u64>,
        last: Option<u8>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Plain,
        Tuple(u8, Inner),
        Struct { inner: Inner },
        Newtype(Inner),
    }

    const ADDED: &[Added] = &[
        Added { record: "Record", field: "early", since: 2 },
        Added { record: "Record", field: "list", since: 2 },
        Added { record: "Record", field: "late", since: 3 },
        Added { record: "Inner", field: "middle", since: 2 },
    ];

    fn before(n: u64) -> InnerBefore {
        InnerBefore { first: n, last: Some(9) }
    }

    fn after(n: u64) -> Inner {
        Inner { first: n, middle: None, last: Some(9) }
    }

    #[test]
    fn an_older_record_reads_without_the_fields_it_lacks_wherever_they_are() {
        let kinds = [
            (KindBefore::Plain, Kind::Plain),
            (KindBefore::Tuple(1, before(2)), Kind::Tuple(1, after(2))),
            (KindBefore::Struct { inner: before(3) }, Kind::Struct { inner: after(3) }),
            (KindBefore::Newtype(before(4)), Kind::Newtype(after(4))),
        ];
        for (kind_before, kind) in kinds {
            let packed = postcard::to_stdvec(&Before {
                name: "a name",
                kind: kind_before,
                inner: vec![None, Some(Box::new(before(5)))],
                by_name: [("x".to_owned(), before(6))].into(),
                pair: (7, before(8)),
            });
            let packed = packed.unwrap();
            let expected = Record {
                early: None,
                name: "a name",
                kind,
                inner: vec![None, Some(Box::new(after(5)))],
                list: Vec::new(),
                by_name: [("x".to_owned(), after(6))].into(),
                pair: (7, after(8)),
                late: None,
            };
            let missing = Missing { format: 1, added: ADDED };
            assert_eq!(older::unpack::<Record<'_>>(missing, &packed).unwrap(), expected);
            let cut = &packed[..packed.len() - 1];
            assert!(older::unpack::<Record<'_>>(missing, cut).is_err(), "the end is missing");
        }
    }

    #[test]
    fn each_format_has_its_own_fields() {
        let full = Inner { first: 1, middle: Some(2), last: None };
        let packed = postcard::to_stdvec(&full).unwrap();
        let missing = Missing { format: 2, added: ADDED };
        assert_eq!(older::unpack::<Inner>(missing, &packed).unwrap(), full);
        assert_eq!(missing.of("Record", &["early", "name", "list", "late"]), 0b1000);
        assert_eq!(Missing { format: 1, added: ADDED }.of("Record", &["early", "name"]), 0b01);
    }

    #[test]
    fn a_record_says_its_format_or_is_of_the_first() {
        let record = ("a".to_owned(), 7_u32);
        assert_eq!(unpack_marked::<(String, u32)>(&marked(&record)).unwrap(), record);
        let first = postcard::to_stdvec(&record).unwrap();
        assert_eq!(unpack_marked::<(String, u32)>(&first).unwrap(), record);
        assert!(is_older(&first) && !is_older(&marked(&record)));
        let newer = [&[MARK, CURRENT + 1], &first[..]].concat();
        let refused = unpack_marked::<(String, u32)>(&newer).unwrap_err().to_string();
        assert!(refused.contains("format 3 is newer"), "{refused}");
    }
}
