//! Which statuses of an answer count as success.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

const RULE: &str = "a status like 204, a class like \"2xx\", or a list of these";
const LIST_MAX: usize = 32;

/// Codes like `204` and classes like `2xx`, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Statuses(String);

impl Statuses {
    /// Whether a status is one of them.
    pub fn contains(&self, status: u16) -> bool {
        self.0.split(',').any(|item| match item.strip_suffix("xx") {
            Some(class) => class.parse() == Ok(status / 100),
            None => item.parse() == Ok(status),
        })
    }

    /// Reads one code or class, or several separated by commas.
    fn parse(text: &str) -> Option<Self> {
        let items: Vec<String> =
            text.split(',').map(|item| item.trim().to_ascii_lowercase()).collect();
        let is_item = |item: &String| {
            let digits = item.strip_suffix("xx").unwrap_or(item);
            let length = if digits.len() == item.len() { 3 } else { 1 };
            digits.len() == length
                && digits.bytes().all(|b| b.is_ascii_digit())
                && matches!(digits.as_bytes()[0], b'1'..=b'5')
        };
        let is_good = items.len() <= LIST_MAX && items.iter().all(is_item);
        is_good.then(|| Self(items.join(",")))
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(RULE)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }

            fn visit_u64<E: Error>(self, code: u64) -> Result<String, E> {
                Ok(code.to_string())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
                let mut all = Vec::new();
                while let Some(Statuses(item)) = items.next_element()? {
                    if all.len() == LIST_MAX {
                        return Err(A::Error::custom(RULE));
                    }
                    all.push(item);
                }
                Ok(all.join(","))
            }
        }
        if !deserializer.is_human_readable() {
            return String::deserialize(deserializer).map(Self);
        }
        let text = deserializer.deserialize_any(OneOrMany)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(RULE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_classes_are_told_apart() {
        for (json, yes, no) in [
            (r#""2xx""#, vec![200, 204, 299], vec![199, 300, 500]),
            (r#""204""#, vec![204], vec![200, 205]),
            ("404", vec![404], vec![400]),
            (r#"["2xx", 304, "410"]"#, vec![201, 304, 410], vec![301, 404]),
            (r#""2XX, 304""#, vec![200, 304], vec![305]),
        ] {
            let statuses: Statuses = serde_json::from_str(json).unwrap();
            assert!(yes.into_iter().all(|status| statuses.contains(status)), "{json}");
            assert!(!no.into_iter().any(|status| statuses.contains(status)), "{json}");
        }
        for bad in [
            r#""""#,
            r#""ok""#,
            r#""20x""#,
            r#""2x""#,
            "600",
            "99",
            "-200",
            "200.5",
            "[]",
            "[[]]",
            r#""0xx""#,
            r#""2xx,""#,
            "true",
            "null",
            "{}",
            "2000",
        ] {
            assert!(serde_json::from_str::<Statuses>(bad).is_err(), "{bad}");
        }
    }
}
