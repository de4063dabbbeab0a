//! Errors of the connection to a proxy.

use std::io::ErrorKind;

/// Says of an error of the network that it concerns the proxy: there is no connection to anything else.
pub(super) fn explained(error: ureq::Error) -> ureq::Error {
    let reason = match &error {
        // What TLS does not accept comes from the host behind the proxy.
        ureq::Error::Io(io)
            if matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::TimedOut) =>
        {
            return error;
        }
        ureq::Error::Io(io) => io.to_string(),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => error.to_string(),
        _ => return error,
    };
    ureq::Error::ConnectProxyFailed(reason)
}
