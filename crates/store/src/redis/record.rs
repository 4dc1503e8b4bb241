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
use super::names::{Changing, Name, Pushed};
use crate::format;
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

/// The fields of what was pushed. What JSON would not tell apart, as `null` from nothing, is packed.
pub(super) fn spec_fields(spec: &Spec) -> Fields<'_, Pushed> {
    let Spec {
        queue: _,
        id,
        payload,
        created_at,
        due_at,
        priority,
        hold,
        max_attempts,
        max_runtime,
        retry,
        unique_for,
        expires,
        requires,
        http,
        callback,
        tags,
        owner,
        notice,
        trace,
    } = spec;
    let mut fields = Fields::default();
    fields.set(Pushed::Id, id.as_str().as_bytes());
    fields.text(Pushed::Create, seconds(created_at.as_millis()));
    if due_at != created_at {
        fields.text(Pushed::Due, seconds(due_at.as_millis()));
    }
    if *priority != 0 {
        fields.text(Pushed::Priority, priority);
    }
    let class = spec.lane_class();
    if !class.is_empty() {
        fields.set(Pushed::Class, escaped(&class).into_bytes());
    }
    if !requires.is_empty() {
        fields.long(Pushed::Requires, json(requires));
    }
    for (name, span) in
        [(Pushed::Hold, hold), (Pushed::Runtime, max_runtime), (Pushed::Unique, unique_for)]
    {
        if let Some(span) = span {
            fields.text(name, seconds(span.as_millis()));
        }
    }
    if let Some(attempts) = max_attempts {
        fields.long(Pushed::Attempts, json(attempts));
    }
    if let Some(retry) = retry {
        fields.long(Pushed::Retry, json(retry));
    }
    if let Some(expires) = expires {
        fields.text(Pushed::Expires, seconds(expires.as_millis()));
    }
    if let Some(http) = http {
        fields.long(Pushed::Http, format::marked(http));
    }
    if let Some(callback) = callback {
        fields.long(Pushed::Callback, format::marked(callback));
    }
    if let Some(notice) = notice {
        fields.long(Pushed::Notice, format::marked(notice));
    }
    if let Some(trace) = trace {
        fields.text(Pushed::Trace, trace);
    }
    if !tags.is_empty() {
        fields.long(Pushed::Tags, json(tags));
    }
    match owner {
        Some(OwnerRef::Plan { id, reads }) => {
            fields.text(Pushed::PlanId, id);
            fields.long(Pushed::Plan, reads.as_str().as_bytes());
        }
        Some(OwnerRef::Flow { id, step }) => {
            fields.text(Pushed::Flow, id);
            fields.text(Pushed::FlowStep, step);
        }
        Some(OwnerRef::Bundle(key)) => fields.long(Pushed::Bundle, key.as_str().as_bytes()),
        None => {}
    }
    if is_big(spec) {
        fields.text(Pushed::Big, payload.len());
    } else {
        fields.numbered(payload.as_str().as_bytes());
    }
    fields
}

fn time_text(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "0".to_owned(), |time| seconds(time.as_millis()))
}

