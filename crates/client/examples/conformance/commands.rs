//! The story's commands.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use punctual_client::{
    Client, Commit, ContentType, Error, EventFilter, Extend, Fail, Held, NewNotice, NewPlan,
    Payload, Pusher, QueueChanges, RawJson, Rule, Span, State, Take, Verifier,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::Failure;
use crate::worker::Workers;

pub(crate) type Texts = Arc<Mutex<Vec<String>>>;

/// Carries out commands.
pub(crate) struct Driver {
    url: String,
    client: Client,
    pusher: Pusher,
    workers: Workers,
    heard: Texts,
    later: Option<JoinHandle<Result<String, Error>>>,
}

/// Adds a text to a list that several tasks write.
pub(crate) fn note(texts: &Texts, text: String) {
    texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

pub(crate) fn noted(texts: &Texts) -> Vec<String> {
    texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn value(it: impl Serialize) -> Result<Value, Failure> {
    Ok(serde_json::to_value(it)?)
}

fn text<'a>(order: &'a Value, name: &str) -> &'a str {
    order[name].as_str().unwrap_or_default()
}

pub(crate) fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A task as the story writes it: its options, and its payload.
fn task(order: &Value) -> RawJson {
    let mut members = order["options"].as_object().cloned().unwrap_or_default();
    members.insert("payload".to_owned(), order["payload"].clone());
    RawJson::of(&members)
}

impl Driver {
    pub(crate) fn new(url: &str) -> Result<Self, Error> {
        let client = Client::new(url, None)?;
        let (pusher, workers) = (Pusher::new(client.clone()), Workers::new(client.clone()));
        Ok(Self {
            url: url.to_owned(),
            client,
            pusher,
            workers,
            heard: Texts::default(),
            later: None,
        })
    }

    pub(crate) async fn answer(&mut self, it: &Value) -> Result<Value, Failure> {
        let (client, queue, id) = (&self.client, text(it, "queue"), text(it, "id"));
        let held = Held { queue, id, token: text(it, "token") };
        match text(it, "do") {
            "put_queue" => value(client.put_queue(queue, &settings(&it["settings"])).await?),
            "get_queue" => value(client.queue(queue).await?),
            "pause_queue" => value(client.pause_queue(queue).await?),
            "resume_queue" => value(client.resume_queue(queue).await?),
            "push" => pushed(queue, self.pusher.push(queue, &task(it)).await),
            "push_impatient" => {
                let pusher = Pusher::with_retry_for(client.clone(), Duration::ZERO);
                pushed(queue, pusher.push(queue, &task(it)).await)
            }
            "push_later" => {
                let (pusher, queue, task) = (self.pusher.clone(), queue.to_owned(), task(it));
                self.later = Some(tokio::spawn(async move { pusher.push(&queue, &task).await }));
                Ok(Value::Null)
            }
            "pushed_later" => {
                let later = self.later.take().ok_or(Failure::Other("none".to_owned()))?;
                let answer = later.await.map_err(|error| Failure::Other(error.to_string()))?;
                pushed(queue, answer)
            }
            "push_many" => {
                let tasks = it["tasks"].as_array().cloned().unwrap_or_default();
                value(client.push_batch(queue, &tasks, None).await?)
            }
            "push_together" => Ok(json!(self.push_together(queue, &texts(&it["ids"])).await)),
            "push_numbers" => {
                let task = |n| json!({"id": format!("{}{n}", text(it, "prefix")), "payload": {"do": "return", "value": n}});
                let tasks: Vec<Value> = (0..it["count"].as_u64().unwrap_or(0)).map(task).collect();
                Ok(json!(client.push_batch(queue, &tasks, None).await?.len()))
            }
            "get_task" => value(client.task(queue, id).await?),
            "delete_task" => Ok(json!(client.clean(queue, id).await?)),
            "wait_for" => self.wait_for(queue, id).await,
            "take" => {
                let options = &it["options"];
                let n = options["n"].as_u64().and_then(|n| n.try_into().ok()).unwrap_or(1);
                let take = Take::new().n(n).worker(text(options, "worker"));
                value(client.take(queue, &take).await?.tasks)
            }
            "extend" => {
                let options = &it["options"];
                let report = Extend {
                    progress: options["progress"].as_f64(),
                    message: options["message"].as_str().map(str::to_owned),
                    checkpoint: Some(RawJson::of(&options["checkpoint"])),
                    hold: None,
                };
                value(client.extend(held, &report).await?)
            }
            "commit" => {
                let commit = Commit { result: Some(RawJson::of(&it["result"])) };
                value(client.commit(held, &commit).await?)
            }
            "fail" => {
                let options = &it["options"];
                let retry_in: Option<Span> = serde_json::from_value(options["retry_in"].clone())?;
                let error = options["error"].as_str().map(str::to_owned);
                value(client.fail(held, &Fail { error, retry_in, permanent: false }).await?)
            }
            "retry_task" => {
                let is_forced = it["force"].as_bool().unwrap_or(false);
                value(client.retry(queue, id, is_forced).await?)
            }
            "cancel_task" => value(client.cancel(queue, id).await?),
            "pause_task" => value(client.pause(queue, id).await?),
            "resume_task" => value(client.resume(queue, id).await?),
            "events_start" => self.listen(queue, text(it, "type")),
            "events_heard" => Ok(json!(noted(&self.heard))),
            "worker_start" => Ok(json!(self.workers.start(it))),
            "worker_stop" => Ok(json!(self.workers.stop(text(it, "name")).await?)),
            "stops" => Ok(json!(self.workers.stops())),
            "open_gate" => Ok(json!(self.workers.open_gate())),
            "list_workers" => {
                let workers = client.workers(None, 100, None).await?.items;
                Ok(json!(workers.iter().map(|worker| &worker.name).collect::<Vec<_>>()))
            }
            _ => self.other(it).await,
        }
    }

