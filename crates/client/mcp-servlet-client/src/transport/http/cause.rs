//! Why the HTTP client failed.

use std::error::Error as _;
use std::io;
use std::iter::successors;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

/// The deepest reason of an error, which is the one of the operating system or of TLS.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match error.source() {
        Some(_) => cause.to_string(),
        // Its own text has the URL, which may have secrets.
        None if error.is_timeout() => "timed out".to_owned(),
        None => "no further reason".to_owned(),
    }
}

/// What to do about an error of TLS, if the options of the client or the URL can mend it.
pub(super) fn advice(error: &reqwest::Error) -> Option<&'static str> {
    Some(match tls_error(error)? {
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => {
            "if you trust this server, name its authority with `--tls-ca FILE`, or with `tls = { ca = \"FILE\" }` in the remote of a \
             configuration"
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "write the URL with a name that is in the certificate",
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "the server needs a new certificate; check the clock of this machine, too",
        rustls::Error::AlertReceived(alert) if is_about_our_certificate(*alert) => {
            "identify with `--tls-cert FILE --tls-key FILE`, or with `tls = { cert = \"FILE\", key = \"FILE\" }` in the remote of a \
             configuration, and a certificate that the server trusts"
        }
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server does not use TLS at this port: write `http://` instead of `https://`"
        }
        _ => return None,
    })
}

/// Whether a server sends this alert if the certificate of the client is missing or refused.
fn is_about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate
    )
}

fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut chain = successors(Some(first), |&error| error.source());
    chain.find_map(|error| match error.downcast_ref::<io::Error>() {
        Some(error) => wrapped(error),
        None => error.downcast_ref(),
    })
}

/// An error that errors of the operating system wrap. It is not one of their sources.
fn wrapped(error: &io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    match inner.downcast_ref::<io::Error>() {
        Some(error) => wrapped(error),
        None => inner.downcast_ref(),
    }
}
