//! A task as a hash: how it is written and read. `docs/redis.md` names every field.
//!
//! What was pushed and what changes are fields of one hash, so that a state is written without the
//! payload; a payload too long for that has a key of its own.

use std::borrow::Cow;
use std::sync::Arc;

use punctual_core::bundle::BundleKey;
use punctual_core::notice::Notified;
use punctual_core::retry::MaxAttempts;
use punctual_core::task::Hold;
use punctual_core::{
    FlowId, OwnerRef, PlanId, QueueName, RawJson, Seed, Span, Spec, State, Status, StepName, Task,
    TaskId, Timestamp, Token, TraceParent, Verb, WorkerName,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Record;
use super::fields::{Fields, Read, SPLIT_BYTES_MAX, corrupt, millis, seconds};
use super::keys::escaped;
use crate::port::{Revision, StoreError, Stored};

/// Whether a payload gets a key of its own.
pub(super) fn is_big(spec: &Spec) -> bool {
    spec.payload.len() > SPLIT_BYTES_MAX
}

/// The name of the lane a task waits in.
pub(super) fn lane(spec: &Spec) -> String {
    let class = spec.lane_class();
    if class.is_empty() {
        spec.priority.to_string()
    } else {
        format!("{}:{}", spec.priority, escaped(&class))
    }
}

/// A value as JSON, for people to read.
fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("records have string keys only")
}

/// A value packed, where JSON would not tell `null` from nothing.
fn packed<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("records can be packed")
}

/// The fields of what was pushed.
pub(super) fn spec_fields(spec: &Spec) -> Fields<'_> {
    let mut fields = Fields::default();
    fields.set("id", spec.id.as_str().as_bytes());
    fields.text("create", seconds(spec.created_at.as_millis()));
    if spec.due_at != spec.created_at {
        fields.text("due", seconds(spec.due_at.as_millis()));
    }
    if spec.priority != 0 {
        fields.text("priority", spec.priority);
    }
    let class = spec.lane_class();
    if !class.is_empty() {
        fields.set("class", escaped(&class).into_bytes());
    }
    if !spec.requires.is_empty() {
        fields.long("requires", json(&spec.requires));
    }
    if let Some(hold) = spec.hold {
        fields.text("hold", seconds(hold.as_millis()));
    }
    if let Some(attempts) = spec.max_attempts {
        fields.long("attempts", json(&attempts));
    }
    if let Some(retry) = &spec.retry {
        fields.long("retry", json(retry));
    }
    if let Some(unique_for) = spec.unique_for {
        fields.text("unique", seconds(unique_for.as_millis()));
    }
    if let Some(expires) = spec.expires {
        fields.text("expires", seconds(expires.as_millis()));
    }
    if let Some(http) = &spec.http {
        fields.long("http", packed(http));
    }
    if let Some(callback) = &spec.callback {
        fields.long("callback", packed(callback));
    }
    if let Some(notice) = &spec.notice {
        fields.long("notice", packed(notice));
    }
    if let Some(trace) = spec.trace {
        fields.text("trace", trace);
    }
    if !spec.tags.is_empty() {
        fields.long("tags", json(&spec.tags));
    }
    match &spec.owner {
        Some(OwnerRef::Plan { id, reads }) => {
            fields.text("plan_id", id);
            fields.long("plan", reads.as_str().as_bytes());
        }
        Some(OwnerRef::Flow { id, step }) => {
            fields.text("flow", id);
            fields.text("flow_step", step);
        }
        Some(OwnerRef::Bundle(key)) => fields.long("bundle", key.as_str().as_bytes()),
        None => {}
    }
    if is_big(spec) {
        fields.text("big", spec.payload.len());
    } else {
        fields.numbered(spec.payload.as_str().as_bytes());
    }
    fields
}

fn time_text(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "0".to_owned(), |time| seconds(time.as_millis()))
}

