//! The load: clients that do everything at once until the server is gone. Here: what they do, by
//! chance, and how they push; what workers and others do with tasks is in `work`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use punctual_client::{
    Callback, Client, Effect, Error, ItemResult, NewTask, QueueChanges, RawJson, Span, State,
};

use crate::ledger::{AFTER, BRIEF, GONE, Ledger, Left, Payload, SCRATCH, SETTINGS, WORKED};
use crate::random::Random;
use crate::rules::Op;

/// Longer than any run.
const LATER: Span = Span::from_secs(3_600);
/// Over at once.
const SOON: Span = Span::from_millis(30);

/// How long tasks of a queue wait, if they do.
pub(crate) fn wait(queue: &str) -> Span {
    if queue == BRIEF { SOON } else { LATER }
}

/// The server does not answer any more, or its store is away.
pub(crate) struct ServerGone;

/// Whether an error says so.
pub(crate) fn is_gone(error: &Error) -> bool {
    error.code().is_none_or(|code| code == "unavailable")
}

/// The ledger, also after somebody failed who had it: that is heard of when the round ends.
pub(crate) fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One client.
pub(crate) struct Hand {
    pub(crate) client: Client,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) random: Random,
    /// Whether it is the one that fills and empties a queue, and changes settings.
    pub(crate) is_keeper: bool,
}

