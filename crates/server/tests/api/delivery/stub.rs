//! A target: a bare HTTP/1.1 server that does as it is told, well or badly.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use crate::api::PATIENCE;

/// A request that came in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What to do with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// Nothing, until the gate is opened; then 200.
    Gate,
    /// Nothing, ever.
    Hang,
    /// The end of the connection.
    Close,
    /// These bytes, then the end of the connection.
    Raw(Vec<u8>),
    /// These bytes, then the others again and again, with pauses.
    Endless(Vec<u8>, Vec<u8>, Duration),
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), Vec::new())
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.into())
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::Answer(status, vec![("location", location.to_owned())], Vec::new())
    }
}

type Handler = dyn Fn(&Seen) -> Reply + Send + Sync;

/// The target.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    handler: Box<Handler>,
    seen: Mutex<Vec<Seen>>,
    news: Notify,
    gate: watch::Sender<bool>,
    under_way: AtomicUsize,
    under_way_max: AtomicUsize,
    connections: AtomicUsize,
}

impl Stub {
    pub(crate) async fn start(handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", handler).await
    }

    pub(crate) async fn at(
        address: &str,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            handler: Box::new(handler),
            seen: Mutex::default(),
            news: Notify::new(),
            gate: watch::channel(false).0,
            under_way: AtomicUsize::new(0),
            under_way_max: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let serving = inner.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.connections.fetch_add(1, Ordering::SeqCst);
                // Whoever calls may hang up at any time.
                tokio::spawn({
                    let inner = serving.clone();
                    async move { drop(inner.serve(stream).await) }
                });
            }
        });
        Self { address, inner }
    }

    /// A target that answers everything with 200 and nothing else.
    pub(crate) async fn ok() -> Self {
        Self::start(|_| Reply::status(200)).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits for so many requests, and returns all there were.
    pub(crate) async fn seen(&self, count: usize) -> Vec<Seen> {
        let enough = async {
            loop {
                let news = self.inner.news.notified();
                let seen = self.inner.seen.lock().unwrap().clone();
                if seen.len() >= count {
                    return seen;
                }
                news.await;
            }
        };
        tokio::time::timeout(PATIENCE, enough).await.unwrap_or_else(|_| {
            panic!("only {} of {count} requests came", self.inner.seen.lock().unwrap().len())
        })
    }

    /// How many requests came so far.
    pub(crate) fn count(&self) -> usize {
        self.inner.seen.lock().unwrap().len()
    }

    /// Most requests that were under way at once.
    pub(crate) fn under_way_max(&self) -> usize {
        self.inner.under_way_max.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> usize {
        self.inner.connections.load(Ordering::SeqCst)
    }

    /// Lets all who wait at the gate through.
    pub(crate) fn open(&self) {
        self.inner.gate.send_replace(true);
    }
}

impl Inner {
    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(seen) = read(&mut stream).await? {
            let reply = (self.handler)(&seen);
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.under_way_max.fetch_max(now, Ordering::SeqCst);
            self.seen.lock().unwrap().push(seen);
            self.news.notify_waiters();
            let done = self.reply(reply, stream.get_mut()).await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            if !done? {
                break;
            }
        }
        Ok(())
    }

    /// Does as it was told. False: the connection ends.
    async fn reply(&self, reply: Reply, stream: &mut TcpStream) -> io::Result<bool> {
        let (status, headers, body) = match reply {
            Reply::Answer(status, headers, body) => (status, headers, body),
            Reply::Gate => {
                let mut gate = self.gate.subscribe();
                let mut buffer = [0];
                tokio::select! {
                    _ = gate.wait_for(|open| *open) => {}
                    _ = stream.read(&mut buffer) => return Ok(false),
                }
                (200, Vec::new(), Vec::new())
            }
            Reply::Hang => {
                stream.read_u8().await?;
                return Ok(false);
            }
            Reply::Close => return Ok(false),
            Reply::Raw(bytes) => {
                stream.write_all(&bytes).await?;
                return Ok(false);
            }
            Reply::Endless(first, again, pause) => {
                stream.write_all(&first).await?;
                loop {
                    stream.write_all(&again).await?;
                    tokio::time::sleep(pause).await;
                }
            }
        };
        let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await?;
        stream.write_all(&body).await?;
        Ok(true)
    }
}

/// Reads a request; none if the caller has hung up.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Seen { method, path, headers, body }))
}
