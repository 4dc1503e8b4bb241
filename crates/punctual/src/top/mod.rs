//! `punctual top`: the server at a glance, live.
//!
//! `feed.rs` asks how things stand, `board.rs` keeps it and knows what the user
//! looks at, `screen.rs` draws it. Nothing here is asked of the server that its public interface does
//! not answer to everybody.

mod board;
mod feed;
mod keys;
mod screen;
#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use punctual_client::Client;
use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use self::board::Board;
use self::feed::News;
use self::keys::Wish;
use self::screen::Screen;
use crate::output::Output;
use crate::remote::Remote;

/// The screen is drawn at most that often, whatever happens.
const DRAW_EVERY: Duration = Duration::from_millis(250);
/// News that wait to be shown.
const NEWS_MAX: usize = 1_024;
const WIDTH: u16 = 120;

/// Watch queues, rates, workers, failures and next plans, live
///
/// Rates are averages of the last minute. If the server goes away it waits for it. Without a
/// terminal, or with --once, one frame is printed.
#[derive(Args)]
#[command(after_help = "\
Keys: q quits; up and down choose a queue, p pauses it or lets it go on; left and right choose what to
sort by; / filters by name, Escape ends that.

Examples:
  punctual top
  punctual top --filter mail
  punctual top --once
  punctual top --json | jq '.queues[] | select(.counts.ready > 1000)'")]
pub(crate) struct Top {
    /// Print one frame and end
    #[arg(long)]
    once: bool,
    /// Only queues with this in their name
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    #[command(flatten)]
    remote: Remote,
}

impl Top {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (client, output) = self.remote.open()?;
        let board = Board::new(client.url(), self.filter);
        if self.once || output.is_json() || !std::io::stdout().is_terminal() {
            return once(client, board, &output).await;
        }
        // Whoever looks wants to see something, so the first word is waited for.
        client.ready().await?;
        let mut terminal = ratatui::try_init()?;
        let outcome = live(&mut terminal, client, board).await;
        ratatui::restore();
        outcome
    }
}

/// One frame, as text or as JSON.
async fn once(client: Client, mut board: Board, output: &Output) -> anyhow::Result<()> {
    board.hear(News::Stand(Box::new(feed::stand(&client).await?)));
    board.hear(News::Failures(feed::failures(&client).await?));
    output.answer(&board.frame(), || text(&board))
}

/// A frame with room for everything, as plain lines.
fn text(board: &Board) -> String {
    let area = Rect::new(0, 0, WIDTH, Screen::height_for(board));
    let mut buffer = Buffer::empty(area);
    Screen { board, has_colours: false, is_live: false }.render(area, &mut buffer);
    let lines = buffer.content.chunks(usize::from(area.width)).map(|cells| {
        let line: String = cells.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Draws until the user has seen enough.
async fn live(
    terminal: &mut DefaultTerminal,
    client: Client,
    mut board: Board,
) -> anyhow::Result<()> {
    let has_colours = crate::paint::is_wanted();
    let (news, mut heard) = mpsc::channel(NEWS_MAX);
    keys::listen(news.clone());
    let feed = feed::bring(&client, news.clone());
    tokio::pin!(feed);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut draw_at = Instant::now();
    loop {
        let wish = tokio::select! {
            biased;
            _ = terminate.recv() => return Ok(()),
            () = sleep_until(draw_at) => {
                let screen = Screen { board: &board, has_colours, is_live: true };
                terminal.draw(|frame| frame.render_widget(screen, frame.area()))?;
                draw_at = Instant::now() + DRAW_EVERY;
                continue;
            }
            Some(heard) = heard.recv() => match heard {
                News::Key(key) => {
                    draw_at = Instant::now();
                    keys::pressed(&mut board, key)
                }
                News::Resized => {
                    draw_at = Instant::now();
                    None
                }
                other => {
                    board.hear(other);
                    None
                }
            },
            () = &mut feed => return Ok(()),
        };
        match wish {
            None => {}
            Some(Wish::Quit) => return Ok(()),
            Some(Wish::Turn { queue, is_paused }) => {
                feed::turn(client.clone(), queue, is_paused, news.clone());
            }
        }
    }
}
