//! The connection as it is now: there, or on its way back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::connection::Connection;

/// How long a request waits for a connection that is on its way back.
const RETURN_PATIENCE: Duration = Duration::from_millis(1_500);

/// The current connection, shared by all requests.
pub(super) struct Link {
    state: watch::Sender<State>,
    broken: mpsc::UnboundedSender<Broken>,
    /// The last connection that was suspected.
    suspected: AtomicU64,
}

#[derive(Clone)]
enum State {
    Up { connection: Connection, generation: u64 },
    Down { reason: String },
}

/// The word that a connection is of no more use.
pub(super) struct Broken {
    /// Which one.
    pub(super) generation: u64,
    /// Why.
    pub(super) reason: String,
}

impl Link {
    /// A link without a connection, and who hears that one is broken.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Broken>) {
        let (broken, hears) = mpsc::unbounded_channel();
        let state = State::Down { reason: "Redis: not connected yet".to_owned() };
        (Self { state: watch::Sender::new(state), broken, suspected: AtomicU64::new(0) }, hears)
    }

    /// The connection. Waits a while for one that is on its way back; the error is the reason why there
    /// is none.
    pub(super) async fn connection(&self, deadline: Instant) -> Result<(Connection, u64), String> {
        let mut state = self.state.subscribe();
        let deadline = deadline.min(Instant::now() + RETURN_PATIENCE);
        let up = state.wait_for(|state| matches!(state, State::Up { .. }));
        // With the time over, the last state says why.
        let _ = tokio::time::timeout_at(deadline, up).await;
        let state = self.state.borrow();
        match &*state {
            State::Up { connection, generation } => Ok((connection.clone(), *generation)),
            State::Down { reason } => Err(reason.clone()),
        }
    }

    /// The connection that is there now; else the reason why there is none.
    pub(super) fn check(&self) -> Result<u64, String> {
        match &*self.state.borrow() {
            State::Up { generation, .. } => Ok(*generation),
            State::Down { reason } => Err(reason.clone()),
        }
    }

    /// Which connection there is now.
    pub(super) fn current(&self) -> Option<u64> {
        self.check().ok()
    }

    /// Waits until there is a connection, and says which.
    pub(super) async fn up(&self) -> u64 {
        let mut state = self.state.subscribe();
        loop {
            if let State::Up { generation, .. } = &*state.borrow_and_update() {
                return *generation;
            }
            if state.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until there is another connection than this one.
    pub(super) async fn renewed(&self, generation: u64) {
        let is_another = |state: &State| match state {
            State::Up { generation: current, .. } => *current != generation,
            State::Down { .. } => false,
        };
        // The sender lives as long as the link.
        let _ = self.state.subscribe().wait_for(is_another).await;
    }

    /// Says that a connection is of no more use. Only the first word about it counts.
    pub(super) fn give_up(&self, generation: u64, reason: &str) {
        let is_current = self.state.send_if_modified(|state| match state {
            State::Up { generation: current, .. } if *current == generation => {
                *state = State::Down { reason: reason.to_owned() };
                true
            }
            _ => false,
        });
        if is_current {
            // The listener is gone only with the store itself.
            let _ = self.broken.send(Broken { generation, reason: reason.to_owned() });
        }
    }

    /// Says that a connection may be of no more use. It is used until there is a better one: of a
    /// Cluster only a part may be away. Only the first word about it counts.
    pub(super) fn suspect(&self, generation: u64, reason: &str) {
        if self.suspected.fetch_max(generation, Ordering::SeqCst) < generation {
            // The listener is gone only with the store itself.
            let _ = self.broken.send(Broken { generation, reason: reason.to_owned() });
        }
    }

    /// Gives all requests a new connection.
    pub(super) fn set_up(&self, connection: Connection, generation: u64) {
        self.state.send_replace(State::Up { connection, generation });
    }

    /// Says why there is still no connection.
    pub(super) fn set_down(&self, reason: String) {
        self.state.send_replace(State::Down { reason });
    }
}
