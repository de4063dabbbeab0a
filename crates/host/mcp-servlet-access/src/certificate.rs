//! The certificates of clients.

use std::fmt;

use x509_parser::{certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _};

use crate::digest::Sha256;

/// The certificate with which a client connected. TLS has checked it.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    sha256: Sha256,
    common_name: Option<String>,
    /// The first name of each kind.
    dns: Option<String>,
    uri: Option<String>,
    email: Option<String>,
}

/// The part of a certificate that names the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateName {
    /// The first DNS name.
    Dns,
    /// The first URI.
    Uri,
    /// The first email address.
    Email,
    /// The common name of the subject.
    CommonName,
    /// The SHA-256 digest of the certificate.
    Sha256,
}

impl Certificate {
    /// Reads the names in a DER certificate. Names that cannot be read are left out.
    pub fn of_der(der: &[u8]) -> Self {
        let mut own = Self {
            sha256: Sha256::of(der),
            common_name: None,
            dns: None,
            uri: None,
            email: None,
        };
        let Ok((_, certificate)) = X509Certificate::from_der(der) else {
            return own;
        };
        let mut names = certificate.subject().iter_common_name();
        let name = names.next().and_then(|name| name.as_str().ok());
        own.common_name = name.map(str::to_owned);
        let Ok(Some(names)) = certificate.subject_alternative_name() else {
            return own;
        };
        for name in &names.value.general_names {
            let (place, name) = match name {
                GeneralName::DNSName(name) => (&mut own.dns, name),
                GeneralName::URI(name) => (&mut own.uri, name),
                GeneralName::RFC822Name(name) => (&mut own.email, name),
                _ => continue,
            };
            place.get_or_insert_with(|| (*name).to_owned());
        }
        own
    }

    pub(crate) fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The name of the caller.
    pub(crate) fn name(&self, part: CertificateName) -> Option<String> {
        match part {
            CertificateName::Dns => self.dns.clone(),
            CertificateName::Uri => self.uri.clone(),
            CertificateName::Email => self.email.clone(),
            CertificateName::CommonName => self.common_name.clone(),
            CertificateName::Sha256 => Some(self.sha256.to_string()),
        }
    }
}

/// Shows no names.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificate").field(&self.sha256).finish()
    }
}
