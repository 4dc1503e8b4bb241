//! XML: a text that must be well formed, or a JSON object that is written as elements.

use std::collections::HashSet;

use quick_xml::escape::{partial_escape, resolve_predefined_entity, unescape_with};
use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer, XmlVersion};
use serde_json::value::RawValue;

use super::encode::{plain, text};
use crate::error::Invalid;
use crate::json::{Members, RawJson};

/// The element around several members.
const ROOT: &str = "xml";

/// Writes data as XML.
pub(super) fn write(data: &RawJson) -> Result<String, Invalid> {
    let refused = |reason: String| Invalid::new("data", format!("well-formed XML; {reason}"));
    if let Some(text) = text(data) {
        check(&text).map_err(refused)?;
        return Ok(text);
    }
    let Ok(Members(members)) = serde_json::from_str(data.as_str()) else {
        return Err(Invalid::new("data", "an XML text, or an object to be written as XML"));
    };
    let mut out = Writer::new(Vec::new());
    let written = match &members[..] {
        // A single member is the root, unless it is several.
        [(name, value)] if !value.as_str().starts_with('[') => {
            element(&mut out, name, value.as_str())
        }
        _ => element(&mut out, ROOT, data.as_str()),
    };
    written.map_err(refused)?;
    String::from_utf8(out.into_inner()).map_err(|error| refused(error.to_string()))
}

/// Writes a value as an element: members become elements inside, a list is an element again and
/// again, `null` is an empty one.
fn element(out: &mut Writer<Vec<u8>>, name: &str, json: &str) -> Result<(), String> {
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
        return items.into_iter().try_for_each(|item| match item.get() {
            list if list.starts_with('[') => Err(format!("{name:?} is a list in a list")),
            json => element(out, name, json),
        });
    }
    if !is_name(name) {
        return Err(format!("{name:?} is no name of an element"));
    }
    let tag = BytesStart::new(name);
    let Some(value) = plain(json) else { return put(out, Event::Empty(tag)) };
    put(out, Event::Start(tag.borrow()))?;
    match serde_json::from_str(json) {
        Ok(Members(members)) => {
            for (name, value) in &members {
                element(out, name, value.as_str())?;
            }
        }
        Err(_) => {
            check_characters(&value)?;
            put(out, Event::Text(BytesText::from_escaped(partial_escape(&*value))))?;
        }
    }
    put(out, Event::End(tag.to_end()))
}

fn put(out: &mut Writer<Vec<u8>>, event: Event<'_>) -> Result<(), String> {
    out.write_event(event).map_err(|error| error.to_string())
}

/// Says what keeps a text from being one well-formed document.
fn check(text: &str) -> Result<(), String> {
    check_characters(text)?;
    let mut reader = Reader::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
    reader.config_mut().enable_all_checks(true);
    let (mut depth, mut roots, mut knows_entities, mut is_first) = (0_usize, 0, false, true);
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Eof if depth > 0 => return Err("an element is not closed".to_owned()),
            Event::Eof if roots != 1 => return Err("there is no element".to_owned()),
            Event::Eof => return Ok(()),
            event @ (Event::Start(_) | Event::Empty(_)) => {
                roots += usize::from(depth == 0);
                depth += usize::from(matches!(event, Event::Start(_)));
                if roots > 1 {
                    return Err("there is more than one outermost element".to_owned());
                }
                if let Event::Start(tag) | Event::Empty(tag) = event {
                    check_tag(&tag, knows_entities)?;
                }
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) if depth == 0 && !text.trim_ascii().is_empty() => {
                return Err("there is text outside of elements".to_owned());
            }
            Event::Text(text) if text.contains("]]>") => {
                return Err("]]> stands outside of CDATA".to_owned());
            }
            Event::CData(_) | Event::GeneralRef(_) if depth == 0 => {
                return Err("there is text outside of elements".to_owned());
            }
            Event::GeneralRef(entity) => check_entity(&entity, knows_entities)?,
            Event::Decl(declaration) if is_first => {
                declaration.version().map_err(|error| error.to_string())?;
            }
            Event::Decl(_) => return Err("its declaration does not come first".to_owned()),
            Event::DocType(_) if roots > 0 || knows_entities => {
                return Err("its document type does not come before its element".to_owned());
            }
            // Entities that it declares are the receiver's business.
            Event::DocType(_) => knows_entities = true,
            Event::PI(instruction) if !is_name(instruction.target()) => {
                return Err("a processing instruction has no name".to_owned());
            }
            Event::PI(_) | Event::Text(_) | Event::CData(_) | Event::Comment(_) => {}
        }
        is_first = false;
    }
}

