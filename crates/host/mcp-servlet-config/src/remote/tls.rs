//! Certificates of remotes.

use std::{
    hash::{DefaultHasher, Hash as _},
    path::PathBuf,
};

use mcp_servlet_remote::client::{Tls, TlsVersion};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{super::units::MinVersion, Reader};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(super) struct TlsFiles {
    /// The only certificates that are trusted, in PEM.
    #[schemars(with = "Option<String>")]
    pub(super) ca: Option<Spanned<String>>,
    /// The certificate of this client, in PEM. It needs `key`.
    #[schemars(with = "Option<String>")]
    pub(super) cert: Option<Spanned<String>>,
    /// The key of that certificate, in PEM.
    #[schemars(with = "Option<String>")]
    pub(super) key: Option<Spanned<String>>,
    /// Lists of revoked certificates, in PEM. They need `ca`.
    #[schemars(with = "Option<String>")]
    pub(super) crl: Option<Spanned<String>>,
    /// The least version of TLS: `1.2` (the default) or `1.3`.
    pub(super) min: Option<MinVersion>,
    /// Accepts every certificate, with a warning in the log at each connection. Default: false.
    #[schemars(with = "bool")]
    pub(super) insecure: Option<Spanned<bool>>,
}

impl Reader<'_> {
    pub(super) fn tls(&mut self, files: &TlsFiles, digest: &mut DefaultHasher) -> Option<Tls> {
        let mut tls = Tls::default();
        if let Some(ca) = &files.ca {
            let path = self.pem(ca, digest);
            tls = self.reported(ca, tls.roots(path))?;
        }
        match (&files.cert, &files.key) {
            (Some(cert), Some(key)) => {
                let paths = (self.pem(cert, digest), self.pem(key, digest));
                tls = self.reported(cert, tls.identity(paths.0, paths.1))?;
            }
            (Some(one), None) | (None, Some(one)) => {
                let message = "expected both `cert` and `key`, found only one";
                self.problem(one.span(), message.to_owned());
            }
            (None, None) => {}
        }
        match (&files.crl, &files.ca) {
            (Some(crl), Some(_)) => {
                let path = self.pem(crl, digest);
                tls = self.reported(crl, tls.revoked(path))?;
            }
            (Some(crl), None) => {
                let message = "`crl` needs `ca`, the certificates that are trusted";
                self.problem(crl.span(), message.to_owned());
            }
            (None, _) => {}
        }
        if files
            .insecure
            .as_ref()
            .is_some_and(|insecure| *insecure.get_ref())
        {
            "insecure".hash(digest);
            tls = tls.accept_invalid_certificates();
        }
        if let Some(min) = files.min {
            format!("{min:?}").hash(digest);
            tls = tls.least_version(match min {
                MinVersion::Tls12 => TlsVersion::Tls12,
                MinVersion::Tls13 => TlsVersion::Tls13,
            });
        }
        Some(tls)
    }

    /// The path of a file in PEM, which is watched.
    fn pem(&mut self, path: &Spanned<String>, digest: &mut DefaultHasher) -> PathBuf {
        let path = self.folder.join(path.get_ref());
        self.files.add(path.clone());
        std::fs::read(&path).ok().hash(digest);
        path
    }
}
