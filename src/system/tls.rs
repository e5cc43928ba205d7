//! Connections of other protocols than HTTP, and TLS for them: the trusted authorities, and docsyncd's own certificate.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ClientConfig;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::system::http;
use crate::system::secret::{self, FileStamp, Secret};

/// A connection, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to the first address of the server that accepts, and tells this computer's own address.
///
/// # Errors
/// `NotFound` if the name has no address; otherwise the error of the last address.
pub async fn dial(host: &str, port: u16) -> io::Result<(Box<dyn Stream>, IpAddr)> {
    #[cfg(test)]
    if let Some(simulated) = crate::simulation::spoken::connect().await {
        return Ok((Box::new(simulated?), IpAddr::from([192, 0, 2, 1])));
    }
    let mut last = ErrorKind::NotFound.into();
    for address in http::look_up(host).await.map_err(|_| io::Error::from(ErrorKind::NotFound))? {
        match TcpStream::connect(SocketAddr::new(address.ip(), port)).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                let own = stream.local_addr()?.ip();
                return Ok((Box::new(stream), own));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The files that TLS with one server needs.
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// PEM file with the only certificate authorities to trust, instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that docsyncd shows, and its key.
    pub client_certificate: Option<(PathBuf, Secret)>,
}

impl TlsFiles {
    /// All of them.
    pub fn all(&self) -> Vec<PathBuf> {
        let own = self.client_certificate.iter();
        let own = own.flat_map(|(file, key)| [Some(file.clone()), secret::file(key)]).flatten();
        self.ca_file.iter().cloned().chain(own).collect()
    }
}

/// The TLS settings for one server.
#[derive(Debug, Default)]
pub struct Tls {
    files: TlsFiles,
    /// The configuration, with the stamp of its files when it was made.
    made: Mutex<Option<(FileStamp, Arc<ClientConfig>)>>,
}

impl Tls {
    /// Reads nothing yet.
    pub fn new(files: TlsFiles) -> Self {
        Self { files, made: Mutex::new(None) }
    }

    /// The TLS configuration, made anew if one of its files has changed. rustls supports only TLS 1.2 and 1.3.
    ///
    /// # Errors
    /// What is wrong with the configured files, and what to do.
    pub fn set_up(&self) -> Result<Arc<ClientConfig>, String> {
        let stamp = FileStamp::asked(&self.files.all());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((with, config)) if *with == stamp => Ok(config.clone()),
            _ => {
                let config = Arc::new(self.make()?);
                *made = Some((stamp, config.clone()));
                Ok(config)
            }
        }
    }

    /// Encrypts a connection with the server of this name or address. Its certificate must be valid for it.
    ///
    /// # Errors
    /// The server's certificate is not valid for it, the server refuses ours, or it speaks no TLS.
    pub async fn connect(
        config: Arc<ClientConfig>,
        host: &str,
        stream: Box<dyn Stream>,
    ) -> io::Result<Box<dyn Stream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        Ok(Box::new(TlsConnector::from(config).connect(name, stream).await?))
    }

    fn make(&self) -> Result<ClientConfig, String> {
        http::install_crypto();
        let builder = ClientConfig::builder();
        let builder = match &self.files.ca_file {
            Some(file) => builder.dangerous().with_custom_certificate_verifier(authorities(file)?),
            None => builder.with_platform_verifier().map_err(|error| http::no_tls(&error, "ca_file"))?,
        };
        let Some((file, key)) = &self.files.client_certificate else { return Ok(builder.with_no_client_auth()) };
        let chain = certificates("client_cert_file", file)?;
        let key = secret::read_private_key(key, "client_key_file")?;
        let key = PrivateKeyDer::from_pem_slice(key.expose_secret().as_bytes()).ok();
        key.and_then(|key| builder.with_client_auth_cert(chain, key).ok()).ok_or_else(|| {
            let shown = file.display();
            format!("client_cert_file {shown} and client_key_file are no PEM certificate with its key (one without a passphrase)")
        })
    }
}

fn authorities(file: &Path) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let trusted = http::trusted(certificates("ca_file", file)?);
    trusted.ok_or_else(|| format!("ca_file {} holds no certificate of an authority", file.display()))
}

/// The certificates of a PEM file. `key` is the setting that names it.
///
/// # Errors
/// The file cannot be read, or holds none.
pub fn certificates(key: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let shown = file.display();
    let pem = http::read_pem(file).map_err(|error| format!("{key} {shown} cannot be read: {error}"))?;
    let found: Option<Vec<_>> = CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().ok();
    found.filter(|found| !found.is_empty()).ok_or_else(|| format!("{key} {shown} holds no PEM certificate"))
}
