//! Colours on a terminal: for words that say how something stands, and nothing else.

use std::io::{IsTerminal, stdout};

use comfy_table::{Attribute, Cell, Color};

/// Whether standard output takes colours: a terminal, and nobody has asked for none.
pub(crate) fn is_on() -> bool {
    stdout().is_terminal() && is_wanted()
}

/// Whether colours are wanted at all: not with NO_COLOR, not on a terminal that has none.
pub(crate) fn is_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// What a word says about how something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It went well.
    Good,
    /// It is under way.
    Busy,
    /// It stands still, or deserves a look.
    Still,
    /// It went wrong.
    Bad,
    /// It is over and needs nobody.
    Over,
}

impl Mood {
    /// The mood of a state or a verdict, if it has one.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "done" | "ok" | "succeeded" | "online" => Self::Good,
            "running" | "assigned" | "delivering" | "started" | "locked" => Self::Busy,
            "paused" | "pausing" | "cancelling" | "draining" | "warn" | "skipped" | "no_worker" => {
                Self::Still
            }
            "failed" | "error" | "exhausted" | "lost" | "fail" => Self::Bad,
            "cancelled" | "finished" => Self::Over,
            _ => return None,
        })
    }

    /// A cell in this mood's colour.
    pub(crate) fn paint(self, cell: Cell) -> Cell {
        match self {
            Self::Good => cell.fg(Color::DarkGreen),
            Self::Busy => cell.fg(Color::DarkCyan),
            Self::Still => cell.fg(Color::DarkYellow),
            Self::Bad => cell.fg(Color::DarkRed),
            Self::Over => faint(cell),
        }
    }
}

/// A cell that stands back: headings and names of fields.
pub(crate) fn faint(cell: Cell) -> Cell {
    cell.add_attribute(Attribute::Dim)
}
