//! Encrypted targets: who they must be, and what is spoken.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::LOCATION;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

/// Somebody who signs certificates.
struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    fn sign(&self, params: CertificateParams) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().der().clone(), key)
    }
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

/// A target with a certificate. It answers with the version of HTTP that is spoken, and redirects
/// those who ask for a path to `http:/` and that path.
async fn target(certificate: (CertificateDer<'static>, KeyPair), protocols: &[&str]) -> SocketAddr {
    let (certificate, key) = certificate;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = service_fn(|request: Request<Incoming>| async move {
                    let (path, version) = (request.uri().path().to_owned(), request.version());
                    let body = request.into_body().collect().await?.to_bytes();
                    let text = format!("{version:?} {}", String::from_utf8_lossy(&body));
                    let mut response = Response::new(Full::new(Bytes::from(text)));
                    if path != "/" {
                        *response.status_mut() = StatusCode::FOUND;
                        let location = format!("http:/{path}").parse().unwrap();
                        response.headers_mut().insert(LOCATION, location);
                    }
                    Ok::<_, hyper::Error>(response)
                });
                let connection = Builder::new(TokioExecutor::new());
                // The caller may hang up at any time.
                drop(connection.serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
    address
}

/// A server that trusts the authority, and knows every name as this machine.
async fn trusting(authority: &Authority) -> TestServer {
    let resolver =
        Names::new(&[("good.example", &[&["127.0.0.1"]]), ("other.example", &[&["127.0.0.1"]])]);
    let extra_roots = vec![authority.certificate.clone()];
    let server = with(DeliveryConfig {
        reach: Reach::everywhere(),
        resolver,
        extra_roots,
        ..DeliveryConfig::default()
    })
    .await;
    put_queue(&server, json!({})).await;
    server
}

#[tokio::test]
async fn encrypted_targets_are_called_in_the_newest_way_they_speak() {
    let authority = Authority::new("trusted");
    let server = trusting(&authority).await;
    for (id, protocols, spoken) in [
        ("h2", &["h2", "http/1.1"][..], "HTTP/2.0 7"),
        ("h1", &["http/1.1"], "HTTP/1.1 7"),
        ("none", &[], "HTTP/1.1 7"),
    ] {
        let address = target(authority.sign(params("good.example")), protocols).await;
        let url = format!("https://good.example:{}/", address.port());
        server.push(json!({"id": id, "payload": 7, "http": {"url": url}})).await;
        let task = server.until(id, "done").await;
        assert_eq!(task["result"], spoken);
        let http = &task["history"][0]["http"];
        assert!(http["tls"].is_number() && http["dns"].is_number(), "{http}");
    }
}

#[tokio::test]
async fn many_deliveries_share_one_connection_where_they_can() {
    let authority = Authority::new("trusted");
    let server = trusting(&authority).await;
    let address = target(authority.sign(params("good.example")), &["h2"]).await;
    let url = format!("https://good.example:{}/", address.port());
    server.put("/v1/queues/q", json!({"url": url})).await.is(200);
    let tasks: Vec<Value> = (0..200).map(|n| json!({"id": n.to_string()})).collect();
    server.post("/v1/queues/q/tasks", json!({"tasks": tasks})).await.is(200);
    server.eventually("/v1/queues/q", |queue| queue["counts"]["done"] == 200).await;
}

#[tokio::test]
async fn a_target_that_cannot_prove_who_it_is_gets_nothing() {
    let authority = Authority::new("trusted");
    let server = trusting(&authority).await;
    let mut expired = params("good.example");
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let self_signed = {
        let key = KeyPair::generate().unwrap();
        (params("good.example").self_signed(&key).unwrap().der().clone(), key)
    };
    for (id, certificate, reason) in [
        ("expired", authority.sign(expired), "expired"),
        ("wrong-host", authority.sign(params("other.example")), "not valid for name"),
        ("self-signed", self_signed, "UnknownIssuer"),
        ("stranger", Authority::new("stranger").sign(params("good.example")), "UnknownIssuer"),
    ] {
        let address = target(certificate, &["h2", "http/1.1"]).await;
        let url = format!("https://good.example:{}/", address.port());
        server.push(json!({"id": id, "http": {"url": url}})).await;
        let task = server.until(id, "waiting").await;
        let error = task["error"].as_str().unwrap();
        assert!(error.starts_with("no encrypted connection: "), "{id}: {error}");
        assert!(error.contains(reason), "{id}: {error}");
    }
}

#[tokio::test]
async fn a_plain_target_is_no_encrypted_one() {
    let stub = Stub::ok().await;
    let server = delivering(json!({})).await;
    let url = format!("https://{}/", stub.address);
    server.push(json!({"id": "t", "http": {"url": url, "timeout": "2s"}})).await;
    server.until("t", "waiting").await;
    assert_eq!(stub.count(), 0);
}

#[tokio::test]
async fn a_redirect_never_leaves_encryption() {
    let authority = Authority::new("trusted");
    let server = trusting(&authority).await;
    let plain = Stub::ok().await;
    let address = target(authority.sign(params("good.example")), &["h2"]).await;
    let url = format!("https://good.example:{}/{}/", address.port(), plain.address);
    server.push(json!({"id": "t", "http": {"url": url, "follow_redirects": true}})).await;
    let task = server.until("t", "waiting").await;
    assert_eq!(task["error"], "it redirects from https to http");
    assert_eq!(plain.count(), 0);
}
