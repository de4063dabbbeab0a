//! The certificate authorities that a client trusts.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
};

use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem, pem::PemObject as _},
    },
};

/// The variable with the path of certificates that are trusted, too, as other programs have it.
const CERT_FILE: &str = "SSL_CERT_FILE";

/// The certificate authorities that a client trusts. By default, those of Mozilla.
#[derive(Clone)]
pub struct Trust {
    roots: Arc<RootCertStore>,
    connector: TlsConnector,
}

/// A file of certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot read certificates in PEM from `{}`: {reason}", path.display())]
pub struct TrustError {
    /// The path of the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// Whether the authorities are the same, wherever they were read.
impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        self.roots.roots == other.roots.roots
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

impl Default for Trust {
    fn default() -> Self {
        static MOZILLA: LazyLock<Trust> = LazyLock::new(|| Trust::of(mozilla()));
        MOZILLA.clone()
    }
}

impl Trust {
    /// What the operator trusts: the authorities of Mozilla, those in the file that `SSL_CERT_FILE` names, and those of `ca`.
    ///
    /// # Errors
    /// [`TrustError`] for a file without certificates.
    pub fn of_operator(ca: Option<&Path>) -> Result<Self, TrustError> {
        let variable = std::env::var_os(CERT_FILE).filter(|path| !path.is_empty());
        let mut files = [variable.map(PathBuf::from), ca.map(Path::to_owned)]
            .into_iter()
            .flatten()
            .peekable();
        if files.peek().is_none() {
            return Ok(Self::default());
        }
        let mut roots = mozilla();
        for path in files {
            if let Err(reason) = add(&mut roots, &path) {
                return Err(TrustError { path, reason });
            }
        }
        Ok(Self::of(roots))
    }

    fn of(roots: RootCertStore) -> Self {
        let roots = Arc::new(roots);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has ciphers for these versions")
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        Self {
            roots,
            connector: Arc::new(config).into(),
        }
    }

    /// Opens connections with TLS.
    pub fn connector(&self) -> &TlsConnector {
        &self.connector
    }
}

fn mozilla() -> RootCertStore {
    webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()
}

/// Adds the certificates of a file.
fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let reason = |error: pem::Error| error.to_string();
    let certificates = CertificateDer::pem_file_iter(path)
        .map_err(reason)?
        .collect::<Result<Vec<_>, _>>();
    // Those of a whole system may have some that cannot be read.
    let (added, _) = roots.add_parsable_certificates(certificates.map_err(reason)?);
    if added == 0 {
        return Err("it has no certificate".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_an_error() {
        for path in ["Cargo.toml", "no-such-file.pem"] {
            let path = Path::new(path);
            let Err(error) = Trust::of_operator(Some(path)) else {
                panic!("no error for {}", path.display());
            };
            assert_eq!(error.path, path);
        }
    }
}