/// The fields of all that changes, but for the version and the place in a list, which scripts write.
pub(super) fn status_fields(status: &Status) -> Fields<'_, Changing> {
    let Status {
        state,
        ready_at,
        due_at,
        attempt,
        granted,
        starts,
        failures,
        hold,
        worker,
        taken_at,
        progress,
        message,
        checkpoint,
        result,
        error,
        finished_at,
        keep_until,
        reserved_until,
        settled,
        history,
        notified: Notified { count, success_id },
    } = status;
    let mut fields = Fields::default();
    fields.set(Changing::Status, state.name().as_bytes());
    fields.text(Changing::Ready, seconds(ready_at.as_millis()));
    fields.text(Changing::Counter, attempt);
    fields.text(Changing::Taken, time_text(*taken_at));
    fields.text(Changing::Timeout, time_text(hold.map(|hold| hold.until)));
    if let Some(Hold { token, since, until: _, length }) = hold {
        fields.text(Changing::Token, format!("{token}:0"));
        fields.text(Changing::Since, seconds(since.as_millis()));
        fields.text(Changing::Length, seconds(length.as_millis()));
    }
    for (name, count) in [
        (Changing::Granted, granted),
        (Changing::Starts, starts),
        (Changing::Failures, failures),
        (Changing::Notices, count),
        (Changing::Success, success_id),
    ] {
        if *count > 0 {
            fields.text(name, count);
        }
    }
    for (name, time) in [
        (Changing::Again, due_at),
        (Changing::Finished, finished_at),
        (Changing::Keep, keep_until),
        (Changing::Reserved, reserved_until),
    ] {
        if let Some(time) = time {
            fields.text(name, seconds(time.as_millis()));
        }
    }
    if let Some(worker) = worker {
        // In one piece, so that scripts can tell who holds it.
        fields.set(Changing::Worker, worker.as_str().as_bytes());
    }
    if let Some(progress) = progress {
        fields.text(Changing::Progress, progress);
    }
    for (name, text) in [(Changing::Message, message), (Changing::Error, error)] {
        if let Some(text) = text {
            fields.long(name, text.as_bytes());
        }
    }
    for (name, value) in [(Changing::Checkpoint, checkpoint), (Changing::Result, result)] {
        if let Some(value) = value {
            fields.long(name, value.as_str().as_bytes());
        }
    }
    if let Some((token, verb)) = settled {
        fields.text(Changing::Settled, format!("{token}:{}", verb.name()));
    }
    if !history.is_empty() {
        fields.long(Changing::History, json(history));
    }
    fields
}

/// Reads a record.
pub(super) fn stored(queue: &QueueName, record: Record) -> Result<Stored, StoreError> {
    let Record { fields, payload } = &record;
    let id = fields.text(Pushed::Id).unwrap_or("?");
    let place = || format!("task {id} of queue {queue}");
    let reader = Reader { fields, place: &place };
    let spec = Arc::new(reader.spec(queue, payload.as_deref())?);
    let status = reader.status()?.into();
    let revision = Revision {
        birth: reader.needed(Pushed::Birth, fields.parse(Pushed::Birth))?,
        change: fields.parse(Changing::Change).unwrap_or(0),
    };
    Ok(Stored { task: Task { spec, status }, revision })
}

struct Reader<'a> {
    fields: &'a Read,
    place: &'a dyn Fn() -> String,
}