/// The fields of all that changes, but for the version and the place in a list, which scripts write.
pub(super) fn status_fields(status: &Status) -> Fields<'_> {
    let mut fields = Fields::default();
    fields.set("status", status.state.name().as_bytes());
    fields.text("ready", seconds(status.ready_at.as_millis()));
    fields.text("counter", status.attempt);
    fields.text("taken", time_text(status.taken_at));
    fields.text("timeout", time_text(status.hold.map(|hold| hold.until)));
    if let Some(hold) = status.hold {
        fields.text("token", format!("{}:0", hold.token));
        fields.text("since", seconds(hold.since.as_millis()));
        fields.text("length", seconds(hold.length.as_millis()));
    }
    for (name, count) in [
        ("granted", status.granted),
        ("starts", status.starts),
        ("failures", status.failures),
        ("notices", status.notified.count),
        ("success", status.notified.success_id),
    ] {
        if count > 0 {
            fields.text(name, count);
        }
    }
    for (name, time) in [
        ("again", status.due_at),
        ("finished", status.finished_at),
        ("keep", status.keep_until),
        ("reserved", status.reserved_until),
    ] {
        if let Some(time) = time {
            fields.text(name, seconds(time.as_millis()));
        }
    }
    if let Some(worker) = &status.worker {
        // In one piece, so that scripts can tell who holds it.
        fields.set("worker", worker.as_str().as_bytes());
    }
    if let Some(progress) = status.progress {
        fields.text("progress", progress);
    }
    for (name, text) in [("message", &status.message), ("error", &status.error)] {
        if let Some(text) = text {
            fields.long(name, text.as_bytes());
        }
    }
    for (name, value) in [("checkpoint", &status.checkpoint), ("result", &status.result)] {
        if let Some(value) = value {
            fields.long(name, value.as_str().as_bytes());
        }
    }
    if let Some((token, verb)) = status.settled {
        fields.text("settled", format!("{token}:{}", verb.name()));
    }
    if !status.history.is_empty() {
        fields.long("history", json(&status.history));
    }
    fields
}

/// Reads a record.
pub(super) fn stored(queue: &QueueName, record: Record) -> Result<Stored, StoreError> {
    let Record { fields, payload } = &record;
    let id = fields.text("id").unwrap_or("?");
    let place = || format!("task {id} of queue {queue}");
    let reader = Reader { fields, place: &place };
    let spec = Arc::new(reader.spec(queue, payload.as_deref())?);
    let status = reader.status()?.into();
    let revision = Revision {
        birth: reader.needed("birth", fields.parse("birth"))?,
        change: fields.parse("change").unwrap_or(0),
    };
    Ok(Stored { task: Task { spec, status }, revision })
}

struct Reader<'a> {
    fields: &'a Read,
    place: &'a dyn Fn() -> String,
}

