//! TLS: what is sent is encrypted, and the server must be who it says it is.
//!
//! Which certificates are trusted is the system's choice, or that of `SSL_CERT_FILE`. A test cannot change
//! its own environment while others run, so it runs itself again in another.

use std::process::Command;

use punctual_store::redis::{RedisOptions, RedisStore};
use punctual_testing::free_port;
use punctual_testing::redis::Server;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::nodes::{Node, task};

/// The URL for the run in the other environment.
const URL: &str = "PUNCTUAL_TEST_TLS_URL";
/// This test, as the test program knows it.
const NAME: &str = "tls::a_server_is_spoken_to_in_tls_and_must_be_trusted";

#[test]
fn a_server_is_spoken_to_in_tls_and_must_be_trusted() {
    match std::env::var(URL) {
        Ok(url) => inside(url),
        Err(_) => outside(),
    }
}

/// Starts a server with a certificate, and uses it with and without trust in who signed that.
fn outside() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let signed = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(file("ca.pem"), issuer.pem()).unwrap();
    std::fs::write(file("cert.pem"), signed.pem()).unwrap();
    std::fs::write(file("key.pem"), key.serialize_pem()).unwrap();
    let port = free_port().to_string();
    let _server = Server::with(&[
        "--appendonly",
        "yes",
        "--tls-port",
        &port,
        "--tls-cert-file",
        &file("cert.pem"),
        "--tls-key-file",
        &file("key.pem"),
        "--tls-auth-clients",
        "no",
    ]);
    let run = |trusted: &str| {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([NAME, "--exact"]).env(URL, format!("rediss://127.0.0.1:{port}"));
        again.env("SSL_CERT_FILE", trusted).output().unwrap()
    };
    let output = run(&file("ca.pem"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    // A certificate that somebody else signed.
    let other = CertificateParams::new(Vec::new()).unwrap();
    let other = other.self_signed(&KeyPair::generate().unwrap()).unwrap();
    std::fs::write(file("other.pem"), other.pem()).unwrap();
    let output = run(&file("other.pem"));
    assert!(!output.status.success(), "a server that is not trusted is not used");
    let said = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(said.contains("certificate"), "{said}");
}

fn inside(url: String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let node = Node(RedisStore::open(RedisOptions::new(url)).await.unwrap());
        node.put("q", |_| ()).await;
        node.push("q", task("t")).await;
        let taken = node.take("q", 1, 60_000).await;
        node.commit(&taken[0]).await.unwrap();
    });
}
