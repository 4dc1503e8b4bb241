//! Encryption: whom a certificate must come from, and what the two ends speak over it.

use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tracing::warn;

/// What encrypts connections. Made when first needed: many servers call no `https` URL.
pub(super) struct Tls {
    extra_roots: Vec<CertificateDer<'static>>,
    connector: OnceCell<TlsConnector>,
}

impl Tls {
    /// Certificates are good if they come from whom the machine trusts, or from one of these.
    pub(super) fn new(extra_roots: Vec<CertificateDer<'static>>) -> Self {
        Self { extra_roots, connector: OnceCell::new() }
    }

    /// Encrypts a connection to a host, which has to prove that it is that host.
    pub(super) async fn encrypt(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let connector = self.connector.get_or_try_init(|| self.connector()).await?;
        // A name may end with a dot, in a certificate it does not; an IPv6 address has no brackets.
        let host = host.trim_end_matches('.').trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        connector.connect(name, stream).await
    }

    async fn connector(&self) -> io::Result<TlsConnector> {
        let extra_roots = self.extra_roots.clone();
        let roots = tokio::task::spawn_blocking(move || roots(extra_roots)).await?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config).into())
    }
}

/// The machine's trusted certificates; on a machine without any, those the web trusts.
fn roots(extra_roots: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        warn!(%error, "some trusted certificates cannot be read");
    }
    roots.add_parsable_certificates(native.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots.add_parsable_certificates(extra_roots);
    roots
}
