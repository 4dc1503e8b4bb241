//! Tables and records for people: columns in line, numbers to the right, no frames.

use std::io::stdout;

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::paint::{self, Mood};

const GAP: &str = "  ";
/// Columns of texts that may be shortened to fit the terminal; others are there to be copied.
const PROSE: [&str; 9] =
    ["PAYLOAD", "ERROR", "RESULT", "DESCRIPTION", "URL", "QUEUES", "CAPABILITIES", "FOUND", "RULE"];
/// A text shorter than that says nothing any more; then lines may wrap.
const PROSE_WIDTH_MIN: usize = 12;

/// How a table is written.
#[derive(Clone, Copy)]
struct Look {
    has_colours: bool,
    /// The width of the terminal, if there is one.
    width: Option<usize>,
}

impl Look {
    fn here() -> Self {
        let size = tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col));
        Self { has_colours: paint::is_on(), width: size.filter(|width| *width > 0) }
    }
}

/// A table with a heading; columns in which nothing stands are left out.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    drawn(heading, rows, Look::here())
}

fn drawn<const N: usize>(heading: [&str; N], rows: &[[String; N]], look: Look) -> String {
    let columns = columns(heading, rows, look.width);
    let head = columns.iter().map(|column| Cell { text: heading[column.index], mood: None });
    let head = line(&columns, head);
    let mut lines = vec![if look.has_colours { paint::faint(&head) } else { head }];
    for row in rows {
        let cells = columns.iter().map(|column| {
            let text = row[column.index].as_str();
            let mood = Mood::of(text).filter(|_| look.has_colours && column.tells_state);
            Cell { text, mood }
        });
        lines.push(line(&columns, cells));
    }
    lines.join("\n")
}

struct Column {
    index: usize,
    width: usize,
    is_number: bool,
    tells_state: bool,
}

struct Cell<'a> {
    text: &'a str,
    mood: Option<Mood>,
}

fn columns<const N: usize>(
    heading: [&str; N],
    rows: &[[String; N]],
    width: Option<usize>,
) -> Vec<Column> {
    let mut columns: Vec<_> = (0..N)
        .filter(|index| rows.iter().any(|row| !row[*index].is_empty()))
        .map(|index| Column {
            index,
            width: rows
                .iter()
                .map(|row| row[index].width())
                .fold(heading[index].width(), usize::max),
            is_number: rows.iter().all(|row| is_number(&row[index])),
            tells_state: ["STATE", "LAST", ""].contains(&heading[index]),
        })
        .collect();
    // What does not fit is taken from the widest texts.
    let used = |columns: &[Column]| {
        columns
            .iter()
            .map(|column| column.width + GAP.len())
            .sum::<usize>()
            .saturating_sub(GAP.len())
    };
    while width.is_some_and(|width| used(&columns) > width) {
        let prose = columns.iter_mut().filter(|column| PROSE.contains(&heading[column.index]));
        let widest = prose.max_by_key(|column| column.width);
        let Some(widest) = widest.filter(|column| column.width > PROSE_WIDTH_MIN) else { break };
        widest.width -= 1;
    }
    columns
}

fn is_number(text: &str) -> bool {
    let text = text.trim_end_matches("/s").trim_end_matches(['s', '%']);
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'/')
}

fn line<'a>(columns: &[Column], cells: impl Iterator<Item = Cell<'a>>) -> String {
    let mut line = String::new();
    for (column, cell) in columns.iter().zip(cells) {
        if !line.is_empty() || column.index != columns[0].index {
            line.push_str(GAP);
        }
        let text = fitted(cell.text, column.width);
        let room = " ".repeat(column.width.saturating_sub(text.width()));
        let text = cell.mood.map_or_else(|| text.clone(), |mood| mood.paint(&text));
        line += &if column.is_number { room + &text } else { text + &room };
    }
    line.truncate(line.trim_end().len());
    line
}

/// A text, shortened to a width.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used >= width {
            break;
        }
        fitted.push(c);
    }
    fitted + "…"
}

/// A record: one line per field that has a value.
pub(crate) fn record(fields: Vec<(&str, Option<String>)>) -> String {
    recorded(fields, paint::is_on())
}

fn recorded(fields: Vec<(&str, Option<String>)>, has_colours: bool) -> String {
    let fields: Vec<_> =
        fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let width = fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, value) in &fields {
        let mood = Mood::of(value).filter(|_| has_colours && *name == "state");
        let value = mood.map_or_else(|| value.clone(), |mood| mood.paint(value));
        for (index, part) in value.split('\n').enumerate() {
            let name = format!("{:<width$}", if index == 0 { name } else { "" });
            let name = if has_colours { paint::faint(&name) } else { name };
            lines.push(format!("{name}{GAP}{part}").trim_end().to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Look = Look { has_colours: false, width: None };

    fn rows<const N: usize>(rows: &[[&str; N]]) -> Vec<[String; N]> {
        rows.iter().map(|row| row.map(str::to_owned)).collect()
    }

    #[test]
    fn a_table_leaves_out_what_is_empty_and_puts_numbers_to_the_right() {
        let rows = rows(&[["a", "", "1", "x"], ["bcd", "", "200", "y"]]);
        let text = drawn(["ID", "WORKER", "N", "PAYLOAD"], &rows, PLAIN);
        assert_eq!(text, "ID     N  PAYLOAD\na      1  x\nbcd  200  y");
    }

    #[test]
    fn a_table_fits_its_terminal() {
        let rows = rows(&[["a", &"é".repeat(60)], ["bcd", "short"]]);
        let text = drawn(["ID", "PAYLOAD"], &rows, Look { width: Some(20), ..PLAIN });
        assert_eq!(text, format!("ID   PAYLOAD\na    {}…\nbcd  short", "é".repeat(14)));
        let narrow = drawn(["ID", "PAYLOAD"], &rows, Look { width: Some(10), ..PLAIN });
        assert!(narrow.contains(&"é".repeat(11)), "no use to shorten further: {narrow}");
        let ids = drawn(["PAYLOAD", "ID"], &rows, Look { width: Some(20), ..PLAIN });
        assert!(ids.contains(&"é".repeat(60)), "ids are copied: {ids}");
        assert_eq!(fitted("日本語", 4), "日…", "wide characters count twice");
    }

    #[test]
    fn colours_are_for_states_only() {
        let rows = rows(&[["failed", "failed"]]);
        let text = drawn(["QUEUE", "STATE"], &rows, Look { has_colours: true, width: None });
        assert_eq!(text.lines().nth(1), Some("failed  \x1b[31mfailed\x1b[0m"));
        let plain = drawn(["QUEUE", "STATE"], &rows, PLAIN);
        assert!(!plain.contains('\x1b'), "{plain}");
    }

    #[test]
    fn a_record_has_a_line_per_line_of_its_values() {
        let fields = vec![
            ("id", Some("a".to_owned())),
            ("worker", None),
            ("history", Some("1\n2".to_owned())),
        ];
        assert_eq!(recorded(fields, false), "id       a\nhistory  1\n         2");
    }
}
