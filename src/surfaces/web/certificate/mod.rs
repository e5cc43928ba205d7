//! The page's certificate and key: what is wrong with them, and the use of a renewed one without a restart.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, ServerConfig};
use secrecy::ExposeSecret as _;

use crate::config::StatusPageConfig;
use crate::ledger::{Ledger, Millis, QueryResult, now, process};
use crate::system::http;
use crate::system::secret::{self, FileStamp, Secret};
use crate::system::tls::certificates;

/// How often to check whether the certificate was renewed.
const LOOK: Duration = Duration::from_secs(60);
/// How long before its end `check` warns. A certificate that renews by itself has done so by then.
const SOON: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Why browsers do not believe a certificate that can be used, or soon will not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It has expired.
    Expired,
    /// It is not valid yet.
    NotYet,
    /// It is not for the host of `status_page.public_url`.
    AnothersName,
    /// It expires within two weeks.
    EndsSoon,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "certificate_file has expired: renew it",
            Self::NotYet => "certificate_file is not valid yet: is the clock of this computer right?",
            Self::AnothersName => "certificate_file is not for the host of status_page.public_url",
            Self::EndsSoon => "certificate_file expires within two weeks: renew it",
        })
    }
}

/// The certificate of the page.
#[derive(Debug)]
pub struct Certificate {
    file: PathBuf,
    key: Secret,
    /// The host by which others ask for the page.
    host: Option<ServerName<'static>>,
    stamp: RwLock<FileStamp>,
    shown: RwLock<Option<Arc<ServerConfig>>>,
    /// The chain in use, to check its time.
    chain: RwLock<Vec<CertificateDer<'static>>>,
}

impl Certificate {
    /// The certificate of this page, if it has one. Reads nothing yet.
    pub fn of(page: &StatusPageConfig) -> Option<Self> {
        let (file, key) = page.certificate.clone()?;
        let host = page.public_url.as_ref().and_then(|url| ServerName::try_from(url.host_str()?.to_owned()).ok());
        Some(Self { file, key, host, stamp: RwLock::default(), shown: RwLock::default(), chain: RwLock::default() })
    }

    /// Reads the certificate and uses it from now on. Returns what browsers will object to.
    ///
    /// # Errors
    /// What is wrong with the files, and what to do. The previous certificate stays in use.
    pub fn read(&self) -> Result<Option<Doubt>, String> {
        *self.stamp.write().unwrap_or_else(PoisonError::into_inner) = self.stamp();
        let chain = certificates("certificate_file", &self.file)?;
        let key = secret::read_private_key(&self.key, "certificate_key_file")?;
        let config = Arc::new(configured(chain.clone(), key.expose_secret(), &self.file)?);
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = Some(config);
        *self.chain.write().unwrap_or_else(PoisonError::into_inner) = chain;
        Ok(self.doubt(UnixTime::now()))
    }

    /// What browsers object to at this time. A certificate expires while its file stays the same.
    pub(super) fn doubt(&self, now: UnixTime) -> Option<Doubt> {
        doubt(&self.chain.read().unwrap_or_else(PoisonError::into_inner), self.host.as_ref(), now)
    }

    /// The certificate in use, once it was read.
    pub(super) fn shown(&self) -> Option<Arc<ServerConfig>> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Uses a renewed certificate, as long as the page is served. Records since when browsers do not believe it, for
    /// whoever asks how the page is.
    pub(super) async fn follow(self: &Arc<Self>, ledger: &Ledger) {
        loop {
            let is_doubted = self.doubt(UnixTime::now()).is_some();
            if let Err(error) = ledger.write(move |db| note(db, is_doubted, now())).await {
                tracing::debug!(event = "status_page_not_told", "{error}");
            }
            tokio::time::sleep(LOOK).await;
            let certificate = Arc::clone(self);
            // The files may be on a share that hangs.
            let looked = tokio::task::spawn_blocking(move || certificate.has_changed().then(|| certificate.read()));
            match looked.await {
                Ok(Some(Ok(doubt))) => tell_read(doubt),
                Ok(Some(Err(why))) => tracing::warn!(
                    event = "status_page_certificate",
                    "the renewed certificate of the status page cannot be used, the previous one stays in use: {why}"
                ),
                Ok(None) | Err(_) => {}
            }
        }
    }

    fn has_changed(&self) -> bool {
        *self.stamp.read().unwrap_or_else(PoisonError::into_inner) != self.stamp()
    }

    fn stamp(&self) -> FileStamp {
        let files: Vec<PathBuf> = [Some(self.file.clone()), secret::file(&self.key)].into_iter().flatten().collect();
        FileStamp::asked(&files)
    }
}

/// Records whether browsers believe it. The time is that of the first doubt.
pub(super) fn note(db: &rusqlite::Connection, is_doubted: bool, at: Millis) -> QueryResult<()> {
    let known = process::all(db)?.contains_key(process::CERTIFICATE);
    match (is_doubted, known) {
        (true, false) => process::set(db, process::CERTIFICATE, &at.to_string()),
        (false, true) => process::remove(db, process::CERTIFICATE).map(drop),
        (true, true) | (false, false) => Ok(()),
    }
}

/// Logs that the certificate was read, and what browsers will object to.
pub(super) fn tell_read(doubt: Option<Doubt>) {
    match doubt {
        None => tracing::info!(event = "status_page_certificate", "the certificate of the status page was read"),
        Some(doubt) => tracing::warn!(
            event = "status_page_certificate",
            "browsers do not believe the certificate of the status page, or soon will not: {doubt}"
        ),
    }
}

fn configured(chain: Vec<CertificateDer<'static>>, key: &str, file: &Path) -> Result<ServerConfig, String> {
    http::install_crypto();
    let shown = file.display();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| {
        "certificate_key_file holds no PEM key (PKCS#8, SEC1 or PKCS#1) without a passphrase".to_owned()
    })?;
    let builder = ServerConfig::builder().with_no_client_auth();
    let mut config = builder.with_single_cert(chain, key).map_err(|error| match error {
        Error::InconsistentKeys(_) => {
            format!(
                "certificate_key_file is not the key of certificate_file {shown}: name the two that belong together"
            )
        }
        Error::InvalidCertificate(_) => format!("certificate_file {shown} holds no certificate that can be read"),
        _ => {
            "certificate_key_file holds a key of a kind that docsyncd does not know: use RSA, P-256 or P-384".to_owned()
        }
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// What browsers object to at this time. Only they know which authorities they trust.
fn doubt(chain: &[CertificateDer<'static>], host: Option<&ServerName<'_>>, now: UnixTime) -> Option<Doubt> {
    let (own, others) = chain.split_first()?;
    let trusted = http::trusted(chain.to_vec())?;
    // The time is checked before the name, so any name will do.
    let at = |time: UnixTime| {
        let any = ServerName::from(std::net::IpAddr::from([127, 0, 0, 1]));
        match trusted.verify_server_cert(own, others, &any, &[], time) {
            Err(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => {
                Some(Doubt::Expired)
            }
            Err(Error::InvalidCertificate(
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
            )) => Some(Doubt::NotYet),
            _ => None,
        }
    };
    let soon = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()).saturating_add(SOON));
    let is_for = |host: &ServerName<'_>| {
        ParsedCertificate::try_from(own).is_ok_and(|parsed| verify_server_name(&parsed, host).is_ok())
    };
    at(now)
        .or_else(|| host.filter(|host| !is_for(host)).map(|_| Doubt::AnothersName))
        .or_else(|| at(soon).map(|_| Doubt::EndsSoon))
}

#[cfg(test)]
mod tests;
