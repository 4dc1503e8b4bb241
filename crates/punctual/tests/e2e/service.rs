//! The server as a service: what it tells the service manager that started it.

use std::os::unix::net::UnixDatagram;

use crate::process::{PATIENCE, Server, serve};

#[test]
fn the_service_manager_hears_of_ready_life_and_stop() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let hear = || {
        let mut words = [0; 500];
        let len = socket.recv(&mut words).unwrap();
        String::from_utf8(words[..len].to_vec()).unwrap()
    };

    let mut command = serve(&dir.path().join("data"));
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let server = Server::of(command);
    assert_eq!(hear(), format!("READY=1\nSTATUS=ready on {}", server.url));
    assert_eq!(hear(), "WATCHDOG=1");
    assert_eq!(hear(), "WATCHDOG=1");
    server.signal("TERM");
    while hear() == "WATCHDOG=1" {}
    assert!(server.wait().0.success());
}

#[test]
fn a_service_manager_that_is_gone_is_no_reason_not_to_serve() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = serve(&dir.path().join("data"));
    command.env("NOTIFY_SOCKET", dir.path().join("nobody")).env("PUNCTUAL_LOG", "error");
    Server::of(command).stop();
}