impl Reader<'_> {
    fn bad(&self, name: &str) -> StoreError {
        corrupt((self.place)(), format!("its field {name} is missing or not well formed"))
    }

    fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad(name))
    }

    /// A field that may be missing, but not malformed.
    fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        match self.fields.long_text(name) {
            Some(text) => read(&text).map(Some).ok_or_else(|| self.bad(name)),
            None if self.fields.get(name).is_some() => Err(self.bad(name)),
            None => Ok(None),
        }
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        self.optional(name, |text| serde_json::from_str(text).ok())
    }

    fn packed<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        match self.fields.long(name) {
            Some(bytes) => postcard::from_bytes(&bytes).map(Some).map_err(|_| self.bad(name)),
            None => Ok(None),
        }
    }

    fn time(&self, name: &str) -> Result<Option<Timestamp>, StoreError> {
        self.optional(name, |text| millis(text).map(Timestamp::from_millis))
    }

    fn span(&self, name: &str) -> Result<Option<Span>, StoreError> {
        self.optional(name, |text| millis(text).map(Span::from_millis))
    }

    fn raw(&self, name: &str) -> Result<Option<RawJson>, StoreError> {
        self.optional(name, |text| Some(RawJson::stored(text)))
    }

    fn owner(&self) -> Result<Option<OwnerRef>, StoreError> {
        if let Some(id) = self.optional("plan_id", |text| PlanId::parse(text).ok())? {
            let reads = self.needed("plan", self.raw("plan")?)?;
            return Ok(Some(OwnerRef::Plan { id, reads }));
        }
        if let Some(key) = self.fields.long_text("bundle") {
            return Ok(Some(OwnerRef::Bundle(BundleKey::composed(key))));
        }
        let Some(id) = self.optional("flow", |text| FlowId::parse(text).ok())? else {
            return Ok(None);
        };
        let step = self.optional("flow_step", |text| StepName::parse(text).ok())?;
        Ok(Some(OwnerRef::Flow { id, step: self.needed("flow_step", step)? }))
    }

    fn spec(&self, queue: &QueueName, payload: Option<&[u8]>) -> Result<Spec, StoreError> {
        let created_at = self.needed("create", self.time("create")?)?;
        let payload = match self.fields.get("big") {
            Some(_) => Cow::Borrowed(self.needed("big", payload)?),
            None => Cow::Owned(self.fields.numbered()),
        };
        let payload = std::str::from_utf8(&payload).map_err(|_| self.bad("payload"))?;
        Ok(Spec {
            queue: queue.clone(),
            id: self.needed("id", self.fields.text("id").and_then(|id| TaskId::parse(id).ok()))?,
            payload: RawJson::stored(payload),
            created_at,
            due_at: self.time("due")?.unwrap_or(created_at),
            priority: self.optional("priority", |text| text.parse().ok())?.unwrap_or(0),
            hold: self.span("hold")?,
            max_attempts: self.json::<MaxAttempts>("attempts")?,
            retry: self.json("retry")?,
            unique_for: self.span("unique")?,
            expires: self.time("expires")?,
            requires: self.json("requires")?.unwrap_or_default(),
            http: self.packed("http")?,
            callback: self.packed("callback")?,
            tags: self.json("tags")?.unwrap_or_default(),
            owner: self.owner()?,
            notice: self.packed("notice")?,
            trace: self.optional("trace", TraceParent::stored)?,
        })
    }

    fn status(&self) -> Result<Status, StoreError> {
        let state = self.optional("status", State::parse)?;
        let hold = match self.optional("token", token)? {
            Some(token) => Some(Hold {
                token,
                // What is taken without a confirmation is started at once.
                since: self.needed("since", self.time("since")?.or(self.time("taken")?))?,
                until: self.needed("timeout", self.time("timeout")?)?,
                length: self.needed("length", self.span("length")?)?,
            }),
            None => None,
        };
        Ok(Status {
            state: self.needed("status", state)?,
            ready_at: self.needed("ready", self.time("ready")?)?,
            due_at: self.time("again")?,
            attempt: self.needed("counter", self.fields.parse("counter"))?,
            granted: self.fields.parse("granted").unwrap_or(0),
            starts: self.fields.parse("starts").unwrap_or(0),
            failures: self.fields.parse("failures").unwrap_or(0),
            hold,
            worker: self.optional("worker", |name| WorkerName::parse(name).ok())?,
            taken_at: self.time("taken")?.filter(|time| time.as_millis() > 0),
            progress: self.fields.parse("progress"),
            message: self.optional("message", |text| Some(text.to_owned()))?,
            checkpoint: self.raw("checkpoint")?,
            result: self.raw("result")?,
            error: self.optional("error", |text| Some(text.to_owned()))?,
            finished_at: self.time("finished")?,
            keep_until: self.time("keep")?,
            reserved_until: self.time("reserved")?,
            settled: self.optional("settled", settled)?,
            history: self.json("history")?.unwrap_or_default(),
            notified: Notified {
                count: self.fields.parse("notices").unwrap_or(0),
                success_id: self.fields.parse("success").unwrap_or(0),
            },
        })
    }
}

/// A token as it is stored: the seed of its take, and its number there.
fn token(text: &str) -> Option<Token> {
    let (seed, index) = text.split_once(':')?;
    Some(Seed::new(u128::from_str_radix(seed, 16).ok()?).token(index.parse().ok()?))
}

fn settled(text: &str) -> Option<(Token, Verb)> {
    let (token, name) = text.split_once(':')?;
    let verb = Verb::ALL.into_iter().find(|verb| verb.name() == name)?;
    Some((Token::read(token), verb))
}
