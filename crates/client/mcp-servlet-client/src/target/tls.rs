//! Options of TLS.

use std::path::{Path, PathBuf};

use reqwest::{Certificate, ClientBuilder, Identity, tls};

use super::TargetError;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsVersion {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

/// Options of TLS. Without any, the certificates of the operating system are trusted, and TLS 1.2 is enough.
///
/// All files are PEM. Convert a Java key store with `keytool -importkeystore -deststoretype pkcs12` and
/// `openssl pkcs12 -nodes`. Revocation is checked by lists; OCSP is not offered.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    roots: Vec<Certificate>,
    identity: Option<Identity>,
    /// Files in PEM that were parsed once.
    revoked: Vec<Vec<u8>>,
    least: Option<TlsVersion>,
    is_insecure: bool,
}

impl Tls {
    /// Trusts only the certificates in a file.
    ///
    /// # Errors
    /// If the file cannot be read, or has no certificate.
    pub fn roots(mut self, path: impl Into<PathBuf>) -> Result<Self, TargetError> {
        let (path, text) = read_pem(path.into())?;
        let roots = Certificate::from_pem_bundle(&text).unwrap_or_default();
        if roots.is_empty() {
            return Err(invalid(path, "certificate"));
        }
        self.roots.extend(roots);
        Ok(self)
    }

    /// Identifies this client with a certificate and its key.
    ///
    /// # Errors
    /// If a file cannot be read, or if they have no certificate and key.
    pub fn identity(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, TargetError> {
        let (path, mut text) = read_pem(certificate.into())?;
        let (_, key) = read_pem(key.into())?;
        text.push(b'\n');
        text.extend(key);
        let identity = Identity::from_pem(&text);
        self.identity = Some(identity.map_err(|_| invalid(path, "certificate with a key"))?);
        Ok(self)
    }

    /// Refuses the certificates that are revoked by the lists in a file. It needs [`roots`](Self::roots).
    ///
    /// # Errors
    /// If the file cannot be read, or has no list.
    pub fn revoked(mut self, path: impl Into<PathBuf>) -> Result<Self, TargetError> {
        let (path, text) = read_pem(path.into())?;
        if parse_lists(&text).is_empty() {
            return Err(invalid(path, "list of revoked certificates"));
        }
        self.revoked.push(text);
        Ok(self)
    }

    /// Sets the least version.
    #[must_use]
    pub fn least_version(mut self, version: TlsVersion) -> Self {
        self.least = Some(version);
        self
    }

    /// Accepts every certificate. Anybody on the way can then read and change the messages, so each connection logs
    /// a warning.
    #[must_use]
    pub fn accept_invalid_certificates(mut self) -> Self {
        self.is_insecure = true;
        self
    }

    /// Applies the options. `server` is what the log calls the server.
    pub(crate) fn apply(
        &self,
        server: &str,
        mut builder: ClientBuilder,
    ) -> Result<ClientBuilder, TargetError> {
        if !self.revoked.is_empty() && self.roots.is_empty() {
            return Err(TargetError::Tls {
                reason: "lists of revoked certificates need the certificates that are trusted"
                    .to_owned(),
            });
        }
        if !self.roots.is_empty() {
            builder = builder.tls_certs_only(self.roots.clone());
        }
        if !self.revoked.is_empty() {
            let lists = self.revoked.iter().flat_map(|text| parse_lists(text));
            builder = builder.tls_crls_only(lists);
        }
        if let Some(identity) = &self.identity {
            builder = builder.identity(identity.clone());
        }
        if let Some(version) = self.least {
            builder = builder.tls_version_min(match version {
                TlsVersion::Tls12 => tls::Version::TLS_1_2,
                TlsVersion::Tls13 => tls::Version::TLS_1_3,
            });
        }
        if self.is_insecure {
            tracing::warn!(
                server,
                "certificates are not checked, so the connection can be read and changed on its way"
            );
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        Ok(builder)
    }
}

fn read_pem(path: PathBuf) -> Result<(PathBuf, Vec<u8>), TargetError> {
    match std::fs::read(&path) {
        Ok(text) => Ok((path, text)),
        Err(source) => Err(TargetError::ReadFile { path, source }),
    }
}

fn parse_lists(text: &[u8]) -> Vec<tls::CertificateRevocationList> {
    tls::CertificateRevocationList::from_pem_bundle(text).unwrap_or_default()
}

fn invalid(path: impl AsRef<Path>, expected: &'static str) -> TargetError {
    TargetError::InvalidPem {
        path: path.as_ref().to_owned(),
        expected,
    }
}
