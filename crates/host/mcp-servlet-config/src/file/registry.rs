//! The keys of `[oci."HOST"]` and `[signer.NAME]`.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::table::Table;

/// How to reach an OCI registry, and who signs its images.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { tls = { ca = \"ca.pem\" } }"
)]
pub(crate) struct RegistrySection {
    /// The certificates of the registry.
    pub(crate) tls: Table<RegistryTls>,
    /// All images of the registry, or all below the repository, must be signed by one of these signers.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) signed_by: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Somebody who signs images.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { key = \"acme.pub\" }"
)]
pub(crate) struct SignerSection {
    /// The file with the public key, in PEM.
    #[schemars(with = "Option<String>")]
    pub(crate) key: Option<Spanned<String>>,
    /// The files with several public keys, for example while one replaces another.
    #[schemars(with = "Vec<String>")]
    pub(crate) keys: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(crate) struct RegistryTls {
    /// Certificates that are trusted in addition to those of public authorities, in PEM.
    #[schemars(with = "Option<String>")]
    pub(crate) ca: Option<Spanned<String>>,
}
