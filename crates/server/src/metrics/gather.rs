//! Gathers all that is measured, when somebody asks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use punctual_core::announce::NAMES;
use punctual_core::worker::WorkerState;
use punctual_core::{State, Timestamp};
use punctual_store::{Measures, Store};
use tracing::debug;

use super::process::Process;
use super::queues::{OUTCOMES, TASK_EVENTS};
use super::text::Text;
use super::{Meters, Requests};
use crate::access::Scope;
use crate::delivery::{HostReading, HostState};
use crate::engine::{QueueReading, depths};
use crate::traces::Tracer;

/// How long the store may take to say how deep queues are, before the rest is told without.
const PATIENCE: Duration = Duration::from_secs(4);

/// Where everything is found.
pub(crate) struct Sources<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) meters: &'a Meters,
    pub(crate) requests: &'a Requests,
    pub(crate) tracer: &'a Tracer,
    pub(crate) targets: Vec<HostReading>,
    /// Workers by state.
    pub(crate) workers: [usize; WorkerState::ALL.len()],
    pub(crate) listeners: usize,
    /// When the process began, in seconds of the machine's clock.
    pub(crate) started_at: f64,
}

/// All that is measured, as text. That the store does not answer is told, too.
pub(crate) async fn gather(sources: Sources<'_>, is_open_metrics: bool) -> String {
    let Sources { store, meters, requests, tracer, targets, workers, listeners, started_at } =
        sources;
    let depths = match tokio::time::timeout(PATIENCE, depths(store, &Scope::all())).await {
        Ok(Ok(depths)) => Some(depths),
        Ok(Err(failure)) => {
            debug!(%failure, "metrics are told without what queues hold");
            None
        }
        Err(_) => None,
    };
    if let Some(depths) = &depths {
        meters.queues.retain(&depths.iter().map(|reading| &reading.queue.name).collect());
    }
    let measures = store.measures();
    let mut text = Text::new(is_open_metrics);
    let version = [("version", env!("CARGO_PKG_VERSION")), ("store", store.kind())];
    text.gauge("punctual_build_info", "The server's version and the kind of its store.")
        .is(&version, true);
    let up = text.gauge("punctual_store_up", "1 if the store answered when this was read.");
    up.is(&[], depths.is_some());
    write_depths(&mut text, depths.as_deref().unwrap_or_default(), store.now());
    write_queues(&mut text, meters);
    write_requests(&mut text, requests);
    write_targets(&mut text, &targets);
    write_timers(&mut text, meters, &measures);
    let states =
        text.gauge("punctual_workers", "Registered workers by state, as this server knows them.");
    for (state, count) in WorkerState::ALL.into_iter().zip(workers) {
        states.is(&[("state", state.name())], count);
    }
    write_events(&mut text, meters, listeners);
    write_traces(&mut text, tracer);
    write_store(&mut text, &measures);
    write_process(&mut text, &Process::now(), started_at);
    text.finish()
}

fn write_depths(text: &mut Text, depths: &[QueueReading], now: Timestamp) {
    let tasks = text.gauge("punctual_tasks", "Tasks in a queue by state.");
    for QueueReading { queue, stats } in depths {
        for state in State::ALL {
            let labels = [("queue", queue.name.as_str()), ("state", state.name())];
            tasks.is(&labels, stats.count(state));
        }
    }
    let bundles = text.gauge("punctual_bundles", "Bundles in a queue.");
    for QueueReading { queue, stats } in depths {
        bundles.is(&[("queue", queue.name.as_str())], stats.bundles);
    }
    let help = "How long the oldest ready task of a queue has been ready; 0 if none is.";
    let ages = text.gauge("punctual_oldest_ready_seconds", help);
    for QueueReading { queue, stats } in depths {
        let age = stats.oldest_ready_at.map_or(0.0, |at| now.since(at).as_secs_f64().max(0.0));
        ages.is(&[("queue", queue.name.as_str())], age);
    }
    let paused = text.gauge("punctual_queue_paused", "1 if a queue is paused.");
    for QueueReading { queue, .. } in depths {
        paused.is(&[("queue", queue.name.as_str())], queue.paused);
    }
}

fn write_queues(text: &mut Text, meters: &Meters) {
    let help = "Decisions made again because a record had changed before they were written.";
    let races = text.counter("punctual_races_lost_total", help);
    races.is(&[], meters.races_lost.load(Ordering::Relaxed));
    let all = meters.queues.all();
    let events = text.counter("punctual_task_events_total", "What became of tasks, by queue.");
    for (queue, meter) in &all {
        for ((event, _), count) in TASK_EVENTS.iter().zip(&meter.events) {
            let labels = [("queue", queue.as_str()), ("event", *event)];
            events.is(&labels, count.load(Ordering::Relaxed));
        }
    }
    let help = "How long tasks were ready before they were handed out.";
    let wait = text.histogram("punctual_task_wait_seconds", help);
    for (queue, meter) in all.iter().filter(|(_, meter)| !meter.wait.is_empty()) {
        wait.has(&[("queue", queue.as_str())], &meter.wait);
    }
    let help = "How long attempts took, from the start to the end of the hold.";
    let run = text.histogram("punctual_task_run_seconds", help);
    for (queue, meter) in all.iter().filter(|(_, meter)| !meter.run.is_empty()) {
        run.has(&[("queue", queue.as_str())], &meter.run);
    }
    let delivers = |meter: &super::queues::Meter| {
        meter.deliveries.iter().any(|count| count.load(Ordering::Relaxed) > 0)
    };
    let deliveries = text.counter("punctual_deliveries_total", "Deliveries by queue and outcome.");
    for (queue, meter) in all.iter().filter(|(_, meter)| delivers(meter)) {
        for (outcome, count) in OUTCOMES.into_iter().zip(&meter.deliveries) {
            let labels = [("queue", queue.as_str()), ("outcome", outcome)];
            deliveries.is(&labels, count.load(Ordering::Relaxed));
        }
    }
    let times = text.histogram("punctual_delivery_seconds", "How long requests to targets took.");
    for (queue, meter) in all.iter().filter(|(_, meter)| !meter.delivery.is_empty()) {
        times.has(&[("queue", queue.as_str())], &meter.delivery);
    }
}

