//! `[auth.NAME]`: who may call an endpoint.

use std::collections::BTreeSet;

use mcp_servlet_access::CertificateName;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Spanned, value::Datetime};

use crate::config::{table::Table, units::ShortTime};

/// Who may call the endpoints with `auth = "NAME"`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { key = [{ name = \"ci\", sha256 = \"…\" }] }"
)]
pub(in crate::config) struct AuthSection {
    /// The URL of the endpoint, for which tokens must be made. Default: `url` of the endpoint.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) resource: Option<Spanned<String>>,
    /// The scopes that every request needs.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(in crate::config) scopes: Vec<Spanned<String>>,
    /// The scopes that clients may ask for. Default: all that the section names.
    #[schemars(with = "Option<Vec<String>>")]
    pub(in crate::config) scopes_supported: Option<Vec<Spanned<String>>>,
    /// The claims of tokens that rules can read. Default: none.
    #[serde(default)]
    pub(in crate::config) claims: BTreeSet<String>,
    /// What is protected, in words for people. Default: the name of the endpoint.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) realm: Option<Spanned<String>>,
    /// Who issues tokens.
    #[serde(default)]
    #[schemars(with = "Vec<JwtSection>")]
    pub(in crate::config) jwt: Vec<Spanned<Table<JwtSection>>>,
    /// Who is asked about tokens that are no JWT.
    #[schemars(with = "Option<IntrospectionSection>")]
    pub(in crate::config) introspection: Option<Spanned<Table<IntrospectionSection>>>,
    /// Keys of callers.
    #[serde(default)]
    #[schemars(with = "Vec<KeySection>")]
    pub(in crate::config) key: Vec<Spanned<Table<KeySection>>>,
    /// Callers whom their certificates name, if they show nothing else.
    #[schemars(with = "Option<CertificateSection>")]
    pub(in crate::config) certificate: Option<Spanned<Table<CertificateSection>>>,
}

/// An issuer of tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { issuer = \"https://login.example\", jwks = \"keys.json\" }"
)]
pub(in crate::config) struct JwtSection {
    /// The value of `iss`, an `https` URL.
    #[schemars(with = "String")]
    pub(in crate::config) issuer: Spanned<String>,
    /// The keys of the issuer, a JSON Web Key Set: an `https` URL, or a file. Default: the URL in the metadata of the issuer.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) jwks: Option<Spanned<String>>,
    /// The connection to the issuer.
    #[serde(default)]
    pub(in crate::config) tls: Table<IssuerTls>,
    /// The values of `aud`, of which a token has one. Default: the URL of the endpoint.
    #[serde(default)]
    pub(in crate::config) audience: Vec<String>,
    /// The algorithms of signatures. Default: all that need no shared secret.
    #[schemars(with = "Option<Vec<String>>")]
    pub(in crate::config) algorithms: Option<Vec<Spanned<String>>>,
    /// The values of `typ`. Default: `at+jwt`, `JWT`, or no `typ`.
    pub(in crate::config) types: Option<Vec<String>>,
    /// How far the clock of the issuer may be wrong, at most `2m`. Default: `30s`.
    #[schemars(with = "Option<ShortTime>")]
    pub(in crate::config) leeway: Option<Spanned<ShortTime>>,
}

/// An issuer that says whether a token is valid (RFC 7662).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { url = \"https://login.example/introspect\", client = \"mcp\", secret = \"${SECRET}\" }"
)]
pub(in crate::config) struct IntrospectionSection {
    /// The URL that answers, with `https`.
    #[schemars(with = "String")]
    pub(in crate::config) url: Spanned<String>,
    /// The name of this server at the issuer.
    pub(in crate::config) client: String,
    /// Its secret. `${NAME}` is replaced by the environment variable.
    #[schemars(with = "String")]
    pub(in crate::config) secret: Spanned<String>,
    /// The issuer of the tokens, an `https` URL.
    #[schemars(with = "String")]
    pub(in crate::config) issuer: Spanned<String>,
    /// How long an answer is known, at most `5m`. Default: `30s`.
    #[schemars(with = "Option<ShortTime>")]
    pub(in crate::config) cache: Option<Spanned<ShortTime>>,
    /// How long an answer may take. Default: `3s`.
    pub(in crate::config) timeout: Option<ShortTime>,
    /// The connection to the issuer.
    #[serde(default)]
    pub(in crate::config) tls: Table<IssuerTls>,
}

/// The connection to an issuer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(in crate::config) struct IssuerTls {
    /// Certificates that are trusted, too, in PEM.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) ca: Option<Spanned<String>>,
}

/// Callers whom their certificates name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { subject = \"san:dns\" }"
)]
pub(in crate::config) struct CertificateSection {
    /// The part of the certificate with the name of the caller: `san:dns`, `san:uri`, `san:email`, `cn` or `sha256`.
    pub(in crate::config) subject: Subject,
    /// The scopes of these callers.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(in crate::config) scopes: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(in crate::config) enum Subject {
    #[serde(rename = "san:dns")]
    Dns,
    #[serde(rename = "san:uri")]
    Uri,
    #[serde(rename = "san:email")]
    Email,
    #[serde(rename = "cn")]
    CommonName,
    #[serde(rename = "sha256")]
    Sha256,
}

impl From<Subject> for CertificateName {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Dns => Self::Dns,
            Subject::Uri => Self::Uri,
            Subject::Email => Self::Email,
            Subject::CommonName => Self::CommonName,
            Subject::Sha256 => Self::Sha256,
        }
    }
}

/// A key of a caller.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { name = \"ci\", sha256 = \"…\" }"
)]
pub(in crate::config) struct KeySection {
    /// The name of the caller.
    #[schemars(with = "String")]
    pub(in crate::config) name: Spanned<String>,
    /// The SHA-256 digest of the key, which `servlet auth key` prints.
    #[schemars(with = "String")]
    pub(in crate::config) sha256: Spanned<String>,
    /// The scopes of the caller.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(in crate::config) scopes: Vec<Spanned<String>>,
    /// The last day on which the key is accepted, in UTC, such as `2027-01-31`.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) until: Option<Spanned<Datetime>>,
    /// The header with the key. Default: `authorization`, where it is written as a bearer token.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) header: Option<Spanned<String>>,
}
