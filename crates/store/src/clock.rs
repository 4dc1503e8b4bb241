//! The clock a store goes by: the wall for absolute times, a steady count for durations.
//!
//! Due times and expiries are points on the wall clock. Holds are durations: they run on a count
//! that never jumps, so that setting the machine's clock neither ends a hold nor stretches it.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use punctual_core::{Span, Timestamp};

use crate::port::StoreError;

/// One reading of both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// The time of day.
    pub wall: Timestamp,
    /// Milliseconds on a count that only goes forward, from an arbitrary start.
    pub steady_ms: i64,
}

/// A source of time.
pub trait Clock: Send + Sync + 'static {
    /// Reads both clocks.
    fn now(&self) -> Instant;
}

/// The machine's clocks.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: std::time::Instant,
}

impl SystemClock {
    /// A clock whose steady count starts now.
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let since_epoch =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Instant {
            wall: Timestamp::from_millis(
                i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX),
            ),
            steady_ms: i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// A clock that somebody moves who tests what will happen later.
#[async_trait]
pub trait DevClock: Send + Sync + 'static {
    /// Moves it, by one caller at a time. Forward, time passes at once, as if everything had slept;
    /// backward, only the time of day changes.
    async fn shift(&self, by_ms: i64) -> Result<(), StoreError>;
}

/// The machine's clocks, moved as somebody likes who tests what will happen later. Clones move
/// together.
#[derive(Debug, Clone)]
pub struct MovableClock {
    system: SystemClock,
    wall_ms: Arc<AtomicI64>,
    steady_ms: Arc<AtomicI64>,
    /// Where it is noted by how much it is ahead, so that it still is after a restart.
    file: Option<Arc<PathBuf>>,
}

impl MovableClock {
    /// A clock that goes with the machine's until it is moved.
    pub fn new() -> Self {
        Self {
            system: SystemClock::new(),
            wall_ms: Arc::default(),
            steady_ms: Arc::default(),
            file: None,
        }
    }

    /// A clock that is ahead of the machine's by what a file says, and notes there when it is moved.
    /// A file that does not exist is made.
    pub fn noted_in(file: PathBuf) -> std::io::Result<Self> {
        let noted = match std::fs::read_to_string(&file) {
            Ok(text) => text.trim().parse().map_err(std::io::Error::other)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let clock = Self { file: Some(Arc::new(file)), ..Self::new() };
        clock.note(noted)?;
        clock.wall_ms.store(noted, Ordering::SeqCst);
        Ok(clock)
    }

    fn note(&self, ahead_ms: i64) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let new = file.with_extension("new");
        let mut options = std::fs::File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&new)?.write_all(ahead_ms.to_string().as_bytes())?;
        std::fs::rename(new, &**file)
    }
}

#[async_trait]
impl DevClock for MovableClock {
    async fn shift(&self, by_ms: i64) -> Result<(), StoreError> {
        let ahead_ms = self.wall_ms.load(Ordering::SeqCst).saturating_add(by_ms);
        // Noted first: nothing must be kept with a time that is lost at a restart.
        self.note(ahead_ms).map_err(|error| StoreError::unavailable(error.to_string()))?;
        self.wall_ms.store(ahead_ms, Ordering::SeqCst);
        self.steady_ms.fetch_add(by_ms.max(0), Ordering::SeqCst);
        Ok(())
    }
}

impl Default for MovableClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Instant {
        let Instant { wall, steady_ms } = self.system.now();
        Instant {
            wall: Timestamp::from_millis(
                wall.as_millis().saturating_add(self.wall_ms.load(Ordering::SeqCst)),
            ),
            steady_ms: steady_ms.saturating_add(self.steady_ms.load(Ordering::SeqCst)),
        }
    }
}

/// A clock that moves only when told to, for tests. Clones move together.
#[derive(Debug, Clone)]
pub struct ManualClock {
    wall_ms: Arc<AtomicI64>,
    steady_ms: Arc<AtomicI64>,
}

impl ManualClock {
    /// A clock that stands at a time.
    pub fn new(wall: Timestamp) -> Self {
        Self {
            wall_ms: Arc::new(AtomicI64::new(wall.as_millis())),
            steady_ms: Arc::new(AtomicI64::new(0)),
        }
    }

    /// Lets time pass, on both clocks.
    pub fn advance(&self, span: Span) {
        self.wall_ms.fetch_add(span.as_millis(), Ordering::SeqCst);
        self.steady_ms.fetch_add(span.as_millis(), Ordering::SeqCst);
    }

    /// Sets the wall clock alone, as somebody setting the machine's clock would.
    pub fn set_wall(&self, wall: Timestamp) {
        self.wall_ms.store(wall.as_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant {
            wall: Timestamp::from_millis(self.wall_ms.load(Ordering::SeqCst)),
            steady_ms: self.steady_ms.load(Ordering::SeqCst),
        }
    }
}
