//! The keys of `[oci."HOST"]`.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::config::table::Table;

/// How to reach an OCI registry.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table such as { tls = { ca = \"ca.pem\" } }"
)]
pub(in crate::config) struct RegistrySection {
    /// The certificates of the registry.
    pub(in crate::config) tls: Table<RegistryTls>,
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
