//! A network that loses and cuts: connections that stall, or end before, in the middle of and after a
//! request or its answer. Whoever repeats what was not answered, under the same id or key,
//! ends with one effect.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use punctual_client::{
    Callback, Client, Commit, Effect, Error, NewTask, QueueChanges, Span, State, Take,
};

use crate::process::Server;
use crate::random::Random;
use crate::task::{all, states};

/// In so many cases of a hundred a piece is lost.
const LOSS_PERCENT: usize = 30;
/// So often a request is repeated at most.
const TRIES_MAX: usize = 60;
const TASKS: usize = 40;

/// Hands on between clients and a server what is not lost.
struct Network {
    url: String,
    cuts: Arc<AtomicUsize>,
}

impl Network {
    fn before(server: &Server, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let cuts = Arc::new(AtomicUsize::new(0));
        let (address, counted) = (server.address().to_owned(), Arc::clone(&cuts));
        // Ends with the test.
        std::thread::spawn(move || {
            let mut random = Random::new(seed);
            for client in listener.incoming().map(Result::unwrap) {
                let Ok(server) = TcpStream::connect(&address) else { return };
                let link = Link { client, server, cuts: Arc::clone(&counted) };
                let (there, back) = (random.fork(), random.fork());
                let backwards = link.clone();
                std::thread::spawn(move || link.carry(true, there));
                std::thread::spawn(move || backwards.carry(false, back));
            }
        });
        Self { url, cuts }
    }
}

/// A connection through the network.
struct Link {
    client: TcpStream,
    server: TcpStream,
    cuts: Arc<AtomicUsize>,
}

impl Clone for Link {
    fn clone(&self) -> Self {
        let (client, server) = (self.client.try_clone(), self.server.try_clone());
        Self { client: client.unwrap(), server: server.unwrap(), cuts: Arc::clone(&self.cuts) }
    }
}

impl Link {
    /// Carries one direction. What is lost comes late, as after a repeated packet, or never: then the
    /// connection is cut in both directions, with some of what was under way or none of it.
    fn carry(mut self, towards_server: bool, mut chance: Random) {
        let mut buffer = [0; 1 << 12];
        loop {
            let from = if towards_server { &mut self.client } else { &mut self.server };
            let Ok(got @ 1..) = from.read(&mut buffer) else { break };
            let mut piece = &buffer[..got];
            let mut is_cut = false;
            if chance.percent(LOSS_PERCENT) {
                is_cut = chance.percent(50);
                if is_cut {
                    piece = &piece[..chance.below(got + 1)];
                } else {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            let to = if towards_server { &mut self.server } else { &mut self.client };
            let is_written = to.write_all(piece).is_ok();
            if is_cut {
                self.cuts.fetch_add(1, Ordering::Relaxed);
            }
            if is_cut || !is_written {
                break;
            }
        }
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

/// Repeats what was not answered; what the server refused is refused.
async fn insist<T, F: Future<Output = Result<T, Error>>>(
    repeated: &AtomicUsize,
    what: &str,
    request: impl Fn() -> F,
) -> Result<T, Error> {
    for _ in 0..TRIES_MAX {
        match request().await {
            Err(error) if error.code().is_none() || error.effect() == Effect::Unknown => {
                repeated.fetch_add(1, Ordering::Relaxed);
            }
            outcome => return outcome,
        }
    }
    panic!("{what}: not answered in {TRIES_MAX} tries")
}

#[tokio::test]
async fn over_a_lossy_network_what_is_repeated_has_one_effect() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let network = Network::before(&server, 43);
    let client = Client::new(network.url.as_str(), None).unwrap();
    let repeated = AtomicUsize::new(0);
    // A take whose answer is lost on the way comes back when its hold ends.
    let settings = QueueChanges::new().hold(Span::from_secs(2)).max_attempts(-1);
    server.client().put_queue("q", &settings).await.unwrap();
    for n in 0..TASKS {
        let task = NewTask::new(&n).callback(Callback::new("after"));
        let named = task.clone().id(format!("named-{n}"));
        let pushed = insist(&repeated, "push", || client.push("q", &named)).await;
        // Its first try may have come through without the answer.
        assert!(pushed.is_ok() || pushed.unwrap_err().code() == Some("duplicate"));
        let key = format!("key-{n}");
        insist(&repeated, "push_once", || client.push_once("q", &key, &task)).await.unwrap();
    }
    let direct = server.client();
    let pushed = states(&direct, "q").await;
    assert_eq!(pushed.len(), 2 * TASKS, "each was made once");
    assert!(pushed.values().all(|state| *state == State::Ready));

    let mut committed = 0;
    while direct.queue("q").await.unwrap().counts.total > 0 {
        let take = Take::new().n(5).wait(Span::from_secs(1));
        for taken in insist(&repeated, "take", || client.take("q", &take)).await.unwrap().tasks {
            let commit = || client.commit(taken.held(), &Commit { result: None });
            match insist(&repeated, "commit", commit).await {
                Ok(after) => {
                    assert_eq!(after.state(), Some(State::Done));
                    committed += 1;
                }
                // Trying took longer than the hold: somebody else gets it.
                Err(error) => assert_eq!(error.code(), Some("stale_token"), "{error}"),
            }
        }
    }
    assert_eq!(committed, 2 * TASKS, "each was done once");
    assert_eq!(all(&direct, "after").await.len(), 2 * TASKS, "each called back once");
    let cuts = network.cuts.load(Ordering::Relaxed);
    println!("{cuts} connections were cut, {} requests repeated", repeated.into_inner());
    assert!(cuts > 20, "{cuts}");
    server.stop();
}