fn write_requests(text: &mut Text, requests: &Requests) {
    let help =
        "How long requests took, by route and kind of answer; takes and polls include their wait.";
    let times = text.histogram("punctual_http_request_seconds", help);
    for timed in requests.all() {
        let labels = [("method", timed.method), ("route", timed.route), ("status", timed.status)];
        times.has(&labels, timed.times);
    }
}

fn write_targets(text: &mut Text, targets: &[HostReading]) {
    let help = "Targets of deliveries by the state of their breaker: open ones are left alone.";
    let states = text.gauge("punctual_delivery_targets", help);
    for (name, state) in
        [("closed", HostState::Closed), ("open", HostState::Open), ("probing", HostState::Probing)]
    {
        let count = targets.iter().filter(|target| target.state == state).count();
        states.is(&[("state", name)], count);
    }
    let in_flight: usize = targets.iter().map(|target| target.in_flight).sum();
    text.gauge("punctual_deliveries_in_flight", "Deliveries under way.").is(&[], in_flight);
}

fn write_timers(text: &mut Text, meters: &Meters, measures: &Measures) {
    let help = "How late what falls due by itself was dealt with.";
    let lag = text.histogram("punctual_timer_lag_seconds", help);
    for (timer, times) in ["hold", "owner"].into_iter().zip(&meters.timers) {
        lag.has(&[("timer", timer)], times);
    }
    if let Some(due) = measures.due() {
        lag.has(&[("timer", "due")], due);
    }
}

fn write_events(text: &mut Text, meters: &Meters, listeners: usize) {
    let help = "Events announced by this server; one may be about several tasks.";
    let events = text.counter("punctual_events_total", help);
    for (name, count) in NAMES.into_iter().chain(["pub"]).zip(&meters.events) {
        events.is(&[("type", name)], count.load(Ordering::Relaxed));
    }
    let help = "Events that were not told, as too many happened at once.";
    let dropped = text.counter("punctual_events_dropped_total", help);
    dropped.is(&[], meters.events_dropped.load(Ordering::Relaxed));
    text.gauge("punctual_event_listeners", "Clients that listen to events.").is(&[], listeners);
}

fn write_traces(text: &mut Text, tracer: &Tracer) {
    if !tracer.is_on() {
        return;
    }
    let help = "Spans sent to the collector, and those that were lost.";
    let spans = text.counter("punctual_trace_spans_total", help);
    for (outcome, count) in [("exported", &tracer.exported), ("dropped", &tracer.dropped)] {
        spans.is(&[("outcome", outcome)], count.load(Ordering::Relaxed));
    }
}

fn write_store(text: &mut Text, measures: &Measures) {
    match measures {
        Measures::None => {}
        Measures::Local(local) => {
            let help = "How long it took to make a group of requests durable, its sync included.";
            text.histogram("punctual_store_sync_seconds", help).has(&[], &local.sync);
            let help = "How many requests shared one sync.";
            text.histogram("punctual_store_group_size", help).has(&[], &local.group);
        }
        Measures::Redis(redis) => {
            let load = |it: &std::sync::atomic::AtomicU64| it.load(Ordering::Relaxed);
            let connected = text.gauge("punctual_redis_connected", "1 while Redis is connected.");
            connected.is(&[], load(&redis.connected));
            let help = "How long requests to Redis took.";
            text.histogram("punctual_redis_request_seconds", help).has(&[], &redis.round_trip);
            let help = "Requests to Redis that failed, repeated ones included.";
            text.counter("punctual_redis_errors_total", help).is(&[], load(&redis.errors));
            let help = "Connections made after one was lost.";
            text.counter("punctual_redis_reconnects_total", help).is(&[], load(&redis.reconnects));
        }
    }
}

fn write_process(text: &mut Text, process: &Process, started_at: f64) {
    let help = "When the process began, in Unix seconds.";
    text.gauge("process_start_time_seconds", help).is(&[], started_at);
    if let Some(bytes) = process.resident_bytes {
        text.gauge("process_resident_memory_bytes", "Memory in use.").is(&[], bytes);
    }
    if let Some(fds) = process.open_fds {
        text.gauge("process_open_fds", "Open file descriptors.").is(&[], fds);
    }
    if let Some(seconds) = process.cpu_seconds {
        text.counter("process_cpu_seconds_total", "Processor time used.").is(&[], seconds);
    }
}
