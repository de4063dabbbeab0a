//! The certificates of clients.

mod details;
mod distinguished_name;

use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use mcp_servlet_schema::JsonObject;
use x509_parser::{
    certificate::X509Certificate, prelude::FromDer as _,
    revocation_list::CertificateRevocationList, time::ASN1Time,
};

use crate::digest::Sha256;

/// When a list of revoked certificates in DER begins and ends: its `thisUpdate` and `nextUpdate`.
pub fn revocation_list_times(der: &[u8]) -> Option<(SystemTime, SystemTime)> {
    let (_, list) = CertificateRevocationList::from_der(der).ok()?;
    Some((time_of(list.last_update())?, time_of(list.next_update()?)?))
}

fn time_of(time: ASN1Time) -> Option<SystemTime> {
    let seconds = u64::try_from(time.timestamp()).ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The certificate with which a client connected. TLS has checked it.
#[derive(Clone, PartialEq)]
pub struct Certificate {
    sha256: Sha256,
    details: JsonObject,
    ends: Option<SystemTime>,
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
    /// The members of [`details`](Self::details) that a certificate can have.
    pub const DETAILS: [&str; 17] = [
        "subject",
        "common_name",
        "issuer",
        "issuer_common_name",
        "sans",
        "serial",
        "not_before",
        "not_after",
        "key_usage",
        "extended_key_usage",
        "basic_constraints",
        "extensions",
        "public_key",
        "signature_algorithm",
        "version",
        "sha256",
        "pem",
    ];

    /// Reads a DER certificate, without the parts that cannot be read.
    pub fn of_der(der: &[u8]) -> Self {
        let sha256 = Sha256::of(der);
        let mut details = JsonObject::new();
        let mut ends = None;
        if let Ok((_, certificate)) = X509Certificate::from_der(der) {
            details::add(&mut details, &certificate);
            ends = time_of(certificate.validity().not_after);
        }
        details.insert("sha256".to_owned(), sha256.to_string().into());
        details.insert("pem".to_owned(), details::pem(der).into());
        Self {
            sha256,
            details,
            ends,
        }
    }

    /// When it ends.
    pub fn ends(&self) -> Option<SystemTime> {
        self.ends
    }

    /// What the certificate says, as expressions and servlets read it.
    pub fn details(&self) -> &JsonObject {
        &self.details
    }

    pub(crate) fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The name of the caller.
    pub(crate) fn name(&self, part: CertificateName) -> Option<String> {
        match part {
            CertificateName::Dns => self.alternative_name("dns"),
            CertificateName::Uri => self.alternative_name("uri"),
            CertificateName::Email => self.alternative_name("email"),
            CertificateName::CommonName => {
                let name = self.details.get("common_name")?.as_str();
                name.map(str::to_owned)
            }
            CertificateName::Sha256 => Some(self.sha256.to_string()),
        }
    }

    /// The first alternative name of a type.
    fn alternative_name(&self, kind: &str) -> Option<String> {
        let names = self.details.get("sans")?.as_array()?;
        let name = names.iter().find(|name| name["type"] == kind)?;
        Some(name["value"].as_str()?.to_owned())
    }
}

/// Shows no names.
impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificate").field(&self.sha256).finish()
    }
}

#[cfg(test)]
mod tests;
