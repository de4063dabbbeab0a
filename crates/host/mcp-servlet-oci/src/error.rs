//! Errors of registries, with the codes that `servlet explain` describes.

use std::{path::PathBuf, time::Duration};

use mcp_servlet_call::HttpFailure;
use mcp_servlet_common::quoted;
use mcp_servlet_http::{SendError, TrustError};
use mcp_servlet_types::HttpErrorKind;

use crate::{digest::Digest, key::KeyError};

/// Why a module was not pulled or pushed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The reference is not valid.
    #[error("invalid reference `{reference}`: {problem}")]
    InvalidReference {
        /// The reference, without secrets.
        reference: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The registry has no such image, or does not show it.
    #[error("`{reference}`: no such tag or repository, or no right to read it")]
    ManifestUnknown {
        /// The reference.
        reference: String,
    },
    /// The registry wants credentials, and there are none, or it refuses them.
    #[error("{}{}", unauthorized(host, user.as_deref(), files), after_colon(message))]
    Unauthorized {
        /// The host of the registry.
        host: String,
        /// The user whose credentials it refused.
        user: Option<String>,
        /// The files that have none for the host.
        files: Vec<PathBuf>,
        /// What the registry says.
        message: String,
    },
    /// The user has no right to do that.
    #[error(
        "`{reference}`: the registry does not allow it{}",
        after_colon(message)
    )]
    Denied {
        /// The reference.
        reference: String,
        /// What the registry says.
        message: String,
    },
    /// Something does not have its digest or its size.
    #[error("the {what} from {from} has the wrong digest: expected {expected}, found {found}")]
    DigestDiffers {
        /// What it is.
        what: &'static str,
        /// Where it comes from.
        from: String,
        /// The digest that it should have.
        expected: Digest,
        /// What it is instead: a digest or a size.
        found: String,
    },
    /// No layer of the image has a module.
    #[error("`{reference}` has no WebAssembly module: {found}")]
    NoWasm {
        /// The reference.
        reference: String,
        /// What it has instead.
        found: String,
    },
    /// Something exceeds a limit.
    #[error("{what} is larger than the limit of {limit}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// The limit, with its unit.
        limit: String,
    },
    /// The connection would not be encrypted.
    #[error("`{reference}`: an unencrypted connection is only allowed to this machine")]
    Insecure {
        /// The reference.
        reference: String,
    },
    /// The registry sends its clients to a URL that is not encrypted.
    #[error("`{reference}`: the registry sends its clients to `{url}`, which is not encrypted")]
    Downgrade {
        /// The reference.
        reference: String,
        /// The URL, without secrets.
        url: String,
    },
    /// The registry did not answer.
    #[error("cannot reach {host}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why the last attempt failed.
        source: SendError,
    },
    /// The certificate of the registry is not trusted.
    #[error("the certificate of {host} is not trusted")]
    UntrustedCertificate {
        /// The host.
        host: String,
        /// Why not.
        source: SendError,
    },
    /// The registry does not use TLS.
    #[error("{host} does not use TLS")]
    NoTls {
        /// The host.
        host: String,
    },
    /// The file with certificates that are trusted, too, cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The registry gets too many requests.
    #[error("{host} refuses more requests{}", retry_after(*after))]
    RateLimited {
        /// The host.
        host: String,
        /// How long the client should wait.
        after: Option<Duration>,
    },
    /// A tag already names another image.
    #[error("the tag `{tag}` already names {digest}")]
    TagExists {
        /// The tag.
        tag: String,
        /// The image that it names.
        digest: Digest,
    },
    /// The image has no signature by one of the keys.
    #[error("`{reference}` is not signed by one of the keys: {}", signatures(*found))]
    NotSigned {
        /// The image.
        reference: String,
        /// How many signatures it has.
        found: usize,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Credentials cannot be read.
    #[error("cannot get the credentials for {host} from {from}: {reason}")]
    Credentials {
        /// The host.
        host: String,
        /// The helper or the file that should have them.
        from: String,
        /// Why it has not.
        reason: String,
    },
    /// The registry answers in a way that is not in its specification.
    #[error("unexpected answer of {host}: {message}")]
    Unexpected {
        /// The host.
        host: String,
        /// The status of its response.
        status: u16,
        /// What is unexpected.
        message: String,
    },
}

impl Error {
    /// All codes, in the order of the documentation.
    pub const CODES: [&str; 17] = [
        "invalid-reference",
        "manifest-unknown",
        "unauthorized",
        "denied",
        "digest-differs",
        "no-wasm",
        "too-large",
        "insecure",
        "unreachable",
        "untrusted-certificate",
        "no-tls",
        "rate-limited",
        "tag-exists",
        "not-signed",
        "key",
        "credentials",
        "unexpected-answer",
    ];

