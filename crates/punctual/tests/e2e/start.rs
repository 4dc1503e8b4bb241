//! How a server starts, and the one line it says when it cannot.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::process::{Server, complaint, punctual};

fn refused(args: &[&str]) -> String {
    complaint(&punctual().arg("serve").args(args).output().unwrap(), 1)
}

#[test]
fn a_server_says_where_it_is_in_one_line() {
    let mut command = punctual();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]);
    let server = Server::of(command);
    assert_ne!(server.address(), "127.0.0.1:0");
    assert_eq!(server.json(&["queue", "list"])["next"], serde_json::Value::Null);
    server.stop();
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let line = refused(&["--store", "memory:", "--listen", &address.to_string()]);
    let expected = format!(
        "error: port {} on 127.0.0.1 is in use; stop what listens there, or choose another with \
         --listen",
        address.port()
    );
    assert_eq!(line, expected);
}

#[test]
fn other_machines_are_kept_out() {
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:23334"] {
        let line = refused(&["--store", "memory:", "--listen", listen]);
        assert!(line.contains("can be reached from other machines"), "{line}");
    }
    let line = refused(&["--store", "memory:", "--listen", "nonsense"]);
    assert_eq!(line, "error: listen: nonsense is no address; it looks like 127.0.0.1:23334");
}

#[test]
fn a_typo_in_the_configuration_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("punctual.toml");
    let path = file.to_str().unwrap();
    fs::write(&file, "store = \"memory:\"\nlisen = \"127.0.0.1:0\"\n").unwrap();
    let line = refused(&["--config", path]);
    assert!(line.starts_with(&format!("error: {path}:2:1: unknown field `lisen`")), "{line}");

    let missing = dir.path().join("missing.toml");
    let line = refused(&["--config", missing.to_str().unwrap()]);
    assert!(line.contains("cannot read the configuration"), "{line}");
    let line = refused(&["--store", "postgres://127.0.0.1"]);
    assert!(line.contains("store: postgres:// is not supported"), "{line}");
}

#[test]
fn variables_win_over_the_file_and_flags_over_both() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("punctual.toml");
    fs::write(&file, "listen = \"0.0.0.0:0\"\nauto_create = false\nstore = \"memory:\"\n").unwrap();
    let mut command = punctual();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--config"])
        .arg(&file)
        .env("PUNCTUAL_LISTEN", "0.0.0.0:0")
        .env("PUNCTUAL_AUTO_CREATE", "true");
    let server = Server::of(command);
    server.say(&["push", "made-by-a-push"]);

    let mut command = punctual();
    command.args(["serve", "--config"]).arg(&file).env("PUNCTUAL_LISTEN", "127.0.0.1:0");
    let server = Server::of(command);
    let line = complaint(&server.run(&["push", "not-made"]), 1);
    assert!(line.contains("(not_found)"), "{line}");
}

#[test]
fn a_second_server_on_a_directory_names_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let first = Server::start(dir.path());
    let line = refused(&["--listen", "127.0.0.1:0", "--store", dir.path().to_str().unwrap()]);
    assert!(line.contains(&format!("process id {}", first.pid())), "{line}");
    first.say(&["push", "q"]);
    first.stop();
    Server::start(dir.path()).stop();
}

#[test]
fn a_directory_that_cannot_be_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let stored = dir.path().join("stored");
    Server::start(&stored).stop();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for store in [&stored, &empty, &empty.join("below")] {
        if store.exists() {
            fs::set_permissions(store, Permissions::from_mode(0o555)).unwrap();
        }
        let output = unprivileged(dir.path())
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .output()
            .unwrap();
        let line = complaint(&output, 1);
        assert!(line.contains(store.to_str().unwrap()), "{line}");
    }
}

/// The binary, run by somebody whom file permissions stop: root they do not.
fn unprivileged(dir: &Path) -> Command {
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return punctual();
    }
    // The binary may lie where only root can go. Copied by a process of its own, because a process
    // that another test starts meanwhile would inherit the open copy and keep it from being run.
    let copy = dir.join("punctual");
    let binary = env!("CARGO_BIN_EXE_punctual");
    assert!(Command::new("cp").arg(binary).arg(&copy).status().unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy);
    command
}
