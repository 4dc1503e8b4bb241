//! Tables and records for people: columns in line, numbers to the right, no frames.

use std::io::stdout;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width, presets,
};
use rustix::termios::tcgetwinsize;

use crate::output::visible;
use crate::paint::{self, Mood};

const GAP: u16 = 2;
/// Columns of texts that may be shortened to fit the terminal; others are there to be copied.
const PROSE: [&str; 9] =
    ["PAYLOAD", "ERROR", "RESULT", "DESCRIPTION", "URL", "QUEUES", "CAPABILITIES", "FOUND", "RULE"];
/// A text shorter than that says nothing any more; then lines may wrap.
const PROSE_WIDTH_MIN: u16 = 12;
/// Columns of whole sentences: they wrap, and are not cut.
const SENTENCES: &str = "WHAT";
/// Columns that say how something stands.
const STATES: [&str; 3] = ["STATE", "LAST", ""];

/// How a table is written.
#[derive(Clone, Copy)]
struct Look {
    has_colours: bool,
    /// The width of the terminal, if there is one.
    width: Option<u16>,
}

impl Look {
    fn here() -> Self {
        let width = tcgetwinsize(stdout()).ok().map(|size| size.ws_col);
        Self { has_colours: paint::is_on(), width: width.filter(|width| *width > 0) }
    }

    fn table(self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).force_no_tty();
        if self.has_colours {
            table.enforce_styling().style_text_only();
        }
        table
    }
}

/// A table with a heading; columns in which nothing stands are left out.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> String {
    drawn(heading, rows, Look::here())
}

fn drawn<const N: usize>(heading: [&str; N], rows: &[[String; N]], look: Look) -> String {
    let columns: Vec<usize> =
        (0..N).filter(|index| rows.iter().any(|row| !row[*index].is_empty())).collect();
    let mut table = look.table();
    table.set_header(columns.iter().map(|index| paint::faint(Cell::new(heading[*index]))));
    for row in rows {
        let mut cells = Row::from(columns.iter().map(|index| {
            let mood = Mood::of(&row[*index]).filter(|_| STATES.contains(&heading[*index]));
            let cell = Cell::new(visible(&row[*index]));
            mood.map_or(cell.clone(), |mood| mood.paint(cell))
        }));
        if !heading.contains(&SENTENCES) {
            cells.max_height(1);
        }
        table.add_row(cells);
    }
    if let Some(width) = look.width {
        table.set_width(width).set_content_arrangement(ContentArrangement::Dynamic);
    }
    table.set_truncation_indicator("…");
    let widths = table.column_max_content_widths();
    for (column, index) in table.column_iter_mut().zip(&columns) {
        let is_last = Some(index) == columns.last();
        column.set_padding((0, if is_last { 0 } else { GAP }));
        if rows.iter().all(|row| is_number(&row[*index])) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if heading[*index] == SENTENCES {
            continue;
        }
        // Text is cut at a character, not at a word.
        column.set_delimiter('\n');
        let may_shrink = PROSE.contains(&heading[*index]) && widths[column.index] > PROSE_WIDTH_MIN;
        column.set_constraint(match may_shrink {
            true => ColumnConstraint::LowerBoundary(Width::Fixed(
                PROSE_WIDTH_MIN + column.padding_width(),
            )),
            false => ColumnConstraint::ContentWidth,
        });
    }
    table.trim_fmt()
}

fn is_number(text: &str) -> bool {
    let text = text.trim_end_matches("/s").trim_end_matches(['s', '%']);
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'/')
}

/// A record: one line per field that has a value.
pub(crate) fn record(fields: Vec<(&str, Option<String>)>) -> String {
    recorded(fields, paint::is_on())
}

fn recorded(fields: Vec<(&str, Option<String>)>, has_colours: bool) -> String {
    let mut table = Look { has_colours, width: None }.table();
    for (name, value) in fields {
        let Some(value) = value else { continue };
        let mood = Mood::of(&value).filter(|_| name == "state");
        let cell = Cell::new(visible(&value));
        let cell = mood.map_or(cell.clone(), |mood| mood.paint(cell));
        table.add_row([paint::faint(Cell::new(name)), cell]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    table.trim_fmt()
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
        let wide = vec![["日本語".repeat(5)]];
        let wide = drawn(["PAYLOAD"], &wide, Look { width: Some(14), ..PLAIN });
        assert_eq!(wide, "PAYLOAD\n日本語日本語…", "wide characters count twice");
    }

    #[test]
    fn colours_are_for_states_only() {
        let rows = rows(&[["failed", "failed"]]);
        let text = drawn(["QUEUE", "STATE"], &rows, Look { has_colours: true, width: None });
        assert_eq!(text.lines().nth(1), Some("failed  \x1b[38;5;1mfailed\x1b[39m"));
        let plain = drawn(["QUEUE", "STATE"], &rows, PLAIN);
        assert!(!plain.contains('\x1b'), "{plain}");
    }

    #[test]
    fn control_characters_of_a_text_are_shown_and_not_obeyed() {
        let rows = rows(&[["a\x1b[2Jb"]]);
        let text = drawn(["PAYLOAD"], &rows, PLAIN);
        assert_eq!(text, "PAYLOAD\na\\u{1b}[2Jb");
        let fields = vec![("error", Some("x\r\x07\ny".to_owned()))];
        assert_eq!(recorded(fields, false), "error  x\\r\\u{7}\n       y");
    }

    #[test]
    fn sentences_wrap_and_are_not_cut() {
        let rows = rows(&[["clock", "it is not synchronised by anybody"]]);
        let text = drawn(["CHECK", "WHAT"], &rows, Look { width: Some(25), ..PLAIN });
        assert_eq!(text, "CHECK  WHAT\nclock  it is not\n       synchronised by\n       anybody");
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
