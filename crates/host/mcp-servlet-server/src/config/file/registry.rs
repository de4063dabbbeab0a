//! The keys of `[oci."HOST"]` and `[signer.NAME]`.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::config::table::Table;

/// How to reach an OCI registry, and who signs its images.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { tls = { ca = \"ca.pem\" } }"
)]
pub(in crate::config) struct RegistrySection {
    /// The certificates of the registry.
    pub(in crate::config) tls: Table<RegistryTls>,
    /// All images of the registry, or all below the repository, must be signed by one of these signers.
    #[schemars(with = "Option<Vec<String>>")]
    pub(in crate::config) signed_by: Option<Spanned<Vec<Spanned<String>>>>,
}

/// Somebody who signs images.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { key = \"acme.pub\" }"
)]
pub(in crate::config) struct SignerSection {
    /// The file with the public key, in PEM.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) key: Option<Spanned<String>>,
    /// The files with several public keys, for example while one replaces another.
    #[schemars(with = "Vec<String>")]
    pub(in crate::config) keys: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { ca = \"ca.pem\" }"
)]
pub(in crate::config) struct RegistryTls {
    /// Certificates that are trusted in addition to those of public authorities, in PEM.
    #[schemars(with = "Option<String>")]
    pub(in crate::config) ca: Option<Spanned<String>>,
}
