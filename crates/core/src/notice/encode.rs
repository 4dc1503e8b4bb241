//! How the data of a notice is written into its request.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::RawValue;
use url::form_urlencoded;

use super::{ContentType, xml};
use crate::error::{Invalid, Refusal, check_size};
use crate::http::{Content, Method, TargetUrl};
use crate::json::{Members, RawJson};
use crate::limits::PAYLOAD_BYTES_MAX;

/// Characters that must be escaped in a query string or a form.
const UNSAFE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');

/// Data on its way into a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Encoded {
    /// In the query string; perhaps nothing.
    Query(String),
    /// In the body, and its type.
    Body(Content, &'static str),
}

impl Encoded {
    /// Checks that it fits into a request to a URL.
    pub(super) fn check(&self, url: Option<&str>) -> Result<(), Refusal> {
        match self {
            Self::Query(query) => {
                let url = TargetUrl::parse("url", url.unwrap_or_default())?;
                let rule = "short enough for a URL of 8 KiB; post has no such limit";
                let fits = url.with_query(query).is_some();
                if fits { Ok(()) } else { Err(Invalid::new("data", rule).into()) }
            }
            Self::Body(content, _) => {
                check_size("data", content.as_bytes().len(), PAYLOAD_BYTES_MAX)
            }
        }
    }
}

impl ContentType {
    /// Writes data for a method.
    pub(crate) fn encode(self, method: Method, data: &RawJson) -> Result<Encoded, Refusal> {
        let in_query = method == Method::Get;
        Ok(match self {
            Self::Form => {
                let text = form(data)?;
                match in_query {
                    true => Encoded::Query(text),
                    false => {
                        Encoded::Body(Content::Text(text), "application/x-www-form-urlencoded")
                    }
                }
            }
            Self::Json => {
                let json = held_json(data)?;
                match in_query {
                    true => Encoded::Query(query_of(&json)?),
                    false => Encoded::Body(Content::Json(json), "application/json"),
                }
            }
            Self::Xml => Encoded::Body(Content::Text(xml::write(data)?), "application/xml"),
        })
    }

    /// Returns the parsed data, or the data itself if it cannot be parsed.
    pub(super) fn understand(self, data: &RawJson) -> RawJson {
        let understood = match self {
            Self::Form => text(data).map(|form| RawJson::of(&parsed(&form))),
            Self::Json => held_json(data).ok(),
            Self::Xml => xml::write(data).ok().map(|text| RawJson::of(&text)),
        };
        understood.unwrap_or_else(|| data.clone())
    }
}

/// The text, if the value is one.
pub(super) fn text(data: &RawJson) -> Option<String> {
    serde_json::from_str(data.as_str()).ok()
}

/// A form: a text as it was given, or names and values.
fn form(data: &RawJson) -> Result<String, Invalid> {
    if let Some(given) = text(data) {
        return Ok(utf8_percent_encode(&given, UNSAFE).to_string());
    }
    match data.as_str() {
        "null" => Ok(String::new()),
        _ => pairs(data).ok_or_else(|| Invalid::new("data", "a text like a=1&b=2, or an object")),
    }
}

/// JSON: a value, or the value that a text holds.
fn held_json(data: &RawJson) -> Result<RawJson, Invalid> {
    let Some(text) = text(data) else { return Ok(data.clone()) };
    RawJson::parse(&text)
        .map_err(|_| Invalid::new("data", "a JSON value, or a text that holds one"))
}

fn query_of(json: &RawJson) -> Result<String, Invalid> {
    match json.as_str() {
        "null" => Ok(String::new()),
        _ => {
            let rule = "an object; its members become the query string";
            pairs(json).ok_or_else(|| Invalid::new("data", rule))
        }
    }
}

/// The members of an object as names and values: a list is a name again and again, what is `null` is
/// left out, what is nested further is written as JSON. None: it is no object.
fn pairs(object: &RawJson) -> Option<String> {
    let Members(members) = serde_json::from_str(object.as_str()).ok()?;
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &members {
        match serde_json::from_str::<Vec<&RawValue>>(value.as_str()) {
            Ok(items) => {
                for item in items.into_iter().filter_map(|item| plain(item.get())) {
                    form.append_pair(name, &item);
                }
            }
            Err(_) => {
                if let Some(value) = plain(value.as_str()) {
                    form.append_pair(name, &value);
                }
            }
        }
    }
    Some(form.finish())
}

/// A value as a text: a text without its quotes, the rest as it is written. None: it is `null`.
pub(super) fn plain(json: &str) -> Option<String> {
    match json {
        "null" => None,
        _ => Some(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())),
    }
}

/// A value of a form, or several under one name.
#[derive(Serialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Many(Vec<String>),
}

