//! Redis servers of the tests' own, on free ports of this machine, in directories that go with them.

mod cluster;
mod group;
mod shared;

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::Connection;

pub use self::cluster::Cluster;
pub use self::group::Group;
pub use self::shared::{Shared, new_prefix, remove_keys};
use crate::{PATIENCE, eventually, free_port};

/// The arguments of a Redis that logs every write and syncs once a second.
const LOGGED: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "everysec"];

/// A server. It ends with its value, or else with the process that started it.
pub struct Server {
    child: Option<Guarded>,
    arguments: Vec<String>,
    /// Where it listens.
    pub port: u16,
    dir: PathBuf,
    life: Life,
}

/// How long a server lives.
#[derive(Clone)]
enum Life {
    /// As long as its value, and no longer than this process.
    OfValue,
    /// As long as another process. The directory is removed with it.
    OfProcess { process: u32, dir: PathBuf },
}

/// A process that does not outlive the one it belongs to, however that ends.
struct Guarded {
    child: Child,
    /// A shell that ends the server, and removes its directory, when its time has come.
    guard: Child,
    is_kept: bool,
}

impl Guarded {
    fn spawn(command: &mut Command, life: &Life, dir: &Path) -> std::io::Result<Self> {
        let mut child = silenced(command).stdin(Stdio::null()).spawn()?;
        let (wait, dir) = match life {
            // The end of this process closes the guard's standard input.
            Life::OfValue => ("read _".to_owned(), dir),
            Life::OfProcess { process, dir } => {
                (format!("while kill -0 {process}; do sleep 0.5; done"), dir.as_path())
            }
        };
        let script = format!("{wait}; kill -9 {}; rm -rf {}", child.id(), dir.display());
        let guard =
            silenced(Command::new("sh").args(["-c", &script])).stdin(Stdio::piped()).spawn();
        match guard {
            Ok(guard) => Ok(Self { child, guard, is_kept: matches!(life, Life::OfProcess { .. }) }),
            Err(error) => {
                child.kill()?;
                Err(error)
            }
        }
    }
}

/// A command that says nothing, and that no signal for the process group of a test reaches.
fn silenced(command: &mut Command) -> &mut Command {
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null())
}

impl Drop for Guarded {
    /// Ends the guard first: the number of a process that has ended may become another's.
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for process in [&mut self.guard, &mut self.child] {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child = None;
        if matches!(self.life, Life::OfValue) {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

impl Server {
    /// A Redis that logs every write and syncs once a second.
    pub fn start() -> Self {
        Self::with(&LOGGED)
    }

    /// A Redis with arguments of its own.
    pub fn with(arguments: &[&str]) -> Self {
        Self::living(&Life::OfValue, arguments)
    }

    fn living(life: &Life, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|text| (*text).to_owned()).collect();
        Self::in_directory(shared::directory(life), life, arguments)
    }

    /// A Sentinel with settings of its own, one per line.
    fn sentinel(life: &Life, settings: &[String]) -> Self {
        let dir = shared::directory(life);
        let file = dir.join("sentinel.conf");
        std::fs::write(&file, settings.join("\n")).unwrap();
        let arguments = vec![file.to_str().unwrap().to_owned(), "--sentinel".to_owned()];
        Self::in_directory(dir, life, arguments)
    }

    fn in_directory(dir: PathBuf, life: &Life, arguments: Vec<String>) -> Self {
        let mut server =
            Self { child: None, arguments, port: free_port(), dir, life: life.clone() };
        server.run();
        server
    }

    /// Starts the process, on the same port and data as before.
    pub fn run(&mut self) {
        let port = self.port.to_string();
        let is_sentinel = self.arguments.iter().any(|argument| argument == "--sentinel");
        let mut command = Command::new("redis-server");
        // The file of a Sentinel comes first.
        command.args(&self.arguments).args(["--bind", "127.0.0.1", "--port", &port]);
        command.arg("--dir").arg(&self.dir);
        if !is_sentinel {
            command.args(["--save", "", "--enable-debug-command", "yes"]);
        }
        let spawned = Guarded::spawn(&mut command, &self.life, &self.dir);
        self.child = Some(spawned.unwrap_or_else(|error| {
            panic!("redis-server cannot be started ({error}); install it, on Debian with: apt-get install redis-server")
        }));
        eventually("the server answers", || {
            let mut connection = self.try_connect()?;
            match redis::cmd("PING").query::<String>(&mut connection) {
                Ok(_) => Some(()),
                // That it wants a password, or is loading, is an answer, too.
                Err(error) => error.code().map(drop),
            }
        });
    }

    /// Its address as the URL of a store.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn try_connect(&self) -> Option<Connection> {
        redis::Client::open(self.url()).unwrap().get_connection_with_timeout(PATIENCE).ok()
    }

    /// A connection to it.
    pub fn connect(&self) -> Connection {
        self.try_connect().expect("the server accepts connections")
    }

    /// Runs a command given as one line.
    pub fn command<T: redis::FromRedisValue>(&self, line: &str) -> T {
        let mut words = line.split(' ');
        let mut command = redis::cmd(words.next().unwrap());
        for word in words {
            command.arg(word);
        }
        command.query(&mut self.connect()).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// Returns a section of the server's `INFO`; empty while the server closes connections, as in a failover.
    pub fn info(&self, section: &str) -> String {
        let info = |mut connection| redis::cmd("INFO").arg(section).query(&mut connection).ok();
        self.try_connect().and_then(info).unwrap_or_default()
    }

    fn pid(&self) -> u32 {
        self.child.as_ref().expect("the server runs").child.id()
    }

    fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Stops the process without ending it: connections stay, nothing is answered.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets a stopped process go on.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// The time its process has worked so far.
    pub fn worked(&self) -> Duration {
        let pid = self.pid();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        // After the name in brackets; the kernel counts in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = [11, 12].iter().map(|place| fields[*place].parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Ends the process as a crash would.
    pub fn kill(&mut self) {
        self.child = None;
    }
}
