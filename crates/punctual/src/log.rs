//! What a server writes to standard error: lines for people, or one JSON object each.

use std::fmt;
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use clap::{Args, ValueEnum};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// How much is written, and how.
#[derive(Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct Log {
    /// How log lines on standard error look
    #[arg(long, env = "PUNCTUAL_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// Which log lines are written: a level, or `target=level` pairs separated by commas
    #[arg(long, env = "PUNCTUAL_LOG", value_name = "FILTER", default_value = "info")]
    log: String,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

impl Log {
    /// Begins to write. Every line says which node it is from, once that is known.
    pub(crate) fn start(&self, node: Arc<OnceLock<String>>) -> anyhow::Result<()> {
        // What the client library for Redis says, the store says better; whoever wants it all may ask.
        let filter = format!("redis=error,{}", self.log);
        let filter = EnvFilter::try_new(filter).context("PUNCTUAL_LOG cannot be read")?;
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            // A log that cannot be written is lost; saying so on the same standard error would panic.
            .log_internal_errors(false);
        let format = self.log_format;
        match format {
            LogFormat::Text => {
                log.with_ansi(false)
                    .map_event_format(|lines| Signed { lines, format, node })
                    .init();
            }
            LogFormat::Json => {
                log.json().map_event_format(|lines| Signed { lines, format, node }).init();
            }
        }
        Ok(())
    }
}

/// Lines that say which node they are from.
struct Signed<F> {
    lines: F,
    format: LogFormat,
    node: Arc<OnceLock<String>>,
}

impl<S, N, F> FormatEvent<S, N> for Signed<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(node) = self.node.get() else {
            return self.lines.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.lines.format_event(context, Writer::new(&mut line), event)?;
        writer.write_str(&signed(&line, self.format, node))
    }
}

/// A line with the node it is from.
fn signed(line: &str, format: LogFormat, node: &str) -> String {
    match line.strip_prefix('{').filter(|_| format == LogFormat::Json) {
        Some(rest) => format!("{{\"node\":\"{node}\",{rest}"),
        None => format!("{} node={node}\n", line.trim_end_matches('\n')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_which_node_it_is_from() {
        let text = signed("INFO punctual: ready store=\"redis\"\n", LogFormat::Text, "ab");
        assert_eq!(text, "INFO punctual: ready store=\"redis\" node=ab\n");
        let json = signed("{\"level\":\"INFO\"}\n", LogFormat::Json, "ab");
        assert_eq!(json, "{\"node\":\"ab\",\"level\":\"INFO\"}\n");
    }
}
