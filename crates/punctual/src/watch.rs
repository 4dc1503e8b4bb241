//! `--watch`: the same answer again and again, until Ctrl-C.

use std::io::{IsTerminal, Write, stdout};
use std::time::Duration;

use clap::Args;
use punctual_client::Span;

use crate::values;

/// Clears a terminal, and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Whether an answer is given again and again.
#[derive(Args)]
pub(crate) struct Watch {
    /// Show it again every so often, until Ctrl-C [without a value: 2s]
    #[arg(
        long,
        value_name = "EVERY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2s",
        value_parser = values::span
    )]
    watch: Option<Span>,
}

impl Watch {
    /// Shows something, once or as long as it is watched.
    pub(crate) async fn over(
        &self,
        show: impl AsyncFn() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(every) = self.watch else { return show().await };
        let every = Duration::from_millis(every.as_millis().unsigned_abs().max(100));
        loop {
            if stdout().is_terminal() {
                write!(stdout(), "{CLEAR}")?;
            }
            show().await?;
            stdout().flush()?;
            tokio::time::sleep(every).await;
        }
    }
}
