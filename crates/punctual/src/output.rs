//! What a command says: JSON for programs, lines and tables for people, errors in one line.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write, stdin, stdout};
use std::process::ExitCode;

use serde::Serialize;

const CELL_CHARS_MAX: usize = 60;

/// A command line that is wrong in a way only its command can tell.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Turns what came of a command into its exit code, and says what went wrong.
pub(crate) fn report(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    let broken_pipe = error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe);
    if broken_pipe {
        // Whoever read the answer has read enough, as `head` does.
        return ExitCode::SUCCESS;
    }
    // A client error says all there is to say; the causes below it only repeat it.
    let text = match error.downcast_ref::<punctual_client::Error>() {
        Some(error) => format!("{error}{}", advice(error)),
        None => format!("{error:#}"),
    };
    // Nothing is left to do if even this cannot be written.
    let _ = writeln!(io::stderr(), "error: {}", visible(&text));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

/// What somebody at a command line can do about it.
pub(crate) fn advice(error: &punctual_client::Error) -> &'static str {
    use punctual_client::Error;
    match error {
        Error::Unreachable { .. } => {
            "; start one with `punctual serve`, or name another with --url or PUNCTUAL_URL"
        }
        Error::Untrusted { .. } => {
            "; name a file of certificates to trust with --ca or PUNCTUAL_CA"
        }
        Error::Address { .. } => "; correct --url or PUNCTUAL_URL",
        Error::Unreadable { .. } => "; is this a Punctual server? see --url and PUNCTUAL_URL",
        error if error.status() == Some(401) => "; name a token with --token or PUNCTUAL_TOKEN",
        error if error.status() == Some(403) => "; another token may: --token or PUNCTUAL_TOKEN",
        _ => "",
    }
}

/// Where a command's answer goes.
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether the answer is for a program.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Writes an answer: as JSON in one line, or as `people` puts it.
    pub(crate) fn answer(
        &self,
        value: &impl Serialize,
        people: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let text = match self.json {
            true if stdout().is_terminal() => unobeyed(&serde_json::to_string(value)?),
            true => serde_json::to_string(value)?,
            false => people(),
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }

    /// Writes the answer of a request that has nothing to show.
    pub(crate) fn done(&self, people: impl FnOnce() -> String) -> anyhow::Result<()> {
        self.answer(&serde_json::json!({ "ok": true }), people)
    }
}

/// A text with its control characters written out: a terminal would obey them, and the text may be anybody's.
/// Only ends of lines stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c != '\n' && (c.is_control() || is_direction(c));
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// JSON without the control characters that it may hold as they are; they stand in texts only.
fn unobeyed(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => shown.push(c),
        }
    }
    shown
}

/// Asks a person whether something shall be done that cannot be undone. A program is not asked.
pub(crate) fn is_confirmed(question: &str) -> anyhow::Result<bool> {
    if !stdin().is_terminal() {
        return Ok(true);
    }
    write!(io::stderr(), "{} [y/N] ", visible(question))?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Whether a character turns the direction of a text, so that it reads as something else.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that fits a table's cell: one line, shortened.
pub(crate) fn cell(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(CELL_CHARS_MAX) {
        Some((cut, _)) => format!("{}…", &flat[..cut]),
        None => flat,
    }
}

/// A length of time in two units at most: `1.2s`, `9m45s`, `3d04h`.
pub(crate) fn brief(secs: f64) -> String {
    let whole = secs.max(0.0) as u64;
    let (s, m, h, d) = (whole % 60, whole / 60 % 60, whole / 3_600 % 24, whole / 86_400);
    match whole {
        0..10 => format!("{:.1}s", secs.max(0.0)),
        10..60 => format!("{s}s"),
        60..3_600 => format!("{m}m{s:02}s"),
        3_600..86_400 => format!("{h}h{m:02}m"),
        _ => format!("{d}d{h:02}h"),
    }
}

/// A value as a person reads it: text without quotes, the rest as JSON.
pub(crate) fn bare(value: &impl Serialize) -> String {
    match serde_json::json!(value) {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A value, or nothing, as a cell.
pub(crate) fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_brief() {
        for (secs, text) in [
            (-1.0, "0.0s"),
            (1.24, "1.2s"),
            (59.9, "59s"),
            (585.0, "9m45s"),
            (7_500.0, "2h05m"),
            (273_600.0, "3d04h"),
        ] {
            assert_eq!(brief(secs), text);
        }
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(visible("a\nb é中"), "a\nb é中");
        assert_eq!(visible("\x1b]0;x\x07\u{9b}2J\u{202e}"), "\\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}");
        let json = unobeyed("{\"a\":\"\u{9b}2J\"}\n");
        assert_eq!(json, "{\"a\":\"\\u009b2J\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["a"], "\u{9b}2J");
    }

    #[test]
    fn a_cell_is_one_short_line() {
        assert_eq!(cell("a\n  b\tc"), "a b c");
        assert_eq!(cell(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
    }
}
