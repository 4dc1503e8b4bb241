//! What scripts answer, taken apart.

use punctual_core::QueueName;
use redis::Value;

use super::fields::{Read, corrupt};
use crate::port::StoreError;

/// An answer of a script.
pub(super) struct Answer {
    /// The time by Redis's clock.
    pub(super) now_ms: i64,
    /// The earliest moment the script put on the agenda.
    pub(super) soon_ms: Option<i64>,
    /// The queues it opened.
    pub(super) queues: Vec<Opened>,
    /// Its own answer.
    pub(super) body: Part,
}

/// A queue that a script opened.
pub(super) struct Opened {
    /// Its name.
    pub(super) name: QueueName,
    /// Its revision.
    pub(super) rev: String,
    /// How many tasks became ready.
    pub(super) ready: usize,
}

/// How a script ended.
pub(super) enum Ending {
    /// It did its work.
    Answer(Answer),
    /// The shard was never set up, or has lost all it had.
    Empty,
    /// The call came after its place was given to another; it had no effect.
    Late,
}

/// A record as it was read.
pub(super) struct Record {
    /// Its fields.
    pub(super) fields: Read,
    /// Its payload, if that has a key of its own.
    pub(super) payload: Option<Vec<u8>>,
}

/// A part of an answer.
#[derive(Debug, Default)]
pub(super) struct Part(Value);

fn unexpected() -> StoreError {
    corrupt("an answer of Redis", "it is not of the form this version knows")
}

impl Ending {
    /// Takes an answer apart.
    pub(super) fn read(value: Value) -> Result<Self, StoreError> {
        let mut parts = Part(value).list()?.into_iter();
        let mut next = || parts.next().ok_or_else(unexpected);
        match next()?.bytes()?.as_slice() {
            b"EMPTY" => return Ok(Self::Empty),
            b"LATE" => return Ok(Self::Late),
            _ => {}
        }
        let now_ms = next()?.int()?;
        let soon_ms = Some(next()?.int()?).filter(|ms| *ms > 0);
        let mut queues = Vec::new();
        let mut opened = next()?.list()?.into_iter();
        while let (Some(name), Some(rev), Some(ready)) =
            (opened.next(), opened.next(), opened.next())
        {
            queues.push(Opened { name: name.name()?, rev: rev.text()?, ready: ready.count()? });
        }
        Ok(Self::Answer(Answer { now_ms, soon_ms, queues, body: next()? }))
    }
}

impl Part {
    /// A plain value.
    pub(super) fn new(value: Value) -> Self {
        Self(value)
    }

    /// Whether there is nothing here.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.0, Value::Nil)
    }

    /// Its parts.
    pub(super) fn list(self) -> Result<Vec<Self>, StoreError> {
        match self.0 {
            Value::Array(parts) => Ok(parts.into_iter().map(Self).collect()),
            _ => Err(unexpected()),
        }
    }

    /// A whole number.
    pub(super) fn int(&self) -> Result<i64, StoreError> {
        match &self.0 {
            Value::Int(number) => Ok(*number),
            Value::BulkString(text) => {
                let text = std::str::from_utf8(text).map_err(|_| unexpected())?;
                text.parse().map_err(|_| unexpected())
            }
            _ => Err(unexpected()),
        }
    }

    /// How many of something.
    pub(super) fn count(&self) -> Result<usize, StoreError> {
        usize::try_from(self.int()?).map_err(|_| unexpected())
    }

    /// Bytes.
    pub(super) fn bytes(self) -> Result<Vec<u8>, StoreError> {
        match self.0 {
            Value::BulkString(bytes) => Ok(bytes),
            Value::SimpleString(text) => Ok(text.into_bytes()),
            Value::Okay => Ok(b"OK".to_vec()),
            _ => Err(unexpected()),
        }
    }

    /// A text.
    pub(super) fn text(self) -> Result<String, StoreError> {
        String::from_utf8(self.bytes()?).map_err(|_| unexpected())
    }

    /// The name of a queue.
    pub(super) fn name(self) -> Result<QueueName, StoreError> {
        QueueName::parse(&self.text()?).map_err(|_| unexpected())
    }

    /// A record; none: there is none.
    pub(super) fn record(self) -> Result<Option<Record>, StoreError> {
        if self.is_nothing() {
            return Ok(None);
        }
        let [fields, payload] = self.parts()?;
        let payload = if payload.is_nothing() { None } else { Some(payload.bytes()?) };
        let fields = Read::unpack(fields.bytes()?).ok_or_else(unexpected)?;
        Ok(Some(Record { fields, payload }))
    }

    /// Exactly so many parts.
    pub(super) fn parts<const N: usize>(self) -> Result<[Self; N], StoreError> {
        self.list()?.try_into().map_err(|_| unexpected())
    }

    /// A word, and the parts after it.
    pub(super) fn tagged(self) -> Result<(String, Vec<Self>), StoreError> {
        let mut parts = self.list()?.into_iter();
        let word = parts.next().ok_or_else(unexpected)?.text()?;
        Ok((word, parts.collect()))
    }
}
