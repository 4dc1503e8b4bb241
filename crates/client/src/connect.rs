//! Connections to the server, encrypted or not.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
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
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

use crate::error::Error;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    tls: Option<TlsConnector>,
}

impl Connector {
    /// A connector that encrypts what is to be, and trusts certificates as it is told.
    pub(crate) fn new(tls: Option<TlsConnector>) -> Self {
        let mut http = HttpConnector::new();
        http.set_connect_timeout(Some(CONNECT_WITHIN));
        http.set_nodelay(true);
        http.enforce_http(false);
        Self { http, tls }
    }
}

/// Trust in those the web trusts, and in the certificates of a PEM text.
pub(crate) fn trust(pem: &[u8]) -> Result<TlsConnector, Error> {
    let mut roots = web_roots();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.map_err(unreadable)?).map_err(unreadable)?;
    }
    let config = builder()?.with_root_certificates(roots).with_no_client_auth();
    Ok(Arc::new(config).into())
}

/// Trust in those the web trusts, and in the certificate that a PEM text begins with.
pub(crate) fn trust_one(pem: &[u8]) -> Result<TlsConnector, Error> {
    let first = CertificateDer::pem_slice_iter(pem).next();
    let first = first.unwrap_or(Err(pem::Error::NoItemsFound)).map_err(unreadable)?;
    let roots = Arc::new(web_roots());
    let web = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
    let one = Arc::new(One { certificate: first, web: web.map_err(unreadable)? });
    let config = builder()?.dangerous().with_custom_certificate_verifier(one);
    Ok(Arc::new(config.with_no_client_auth()).into())
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

/// Knows one certificate, whoever vouches for it and whatever names it is for. It must be in its time.
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

impl tower::Service<Uri> for Connector {
    type Response = TokioIo<Line>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let tls = self.tls.clone().filter(|_| uri.scheme_str() == Some("https"));
        let connecting = self.http.call(uri);
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            let Some(tls) = tls else { return Ok(TokioIo::new(Line(Box::new(stream)))) };
            let name = ServerName::try_from(host)?;
            let encrypted =
                tokio::time::timeout(CONNECT_WITHIN, tls.connect(name, stream)).await??;
            Ok(TokioIo::new(Line(Box::new(encrypted))))
        })
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection.
pub(crate) struct Line(Box<dyn Stream>);

impl Connection for Line {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
