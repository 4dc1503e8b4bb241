//! What must hold after a crash: everything the ledger knows, and nothing it does not.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use punctual_client::{Client, Commit, Counts, Filter, Held, State, Task};

use crate::ledger::{AFTER, BRIEF, GONE, KEPT, Ledger, Payload, Record, SCRATCH, SETTINGS, WORKED};
use crate::load::Hand;
use crate::process::PATIENCE;
use crate::rules::{Op, Standing};

/// Tokens and keys of each kind that are tried after a crash.
const SAMPLE: usize = 12;

/// Compares a server that has just started with the ledger, and settles what was in doubt.
pub(crate) async fn check(hand: &Hand) {
    let client = &hand.client;
    until_holds_have_ended(client).await;
    repeat_keyed_pushes(hand).await;
    let mut found = HashMap::new();
    for queue in [KEPT, GONE, BRIEF, SCRATCH] {
        for task in list(client, queue).await {
            let n = task.payload_as::<Payload>().unwrap().n;
            assert_eq!(found.insert(n, task), None, "task {n} is there twice");
        }
    }
    let mut callbacks: HashMap<u64, u32> = HashMap::new();
    for task in list(client, AFTER).await {
        *callbacks.entry(callback_of(&task)).or_default() += 1;
    }
    compare(&mut hand.ledger(), found, &callbacks);
    compare_settings(hand).await;
    try_tokens(hand).await;
}

/// Everything a server holds that does not change by itself, as it reads.
pub(crate) async fn picture(client: &Client) -> Vec<Task> {
    let mut tasks = Vec::new();
    for queue in [KEPT, GONE, SCRATCH, AFTER] {
        let mut listed = list(client, queue).await;
        listed.sort_by(|a, b| a.id.cmp(&b.id));
        tasks.extend(listed);
    }
    tasks
}

