//! Errors of logins.

use std::io;
use std::path::Path;

use rmcp::transport::AuthError;
use rmcp::transport::auth::ProtectedResourceMetadataInvalidReason;
use url::Url;

use crate::error::{Error, ErrorKind};
use crate::quote::start;
use crate::target::{Http, bare_url};

/// How much of a text of an authorization server an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;
/// What the libraries put before the reason of a failed request.
const LIBRARY_WORDS: [&str; 3] = [
    "HTTP request error: ",
    "Server returned error response: ",
    "Token exchange failed: ",
];

pub(super) fn authentication(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Authentication, message)
}

/// The user has to log in, or to log in again.
pub(super) fn login_needed(message: impl Into<String>, target: &Http) -> Error {
    let help = format!("log in with `servlet login {}`", target.label());
    authentication(message).with_help(help)
}

/// The HTTP client cannot be set up.
pub(super) fn setup(reason: String) -> Error {
    Error::new(ErrorKind::Connectivity, reason)
}

/// A request to an authorization server that was not answered.
pub(super) fn not_answered(error: reqwest::Error) -> Error {
    let error = error.without_url();
    let message = "the authorization server does not answer";
    Error::new(ErrorKind::Connectivity, message).with_source(error)
}

/// A URL that an authorization server must not have.
pub(super) fn endpoint(name: &str, url: &str) -> Error {
    let message = format!(
        "the authorization server has a URL that is not allowed: `{name}` is `{}`",
        quoted(url)
    );
    let help = "expected an `https` URL that is not in a local network, unless the MCP server is in it as well";
    Error::new(ErrorKind::Protocol, message).with_help(help)
}

/// A file with credentials that cannot be used.
pub(super) fn file(what: &str, path: &Path, error: io::Error) -> Error {
    let message = format!("cannot {what} `{}`: {error}", path.display());
    authentication(message).with_source(error)
}

/// An answer of the authorization server to the browser that is an error.
pub(super) fn refused_login(code: &str, description: Option<&str>) -> Error {
    let description = description.map(|text| format!(": {}", quoted(text)));
    authentication(format!(
        "the authorization server refused the login: `{}`{}",
        quoted(code),
        description.unwrap_or_default()
    ))
}

/// The error for one of rmcp's.
pub(super) fn from_rmcp(error: AuthError, target: &Http) -> Error {
    let protocol = |message: String| Error::new(ErrorKind::Protocol, message);
    match error {
        AuthError::AuthorizationRequired
        | AuthError::TokenExpired
        | AuthError::TokenRefreshRejected(_) => login_needed("the login has ended", target),
        AuthError::TokenRefreshFailed(text) => Error::new(
            ErrorKind::Connectivity,
            format!("the login could not be renewed: {}", reason(&text)),
        ),
        AuthError::RegistrationFailed(text) => {
            let reason = reason(&text);
            authentication(format!(
                "the authorization server refuses to register this client: {reason}"
            ))
            .with_help("register a client there, and log in with `--client-id ID`")
        }
        AuthError::TokenExchangeFailed(text) | AuthError::ClientCredentialsError(text) => {
            authentication(format!(
                "the authorization server issued no token: {}",
                reason(&text)
            ))
        }
        AuthError::DiscoveryRequestFailed { url, source } => {
            // The URL of metadata may have the path of the server.
            let place = if target.has_name() {
                url.origin().ascii_serialization()
            } else {
                bare_url(&url)
            };
            let message = format!("cannot read `{place}`: {}", deepest(&*source));
            Error::new(ErrorKind::Connectivity, message)
        }
        AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        } => other_issuer(&expected_issuer, &received_issuer),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            no_issuer(&expected_issuer)
        }
        AuthError::PkceUnsupported => no_pkce(),
        AuthError::ProtectedResourceMetadataInvalid { reason, .. } => match *reason {
            ProtectedResourceMetadataInvalidReason::ResourceMismatch {
                reference,
                permitted,
            } => other_resource(&reference, &permitted, target),
            reason => protocol(quoted(&reason.to_string())),
        },
        error => protocol(quoted(&error.to_string())),
    }
}

/// An answer or a document of another authorization server.
pub(super) fn other_issuer(expected: &str, found: &str) -> Error {
    let (expected, found) = (quoted(expected), quoted(found));
    let message = format!("expected the issuer `{expected}`, found `{found}`");
    Error::new(ErrorKind::Protocol, message)
}

/// An answer or a document that does not name its authorization server.
pub(super) fn no_issuer(expected: &str) -> Error {
    let message = format!("expected the issuer `{}`, found none", quoted(expected));
    Error::new(ErrorKind::Protocol, message)
}

/// The authorization server could not notice a stolen code.
pub(super) fn no_pkce() -> Error {
    let message = "the authorization server does not offer PKCE with `S256`, which MCP requires";
    Error::new(ErrorKind::Protocol, message)
}

/// Metadata that names another resource than the server.
fn other_resource(expected: &Url, found: &Url, target: &Http) -> Error {
    let message = "the metadata of the server is for another resource";
    let protocol = |message: String| Error::new(ErrorKind::Protocol, message);
    if target.has_name() {
        return protocol(message.to_owned());
    }
    let is_same_origin = expected.origin() == found.origin();
    let found = bare_url(found);
    let error = protocol(format!("{message}, `{found}`"));
    if is_same_origin {
        error.with_help(format!("use the URL `{found}`"))
    } else {
        error
    }
}

fn quoted(text: &str) -> String {
    start(text.trim(), MAX_QUOTED_CHARS)
}

/// The reason of a failed request, without the words that the libraries put before it.
fn reason(text: &str) -> String {
    let mut reason = text;
    while let Some(rest) = LIBRARY_WORDS
        .iter()
        .find_map(|words| reason.strip_prefix(words))
    {
        reason = rest;
    }
    quoted(reason)
}

/// The deepest reason of an error.
pub(super) fn deepest(mut error: &(dyn std::error::Error + 'static)) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
