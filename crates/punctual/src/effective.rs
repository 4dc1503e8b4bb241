//! The settings that hold, and where each comes from, for `GET /v1/system/config`.
//!
//! The names are those of the flags of `serve`, and what nobody set is what the file of defaults says, so
//! that a new setting is told without being named here. What is secret is not told.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Context;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use punctual_server::{Setting, Source};
use serde_json::{Value, json};

use crate::config::DEFAULTS;

/// Settings that are secret as a whole.
const SECRET: [&str; 1] = ["tokens"];
const HIDDEN: &str = "***";

/// Every setting, as `serve` was called.
pub(crate) fn settings(
    command: &clap::Command,
    matches: &ArgMatches,
) -> anyhow::Result<Vec<Setting>> {
    let file = match matches.get_one::<PathBuf>("config") {
        Some(path) => table(&std::fs::read_to_string(path)?)?,
        None => Value::Null,
    };
    let defaults = table(&defaults())?;
    let flags = command.get_arguments().filter(|argument| argument.get_long() != Some("help"));
    Ok(flags.filter_map(|flag| setting(flag, matches, &file, &defaults)).collect())
}

fn setting(flag: &Arg, matches: &ArgMatches, file: &Value, defaults: &Value) -> Option<Setting> {
    let name = name(flag.get_long()?);
    let id = flag.get_id().as_str();
    let default = found(defaults, &name);
    let given = || {
        let texts = matches.get_raw(id).into_iter().flatten().map(OsStr::to_string_lossy);
        read(texts.map(Into::into).collect(), default)
    };
    let (value, source) = match matches.value_source(id) {
        Some(ValueSource::CommandLine) => (given(), Source::Flag),
        Some(ValueSource::EnvVariable) => (given(), Source::Environment),
        other => match found(file, &name) {
            Some(value) => (value.clone(), Source::File),
            None if other.is_some() => (given(), Source::Default),
            None => (default.cloned().unwrap_or_default(), Source::Default),
        },
    };
    let value = match value {
        Value::Null => Value::Null,
        _ if SECRET.contains(&&*name) => HIDDEN.into(),
        value => without_login(value),
    };
    Some(Setting { name, value, source })
}

/// The name in the file of what a flag sets.
fn name(flag: &str) -> String {
    let name = flag.replace('-', "_");
    match name.split_once('_') {
        Some((table @ ("notices" | "delivery"), rest)) => format!("{table}.{rest}"),
        _ => name,
    }
}

/// The file of defaults with what is commented out in it.
fn defaults() -> String {
    let line = |line: &'static str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest,
        _ => line,
    };
    DEFAULTS.lines().flat_map(|text| [line(text), "\n"]).collect()
}

fn table(toml: &str) -> anyhow::Result<Value> {
    let table: toml::Table = toml::from_str(toml)?;
    serde_json::to_value(table).context("the settings cannot be shown")
}

fn found<'a>(table: &'a Value, name: &str) -> Option<&'a Value> {
    name.split('.').try_fold(table, |table, part| table.get(part))
}

/// What a flag or variable says, as a value like the one it stands for.
fn read(mut texts: Vec<String>, default: Option<&Value>) -> Value {
    match default {
        Some(Value::Array(_)) => json!(texts),
        Some(Value::String(_)) => texts.pop().into(),
        _ => {
            let text = texts.join(",");
            let plain =
                text.parse().ok().filter(|value: &Value| value.is_number() || value.is_boolean());
            plain.unwrap_or_else(|| text.into())
        }
    }
}

/// A value without the user, password and parameters of a URL in it.
fn without_login(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let Some((scheme, rest)) = text.split_once("://") else { return value };
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let place = place
        .rsplit_once('@')
        .map_or_else(|| place.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    format!("{scheme}://{place}{path}{query}").into()
}

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::serve::Serve;

    fn told(args: &[&str]) -> Vec<Setting> {
        let command = Serve::augment_args(clap::Command::new("serve"));
        let matches = command.clone().get_matches_from(["serve"].iter().chain(args));
        settings(&command, &matches).unwrap()
    }

    fn one(settings: &[Setting], name: &str) -> (Value, Source) {
        let found = settings.iter().find(|setting| setting.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} is missing"));
        (found.value.clone(), found.source)
    }

    #[test]
    fn every_setting_is_told_with_its_source() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("punctual.toml");
        let text = "max_queues = 7\n[notices]\nsuccess_flag = 'ok'\n[[tokens]]\n\
            token = 'hush-hush-hush-hush'\nrights = ['read']\n";
        std::fs::write(&path, text).unwrap();
        let flags = ["--listen", "[::1]:1", "--config", path.to_str().unwrap(), "--hosts", "a,b"];
        let told = told(&[&flags[..], &["--auto-create", "false", "--dev"]].concat());
        for (name, value, source) in [
            ("listen", json!("[::1]:1"), Source::Flag),
            ("hosts", json!(["a", "b"]), Source::Flag),
            ("auto_create", json!(false), Source::Flag),
            ("dev", json!(true), Source::Flag),
            ("max_queues", json!(7), Source::File),
            ("notices.success_flag", json!("ok"), Source::File),
            ("tokens", json!("***"), Source::File),
            ("notices.http_method", json!("post"), Source::Default),
            ("notices.list", json!(null), Source::Default),
            ("store", json!("./punctual-data"), Source::Default),
            ("plan_exec_timeout", json!(null), Source::Default),
            ("log_format", json!("text"), Source::Default),
        ] {
            assert_eq!(one(&told, name), (value, source), "{name}");
        }
        assert!(!format!("{told:?}").contains("hush"));
    }

    #[test]
    fn logins_of_urls_are_not_told() {
        for (url, shown) in [
            ("redis://user:p@ss@host:1/0", "redis://***@host:1/0"),
            ("rediss://host/0", "rediss://host/0"),
            (
                "redis+sentinel://:x@a,b/name?sentinel_password=hush",
                "redis+sentinel://***@a,b/name?***",
            ),
            ("./dir@x", "./dir@x"),
        ] {
            assert_eq!(one(&told(&["--store", url]), "store").0, shown);
        }
        let tokens = r#"[{"token":"0123456789abcdef","rights":["read"]}]"#;
        assert_eq!(one(&told(&["--tokens", tokens]), "tokens"), (json!("***"), Source::Flag));
    }
}
