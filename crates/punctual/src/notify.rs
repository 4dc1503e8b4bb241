//! Words to the service manager: that the server is ready, that it stops, that it is alive.
//!
//! The protocol of `sd_notify(3)`: one datagram per word to the socket that NOTIFY_SOCKET names. Without
//! that variable nobody wants to hear anything. The crate sd-notify (0.5) knows no abstract names, and waits
//! for a service manager that does not read.

use std::convert::Infallible;
use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tracing::warn;

/// Whom to tell, if anybody.
pub(crate) struct Notifier {
    to: Option<(UnixDatagram, SocketAddr)>,
    /// How long the service manager waits for a sign of life.
    patience: Option<Duration>,
}

impl Notifier {
    /// Who the environment says is listening.
    pub(crate) fn from_env() -> Self {
        let name = env::var("NOTIFY_SOCKET").ok().filter(|name| !name.is_empty());
        let to = name.and_then(|name| match open(&name) {
            Ok(to) => Some(to),
            Err(error) => {
                warn!(%error, socket = name, "the service manager cannot be told anything");
                None
            }
        });
        let read = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        // The variables may have been meant for whoever started this process.
        let is_meant = read("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let patience = read("WATCHDOG_USEC").filter(|usec| is_meant && *usec > 0);
        Self { to, patience: patience.map(Duration::from_micros) }
    }

    /// Connections are accepted.
    pub(crate) fn ready(&self, address: std::net::SocketAddr) {
        self.tell(&format!("READY=1\nSTATUS=ready on http://{address}"));
    }

    /// Requests under way are finished, and no more accepted.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing requests under way");
    }

    /// Gives signs of life, as often as they are waited for, as long as this is polled: a server
    /// whose threads hang gives none.
    pub(crate) async fn live(&self) -> Infallible {
        let Some(patience) = self.patience.filter(|_| self.to.is_some()) else {
            return std::future::pending().await;
        };
        let mut beat = tokio::time::interval(patience / 2);
        loop {
            beat.tick().await;
            self.tell("WATCHDOG=1");
        }
    }

    fn tell(&self, words: &str) {
        let Some((socket, address)) = &self.to else { return };
        if let Err(error) = socket.send_to_addr(words.as_bytes(), address) {
            warn!(%error, words, "the service manager was not told");
        }
    }
}

/// A socket to speak from, and the address to speak to: a path, or an abstract name after an `@`.
fn open(name: &str) -> std::io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    // Whoever does not read must not hold up the server.
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_at_paths_and_abstract_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify").to_str().unwrap().to_owned();
        let name = format!("@punctual-test-{}", std::process::id());
        for (name, listener) in [
            (path.clone(), UnixDatagram::bind(&path).unwrap()),
            (
                name.clone(),
                UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name[1..]).unwrap())
                    .unwrap(),
            ),
        ] {
            let notifier = Notifier { to: open(&name).ok(), patience: None };
            notifier.stopping();
            let mut words = [0; 100];
            let len = listener.recv(&mut words).unwrap();
            assert!(words[..len].starts_with(b"STOPPING=1\n"), "{name}");
        }
        assert!(open(&"x".repeat(200)).is_err(), "longer than a path may be");
        Notifier { to: None, patience: None }.stopping();
    }
}
