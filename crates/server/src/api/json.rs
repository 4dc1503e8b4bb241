//! Reading JSON: what is not JSON is `bad_json`, what is JSON but wrong is `invalid` and names its
//! field.

use std::fmt;

use punctual_core::json::is_deeper_than;
use punctual_core::limits::{BATCH_ITEMS_MAX, JSON_DEPTH_MAX};
use punctual_core::{Invalid, RawJson, TaskId};
use serde::de::{DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Problem;
use crate::code::Code;
use crate::engine::{Failure, ItemId};

/// Most bytes of the client's own words in an answer.
const ECHO_BYTES_MAX: usize = 400;

/// A body as any JSON value; `{}` if it is empty.
pub(crate) fn any(bytes: &[u8]) -> Result<RawJson, Problem> {
    RawJson::parse(text(bytes)?).map_err(not_json)
}

/// A body as a text that is not too deep, `{}` if it is empty.
fn text(bytes: &[u8]) -> Result<&str, Problem> {
    let bad = |detail: &'static str| Problem::new(Code::BadJson, detail);
    let text = std::str::from_utf8(bytes).map_err(|_| bad("the body is not UTF-8"))?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return Ok("{}");
    }
    if is_deeper_than(text.as_bytes(), JSON_DEPTH_MAX) {
        return Err(bad("the body is nested more than 128 levels deep"));
    }
    Ok(text)
}

/// A body as a JSON text that is an object; `{}` if it is empty.
pub(crate) fn object(bytes: &[u8]) -> Result<&str, Problem> {
    let text = text(bytes)?;
    if !text.starts_with('{') {
        serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
        return Err(Failure::invalid("body", "a JSON object").into());
    }
    Ok(text)
}

/// A JSON object as a value.
pub(crate) fn read<'a, T: Deserialize<'a>>(object: &'a str) -> Result<T, Problem> {
    let error = match serde_json::from_str(object) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // A number out of range counts as a mistake in the text, although it is none.
    if !error.is_data()
        && let Err(error) = serde_json::from_str::<&RawValue>(object)
    {
        return Err(not_json(error));
    }
    Err(Failure::Refused(explain::<T>(object, &error).into()).into())
}

/// A JSON object as a value, with the members left out that can be read and not be set: what was read
/// can be written back.
pub(crate) fn read_back<T: DeserializeOwned>(
    object: &str,
    read_only: &[&str],
) -> Result<T, Problem> {
    if let Ok(value) = serde_json::from_str(object) {
        return Ok(value);
    }
    let Ok(Members(members)) = serde_json::from_str(object) else { return read(object) };
    let left = members.iter().filter(|(name, _)| !read_only.contains(&name.as_str()));
    let left = left.map(|(name, value)| format!("{}:{}", RawJson::of(name).as_str(), value.get()));
    let left: Vec<String> = left.collect();
    read(&format!("{{{}}}", left.join(",")))
}

/// The members of an object in their order, also those that are there twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Pairs).map(Members)
    }
}

/// An item of a batch as a value. If it is none: why, and the id it has all the same.
pub(crate) fn read_item<'a, T: Deserialize<'a>>(
    item: &'a RawValue,
) -> Result<T, (Option<ItemId>, Failure)> {
    let json = item.get();
    if !json.starts_with('{') {
        return Err((None, Failure::invalid("tasks", "every item a JSON object")));
    }
    serde_json::from_str(json).map_err(|error| {
        #[derive(Deserialize)]
        struct Named {
            id: String,
        }
        let id = serde_json::from_str(json).ok().map(|Named { id }| match TaskId::parse(&id) {
            Ok(id) => ItemId::Task(id),
            Err(_) => ItemId::Text(shortened(id)),
        });
        (id, Failure::Refused(explain::<T>(json, &error).into()))
    })
}

fn not_json(error: serde_json::Error) -> Problem {
    Problem::new(Code::BadJson, format!("the body is not JSON: {error}"))
}

/// Names the field at fault. Reads the text a second time, which only an error pays for.
fn explain<'a, T: Deserialize<'a>>(json: &'a str, error: &serde_json::Error) -> Invalid {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) => error.path().to_string(),
        Ok(_) => String::new(),
    };
    let rule = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let rule = in_words(rule.strip_suffix(&place).unwrap_or(&rule));
    let nowhere = path.is_empty() || path == "." || path == "?";
    Invalid::new(if nowhere { "body".to_owned() } else { shortened(path) }, shortened(rule))
}

/// A text of the client's, cut where it says no more to a reader.
pub(crate) fn shortened(mut text: String) -> String {
    if text.len() > ECHO_BYTES_MAX {
        text.truncate(text.floor_char_boundary(ECHO_BYTES_MAX));
        text.push('…');
    }
    text
}

/// What a parser says, without the names of its types.
pub(crate) fn in_words(rule: &str) -> String {
    let mut rule = rule.replace('`', "");
    for kind in ["i32", "u32", "u64", "usize"] {
        rule = rule.replace(&format!("expected {kind}"), "expected a whole number");
    }
    rule.replace("expected f64", "expected a number")
}

/// The items of a batch, each as its text. Stops at the first that is too many.
#[derive(Debug)]
pub(crate) struct Items<'a>(pub(crate) Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounded;
        impl<'de> Visitor<'de> for Bounded {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of at most 10000 items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if items.len() == BATCH_ITEMS_MAX {
                        return Err(serde::de::Error::invalid_length(items.len() + 1, &self));
                    }
                    items.push(item);
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(Bounded).map(Items)
    }
}

/// The body of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch<'a> {
    /// Its items.
    #[serde(borrow)]
    pub(crate) tasks: Items<'a>,
}

/// Whether an object is a batch: that has one member only, so it comes first.
pub(crate) fn is_batch(object: &str) -> bool {
    let rest = object.strip_prefix('{').unwrap_or_default();
    rest.trim_start_matches([' ', '\t', '\r', '\n']).starts_with("\"tasks\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_told_by_its_only_member() {
        for (body, batch) in [
            (r#"{"tasks":[]}"#, true),
            ("{ \n\"tasks\" : [] }", true),
            (r#"{"id":"a"}"#, false),
            (r#"{"tasksx":1}"#, false),
            ("{}", false),
        ] {
            assert_eq!(is_batch(body), batch, "{body}");
        }
    }
}
