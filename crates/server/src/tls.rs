//! Encryption of connections to this server: the certificate it shows, and the beginning of a connection.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{debug, warn};

/// How long a client may take until the connection is encrypted.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// What every encrypted connection begins with: a record of a handshake.
const HANDSHAKE_RECORD: u8 = 0x16;
/// What whoever speaks plain HTTP is told.
const PLAIN_ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\
    Content-Length: 50\r\nConnection: close\r\n\r\nthis port speaks TLS; call it by https:// instead\n";

/// Why a certificate cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read, or holds something else.
    #[error("{setting}: cannot read {path}: {reason}", path = path.display())]
    File {
        /// The setting that names it.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The two do not belong together, or cannot be used.
    #[error("tls_cert: the certificate and its key cannot be used: {0}")]
    Pair(rustls::Error),
}

/// The certificate a server shows, and the files it comes from.
pub struct Certificate {
    cert: PathBuf,
    key: PathBuf,
    current: RwLock<TlsAcceptor>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("cert", &self.cert).finish_non_exhaustive()
    }
}

impl Certificate {
    /// Reads a certificate, with those that vouch for it after it, and its private key, both PEM.
    ///
    /// # Errors
    /// If a file cannot be read, or the two do not belong together.
    pub fn read(cert: PathBuf, key: PathBuf) -> Result<Self, CertificateError> {
        let current = RwLock::new(acceptor(&cert, &key)?);
        Ok(Self { cert, key, current })
    }

    /// Reads the files again: new connections get what they hold now. After an error all stays as it is.
    ///
    /// # Errors
    /// As [`Certificate::read`].
    pub fn read_again(&self) -> Result<(), CertificateError> {
        let acceptor = acceptor(&self.cert, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        Ok(())
    }

    /// Encrypts a connection that a client has opened. None: it came to nothing, and the log says why.
    pub(crate) async fn encrypt(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let acceptor = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let peer = stream.peer_addr().ok();
        let begun = tokio::time::timeout(HANDSHAKE_MAX, begin(acceptor, stream)).await;
        match begun {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(Unencrypted::Plain)) => {
                warn!(
                    ?peer,
                    "a client spoke plain HTTP to a port that speaks TLS; it must call https://"
                );
                None
            }
            Ok(Err(Unencrypted::Failed(error))) => {
                debug!(?peer, %error, "a connection could not be encrypted");
                None
            }
            Err(_) => {
                debug!(?peer, "a connection was not encrypted within {HANDSHAKE_MAX:?}");
                None
            }
        }
    }
}

/// Why a connection is not encrypted.
enum Unencrypted {
    Plain,
    Failed(std::io::Error),
}

async fn begin(
    acceptor: TlsAcceptor,
    mut stream: TcpStream,
) -> Result<TlsStream<TcpStream>, Unencrypted> {
    let mut first = [0];
    let read = stream.peek(&mut first).await.map_err(Unencrypted::Failed)?;
    if read == 1 && first[0] != HANDSHAKE_RECORD && first[0].is_ascii_alphabetic() {
        // Whoever is gone by now does not need it.
        let _ = stream.write_all(PLAIN_ANSWER).await;
        let _ = stream.shutdown().await;
        return Err(Unencrypted::Plain);
    }
    acceptor.accept(stream).await.map_err(Unencrypted::Failed)
}

fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, CertificateError> {
    let wrong = |setting, path: &Path, reason: String| CertificateError::File {
        setting,
        path: path.to_owned(),
        reason,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(cert).and_then(Iterator::collect);
    let chain = chain.map_err(|error| wrong("tls_cert", cert, error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong("tls_cert", cert, "it holds no certificate".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| wrong("tls_key", key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(CertificateError::Pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}