/// The names and values of a form.
fn parsed(form: &str) -> std::collections::BTreeMap<String, Values> {
    let mut all = std::collections::BTreeMap::new();
    for (name, value) in form_urlencoded::parse(form.as_bytes()) {
        let value = value.into_owned();
        match all.remove(&*name) {
            None => all.insert(name.into_owned(), Values::One(value)),
            Some(Values::One(first)) => {
                all.insert(name.into_owned(), Values::Many(vec![first, value]))
            }
            Some(Values::Many(mut many)) => {
                many.push(value);
                all.insert(name.into_owned(), Values::Many(many))
            }
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn written(kind: ContentType, method: Method, data: &str) -> Result<(String, String), String> {
        match kind.encode(method, &json(data)) {
            Ok(Encoded::Query(query)) => Ok((query, String::new())),
            Ok(Encoded::Body(content, kind)) => {
                Ok((String::from_utf8(content.as_bytes().to_vec()).unwrap(), kind.to_owned()))
            }
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    #[test]
    fn every_kind_of_data_is_written_for_every_method() {
        use ContentType::{Form, Json, Xml};
        use Method::{Get, Post};
        for (kind, method, data, expected) in [
            (Form, Post, r#""a=1&b=2""#, "a=1&b=2"),
            (Form, Post, r#""a=%20+x&b=""#, "a=%20+x&b="),
            (Form, Post, r#""a=x y&b=é\n#<\"""#, "a=x%20y&b=%C3%A9%0A%23%3C%22"),
            (Form, Post, r#"{"b":"x y&=é","a":1,"c":true}"#, "b=x+y%26%3D%C3%A9&a=1&c=true"),
            (
                Form,
                Post,
                r#"{"a":[1,"2",null],"b":null,"c":{"d": 1}}"#,
                "a=1&a=2&c=%7B%22d%22%3A+1%7D",
            ),
            (Form, Post, r#"{"a":12345678901234567890.10}"#, "a=12345678901234567890.10"),
            (Form, Post, "null", ""),
            (Form, Post, "{}", ""),
            (Form, Get, r#""a=1&b=2""#, "a=1&b=2"),
            (Form, Get, r#"{"a":1,"b":"ü"}"#, "a=1&b=%C3%BC"),
            (Form, Get, "null", ""),
            (Json, Post, r#"{"b": 1, "a": 1e400}"#, r#"{"b": 1, "a": 1e400}"#),
            (Json, Post, r#""{\"a\": 1}""#, r#"{"a": 1}"#),
            (Json, Post, r#"" [1, 2] ""#, "[1, 2]"),
            (Json, Post, "7", "7"),
            (Json, Post, "null", "null"),
            (Json, Get, r#"{"b":"x y","a":[1,2]}"#, "b=x+y&a=1&a=2"),
            (Json, Get, r#""{\"a\": 1}""#, "a=1"),
            (Json, Get, "null", ""),
            (Xml, Post, r#""<a>1</a>""#, "<a>1</a>"),
            (Xml, Post, r#"{"a":{"b":1}}"#, "<a><b>1</b></a>"),
        ] {
            let (text, content_type) = written(kind, method, data).unwrap();
            assert_eq!(text, expected, "{kind:?} {method:?} {data}");
            let expected = match (kind, method) {
                (_, Get) => "",
                (Form, _) => "application/x-www-form-urlencoded",
                (Json, _) => "application/json",
                (Xml, _) => "application/xml",
            };
            assert_eq!(content_type, expected);
        }
        for (kind, method, data) in [
            (Form, Post, "7"),
            (Form, Post, "[1]"),
            (Form, Get, "true"),
            (Json, Post, r#""hello""#),
            (Json, Post, r#""{""#),
            (Json, Post, r#""""#),
            (Json, Get, "[1]"),
            (Json, Get, r#""[1]""#),
            (Xml, Post, r#""<a>""#),
            (Xml, Post, "null"),
        ] {
            let refusal = written(kind, method, data).unwrap_err();
            assert!(refusal.starts_with("data: "), "{data}: {refusal}");
        }
    }

    #[test]
    fn data_reads_as_it_was_understood() {
        use ContentType::{Form, Json, Xml};
        for (kind, data, expected) in [
            (Form, r#""a=1&b=x+y&b=%C3%A9""#, r#"{"a":"1","b":["x y","é"]}"#),
            (Form, r#"{"a":1}"#, r#"{"a":1}"#),
            (Form, "null", "null"),
            (Json, r#""{\"a\": 1}""#, r#"{"a": 1}"#),
            (Json, "[1]", "[1]"),
            (Xml, r#""<a/>""#, r#""<a/>""#),
            (Xml, r#"{"a":1}"#, r#""<a>1</a>""#),
        ] {
            assert_eq!(kind.understand(&json(data)).as_str(), expected, "{data}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_form_reads_back(
            pairs in proptest::collection::btree_map(".{1,6}", ".{0,6}", 0..5),
        ) {
            let form = form(&RawJson::of(&pairs)).unwrap();
            let read: std::collections::BTreeMap<String, String> =
                form_urlencoded::parse(form.as_bytes()).into_owned().collect();
            proptest::prop_assert_eq!(&read, &pairs);
            // And so it does from the query string of a URL, also where a text was given.
            let url = TargetUrl::parse("url", "http://x/?own=1").unwrap();
            let text = self::form(&RawJson::of(&form)).unwrap();
            proptest::prop_assert_eq!(&text, &form);
            let url = url.with_query(&text).unwrap();
            let url = url::Url::parse(url.as_str()).unwrap();
            let read: Vec<(String, String)> = url.query_pairs().into_owned().skip(1).collect();
            proptest::prop_assert_eq!(read, pairs.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_query_must_fit_into_a_url() {
        let long = RawJson::of(&"x".repeat(8 << 10));
        let encoded = ContentType::Form.encode(Method::Get, &long).unwrap();
        let refusal = encoded.check(Some("http://example.com/")).unwrap_err().to_string();
        assert!(refusal.starts_with("data: "), "{refusal}");
        let encoded = ContentType::Form.encode(Method::Post, &long).unwrap();
        assert_eq!(encoded.check(Some("http://example.com/")), Ok(()));
    }
}
