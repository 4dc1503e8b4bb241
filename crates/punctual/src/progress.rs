//! How far long work is, for whoever watches it at a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// A bar for so many bytes; without their number, a count of them. Nothing is shown to programs.
pub(crate) fn of_bytes(total: Option<u64>, is_json: bool) -> ProgressBar {
    let known = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
    bar(total, is_json, known, "{spinner} {msg} {bytes} {bytes_per_sec}")
}

/// A bar for so many records; without their number, a count of them. Nothing is shown to programs.
pub(crate) fn of_records(total: Option<u64>, is_json: bool) -> ProgressBar {
    let known = "{msg} {wide_bar} {human_pos}/{human_len} {eta}";
    bar(total, is_json, known, "{spinner} {msg} {human_pos} {per_sec}")
}

fn bar(total: Option<u64>, is_json: bool, known: &str, unknown: &str) -> ProgressBar {
    if is_json {
        return ProgressBar::hidden();
    }
    // It is not shown where errors do not go to a terminal.
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = if total.is_some() { known } else { unknown };
    bar.set_style(ProgressStyle::with_template(template).expect("the template is well formed"));
    bar.enable_steady_tick(DRAWN_EVERY);
    bar
}