/// All tasks of a queue. Its counts must say the same.
async fn list(client: &Client, queue: &str) -> Vec<Task> {
    let counts = match client.queue(queue).await {
        Ok(queue) => queue.counts,
        Err(error) if error.code() == Some("not_found") => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut tasks = Vec::new();
    let mut cursor = None;
    loop {
        let page = client.tasks(queue, &Filter::new(), 1_000, cursor.as_deref()).await.unwrap();
        tasks.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let count = |states: &[State]| -> u64 {
        tasks.iter().filter(|task| states.contains(&task.state)).count() as u64
    };
    let Counts { done, failed, cancelled, paused, taken, untaken, .. } = counts;
    let states = [done, failed, cancelled, paused, taken, untaken];
    let held = [State::Assigned, State::Running, State::Pausing, State::Cancelling];
    let listed = [
        count(&[State::Done]),
        count(&[State::Failed]),
        count(&[State::Cancelled]),
        count(&[State::Paused]),
        count(&held),
        count(&[State::Waiting, State::Ready, State::Paused]),
    ];
    assert_eq!(states, listed, "what {queue} counts and lists");
    tasks
}

fn callback_of(task: &Task) -> u64 {
    #[derive(serde::Deserialize)]
    struct Ended {
        payload: Payload,
    }
    task.payload_as::<Ended>().unwrap().payload.n
}

/// Every hold of that queue is over within moments, and then nothing happens there any more.
async fn until_holds_have_ended(client: &Client) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let counts = client.queue(BRIEF).await.unwrap().counts;
        if counts.taken == 0 && counts.waiting == 0 {
            return;
        }
        assert!(Instant::now() < deadline, "holds that do not end: {counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Pushes under a key are repeated until they are answered, as a client would.
async fn repeat_keyed_pushes(hand: &Hand) {
    let (unanswered, answered): (Vec<_>, Vec<_>) = {
        let ledger = hand.ledger();
        let keyed = ledger.records.iter().filter(|(_, record)| record.keyed.is_some());
        let named = keyed.map(|(n, record)| (*n, record.sent == Some(Op::Push)));
        named.partition(|(_, is_open)| *is_open)
    };
    for (n, is_open) in unanswered.into_iter().chain(answered.into_iter().take(SAMPLE)) {
        assert!(hand.push_again_under(n).await.is_ok(), "the server is there");
        hand.ledger().record(n).is_pushed = is_open;
    }
}

fn compare(ledger: &mut Ledger, mut found: HashMap<u64, Task>, callbacks: &HashMap<u64, u32>) {
    let mut settled = Vec::new();
    for (n, record) in &ledger.records {
        let task = found.remove(n);
        let at = place(ledger, record, task.as_ref());
        let ended = at.state.is_some_and(State::is_finished);
        let expected = u32::from(ended && record.calls_back);
        let called = callbacks.get(n).copied().unwrap_or(0);
        assert_eq!(called, expected, "callbacks of {at:?} {record:#?}");
        if record.sent.is_some() || at != record.at {
            settled.push((*n, task, at));
        }
    }
    assert!(found.is_empty(), "nobody pushed these, or they were removed: {found:#?}");
    for (n, task, at) in settled {
        ledger.record(n).settle(task.as_ref(), at);
    }
    ledger.takes.clear();
    ledger.records.values_mut().for_each(|record| record.is_pushed = false);
}

/// Where a task stands, which must be one of the places where it may.
fn place(ledger: &Ledger, record: &Record, found: Option<&Task>) -> Standing {
    let possible = ledger.possible(record);
    let is_found = |at: &&Standing| match found {
        Some(task) => at.state == Some(task.state) && at.attempt == task.attempt,
        None => at.state.is_none_or(|state| vanishes(record.queue, state)),
    };
    let places: Vec<&Standing> = possible.iter().filter(is_found).collect();
    let Some(first) = places.first() else {
        panic!("found {found:#?}, but it must be one of {possible:?}: {record:#?}")
    };
    if let Some(task) = found {
        let version = task.payload_as::<Payload>().unwrap().version;
        let is_known = version == record.version || record.sent == Some(Op::Edit { version });
        assert!(is_known, "version {version} of {record:#?}");
    } else {
        assert!(!record.is_pushed, "pushed under its key: {record:#?}");
    }
    Standing { is_ours: places.iter().all(|at| at.is_ours), ..**first }
}

/// Whether a task that ended so is not kept.
fn vanishes(queue: &str, state: State) -> bool {
    queue == GONE && matches!(state, State::Done | State::Cancelled)
}

async fn compare_settings(hand: &Hand) {
    let queue = hand.client.queue(SETTINGS).await.unwrap();
    let max = u32::try_from(queue.settings["max"].as_u64().unwrap()).unwrap();
    let mut ledger = hand.ledger();
    let (known, sent) = ledger.setting;
    assert!(max == known || Some(max) == sent, "{max} is not {known} or {sent:?}");
    ledger.setting = (max, None);
    let (known, sent) = ledger.paused;
    assert!(queue.paused == known || Some(queue.paused) == sent, "{} {known}", queue.paused);
    ledger.paused = (queue.paused, None);
}

/// Tokens from before the crash: a hold that goes on can be committed, a commit can be repeated,
/// and a token that has ended is good for nothing.
async fn try_tokens(hand: &Hand) {
    let (held, committed, stale) = {
        let mut ledger = hand.ledger();
        let is_running = |record: &Record| {
            record.at.is_ours && matches!(record.state(), Some(s) if s != State::Assigned)
        };
        let records = || ledger.records.iter().filter(|(_, record)| WORKED.contains(&record.queue));
        let held: Vec<u64> =
            records().filter(|(_, r)| is_running(r)).map(|(n, _)| *n).take(SAMPLE).collect();
        // One that was reset since is answered as well, but reads otherwise.
        let token = |record: &Record| {
            let token = record.committed.clone().filter(|_| record.state() == Some(State::Done))?;
            Some((record.queue, record.id.clone()?, token))
        };
        let committed: Vec<_> =
            records().filter_map(|(_, record)| token(record)).take(SAMPLE).collect();
        for record in ledger.records.values_mut() {
            // The memory of commits is bounded in time, so each crash tries those before it.
            record.committed = None;
        }
        (held, committed, std::mem::take(&mut ledger.stale))
    };
    for n in held {
        hand.ledger().send(n, Op::Commit);
        assert!(hand.carry_out(n, Op::Commit).await.is_ok(), "the server is there");
    }
    for (queue, id, token) in committed {
        let held = Held { queue, id: &id, token: &token };
        let again = hand.client.commit(held, &Commit::default()).await;
        let again = again.unwrap_or_else(|error| panic!("{queue}/{id}: {error}"));
        assert_eq!(again.state(), Some(State::Done));
    }
    for (queue, id, token) in stale.into_iter().rev().take(SAMPLE) {
        let held = Held { queue, id: &id, token: &token };
        let error = hand.client.commit(held, &Commit::default()).await.unwrap_err();
        assert!(matches!(error.code(), Some("stale_token" | "not_found")), "{queue}/{id}: {error}");
    }
}