    /// Commands about everything but tasks, queues and workers.
    async fn other(&self, it: &Value) -> Result<Value, Failure> {
        let (client, queue, id, key) =
            (&self.client, text(it, "queue"), text(it, "id"), text(it, "key"));
        match text(it, "do") {
            "create_flow" => value(client.make_flow_from(&RawJson::of(&it["flow"])).await?),
            "get_flow" => value(client.flow(id).await?),
            "create_plan" => {
                let plan = &it["plan"];
                let rule = rule(plan)?;
                let message = RawJson::of(&plan["message"]);
                let plan =
                    NewPlan::raw(text(plan, "station"), rule, message).id(text(plan, "plan_id"));
                value(client.make_plan(&plan).await?)
            }
            "preview_plan" => {
                let n = it["rule"]["n"].as_u64().and_then(|n| n.try_into().ok()).unwrap_or(1);
                value(client.preview_plan(&rule(&it["rule"])?, n).await?)
            }
            "get_plan" => value(client.plan(id).await?),
            "plan_results" => value(client.plan_results(id, 100, None).await?.items),
            "push_bundle" => {
                let bundle = &it["bundle"];
                let payload = texts(&bundle["data"])
                    .into_iter()
                    .fold(Payload::raw(RawJson::of(&bundle["task"])), Payload::data);
                value(client.push_bundle(queue, key, &payload, None).await?)
            }
            "schedule_bundle" => value(client.schedule_bundle(queue, Span::from_secs(5)).await?),
            "get_bundle" => {
                value(client.get_bundle(queue, key, text(it, "random"), None, None).await?)
            }
            "complete_bundle" => {
                let (random, number) = (text(it, "random"), it["number"].as_u64());
                Ok(json!({"left": client.complete_bundle(queue, key, random, number).await?}))
            }
            "push_notice" => {
                let notice = &it["notice"];
                let data = RawJson::of(&notice["data"]);
                let notice = NewNotice::new(text(notice, "url")).id(text(notice, "id"));
                value(client.send_notice(&notice.data(ContentType::Form, data)).await?)
            }
            "get_notice" => value(client.notice(id).await?),
            "verify" => verified(it),
            other => Err(Failure::Other(format!("no such command: {other}"))),
        }
    }

    async fn push_together(&self, queue: &str, ids: &[String]) -> Vec<String> {
        let pushes = ids.iter().map(|id| async move {
            let task = RawJson::of(&json!({"id": id, "payload": 1}));
            let told = self.pusher.push(queue, &task).await;
            told.unwrap_or_else(|error| error.code().unwrap_or_default().to_owned())
        });
        futures_util::future::join_all(pushes).await
    }

    async fn wait_for(&self, queue: &str, id: &str) -> Result<Value, Failure> {
        let until = Instant::now() + Duration::from_secs(25);
        loop {
            let task = self.client.task(queue, id).await?;
            if matches!(task.state, State::Done | State::Failed | State::Cancelled) {
                return value(task);
            }
            if Instant::now() > until {
                return Err(Failure::Other(format!("task {id} is {}", task.state)));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Hears events for ever; a stream that breaks off is opened again where it was.
    fn listen(&self, queue: &str, kind: &str) -> Result<Value, Failure> {
        let client = Client::new(self.url.as_str(), None)?;
        let (heard, filter) = (self.heard.clone(), EventFilter::new().queue(queue).kind(kind));
        tokio::spawn(async move {
            let mut filter = filter;
            loop {
                if let Ok(mut events) = client.events(&filter).await {
                    while let Ok(Some(event)) = events.next().await {
                        let data: Value =
                            serde_json::from_str(event.data.as_str()).unwrap_or_default();
                        let ids = match texts(&data["ids"]) {
                            ids if ids.is_empty() => vec![text(&data, "id").to_owned()],
                            ids => ids,
                        };
                        ids.iter().for_each(|id| note(&heard, format!("{} {id}", event.kind)));
                    }
                    filter = filter.after(events.last_id());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Ok(Value::Null)
    }
}

fn pushed(queue: &str, id: Result<String, Error>) -> Result<Value, Failure> {
    Ok(json!({"queue": queue, "id": id?}))
}

fn settings(members: &Value) -> QueueChanges {
    let members: BTreeMap<String, Value> =
        serde_json::from_value(members.clone()).unwrap_or_default();
    members
        .iter()
        .fold(QueueChanges::new(), |changes, (name, value)| changes.set(name, RawJson::of(value)))
}

/// A rule as the story writes it.
fn rule(plan: &Value) -> Result<Rule, Failure> {
    let times = plan["plan_repet"].as_i64().unwrap_or(-1);
    let rule = match text(plan, "cron") {
        "" => {
            let unit = serde_json::from_value(plan["plan_type"].clone())?;
            Rule::every(plan["plan_value"].as_i64().unwrap_or(1), unit)
        }
        pattern => Rule::cron(pattern),
    };
    Ok(rule.times(times))
}

fn verified(it: &Value) -> Result<Value, Failure> {
    let headers: BTreeMap<String, String> = serde_json::from_value(it["headers"].clone())?;
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let seconds = text(it, "now").parse().map_err(|_| Failure::Other("now".to_owned()))?;
    let now = UNIX_EPOCH + Duration::from_secs(seconds);
    let verifier = Verifier::new([text(it, "secret")]);
    Ok(json!(verifier.verify_at(text(it, "body").as_bytes(), headers, now)?))
}
