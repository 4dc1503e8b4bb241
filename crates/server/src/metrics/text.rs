//! Metrics as text, in the format of Prometheus or of OpenMetrics.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use punctual_store::measure::{Histogram, Observed};

/// What the names of counters end in.
const TOTAL: &str = "_total";

/// All metrics, as they are gathered.
#[derive(Debug)]
pub(super) struct Text {
    families: Vec<Family>,
    is_open_metrics: bool,
}

/// All of one name.
#[derive(Debug)]
pub(super) struct Family {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    samples: Vec<(Vec<(&'static str, String)>, Value)>,
}

/// What was measured.
#[derive(Debug)]
pub(super) enum Value {
    Whole(u64),
    Float(f64),
    Histogram(Observed),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Whole(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Whole(value as u64)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Whole(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl Text {
    /// No metrics yet.
    pub(super) fn new(is_open_metrics: bool) -> Self {
        Self { families: Vec::new(), is_open_metrics }
    }

    fn family(&mut self, name: &'static str, help: &'static str, kind: MetricType) -> &mut Family {
        self.families.push(Family { name, help, kind, samples: Vec::new() });
        self.families.last_mut().expect("it was just added")
    }

    /// What goes up and down.
    pub(super) fn gauge(&mut self, name: &'static str, help: &'static str) -> &mut Family {
        self.family(name, help, MetricType::Gauge)
    }

    /// What only grows, as long as the process runs. Its name ends in `_total`.
    pub(super) fn counter(&mut self, name: &'static str, help: &'static str) -> &mut Family {
        self.family(name, help, MetricType::Counter)
    }

    /// How often values fell between bounds.
    pub(super) fn histogram(&mut self, name: &'static str, help: &'static str) -> &mut Family {
        self.family(name, help, MetricType::Histogram)
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        let is_open_metrics = self.is_open_metrics;
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)
            .expect("a string grows as needed");
        if is_open_metrics { text } else { classic(&text) }
    }
}

impl Family {
    /// A value under labels.
    pub(super) fn is(&mut self, labels: &[(&'static str, &str)], value: impl Into<Value>) {
        let labels = labels.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        self.samples.push((labels, value.into()));
    }

    /// A histogram under labels.
    pub(super) fn has(&mut self, labels: &[(&'static str, &str)], histogram: &Histogram) {
        self.is(labels, Value::Histogram(histogram.observed()));
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let name = self.name.strip_suffix(TOTAL).unwrap_or(self.name);
        let mut family = encoder.encode_descriptor(name, self.help, None, self.kind)?;
        for (labels, value) in &self.samples {
            match labels.is_empty() {
                true => value.encode(&mut family, self.kind)?,
                false => value.encode(&mut family.encode_family(labels)?, self.kind)?,
            }
        }
        Ok(())
    }
}

impl Value {
    fn encode(&self, encoder: &mut MetricEncoder<'_>, kind: MetricType) -> fmt::Result {
        type NoLabels = [(&'static str, &'static str); 0];
        match (self, kind) {
            (Self::Histogram(it), _) => {
                encoder.encode_histogram::<NoLabels>(it.sum, it.count, &it.buckets, None)
            }
            (Self::Whole(it), MetricType::Counter) => {
                encoder.encode_counter::<NoLabels, _, f64>(it, None)
            }
            (Self::Float(it), MetricType::Counter) => {
                encoder.encode_counter::<NoLabels, _, f64>(it, None)
            }
            (Self::Whole(it), _) => encoder.encode_gauge(it),
            (Self::Float(it), _) => encoder.encode_gauge(it),
        }
    }
}

impl Collector for Text {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.families.iter().try_for_each(|family| family.encode(&mut encoder))
    }
}

/// OpenMetrics in the older format: counters are described by their whole name, and there is no mark at
/// the end.
fn classic(text: &str) -> String {
    let mut old = String::with_capacity(text.len() + 256);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let described = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' '));
        match described {
            Some((name, help)) if lines.peek().is_some_and(|next| next.ends_with(" counter")) => {
                old.push_str(&format!(
                    "# HELP {name}{TOTAL} {help}\n# TYPE {name}{TOTAL} counter\n"
                ));
                lines.next();
            }
            _ if line == "# EOF" => {}
            _ => {
                old.push_str(line);
                old.push('\n');
            }
        }
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(is_open_metrics: bool) -> String {
        let mut text = Text::new(is_open_metrics);
        let counts = text.counter("a_total", "Some counter.");
        counts.is(&[("queue", "q\"\n")], 3_u64);
        text.gauge("b", "A gauge").is(&[], 1.5);
        let histogram = Histogram::new(&[0.5, 1.0]);
        histogram.observe(0.7);
        text.histogram("c", "Times").has(&[("x", "y")], &histogram);
        text.gauge("d", "Empty");
        text.finish()
    }

    #[test]
    fn both_formats_are_written() {
        let rest = "# HELP b A gauge\n# TYPE b gauge\nb 1.5\n# HELP c Times\n# TYPE c histogram\n\
            c_sum{x=\"y\"} 0.7\nc_count{x=\"y\"} 1\nc_bucket{x=\"y\",le=\"0.5\"} 0\n\
            c_bucket{x=\"y\",le=\"1.0\"} 1\nc_bucket{x=\"y\",le=\"+Inf\"} 1\n\
            # HELP d Empty\n# TYPE d gauge\n";
        let sample = "a_total{queue=\"q\\\"\\n\"} 3\n";
        let head = "# HELP a Some counter.\n# TYPE a counter\n";
        let order = |text: String| {
            // Labels of a bucket may come in either order.
            text.replace("le=\"0.5\",x=\"y\"", "x=\"y\",le=\"0.5\"")
                .replace("le=\"1.0\",x=\"y\"", "x=\"y\",le=\"1.0\"")
                .replace("le=\"+Inf\",x=\"y\"", "x=\"y\",le=\"+Inf\"")
        };
        assert_eq!(order(text(true)), format!("{head}{sample}{rest}# EOF\n"));
        let head = "# HELP a_total Some counter.\n# TYPE a_total counter\n";
        assert_eq!(order(text(false)), format!("{head}{sample}{rest}"));
    }
}
