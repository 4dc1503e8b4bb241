//! A listener that speaks TLS: who it proves to be, who is told what is wrong, and a certificate renewed.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

use crate::process::{PATIENCE, Server, complaint, punctual, serve};

/// Somebody who signs certificates, and the files of one.
struct Authority {
    dir: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "trusted");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(dir.path().join("ca.pem"), certificate.pem()).unwrap();
        Self { dir, issuer: Issuer::new(params, key) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a certificate for a name, and its key.
    fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(self.path("key.pem"), key.serialize_pem()).unwrap();
    }

    fn serve(&self) -> Command {
        let mut command = serve(Path::new("memory:"));
        command.arg("--tls-cert").arg(self.path("cert.pem"));
        command.arg("--tls-key").arg(self.path("key.pem"));
        command.stderr(std::fs::File::create(self.path("log")).unwrap());
        command
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap()
    }
}

/// Pushes a task, trusting a file of certificates or none.
fn push(url: &str, ca: Option<&Path>) -> Output {
    let mut command = punctual();
    command.args(["push", "q", "1"]).env("PUNCTUAL_URL", url);
    if let Some(ca) = ca {
        command.env("PUNCTUAL_CA", ca);
    }
    command.output().unwrap()
}

#[test]
fn only_a_server_that_proves_who_it_is_is_spoken_to() {
    let authority = Authority::new();
    let ca = authority.path("ca.pem");
    authority.sign("127.0.0.1", |_| ());
    let server = Server::of(authority.serve());
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let pushed = push(&server.url, Some(&ca));
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let reason = complaint(&push(&server.url, None), 1);
    assert!(reason.contains("is not trusted: invalid peer certificate: UnknownIssuer"), "{reason}");
    let other = server.url.replace("127.0.0.1", "localhost");
    let reason = complaint(&push(&other, Some(&ca)), 1);
    assert!(reason.contains("is not trusted") && reason.contains("not valid for name"), "{reason}");
    let reason = complaint(&push(&server.url, Some(Path::new("/none"))), 1);
    assert!(reason.contains("PUNCTUAL_CA: cannot read /none"), "{reason}");
    server.stop();
}

#[test]
fn a_certificate_that_has_expired_is_refused_and_renewed_without_a_restart() {
    let authority = Authority::new();
    let ca = authority.path("ca.pem");
    authority.sign("127.0.0.1", |params| params.not_after = date_time_ymd(2020, 1, 1));
    let server = Server::of(authority.serve());
    let reason = complaint(&push(&server.url, Some(&ca)), 1);
    assert!(reason.contains("is not trusted") && reason.contains("xpired"), "{reason}");
    // What cannot be read changes nothing.
    std::fs::write(authority.path("key.pem"), "nonsense").unwrap();
    server.signal("HUP");
    let deadline = Instant::now() + PATIENCE;
    while !authority.log().contains("the certificate stays as it was") {
        assert!(Instant::now() < deadline, "{}", authority.log());
        std::thread::sleep(Duration::from_millis(5));
    }
    authority.sign("127.0.0.1", |_| ());
    server.signal("HUP");
    while !push(&server.url, Some(&ca)).status.success() {
        assert!(Instant::now() < deadline, "{}", authority.log());
    }
    server.stop();
}

#[test]
fn whoever_speaks_plain_http_is_told_so_and_the_log_says_it() {
    let authority = Authority::new();
    authority.sign("127.0.0.1", |_| ());
    let server = Server::of(authority.serve());
    let address = server.url.strip_prefix("https://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // What was sent and not read makes the end of the connection abrupt.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(b"\x16\x03\x01nonsense, all of it").unwrap();
    drop(stream);
    assert!(push(&server.url, Some(&authority.path("ca.pem"))).status.success());
    server.stop();
    let log = authority.log();
    assert!(log.contains("a client spoke plain HTTP to a port that speaks TLS"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn files_that_do_not_fit_are_refused_at_the_start() {
    let authority = Authority::new();
    authority.sign("127.0.0.1", |_| ());
    let start = |cert: &Path, key: Option<&Path>| {
        let mut command = serve(Path::new("memory:"));
        command.arg("--tls-cert").arg(cert);
        if let Some(key) = key {
            command.arg("--tls-key").arg(key);
        }
        complaint(&command.output().unwrap(), 1)
    };
    let (cert, key) = (authority.path("cert.pem"), authority.path("key.pem"));
    for (cert, key, part) in [
        (&cert, None, "tls_key: name one, as tls_cert is named"),
        (&PathBuf::from("/none"), Some(&key), "tls_cert: cannot read /none"),
        (&key, Some(&key), "tls_cert: cannot read"),
        (&cert, Some(&cert), "tls_key: cannot read"),
        (&authority.path("ca.pem"), Some(&key), "tls_cert: the certificate and its key"),
    ] {
        let reason = start(cert, key.map(PathBuf::as_path));
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

/// Whoever signed it, and whatever name it is for.
#[test]
fn the_doctor_asks_a_server_by_the_certificate_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let key = KeyPair::generate().unwrap();
    for is_ca in [false, true] {
        let mut params = CertificateParams::new(vec!["queue.example".to_owned()]).unwrap();
        if is_ca {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        std::fs::write(path("cert.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(path("key.pem"), key.serialize_pem()).unwrap();
        let (is_well, told) = doctor_beside_a_server(dir.path());
        assert!(is_well && told.contains(" is ready; "), "{told}");
    }
    let authority = Authority::new();
    authority.sign("queue.example", |_| ());
    let (is_well, told) = doctor_beside_a_server(authority.dir.path());
    assert!(is_well && told.contains(" is ready; "), "{told}");
    authority.sign("127.0.0.1", |params| params.not_after = date_time_ymd(2020, 1, 1));
    let (_, told) = doctor_beside_a_server(authority.dir.path());
    assert!(told.contains("is not trusted") && told.contains("xpired"), "{told}");
}

/// Serves with the certificate in a directory, and asks the doctor.
fn doctor_beside_a_server(dir: &Path) -> (bool, String) {
    let path = |name: &str| dir.join(name).display().to_string();
    let mut command = serve(Path::new(&path("data")));
    command.args(["--tls-cert", &path("cert.pem"), "--tls-key", &path("key.pem")]);
    let server = Server::of(command);
    let listen = server.url.strip_prefix("https://").unwrap();
    let settings = format!(
        "listen = {listen:?}\nstore = {:?}\ntls_cert = {:?}\ntls_key = {:?}\n",
        path("data"),
        path("cert.pem"),
        path("key.pem")
    );
    std::fs::write(path("punctual.toml"), settings).unwrap();
    let looked = punctual().args(["doctor", "--config", &path("punctual.toml")]).output().unwrap();
    let told = String::from_utf8_lossy(&looked.stdout).into_owned();
    server.stop();
    (looked.status.success(), told)
}