impl Reader<'_> {
    fn bad(&self, name: impl Name) -> StoreError {
        let name = name.text();
        corrupt((self.place)(), format!("its field {name} is missing or not well formed"))
    }

    fn needed<T>(&self, name: impl Name, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.bad(name))
    }

    /// A field that may be missing, but not malformed.
    fn optional<T>(
        &self,
        name: impl Name,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        match self.fields.long_text(name) {
            Some(text) => read(&text).map(Some).ok_or_else(|| self.bad(name)),
            None if self.fields.get(name).is_some() => Err(self.bad(name)),
            None => Ok(None),
        }
    }

    fn json<T: DeserializeOwned>(&self, name: impl Name) -> Result<Option<T>, StoreError> {
        self.optional(name, |text| serde_json::from_str(text).ok())
    }

    fn packed<T: DeserializeOwned>(&self, name: impl Name) -> Result<Option<T>, StoreError> {
        match self.fields.long(name) {
            Some(bytes) => {
                let unpacked = format::unpack_marked(&bytes).map(Some);
                unpacked.map_err(|error| {
                    corrupt((self.place)(), format!("its field {}: {error}", name.text()))
                })
            }
            None => Ok(None),
        }
    }

    fn time(&self, name: impl Name) -> Result<Option<Timestamp>, StoreError> {
        self.optional(name, |text| millis(text).map(Timestamp::from_millis))
    }

    fn span(&self, name: impl Name) -> Result<Option<Span>, StoreError> {
        self.optional(name, |text| millis(text).map(Span::from_millis))
    }

    fn raw(&self, name: impl Name) -> Result<Option<RawJson>, StoreError> {
        self.optional(name, |text| Some(RawJson::stored(text)))
    }

    fn owner(&self) -> Result<Option<OwnerRef>, StoreError> {
        if let Some(id) = self.optional(Pushed::PlanId, |text| PlanId::parse(text).ok())? {
            let reads = self.needed(Pushed::Plan, self.raw(Pushed::Plan)?)?;
            return Ok(Some(OwnerRef::Plan { id, reads }));
        }
        if let Some(key) = self.fields.long_text(Pushed::Bundle) {
            return Ok(Some(OwnerRef::Bundle(BundleKey::composed(key))));
        }
        let Some(id) = self.optional(Pushed::Flow, |text| FlowId::parse(text).ok())? else {
            return Ok(None);
        };
        let step = self.optional(Pushed::FlowStep, |text| StepName::parse(text).ok())?;
        Ok(Some(OwnerRef::Flow { id, step: self.needed(Pushed::FlowStep, step)? }))
    }

    fn spec(&self, queue: &QueueName, payload: Option<&[u8]>) -> Result<Spec, StoreError> {
        let created_at = self.needed(Pushed::Create, self.time(Pushed::Create)?)?;
        let payload = match self.fields.get(Pushed::Big) {
            Some(_) => Cow::Borrowed(self.needed(Pushed::Big, payload)?),
            None => Cow::Owned(self.fields.numbered()),
        };
        let payload = std::str::from_utf8(&payload).map_err(|_| self.bad("payload"))?;
        Ok(Spec {
            queue: queue.clone(),
            id: self.needed(
                Pushed::Id,
                self.fields.text(Pushed::Id).and_then(|id| TaskId::parse(id).ok()),
            )?,
            payload: RawJson::stored(payload),
            created_at,
            due_at: self.time(Pushed::Due)?.unwrap_or(created_at),
            priority: self.optional(Pushed::Priority, |text| text.parse().ok())?.unwrap_or(0),
            hold: self.span(Pushed::Hold)?,
            max_attempts: self.json::<MaxAttempts>(Pushed::Attempts)?,
            max_runtime: self.span(Pushed::Runtime)?,
            retry: self.json(Pushed::Retry)?,
            unique_for: self.span(Pushed::Unique)?,
            expires: self.time(Pushed::Expires)?,
            requires: self.json(Pushed::Requires)?.unwrap_or_default(),
            http: self.packed(Pushed::Http)?,
            callback: self.packed(Pushed::Callback)?,
            tags: self.json(Pushed::Tags)?.unwrap_or_default(),
            owner: self.owner()?,
            notice: self.packed(Pushed::Notice)?,
            trace: self.optional(Pushed::Trace, TraceParent::stored)?,
        })
    }

    fn status(&self) -> Result<Status, StoreError> {
        let state = self.optional(Changing::Status, State::parse)?;
        let hold = match self.optional(Changing::Token, token)? {
            Some(token) => Some(Hold {
                token,
                // What is taken without a confirmation is started at once.
                since: self.needed(
                    Changing::Since,
                    self.time(Changing::Since)?.or(self.time(Changing::Taken)?),
                )?,
                until: self.needed(Changing::Timeout, self.time(Changing::Timeout)?)?,
                length: self.needed(Changing::Length, self.span(Changing::Length)?)?,
            }),
            None => None,
        };
        Ok(Status {
            state: self.needed(Changing::Status, state)?,
            ready_at: self.needed(Changing::Ready, self.time(Changing::Ready)?)?,
            due_at: self.time(Changing::Again)?,
            attempt: self.needed(Changing::Counter, self.fields.parse(Changing::Counter))?,
            granted: self.fields.parse(Changing::Granted).unwrap_or(0),
            starts: self.fields.parse(Changing::Starts).unwrap_or(0),
            failures: self.fields.parse(Changing::Failures).unwrap_or(0),
            hold,
            worker: self.optional(Changing::Worker, |name| WorkerName::parse(name).ok())?,
            taken_at: self.time(Changing::Taken)?.filter(|time| time.as_millis() > 0),
            progress: self.fields.parse(Changing::Progress),
            message: self.optional(Changing::Message, |text| Some(text.to_owned()))?,
            checkpoint: self.raw(Changing::Checkpoint)?,
            result: self.raw(Changing::Result)?,
            error: self.optional(Changing::Error, |text| Some(text.to_owned()))?,
            finished_at: self.time(Changing::Finished)?,
            keep_until: self.time(Changing::Keep)?,
            reserved_until: self.time(Changing::Reserved)?,
            settled: self.optional(Changing::Settled, settled)?,
            history: self.json(Changing::History)?.unwrap_or_default(),
            notified: Notified {
                count: self.fields.parse(Changing::Notices).unwrap_or(0),
                success_id: self.fields.parse(Changing::Success).unwrap_or(0),
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
