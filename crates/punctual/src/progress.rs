//! Progress bars for long work: on standard error, and only if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(200);

/// A bar over bytes that are read; without a total it only turns.
pub(crate) fn bytes(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => styled(
            ProgressBar::new(total),
            "{bar:30} {percent:>3}%  {bytes} of {total_bytes}  {msg}  {eta} left",
        ),
        None => styled(ProgressBar::no_length(), "{spinner} {bytes}  {msg}"),
    }
}

/// A bar over things that are counted.
pub(crate) fn count(total: u64) -> ProgressBar {
    let template =
        "{msg:<8} {bar:30} {percent:>3}%  {human_pos} of {human_len}  {per_sec}  {eta} left";
    styled(ProgressBar::new(total), template)
}

/// A count of things, however many there are.
pub(crate) fn counter() -> ProgressBar {
    styled(ProgressBar::no_length(), "{spinner} {human_pos}  {msg}  {per_sec}")
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    bar.set_style(style.progress_chars("█▌ "));
    bar.enable_steady_tick(TICK);
    bar
}
