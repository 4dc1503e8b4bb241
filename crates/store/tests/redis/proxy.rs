//! A proxy before Redis that loses things when told to.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A proxy. It ends with its value.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct State {
    /// Answers still to be lost, each together with its connection.
    answers_to_lose: AtomicU32,
    /// Requests still to be lost, each together with its connection.
    requests_to_lose: AtomicU32,
    connections: AtomicU32,
}

impl State {
    fn is_lost(counter: &AtomicU32) -> bool {
        let one_less = |n: u32| n.checked_sub(1);
        counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }
}

impl Proxy {
    pub(crate) async fn start(to: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let mut tasks = JoinSet::new();
        let shared = state.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await {
                    connections.spawn(forward(client, server, shared.clone()));
                }
            }
        });
        Self { port, state, _tasks: tasks }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Loses the next answers, after their requests were carried out.
    pub(crate) fn lose_answers(&self, count: u32) {
        self.state.answers_to_lose.store(count, Ordering::SeqCst);
    }

    /// Loses the next requests, before they are carried out.
    pub(crate) fn lose_requests(&self, count: u32) {
        self.state.requests_to_lose.store(count, Ordering::SeqCst);
    }

    /// Whether everything that was to be lost is lost.
    pub(crate) fn is_done(&self) -> bool {
        self.state.answers_to_lose.load(Ordering::SeqCst) == 0
            && self.state.requests_to_lose.load(Ordering::SeqCst) == 0
    }

    /// How many connections were made so far.
    pub(crate) fn connections(&self) -> u32 {
        self.state.connections.load(Ordering::SeqCst)
    }
}

async fn forward(mut client: TcpStream, mut server: TcpStream, state: Arc<State>) {
    let (mut request, mut answer) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let Ok(n @ 1..) = read else { return };
                if State::is_lost(&state.requests_to_lose) || server.write_all(&request[..n]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut answer) => {
                let Ok(n @ 1..) = read else { return };
                if State::is_lost(&state.answers_to_lose) || client.write_all(&answer[..n]).await.is_err() {
                    return;
                }
            }
        }
    }
}
