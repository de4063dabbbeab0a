//! Errors of the connection to a proxy.

use std::io::ErrorKind;

/// Marks an error of the network as one of the proxy: there is no other connection.
pub(super) fn explained(error: ureq::Error) -> ureq::Error {
    let reason = match &error {
        // TLS errors come from the host behind the proxy.
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
