//! Encrypted connections: what is spoken over them, and those that do not come about.

use std::sync::Arc;
use std::time::Duration;

use punctual_server::{Certificate, ServerConfig};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;

use super::TestServer;

/// A server with a certificate, and how to connect to it in these protocols.
async fn server() -> (TestServer, impl Fn(&[&str]) -> TlsConnector) {
    let dir = tempfile::tempdir().unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let (cert_file, key_file) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(&cert_file, certificate.pem()).unwrap();
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    let tls = Some(Arc::new(Certificate::read(cert_file, key_file).unwrap()));
    let server = TestServer::with(ServerConfig { tls, ..ServerConfig::default() }).await;
    let connector = move |protocols: &[&str]| {
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsConnector::from(Arc::new(config))
    };
    (server, connector)
}

#[tokio::test]
async fn both_versions_of_http_are_spoken() {
    let (server, connector) = server().await;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    for (protocols, chosen) in [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1")] {
        let stream = server.connect().await;
        let mut stream = connector(protocols).connect(name.clone(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(chosen.as_bytes()));
        if chosen == "h2" {
            let (mut send, connection) =
                hyper::client::conn::http2::handshake::<_, _, http_body_util::Empty<bytes::Bytes>>(
                    hyper_util::rt::TokioExecutor::new(),
                    hyper_util::rt::TokioIo::new(stream),
                )
                .await
                .unwrap();
            tokio::spawn(connection);
            let request = hyper::Request::get("https://127.0.0.1/livez")
                .body(http_body_util::Empty::new())
                .unwrap();
            assert_eq!(send.send_request(request).await.unwrap().status(), 200);
            continue;
        }
        let request = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_goes_nowhere_is_given_up() {
    let (server, _) = server().await;
    for start in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00"] {
        let mut stream = server.connect().await;
        stream.write_all(start).await.unwrap();
        let mut rest = Vec::new();
        let closed = stream.read_to_end(&mut rest);
        let closed = tokio::time::timeout(Duration::from_secs(11), closed).await;
        assert!(closed.is_ok(), "{start:?}");
    }
}
