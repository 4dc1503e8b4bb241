//! The board and the screen, without a server and without a terminal.

use punctual_client::Queue;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use serde_json::json;

use super::board::Board;
use super::feed::{News, Rates, Stand};
use super::keys::{Wish, pressed};
use super::screen::Screen;

fn queue(name: &str, ready: u64, paused: bool) -> Queue {
    serde_json::from_value(json!({
        "name": name, "mode": "pull", "paused": paused, "oldest_ready_age": 585,
        "counts": {"ready": ready, "total": ready, "failed": 2},
    }))
    .unwrap()
}

fn board() -> Board {
    let mut board = Board::new("http://127.0.0.1:23334", String::new());
    let queues =
        vec![queue("images", 7, true), queue("mail", 90_000, false), queue("news", 0, false)];
    let busy = Rates { pushed: 40.0, out: 7.5, failed: 0.0 };
    let rates = [("mail".to_owned(), busy)].into();
    board.hear(News::Stand(Box::new(Stand { queues, rates, ..Stand::default() })));
    board
}

fn drawn(board: &Board, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let screen = Screen { board, has_colours: false, is_live: true };
    terminal.draw(|frame| frame.render_widget(screen, frame.area())).unwrap();
    let buffer = terminal.backend().buffer();
    let lines = buffer.content.chunks(usize::from(width));
    lines.map(|cells| cells.iter().map(|cell| cell.symbol()).collect()).collect()
}

fn press(board: &mut Board, keys: impl IntoIterator<Item = KeyCode>) -> Option<Wish> {
    keys.into_iter().fold(None, |_, key| pressed(board, KeyEvent::from(key)))
}

#[test]
fn a_small_screen_shows_every_number() {
    let mut board = board();
    let failed = json!({"queue": "mail", "id": "a", "error": "mailbox full", "count": 3,
        "last_at": "2026-11-15T06:50:28.123Z"});
    board.hear(News::Failures(vec![serde_json::from_value(failed).unwrap()]));
    let lines = drawn(&board, 80, 24);
    assert!(lines[0].contains("http://127.0.0.1:23334  connected"), "{lines:#?}");
    let mail = lines.iter().find(|line| line.starts_with("mail ")).unwrap();
    for part in [" 90000 ", " 2 ", " 40 ", " 7.5 ", "9m45s"] {
        assert!(mail.contains(part), "{part}: {mail}");
    }
    assert!(lines.iter().any(|line| line.starts_with("images (paused)")), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.contains("06:50:28  mail/a  3 × mailbox full")),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.contains("next plans")), "{lines:#?}");
    assert!(lines[23].starts_with("q quit"), "{lines:#?}");
    assert!(drawn(&board, 140, 40)[1].contains("MODE"));
    for (width, height) in [(1, 1), (20, 3), (300, 5)] {
        drawn(&board, width, height);
    }
}

#[test]
fn keys_sort_choose_filter_and_pause() {
    let mut board = board();
    assert_eq!(board.rows()[0].queue.name, "images");
    press(&mut board, [KeyCode::Right]);
    assert_eq!(board.rows()[0].queue.name, "mail", "most ready tasks first");
    press(&mut board, [KeyCode::Left, KeyCode::Down, KeyCode::Down, KeyCode::Down]);
    assert_eq!(board.chosen(), Some(("news".to_owned(), false)), "no further than the last");
    press(&mut board, [KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Backspace]);
    press(&mut board, [KeyCode::Char('i'), KeyCode::Enter]);
    assert_eq!(board.rows().len(), 2, "images and mail");
    let turn = press(&mut board, [KeyCode::Char('p')]);
    assert_eq!(turn, Some(Wish::Turn { queue: "images".to_owned(), is_paused: true }));
    press(&mut board, [KeyCode::Esc]);
    assert_eq!(board.rows().len(), 3);
    assert_eq!(press(&mut board, [KeyCode::Char('q')]), Some(Wish::Quit));
}

#[test]
fn a_server_that_is_away_is_waited_for() {
    let mut board = board();
    board.hear(News::Away("cannot reach it".to_owned()));
    let lines = drawn(&board, 80, 24);
    assert!(lines[0].contains("reconnecting"), "{lines:#?}");
    assert!(lines[23].contains("cannot reach it"), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("mail ")), "what was known stays");
    board.hear(News::Stand(Box::default()));
    assert!(drawn(&board, 80, 24)[0].contains("connected"));
}
