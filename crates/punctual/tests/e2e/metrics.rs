//! What the real server measures is what `docs/observability.md` lists, and what dashboard and alerts use.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::{Server, serve};
use crate::scrape::{documented, scrape, served};

const ALERTS: &str = include_str!("../../../../deploy/prometheus/alerts.yml");
const DASHBOARD: &str = include_str!("../../../../deploy/grafana/punctual.json");

#[test]
fn the_table_lists_exactly_what_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = serve(dir.path());
    command.args(["--otlp-endpoint", "http://127.0.0.1:1"]);
    let server = Server::of(command);
    server.say(&["push", "q", "{}"]);
    let text = scrape(&server);
    assert_eq!(served(&text), documented("Redis:"));
    assert!(text.contains("punctual_tasks{queue=\"q\",state=\"ready\"} 1\n"), "{text}");
    assert!(
        text.contains("punctual_build_info{version=\"0.1.0\",store=\"embedded\"} 1\n"),
        "{text}"
    );
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
    };
    assert!(value("punctual_store_sync_seconds_count") >= 1.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_open_fds") > 3.0);
    server.stop();
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_metric = |word: &&str| {
        (word.starts_with("punctual_") || word.starts_with("process_")) && !word.ends_with('_')
    };
    words.filter(is_metric).map(str::to_owned).collect()
}

/// Whether a name is of a metric: its own, or of a part of a histogram.
fn is_known(name: &str, known: &BTreeMap<String, String>) -> bool {
    let is_part = |end: &str| {
        let whole = name.strip_suffix(end).and_then(|whole| known.get(whole));
        whole.is_some_and(|kind| kind == "histogram")
    };
    match known.get(name) {
        Some(kind) => kind != "histogram",
        None => ["_bucket", "_sum", "_count"].into_iter().any(is_part),
    }
}

#[test]
fn the_dashboard_and_the_alerts_use_what_there_is() {
    let known = documented("nothing");
    assert!(known.len() > 20);
    for (file, text) in [("alerts.yml", ALERTS), ("punctual.json", DASHBOARD)] {
        let used = names(text);
        assert!(used.len() > 10, "{file}");
        for name in used {
            assert!(is_known(&name, &known), "{file}: there is no {name}");
        }
    }
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len());
    // Whatever can be seen is worth a look.
    let shown = names(DASHBOARD);
    let is_shown = |(name, kind): &(&String, &String)| match kind.as_str() {
        "histogram" => shown.iter().any(|shown| shown.starts_with(name.as_str())),
        _ => shown.contains(*name),
    };
    let hidden: Vec<_> = known.iter().filter(|it| !is_shown(it)).map(|(name, _)| name).collect();
    assert_eq!(hidden, ["punctual_trace_spans_total"]);
}

#[test]
fn the_log_names_what_happened_and_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut command = serve(&dir.path().join("store"));
    command.args(["--log-format", "json"]).env("PUNCTUAL_LOG", "debug");
    command.stderr(std::fs::File::create(&log).unwrap());
    let server = Server::of(command);
    server.say(&["push", "q", r#"{"password":"hunter2"}"#, "--id", "t1"]);
    server.say(&["queue", "pause", "q"]);
    let taken = server.json(&["queue", "get", "q"]);
    assert_eq!(taken["paused"], true);
    server.stop();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |event: &str| {
        let found = lines.iter().find(|line| line["fields"]["event"] == event);
        found.unwrap_or_else(|| panic!("no {event}: {text}"))
    };
    let pushed = find("task.pushed");
    assert_eq!((&pushed["fields"]["queue"], &pushed["fields"]["id"]), (&"q".into(), &"t1".into()));
    assert_eq!(pushed["level"], "DEBUG");
    assert_eq!(find("queue.changed")["level"], "INFO");
    let is_push = |line: &&serde_json::Value| {
        line["fields"]["route"] == "/v1/queues/{queue}/tasks" && line["fields"]["status"] == 201
    };
    assert!(lines.iter().any(|line| is_push(&line)), "{text}");
}
