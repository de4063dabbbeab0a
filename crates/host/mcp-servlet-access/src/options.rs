//! What a gate accepts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::{Duration, SystemTime},
};

use http::HeaderName;
use jsonwebtoken::Algorithm;
use mcp_servlet_http::Trust;
use url::Url;

use crate::{certificate::CertificateName, digest::Sha256, keys::KeySource};

/// Scopes by the names of a member and a tool of it.
pub type ToolScopes = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Who may call an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuthOptions {
    /// The name of the section of the configuration.
    pub name: String,
    /// The name of what is protected, for people.
    pub realm: String,
    /// The URL of the endpoint, for which tokens must be made. It is compared byte by byte, but see [`without_root`].
    pub resource: Option<String>,
    /// The scopes that every request needs.
    pub scopes: BTreeSet<String>,
    /// The scopes that calls of a tool need, too, by the names of its member and the tool.
    pub tools: ToolScopes,
    /// The scopes that clients may ask for.
    pub scopes_supported: BTreeSet<String>,
    /// The claims of tokens that rules can read.
    pub claims: BTreeSet<String>,
    /// Who issues tokens.
    pub jwt: Vec<JwtOptions>,
    /// Who is asked about other tokens.
    pub introspection: Option<IntrospectionOptions>,
    /// Keys.
    pub keys: Vec<KeyOptions>,
    /// Certificates of clients that show nothing else.
    pub certificate: Option<CertificateOptions>,
}

/// An issuer of tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct JwtOptions {
    /// The value of `iss`.
    pub issuer: String,
    /// The keys of the issuer.
    pub keys: KeySource,
    /// `aud` has one of these values. If there are none, it has the URL of the endpoint.
    pub audience: Vec<String>,
    /// The algorithms of signatures.
    pub algorithms: Vec<Algorithm>,
    /// The values of `typ`. `None` stands for `at+jwt`, `JWT`, or no `typ`.
    pub types: Option<Vec<String>>,
    /// How far the clock of the issuer may be wrong.
    pub leeway: Duration,
}

impl JwtOptions {
    /// All algorithms that need no shared secret.
    pub const ALGORITHMS: [Algorithm; 9] = [
        Algorithm::RS256,
        Algorithm::RS384,
        Algorithm::RS512,
        Algorithm::PS256,
        Algorithm::PS384,
        Algorithm::PS512,
        Algorithm::ES256,
        Algorithm::ES384,
        Algorithm::EdDSA,
    ];
    /// How far the clock of an issuer may be wrong by default.
    pub const LEEWAY: Duration = Duration::from_secs(30);
}

impl AuthOptions {
    /// Whether clients can get tokens from someone.
    pub fn has_issuers(&self) -> bool {
        !self.jwt.is_empty() || self.introspection.is_some()
    }
}

/// An issuer that is asked about each token (RFC 7662).
#[derive(Clone, Debug, PartialEq)]
pub struct IntrospectionOptions {
    /// The URL that answers.
    pub url: Url,
    /// The name of this server at the issuer.
    pub client: String,
    /// Its secret.
    pub secret: Secret,
    /// The issuer of the tokens.
    pub issuer: String,
    /// The authorities that may vouch for the server of the URL.
    pub trust: Trust,
    /// How long an answer is known. A token is never known for longer than it lasts.
    pub cache: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// A secret, which `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A key of a caller. Only its digest is known.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyOptions {
    /// The name of the caller.
    pub name: String,
    /// The digest of the key.
    pub sha256: Sha256,
    /// What the caller may ask for.
    pub scopes: BTreeSet<String>,
    /// When the key ends.
    pub until: Option<SystemTime>,
    /// The header with the key. In `authorization`, it is a bearer token.
    pub header: HeaderName,
}

/// Callers whom their certificates name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateOptions {
    /// The part of the certificate with the name of the caller.
    pub subject: CertificateName,
    /// What these callers may ask for.
    pub scopes: BTreeSet<String>,
}

/// The URL of a server, without the slash that can be its whole path: `https://mcp.example/` and `https://mcp.example` are the same URL.
pub fn without_root(url: &str) -> &str {
    let is_bare = |bare: &&str| {
        let rest = bare.split_once("://").map(|(_, rest)| rest);
        rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', '?', '#']))
    };
    url.strip_suffix('/').filter(is_bare).unwrap_or(url)
}

/// Whether a text is a scope of OAuth.
pub fn is_scope(text: &str) -> bool {
    let is_byte = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_byte)
}

#[cfg(test)]
mod tests {
    use super::without_root;

    #[test]
    fn only_an_empty_path_loses_its_slash() {
        for (url, expected) in [
            ("https://mcp.example/", "https://mcp.example"),
            ("https://mcp.example:8443/", "https://mcp.example:8443"),
            ("https://mcp.example", "https://mcp.example"),
            ("https://mcp.example//", "https://mcp.example//"),
            ("https://mcp.example/mcp/", "https://mcp.example/mcp/"),
            ("https://mcp.example?a=/", "https://mcp.example?a=/"),
            ("https://", "https://"),
            ("an-id/", "an-id/"),
        ] {
            assert_eq!(without_root(url), expected, "{url}");
        }
    }
}
