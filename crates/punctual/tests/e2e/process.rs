//! The binary as a process: a server that is ready, and commands that answer.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use punctual_client::Client;

/// Long enough that only something that hangs takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The binary, without any settings from the surroundings.
pub(crate) fn punctual() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| starts(name, "PUNCTUAL_")) {
        command.env_remove(name);
    }
    command.env("PUNCTUAL_LOG", "warn").stdin(Stdio::null());
    command
}

fn starts(name: &std::ffi::OsStr, prefix: &str) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(prefix))
}

/// A server over a directory, still to be started.
pub(crate) fn serve(store: &Path) -> Command {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(store);
    command
}

/// The same command, run by another program that is given it as its last arguments.
pub(crate) fn within(program: &str, args: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(program);
    outer.args(args).arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// A server on a port of its own. Ends with the test.
pub(crate) struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Server {
    /// Starts one over a directory and waits until it is ready.
    pub(crate) fn start(store: &Path) -> Self {
        Self::of(serve(store))
    }

    /// Starts one and waits until it is ready.
    pub(crate) fn of(command: Command) -> Self {
        Self::try_of(command).unwrap_or_else(|status| panic!("not ready: {status}"))
    }

    /// Starts one and waits until it is ready, or has ended.
    pub(crate) fn try_of(mut command: Command) -> Result<Self, ExitStatus> {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let (ready, reading) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            // A server that was not waited for any more is not missed.
            let _ = ready.send((stdout, line));
        });
        let Ok((stdout, line)) = reading.recv_timeout(PATIENCE) else {
            let _ = process.kill();
            panic!("the server does not get ready")
        };
        let Some(url) = line.trim_end().strip_prefix("punctual is ready on ") else {
            assert_eq!(line, "", "a server that is not ready says nothing");
            return Err(process.wait().unwrap());
        };
        Ok(Self { process, stdout, url: url.to_owned() })
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.url.as_str(), None).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// `127.0.0.1:port`.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for its end, and returns how it ended and what else it printed.
    pub(crate) fn wait(mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (status, rest)
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(self) {
        self.signal("TERM");
        let (status, rest) = self.wait();
        assert!(status.success(), "{status}");
        assert_eq!(rest, "");
    }

    /// Runs a client command against it.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        punctual().args(args).env("PUNCTUAL_URL", &self.url).output().unwrap()
    }

    /// What a client command that succeeds prints.
    pub(crate) fn say(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// What a client command answers as JSON.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let mut args = args.to_vec();
        args.push("--json");
        serde_json::from_str(&self.say(&args)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs a command that must fail with an exit code, and returns its one line of complaint.
pub(crate) fn complaint(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert_eq!(output.stdout, b"", "nothing but errors");
    assert_eq!(stderr.lines().count(), 1, "one line: {stderr}");
    stderr.trim_end().to_owned()
}
