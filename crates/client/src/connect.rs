//! Connections to the server, with or without TLS.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper_rustls::{HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, Error as TlsError, RootCertStore,
    SignatureScheme, WantsVerifier,
};
use tokio::net::TcpStream;
use tower::BoxError;
use tower::timeout::Timeout;
use tower::util::BoxCloneSyncService;

use crate::error::Error;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// Makes connections.
pub(crate) type Connector =
    BoxCloneSyncService<Uri, MaybeHttpsStream<TokioIo<TcpStream>>, BoxError>;

/// A connector that encrypts connections to `https://`, by these settings.
pub(crate) fn connector(tls: ClientConfig) -> Connector {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.enforce_http(false);
    let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
    // The handshake counts, too.
    BoxCloneSyncService::new(Timeout::new(https.wrap_connector(http), CONNECT_WITHIN))
}

/// Trust in nobody, for a client that never asks.
pub(crate) fn trust_nobody() -> Result<ClientConfig, Error> {
    Ok(builder()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// Trusts the Mozilla roots and the certificates of a PEM text.
pub(crate) fn trust(pem: &[u8]) -> Result<ClientConfig, Error> {
    let mut roots = web_roots();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.map_err(unreadable)?).map_err(unreadable)?;
    }
    Ok(builder()?.with_root_certificates(roots).with_no_client_auth())
}

/// Trusts the Mozilla roots and the first certificate of a PEM text.
pub(crate) fn trust_one(pem: &[u8]) -> Result<ClientConfig, Error> {
    let first = CertificateDer::pem_slice_iter(pem).next();
    let first = first.unwrap_or(Err(pem::Error::NoItemsFound)).map_err(unreadable)?;
    let roots = Arc::new(web_roots());
    let web = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
    let one = Arc::new(One { certificate: first, web: web.map_err(unreadable)? });
    let config = builder()?.dangerous().with_custom_certificate_verifier(one);
    Ok(config.with_no_client_auth())
}

fn web_roots() -> RootCertStore {
    webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

fn unreadable(error: impl ToString) -> Error {
    Error::Certificates { reason: error.to_string() }
}

fn builder() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, Error> {
    let builder = ClientConfig::builder_with_provider(provider());
    builder.with_safe_default_protocol_versions().map_err(unreadable)
}

/// Accepts one certificate with any issuer and any name, within its validity period.
#[derive(Debug)]
struct One {
    certificate: CertificateDer<'static>,
    web: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for One {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        use rustls::CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
        let verified = self.web.verify_server_cert(shown, others, name, ocsp, now);
        let is_in_time = !matches!(
            verified,
            Err(TlsError::InvalidCertificate(
                Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }
            ))
        );
        if *shown == self.certificate && is_in_time {
            return Ok(ServerCertVerified::assertion());
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.web.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.web.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.web.supported_verify_schemes()
    }
}
