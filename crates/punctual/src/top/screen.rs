//! The board as a screen of any size: a line of totals, queues, failures, workers and plans, keys.

use std::time::{SystemTime, UNIX_EPOCH};

use punctual_client::{FailureGroup, Plan, Worker};
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{
    Block, Borders, Cell, Paragraph, Row as TableRow, StatefulWidget, Table, TableState, Widget,
};

use super::board::{Board, Row, Sort};
use super::feed::Rates;
use crate::output::{brief, cell};

/// Narrower than that, the modes of queues are left out.
const MODE_FROM: u16 = 96;
/// Lower than that, only queues are shown.
const PANELS_FROM: u16 = 18;
const PANEL: u16 = 6;

/// One frame.
pub(super) struct Screen<'a> {
    pub(super) board: &'a Board,
    pub(super) has_colours: bool,
    /// Whether somebody can press keys.
    pub(super) is_live: bool,
}

impl Screen<'_> {
    /// The height at which everything is shown.
    pub(super) fn height_for(board: &Board) -> u16 {
        let rows = u16::try_from(board.rows().len()).unwrap_or(u16::MAX);
        rows.saturating_add(3 + 2 * PANEL).max(PANELS_FROM)
    }

    fn style(&self, color: Color) -> Style {
        if self.has_colours { Style::new().fg(color) } else { Style::new() }
    }

    fn faint(&self) -> Style {
        if self.has_colours { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
    }
}

impl Widget for Screen<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let has_panels = area.height >= PANELS_FROM;
        let panel = if has_panels { PANEL } else { 0 };
        let keys = u16::from(self.is_live);
        let [head, queues, failures, below, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(panel),
            Constraint::Length(panel),
            Constraint::Length(keys),
        ])
        .areas(area);
        self.head(head, buffer);
        self.queues(queues, buffer);
        if has_panels {
            let [workers, plans] =
                Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)])
                    .areas(below);
            self.failures(failures, buffer);
            self.workers(workers, buffer);
            self.plans(plans, buffer);
        }
        self.foot(foot, buffer);
    }
}