impl Hand {
    /// Works until the server is gone, or it is time to stop.
    pub(crate) async fn work(mut self, stop: Arc<AtomicBool>) {
        while !stop.load(Ordering::Relaxed) && self.chore().await.is_ok() {}
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    async fn chore(&mut self) -> Result<(), ServerGone> {
        let queue = self.random.one(&WORKED);
        match self.random.below(100) {
            0..6 if self.is_keeper => self.fill_and_empty().await,
            6..12 if self.is_keeper => self.change_settings().await,
            0..14 => self.push_one(queue).await,
            14..18 => self.push_many(queue).await,
            18..24 => self.push_once(queue).await,
            24..42 => self.take(queue).await,
            42..48 => self.settle_many(queue).await,
            48..82 => self.settle_one(queue).await,
            _ => self.control(queue).await,
        }
    }

    /// Enters what came of a request about one task.
    pub(crate) fn note(&self, n: u64, answer: Result<Left, Error>) -> Result<(), ServerGone> {
        match answer {
            Ok(left) => self.ledger().answered(n, left),
            // It stays in doubt.
            Err(error) if error.effect() == Effect::Unknown => return Err(ServerGone),
            Err(error) if is_gone(&error) => {
                self.ledger().refused(n, None);
                return Err(ServerGone);
            }
            Err(error) => self.ledger().refused(n, error.code()),
        }
        Ok(())
    }

    /// Enters what came of a batch, whose tasks are left so if it was carried out.
    pub(crate) fn note_many(
        &self,
        tasks: &[(u64, Left)],
        answers: Result<Vec<ItemResult>, Error>,
    ) -> Result<(), ServerGone> {
        match answers {
            Ok(answers) => {
                assert_eq!(answers.len(), tasks.len());
                let mut ledger = self.ledger();
                let mut outcome = Ok(());
                for ((n, left), answer) in tasks.iter().zip(answers) {
                    match answer.code.as_deref() {
                        None => ledger.answered(*n, *left),
                        // The store went away in the middle; of these nothing is known.
                        Some("unavailable") => outcome = Err(ServerGone),
                        Some(code) => ledger.refused(*n, Some(code)),
                    }
                }
                outcome
            }
            Err(error) if error.effect() == Effect::Unknown => Err(ServerGone),
            Err(error) => {
                assert!(is_gone(&error), "{error}");
                tasks.iter().for_each(|(n, _)| self.ledger().refused(*n, None));
                Err(ServerGone)
            }
        }
    }

    /// A new task, entered and ready to be pushed, and what it will be.
    fn new_task(&mut self, queue: &'static str, has_id: bool) -> (u64, NewTask, Left) {
        let is_later = self.random.percent(15);
        let is_unique = queue == GONE && has_id && self.random.percent(25);
        let calls_back = self.random.percent(20);
        let filler = "x".repeat(self.random.below(400));
        let mut ledger = self.ledger();
        let n = ledger.enter(queue);
        let record = ledger.record(n);
        (record.is_unique, record.calls_back) = (is_unique, calls_back);
        let mut task = NewTask::new(&Payload { n, version: 0, filler });
        if has_id {
            let id = format!("t-{n}");
            record.id = Some(id.clone());
            task = task.id(id);
        }
        drop(ledger);
        if is_later {
            task = task.delay(wait(queue));
        }
        if is_unique {
            task = task.unique_for(LATER);
        }
        if calls_back {
            task = task.callback(Callback::new(AFTER));
        }
        let state = if is_later { State::Waiting } else { State::Ready };
        (n, task, Left::At(state, 0))
    }

    pub(crate) async fn push_one(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let has_id = self.random.percent(70);
        let (n, task, _) = self.new_task(queue, has_id);
        let answer = self.client.push(queue, &task).await.map(|task| {
            self.ledger().record(n).id = Some(task.id);
            Left::At(task.state, task.attempt)
        });
        self.note(n, answer)
    }

    async fn push_many(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let count = 1 + self.random.below(30);
        let made: Vec<_> = (0..count).map(|_| self.new_task(queue, true)).collect();
        let tasks: Vec<NewTask> = made.iter().map(|(_, task, _)| task.clone()).collect();
        let answers = self.client.push_batch(queue, &tasks, None).await;
        let lefts: Vec<_> = made.iter().map(|(n, _, left)| (*n, *left)).collect();
        self.note_many(&lefts, answers)
    }

    /// Under an Idempotency-Key, often twice.
    async fn push_once(&mut self, queue: &'static str) -> Result<(), ServerGone> {
        let (n, task, left) = self.new_task(queue, false);
        let key = format!("key-{n}");
        self.ledger().record(n).keyed = Some((key.clone(), task.clone()));
        let answer = self.client.push_once(queue, &key, &task).await;
        let answer = answer.map(|pushed| {
            assert!(!pushed.replayed, "{key} was never used before");
            self.ledger().record(n).id = Some(pushed.after.id().to_owned());
            left
        });
        self.note(n, answer)?;
        if self.random.percent(30) {
            self.push_again_under(n).await?;
        }
        Ok(())
    }

    /// Repeats a push under its key: it must be the same task.
    pub(crate) async fn push_again_under(&self, n: u64) -> Result<(), ServerGone> {
        let (queue, (key, task)) = {
            let mut ledger = self.ledger();
            let record = ledger.record(n);
            (record.queue, record.keyed.clone().unwrap())
        };
        match self.client.push_once(queue, &key, &task).await {
            Ok(pushed) => {
                let mut ledger = self.ledger();
                let record = ledger.record(n);
                let id = pushed.after.id().to_owned();
                assert!(record.id.as_ref().is_none_or(|known| *known == id), "{id} {record:#?}");
                assert!(pushed.replayed || record.sent == Some(Op::Push), "{record:#?}");
                record.id = Some(id);
                Ok(())
            }
            Err(error) => {
                assert!(is_gone(&error), "{error}");
                Err(ServerGone)
            }
        }
    }

    /// Fills a queue that nobody else touches, and empties it again.
    async fn fill_and_empty(&mut self) -> Result<(), ServerGone> {
        self.push_many(SCRATCH).await?;
        if self.random.percent(50) {
            return Ok(());
        }
        let ns = self.ledger().present_in(SCRATCH);
        ns.iter().for_each(|n| self.ledger().send(*n, Op::Clean));
        let emptied = if self.random.percent(50) {
            self.client.reset_queue(SCRATCH).await.map(drop)
        } else {
            self.client.delete_queue(SCRATCH).await
        };
        let answer = |_| Ok(Left::Gone);
        match emptied {
            Ok(()) => ns.iter().try_for_each(|n| self.note(*n, answer(n))),
            Err(error) if error.effect() == Effect::Unknown => Err(ServerGone),
            Err(error) => {
                assert!(is_gone(&error), "{error}");
                ns.iter().for_each(|n| self.ledger().refused(*n, None));
                Err(ServerGone)
            }
        }
    }

    async fn change_settings(&mut self) -> Result<(), ServerGone> {
        let answer = if self.random.percent(50) {
            let value = self.ledger().setting.0 + 1;
            self.ledger().setting.1 = Some(value);
            let changes = QueueChanges::new().set("max", RawJson::of(&value));
            let answer = self.client.put_queue(SETTINGS, &changes).await;
            if answer.is_ok() {
                self.ledger().setting = (value, None);
            }
            answer
        } else {
            let pause = !self.ledger().paused.0;
            self.ledger().paused.1 = Some(pause);
            let answer = if pause {
                self.client.pause_queue(SETTINGS).await
            } else {
                self.client.resume_queue(SETTINGS).await
            };
            if answer.is_ok() {
                self.ledger().paused = (pause, None);
            }
            answer
        };
        answer.map(drop).map_err(|error| {
            assert!(is_gone(&error), "{error}");
            ServerGone
        })
    }
}