fn check_tag(tag: &BytesStart<'_>, knows_entities: bool) -> Result<(), String> {
    let name = tag.name();
    if !is_name(name.as_ref()) {
        return Err(format!("{:?} is no name of an element", name.as_ref()));
    }
    // The reader would compare each attribute with all before it, and there may be many.
    let mut names = HashSet::new();
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let (name, value) = (attribute.key.as_ref(), &attribute.value);
        if !names.insert(attribute.key) {
            return Err(format!("the attribute {name} is there twice"));
        }
        if !is_name(name) {
            return Err(format!("{name:?} is no name of an attribute"));
        }
        if value.contains('<') {
            return Err(format!("the value of {name} has a <"));
        }
        unescape_with(value, |entity| {
            resolve_predefined_entity(entity).or(knows_entities.then_some(""))
        })
        .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn check_entity(
    entity: &quick_xml::events::BytesRef<'_>,
    knows_entities: bool,
) -> Result<(), String> {
    if entity.is_char_ref() {
        let character = entity.resolve_char_ref().map_err(|error| error.to_string())?;
        return check_characters(character.map(String::from).as_deref().unwrap_or_default());
    }
    let name = entity.xml_content(XmlVersion::Implicit1_0);
    if resolve_predefined_entity(&name).is_some() || (knows_entities && is_name(&name)) {
        return Ok(());
    }
    Err(format!("the entity {name:?} is not known"))
}

/// Refuses characters that no XML document may have.
fn check_characters(text: &str) -> Result<(), String> {
    let is_bad = |c: &char| match c {
        '\t' | '\n' | '\r' => false,
        c => *c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}'),
    };
    match text.chars().find(is_bad) {
        Some(c) => Err(format!("{c:?} is no character of it")),
        None => Ok(()),
    }
}

/// Whether a text can be the name of an element or attribute.
fn is_name(text: &str) -> bool {
    let starts = |c: char| c.is_alphabetic() || c == '_' || c == ':';
    let goes_on = |c: char| starts(c) || c.is_alphanumeric() || matches!(c, '-' | '.' | '\u{b7}');
    text.starts_with(starts) && text.chars().all(goes_on)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(json: &str) -> Result<String, Invalid> {
        write(&RawJson::parse(json).unwrap())
    }

    #[test]
    fn only_well_formed_texts_are_sent() {
        for good in [
            "<a/>",
            "<a></a>",
            " <a>text</a>\n",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x='1' y=\"2\"><b/><!-- c --></a>",
            "<a><![CDATA[<&]]></a>",
            "<a>&lt;&amp;&#65;&#x4e2d;</a>",
            "<ns:a xmlns:ns='urn:x'>é中</ns:a>",
            "<!DOCTYPE a [<!ENTITY e 'x'>]><a b='&e;'>&e;</a>",
            "<a/><!-- after --><?pi data?>",
            "\u{feff}<a/>",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "</a>",
            "<a><b></a></b>",
            "<a/><b/>",
            "<a/>text",
            "text<a/>",
            "<a x=1/>",
            "<a x='1' x='2'/>",
            "<a x='<'/>",
            "<a x='&nbsp;'/>",
            "<a>&nbsp;</a>",
            "<a>&</a>",
            "<a>&#0;</a>",
            "<a>]]></a>",
            "<a><!-- -- --></a>",
            "<1a/>",
            "<a b c='1'/>",
            "<a>\u{1}</a>",
            " <?xml version='1.0'?><a/>",
            "<a/><!DOCTYPE a>",
            "&lt;<a/>",
            "<a",
            "<a><![CDATA[x</a>",
            "{\"a\":1}",
        ] {
            assert!(check(bad).is_err(), "{bad}");
            let refusal = written(RawJson::of(bad).as_str()).unwrap_err();
            assert_eq!(refusal.field, "data");
        }
    }

    #[test]
    fn objects_are_written_as_elements() {
        for (json, expected) in [
            (r#"{"a":1}"#, "<a>1</a>"),
            (
                r#"{"order":{"id":"x<&>","lines":[{"n":1},{"n":2}]}}"#,
                "<order><id>x&lt;&amp;&gt;</id><lines><n>1</n></lines><lines><n>2</n></lines></order>",
            ),
            (r#"{"b":true,"a":null}"#, "<xml><b>true</b><a/></xml>"),
            (r#"{"a":[1,2]}"#, "<xml><a>1</a><a>2</a></xml>"),
            (r#"{}"#, "<xml></xml>"),
            (r#"{"a":"中\n"}"#, "<a>中\n</a>"),
            (r#"{"a":[]}"#, "<xml></xml>"),
        ] {
            let text = written(json).unwrap();
            assert_eq!(text, expected, "{json}");
            assert_eq!(check(&text), Ok(()), "{json}");
        }
        for bad in [
            r#"{"a b":1}"#,
            r#"{"":1}"#,
            r#"{"a":{"1":2}}"#,
            r#"{"a":"\u0001"}"#,
            "[1]",
            "7",
            r#"{"a":[[1]]}"#,
        ] {
            assert_eq!(written(bad).unwrap_err().field, "data", "{bad}");
        }
    }

    /// Any JSON with names that elements may have.
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[ -~é中<>&'\"]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::btree_map("[a-z_é][a-z0-9.-]{0,4}", inner.clone(), 0..4)
                    .prop_map(|members| members.into_iter().collect()),
                proptest::collection::vec(inner, 0..3).prop_map(Into::into),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_well_formed(
            members in proptest::collection::btree_map("[a-z]{1,3}", json(), 0..4),
        ) {
            if let Ok(text) = write(&RawJson::of(&members)) {
                prop_assert_eq!(check(&text), Ok(()), "{}", text);
            }
        }

        #[test]
        fn any_text_is_well_formed_or_refused(text in "(<?/?[a-z!?&;#\\[\\]='\"-]{0,3}>?){0,12}") {
            if check(&text).is_ok() {
                prop_assert!(text.contains('<'), "{}", text);
            }
        }
    }
}