impl Screen<'_> {
    fn head(&self, area: Rect, buffer: &mut Buffer) {
        let board = self.board;
        let (word, color) = match (&board.away, board.is_known) {
            (Some(_), _) => ("reconnecting", Color::Red),
            (None, true) => ("connected", Color::Green),
            (None, false) => ("connecting", Color::Yellow),
        };
        let Rates { pushed, out, failed } = board.total();
        let (pushed, out, failed) = (number(pushed), number(out), number(failed));
        let rates = format!("in {pushed}/s  out {out}/s  failed {failed}/s");
        let counts = format!("{} queues  {} workers", board.queues(), board.workers().len());
        let left = Line::from(vec![
            Span::raw(format!("{}  ", board.url)),
            Span::styled(word, self.style(color)),
        ]);
        let room = usize::from(area.width).saturating_sub(left.width() + 2);
        left.render(area, buffer);
        let totals = [format!("{counts}  {rates}"), rates].map(Line::from);
        if let Some(line) = totals.into_iter().find(|line| line.width() <= room) {
            line.alignment(Alignment::Right).render(area, buffer);
        }
    }

    fn queues(&self, area: Rect, buffer: &mut Buffer) {
        let rows = self.board.rows();
        if rows.is_empty() && self.board.is_known {
            let none = "\nno queues; push a task: punctual push mail '\"hello\"'";
            Paragraph::new(none).style(self.faint()).render(area, buffer);
            return;
        }
        let has_mode = area.width >= MODE_FROM;
        let columns = columns(has_mode);
        let heading = TableRow::new(columns.iter().map(|(name, _, sort)| {
            let mark = if Some(self.board.sort) == *sort { "▾" } else { "" };
            right(format!("{name}{mark}"), *name != "QUEUE" && *name != "MODE")
        }));
        let widths = columns.iter().map(|(_, width, _)| *width);
        let mut state = TableState::new();
        state.select(self.board.place(&rows).filter(|_| self.is_live));
        let table = Table::new(rows.iter().map(|row| self.queue(row, has_mode)), widths)
            .header(heading.style(self.faint()))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
            .column_spacing(1);
        StatefulWidget::render(table, area, buffer, &mut state);
    }

    fn queue(&self, row: &Row<'_>, has_mode: bool) -> TableRow<'static> {
        let Row { queue, rates } = row;
        let counts = &queue.counts;
        let name =
            if queue.paused { format!("{} (paused)", queue.name) } else { queue.name.clone() };
        let name = Cell::from(name);
        let mut cells =
            vec![if queue.paused { name.style(self.style(Color::Yellow)) } else { name }];
        if has_mode {
            cells.push(Cell::from(queue.mode.name()));
        }
        let age = queue.oldest_ready_age.map(|age| brief(age.as_secs_f64())).unwrap_or_default();
        cells.extend(
            [counts.ready, counts.waiting, counts.taken].map(|n| right(n.to_string(), true)),
        );
        let failed = right(counts.failed.to_string(), true);
        cells.push(if counts.failed > 0 { failed.style(self.style(Color::Red)) } else { failed });
        cells.extend([rates.pushed, rates.out, rates.failed].map(|n| right(number(n), true)));
        cells.push(right(age, true));
        TableRow::new(cells)
    }

    fn failures(&self, area: Rect, buffer: &mut Buffer) {
        let line = |failed: &FailureGroup| {
            let at = failed.last_at.map(|at| at.to_string()).unwrap_or_default();
            let at = at.get(11..19).unwrap_or_default();
            let count =
                if failed.count > 1 { format!("{} × ", failed.count) } else { String::new() };
            let error = cell(failed.error.as_deref().unwrap_or_default());
            format!("{at}  {}/{}  {count}{error}", failed.queue, failed.id)
        };
        self.panel("failures", self.board.failures().iter().map(line), false, "none", area, buffer);
    }

    fn workers(&self, area: Rect, buffer: &mut Buffer) {
        let mut workers: Vec<&Worker> = self.board.workers().iter().collect();
        workers.sort_by_key(|worker| std::cmp::Reverse(worker.load));
        let line = |worker: &&Worker| {
            let (name, load, capacity) = (&worker.name, worker.load, worker.capacity);
            format!("{name}  {load}/{capacity}  {}", worker.queues.join(" "))
        };
        let none = "none is registered";
        self.panel("workers", workers.iter().map(line), false, none, area, buffer);
    }

    fn plans(&self, area: Rect, buffer: &mut Buffer) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = |plan: &Plan| {
            let at = plan.next_at.map(|at| at.as_millis() as f64 / 1_000.0);
            let next = at.map(|at| brief(at - since.as_secs_f64())).unwrap_or_default();
            format!("in {next:<6}  {}  {}", plan.plan_id, plan.queue)
        };
        let (lines, has_more) = (self.board.plans().iter().map(line), self.board.has_more_plans());
        self.panel("next plans", lines, has_more, "none", area, buffer);
    }

    /// A titled list; what has no room is counted.
    fn panel(
        &self,
        title: &str,
        lines: impl ExactSizeIterator<Item = String>,
        has_more: bool,
        none: &str,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let room = usize::from(area.height.saturating_sub(1));
        let more = lines.len().saturating_sub(room);
        let title = match more {
            0 => format!(" {title} "),
            more if has_more => format!(" {title}, over {more} more "),
            more => format!(" {title}, {more} more "),
        };
        let block = Block::new().borders(Borders::TOP).title(title).border_style(self.faint());
        let inner = block.inner(area);
        block.render(area, buffer);
        if lines.len() == 0 {
            return Paragraph::new(none).style(self.faint()).render(inner, buffer);
        }
        let lines = lines.take(room).map(Line::from);
        Paragraph::new(Text::from_iter(lines)).render(inner, buffer);
    }

    fn foot(&self, area: Rect, buffer: &mut Buffer) {
        let board = self.board;
        let text = if board.is_typing {
            format!("filter: {}_  Enter keeps it, Escape ends it", board.filter)
        } else if let Some(reason) = &board.away {
            format!("q quit  {reason}")
        } else {
            let filter = if board.filter.is_empty() { "filter" } else { &board.filter };
            let sort = board.sort.name();
            format!("q quit  ↑↓ choose  p pause  ←→ sort: {sort}  / {filter}  {}", board.said)
        };
        Paragraph::new(text).style(self.faint()).render(area, buffer);
    }
}

/// The columns of queues: heading, width, and what sorting by it is called.
fn columns(has_mode: bool) -> Vec<(&'static str, Constraint, Option<Sort>)> {
    let mut columns = vec![("QUEUE", Constraint::Min(14), Some(Sort::Name))];
    if has_mode {
        columns.push(("MODE", Constraint::Length(8), None));
    }
    columns.extend([
        ("READY", Constraint::Length(8), Some(Sort::Ready)),
        ("WAITING", Constraint::Length(8), None),
        ("TAKEN", Constraint::Length(6), None),
        ("FAILED", Constraint::Length(7), Some(Sort::Failed)),
        ("IN/S", Constraint::Length(7), Some(Sort::In)),
        ("OUT/S", Constraint::Length(7), Some(Sort::Out)),
        ("FAIL/S", Constraint::Length(6), None),
        ("OLDEST", Constraint::Length(7), Some(Sort::Oldest)),
    ]);
    columns
}

fn right(text: String, is_right: bool) -> Cell<'static> {
    let alignment = if is_right { Alignment::Right } else { Alignment::Left };
    Cell::from(Text::from(text).alignment(alignment))
}

/// A rate in few characters; nothing happening is a dot, easy to overlook.
fn number(rate: f64) -> String {
    match rate {
        0.0 => "·".to_owned(),
        rate if rate < 10.0 => format!("{rate:.1}"),
        rate if rate < 10_000.0 => format!("{rate:.0}"),
        rate => format!("{:.0}k", rate / 1_000.0),
    }
}
