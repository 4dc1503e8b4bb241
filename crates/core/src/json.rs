//! JSON that is kept as it came: payloads, results, checkpoints.

use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The name under which `serde_json` recognises text to be written as it is.
///
/// `RawValue` itself can only be built by parsing its text again, and a payload is parsed once, when
/// it comes in. A test below fails should the name ever change.
const RAW: &str = "$serde_json::private::RawValue";

/// A JSON value as text, checked once when it came in and never parsed again. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// The JSON `null`.
    pub fn null() -> Self {
        Self(Arc::from("null"))
    }

    /// Writes a value as JSON.
    ///
    /// # Panics
    /// Never for the types of this crate: their maps have string keys.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        let text = serde_json::to_string(value).expect("records have string keys only");
        Self(Arc::from(text))
    }

    /// Parses a text that must be one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// A text that was one JSON value when it was stored: it is not parsed again.
    pub fn stored(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Length of the text in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never true: the shortest JSON value has one character.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Default for RawJson {
    fn default() -> Self {
        Self::null()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_str(&self.0);
        }
        let mut raw = serializer.serialize_struct(RAW, 1)?;
        raw.serialize_field(RAW, &*self.0)?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(Self(Arc::from(<&str>::deserialize(deserializer)?)));
        }
        let text: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        Ok(Self(Arc::from(text)))
    }
}

/// The members of a JSON object in their order, each value as it is written.
#[derive(Debug)]
pub(crate) struct Members(pub(crate) Vec<(String, RawJson)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Whether brackets nest deeper than allowed. One pass over the bytes; says nothing about whether
/// they are JSON.
pub fn is_deeper_than(json: &[u8], depth_max: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                bytes.next();
            }
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > depth_max {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_in_and_out_unchanged() {
        #[derive(Serialize, Deserialize)]
        struct Outer {
            payload: RawJson,
        }
        let text = r#"{"payload":{"b":1e400, "a":12345678901234567890.10}}"#;
        let outer: Outer = serde_json::from_str(text).unwrap();
        assert_eq!(outer.payload.as_str(), r#"{"b":1e400, "a":12345678901234567890.10}"#);
        assert_eq!(serde_json::to_string(&outer).unwrap(), text);
        let packed = postcard::to_stdvec(&outer).unwrap();
        let back: Outer = postcard::from_bytes(&packed).unwrap();
        assert_eq!(back.payload, outer.payload);
    }

    #[test]
    fn depth_is_counted_outside_strings() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_deeper_than(nested(128).as_bytes(), 128));
        assert!(is_deeper_than(nested(129).as_bytes(), 128));
        assert!(!is_deeper_than(br#"{"a":"[[[[\"[[[[","b":[]}"#, 2));
        assert!(!is_deeper_than(&b"[]".repeat(1_000), 1));
        assert!(!is_deeper_than(b"]]]]\"", 1));
    }
}