    /// A text that never changes, for `servlet explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidReference { .. } => "invalid-reference",
            Self::ManifestUnknown { .. } => "manifest-unknown",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Denied { .. } => "denied",
            Self::DigestDiffers { .. } => "digest-differs",
            Self::NoWasm { .. } => "no-wasm",
            Self::TooLarge { .. } => "too-large",
            Self::Insecure { .. } | Self::Downgrade { .. } => "insecure",
            Self::Unreachable { .. } => "unreachable",
            Self::UntrustedCertificate { .. } | Self::Trust(_) => "untrusted-certificate",
            Self::NoTls { .. } => "no-tls",
            Self::RateLimited { .. } => "rate-limited",
            Self::TagExists { .. } => "tag-exists",
            Self::NotSigned { .. } => "not-signed",
            Self::Key(_) => "key",
            Self::Credentials { .. } => "credentials",
            Self::Unexpected { .. } => "unexpected-answer",
        }
    }

    /// What to do.
    pub fn help(&self) -> String {
        let advice = match self {
            Self::InvalidReference { .. } => {
                "write `oci://HOST/REPOSITORY:TAG`, or `@sha256:…` instead of `:TAG`, such as `oci://ghcr.io/ada/mine:1.2.0`".to_owned()
            }
            Self::Unauthorized { host, .. } => format!("run `docker login {host}` or `podman login {host}`"),
            Self::Insecure { .. } => "write `oci://` instead of `oci+http://`".to_owned(),
            Self::Downgrade { .. } => {
                "set the external URL of the registry to `https`, or let its proxy send `X-Forwarded-Proto: https`".to_owned()
            }
            Self::UntrustedCertificate { host, .. } => format!(
                "name the certificate of its authority in the environment variable SSL_CERT_FILE, or set `tls = {{ ca = \"ca.pem\" }}` in `[oci.\"{host}\"]` of the configuration or of the file for `--policy`"
            ),
            Self::NoTls { .. } => "write `oci+http://` instead of `oci://`, if the registry is on this machine".to_owned(),
            Self::TagExists { .. } => "push to another tag, or replace the image with `--force`".to_owned(),
            Self::NotSigned { found: 0, .. } => "its author signs it with `servlet sign`".to_owned(),
            Self::NotSigned { .. } => "ask its author for the public key, by another way than this registry".to_owned(),
            Self::Key(_) => "`servlet key new` makes one".to_owned(),
            _ => return format!("`servlet explain {}` has the causes", self.code()),
        };
        format!("{advice}; `servlet explain {}` has more", self.code())
    }

    /// Whether the user has written something that cannot work.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::InvalidReference { .. }
                | Self::Insecure { .. }
                | Self::NoTls { .. }
                | Self::TagExists { .. }
                | Self::Key(_)
        )
    }

    /// Whether the registry may have the image, but does not answer now.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::RateLimited { .. } => true,
            Self::Unexpected { status, .. } => *status >= 500,
            _ => false,
        }
    }

    pub(crate) fn too_large(what: impl Into<String>, limit: impl Into<String>) -> Self {
        Self::TooLarge {
            what: what.into(),
            limit: limit.into(),
        }
    }

    /// The error of a request that has no response.
    pub(crate) fn of_request(host: &str, reference: &dyn ToString, source: SendError) -> Self {
        let host = host.to_owned();
        match source {
            // `Reference::parse` has refused `oci+http://` for other machines, so the registry has given this URL.
            SendError::Insecure { url } | SendError::Downgrade { url } => Self::Downgrade {
                reference: reference.to_string(),
                url,
            },
            SendError::Redirect { status } => Self::Unexpected {
                host,
                status,
                message: "it redirects, which is only followed with TLS; let the registry send all files itself".to_owned(),
            },
            SendError::Failed(HttpFailure {
                lacks_tls: true, ..
            }) => Self::NoTls { host },
            SendError::Failed(HttpFailure {
                kind: HttpErrorKind::Tls,
                ..
            }) => Self::UntrustedCertificate { host, source },
            source => Self::Unreachable { host, source },
        }
    }
}

fn unauthorized(host: &str, user: Option<&str>, files: &[PathBuf]) -> String {
    if let Some(user) = user {
        return format!("{host} refused the credentials of the user `{user}`");
    }
    let files = quoted(files.iter().map(|file| file.display()));
    format!("{host} requires a login, and there are no credentials for it in {files}")
}

fn signatures(found: usize) -> String {
    match found {
        0 => "it has no signature".to_owned(),
        1 => "its only signature is by another key, or about another image".to_owned(),
        many => format!("its {many} signatures are by other keys, or about other images"),
    }
}

fn after_colon(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    format!(": {message}")
}

fn retry_after(after: Option<Duration>) -> String {
    after.map_or_else(String::new, |after| {
        format!(" for {} seconds", after.as_secs())
    })
}
