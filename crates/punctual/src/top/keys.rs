//! The keyboard: what is pressed, and what it does to the view.

use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tokio::sync::mpsc::Sender;

use super::board::Board;
use super::feed::News;

/// What a key asks for that the view cannot do by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Quit,
    /// Pause this queue, or let it go on if it is paused.
    Turn {
        queue: String,
        is_paused: bool,
    },
}

/// Brings keys as news, from a thread of its own, since reading them blocks.
pub(super) fn listen(news: Sender<News>) {
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            let told = match event {
                event::Event::Key(key) if key.kind != KeyEventKind::Release => News::Key(key),
                event::Event::Resize(..) => News::Resized,
                _ => continue,
            };
            if news.blocking_send(told).is_err() {
                return;
            }
        }
    });
}

/// Does what a key asks for.
pub(super) fn pressed(board: &mut Board, key: KeyEvent) -> Option<Wish> {
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
        return Some(Wish::Quit);
    }
    if board.is_typing {
        typed(board, key.code);
        return None;
    }
    match key.code {
        KeyCode::Char('q') => return Some(Wish::Quit),
        KeyCode::Esc => board.filter.clear(),
        KeyCode::Char('/') => board.is_typing = true,
        KeyCode::Up | KeyCode::Char('k') => board.move_by(-1),
        KeyCode::Down | KeyCode::Char('j') => board.move_by(1),
        KeyCode::PageUp => board.move_by(-10),
        KeyCode::PageDown => board.move_by(10),
        KeyCode::Right | KeyCode::Char('s') => board.sort = board.sort.next(),
        KeyCode::Left => board.sort = board.sort.previous(),
        KeyCode::Char('p') => {
            let (queue, is_paused) = board.chosen()?;
            return Some(Wish::Turn { queue, is_paused });
        }
        _ => {}
    }
    None
}

fn typed(board: &mut Board, key: KeyCode) {
    match key {
        KeyCode::Enter => board.is_typing = false,
        KeyCode::Esc => {
            board.is_typing = false;
            board.filter.clear();
        }
        KeyCode::Backspace => drop(board.filter.pop()),
        KeyCode::Char(c) => board.filter.push(c),
        _ => {}
    }
}
