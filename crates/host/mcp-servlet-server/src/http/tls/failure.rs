//! Why a handshake failed.

use std::io;

use tokio_rustls::rustls::{CertificateError, Error};

/// Why a handshake failed. Each kind has a count and log lines of its own, so that one client does not hide why others fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum HandshakeFailure {
    /// The certificate of the client has expired.
    Expired,
    /// The certificate of the client is not valid yet.
    NotYet,
    /// The certificate of the client is revoked.
    Revoked,
    /// There is no list of revoked certificates for the certificate, or the list has expired.
    RevocationList,
    /// The authority that signed the certificate is not accepted.
    Issuer,
    /// The certificate is not for clients.
    Purpose,
    /// The certificate cannot be used for another reason.
    Certificate,
    /// The client has shown no certificate.
    NoCertificate,
    /// The client gave up, such as one that does not trust the server.
    Alert,
    /// Anything else.
    Other,
}

impl HandshakeFailure {
    pub(in crate::http) fn of(error: &io::Error) -> Self {
        let inner = error.get_ref();
        match inner.and_then(|inner| inner.downcast_ref::<Error>()) {
            Some(Error::NoCertificatesPresented) => Self::NoCertificate,
            Some(Error::AlertReceived(_)) => Self::Alert,
            Some(Error::InvalidCertificate(error)) => Self::of_certificate(error),
            _ => Self::Other,
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        use CertificateError as E;
        match error {
            E::Expired | E::ExpiredContext { .. } => Self::Expired,
            E::NotValidYet | E::NotValidYetContext { .. } => Self::NotYet,
            E::Revoked => Self::Revoked,
            E::UnknownRevocationStatus
            | E::ExpiredRevocationList
            | E::ExpiredRevocationListContext { .. } => Self::RevocationList,
            E::UnknownIssuer => Self::Issuer,
            E::InvalidPurpose | E::InvalidPurposeContext { .. } => Self::Purpose,
            _ => Self::Certificate,
        }
    }

    /// The name in metrics and logs.
    pub(in crate::http) fn name(self) -> &'static str {
        match self {
            Self::Expired => "handshake_expired",
            Self::NotYet => "handshake_not_yet",
            Self::Revoked => "handshake_revoked",
            Self::RevocationList => "handshake_revocation_list",
            Self::Issuer => "handshake_issuer",
            Self::Purpose => "handshake_purpose",
            Self::Certificate => "handshake_certificate",
            Self::NoCertificate => "handshake_no_certificate",
            Self::Alert => "handshake_alert",
            Self::Other => "handshake",
        }
    }

    /// Whether the certificate of the client was refused, or is missing.
    pub(in crate::http) fn is_refusal(self) -> bool {
        !matches!(self, Self::Alert | Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_refused_for_different_reasons() {
        for (error, name, is_refusal) in [
            (CertificateError::Revoked.into(), "handshake_revoked", true),
            (
                CertificateError::UnknownIssuer.into(),
                "handshake_issuer",
                true,
            ),
            (
                CertificateError::BadSignature.into(),
                "handshake_certificate",
                true,
            ),
            (
                Error::NoCertificatesPresented,
                "handshake_no_certificate",
                true,
            ),
            (Error::DecryptError, "handshake", false),
        ] {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            let failure = HandshakeFailure::of(&error);
            assert_eq!((failure.name(), failure.is_refusal()), (name, is_refusal));
        }
        let late = HandshakeFailure::of(&io::Error::from(io::ErrorKind::TimedOut));
        assert_eq!(late, HandshakeFailure::Other);
    }
}
