//! `[auth.NAME]`: who may call an endpoint.

use std::collections::BTreeSet;

use mcp_servlet_access::CertificateName;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Spanned, value::Datetime};

use crate::{table::Table, units::ShortTime};

/// Who may call the endpoints with `auth = "NAME"`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { key = [{ name = \"ci\", sha256 = \"…\" }] }"
)]
pub(crate) struct AuthSection {
    /// The URL of the endpoint, for which tokens must be made. Default: `url` of the endpoint.
    #[schemars(with = "Option<String>")]
    pub(crate) resource: Option<Spanned<String>>,
    /// The scopes that every request needs.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) scopes: Vec<Spanned<String>>,
    /// The scopes that clients may ask for. Default: all that the section names.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) scopes_supported: Option<Vec<Spanned<String>>>,
    /// The claims of tokens that rules can read. Default: none.
    #[serde(default)]
    pub(crate) claims: BTreeSet<String>,
    /// What is protected, in words for people. Default: the name of the endpoint.
    #[schemars(with = "Option<String>")]
    pub(crate) realm: Option<Spanned<String>>,
    /// Who issues tokens.
    #[serde(default)]
    #[schemars(with = "Vec<JwtSection>")]
    pub(crate) jwt: Vec<Spanned<Table<JwtSection>>>,
    /// Who is asked about tokens that are no JWT.
    #[schemars(with = "Option<IntrospectionSection>")]
    pub(crate) introspection: Option<Spanned<Table<IntrospectionSection>>>,
    /// Keys of callers.
    #[serde(default)]
    #[schemars(with = "Vec<KeySection>")]
    pub(crate) key: Vec<Spanned<Table<KeySection>>>,
    /// Callers whom their certificates name, if they show nothing else.
    #[schemars(with = "Option<CertificateSection>")]
    pub(crate) certificate: Option<Spanned<Table<CertificateSection>>>,
}

/// An issuer of tokens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { issuer = \"https://login.example\", jwks = \"keys.json\" }"
)]
pub(crate) struct JwtSection {
    /// The value of `iss`, an `https` URL.
    #[schemars(with = "String")]
    pub(crate) issuer: Spanned<String>,
    /// The keys of the issuer, a JSON Web Key Set: an `https` URL, or a file. Default: the URL in the metadata of the issuer.
    #[schemars(with = "Option<String>")]
    pub(crate) jwks: Option<Spanned<String>>,
    /// The connection to the issuer.
    #[serde(default)]
    pub(crate) tls: Table<IssuerTls>,
    /// The values of `aud`, of which a token has one. Default: the URL of the endpoint.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) audience: Option<Spanned<Vec<String>>>,
    /// The algorithms of signatures. Default: all that need no shared secret.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) algorithms: Option<Spanned<Vec<Spanned<String>>>>,
    /// The values of `typ`. Default: `at+jwt`, `JWT`, or no `typ`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) types: Option<Spanned<Vec<String>>>,
    /// How far the clock of the issuer may be wrong, at most `2m`. Default: `30s`.
    #[schemars(with = "Option<ShortTime>")]
    pub(crate) leeway: Option<Spanned<ShortTime>>,
}

/// An issuer that says whether a token is valid (RFC 7662).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { url = \"https://login.example/introspect\", client = \"mcp\", secret = \"${SECRET}\" }"
)]
pub(crate) struct IntrospectionSection {
    /// The URL that answers, with `https`.
    #[schemars(with = "String")]
    pub(crate) url: Spanned<String>,
    /// The name of this server at the issuer.
    pub(crate) client: String,
    /// Its secret. `${NAME}` is replaced by the environment variable.
    #[schemars(with = "String")]
    pub(crate) secret: Spanned<String>,
    /// The issuer of the tokens, an `https` URL.
    #[schemars(with = "String")]
    pub(crate) issuer: Spanned<String>,
    /// How long an answer is known, at most `5m`. Default: `30s`.
    #[schemars(with = "Option<ShortTime>")]
    pub(crate) cache: Option<Spanned<ShortTime>>,
    /// How long an answer may take. Default: `3s`.
    pub(crate) timeout: Option<ShortTime>,
    /// The connection to the issuer.
    #[serde(default)]
    pub(crate) tls: Table<IssuerTls>,
}

/// The connection to an issuer.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(crate) struct IssuerTls {
    /// Certificates that are trusted, too, in PEM.
    #[schemars(with = "Option<String>")]
    pub(crate) ca: Option<Spanned<String>>,
}

/// Callers whom their certificates name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { subject = \"san:dns\" }"
)]
pub(crate) struct CertificateSection {
    /// The part of the certificate with the name of the caller: `san:dns`, `san:uri`, `san:email`, `cn` or `sha256`.
    pub(crate) subject: Subject,
    /// The scopes of these callers.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) scopes: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) enum Subject {
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
pub(crate) struct KeySection {
    /// The name of the caller.
    #[schemars(with = "String")]
    pub(crate) name: Spanned<String>,
    /// The SHA-256 digest of the key, which `servlet auth key` prints.
    #[schemars(with = "String")]
    pub(crate) sha256: Spanned<String>,
    /// The scopes of the caller.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) scopes: Vec<Spanned<String>>,
    /// The last day on which the key is accepted, in UTC, such as `2027-01-31`.
    #[schemars(with = "Option<String>")]
    pub(crate) until: Option<Spanned<Datetime>>,
    /// The header with the key. Default: `authorization`, where it is written as a bearer token.
    #[schemars(with = "Option<String>")]
    pub(crate) header: Option<Spanned<String>>,
}
