//! What the driver of a bundle passes: one JSON text for all files.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Error;

/// The configuration key `ctx`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Context {
    #[serde(default)]
    pub(crate) project: Project,
    /// The XTP document, unchanged but for being JSON.
    pub(crate) schema: Value,
    #[serde(default)]
    feature_flags: FeatureFlags,
    /// Where the SDK comes from. `servlet new` sets it; other drivers do not know it.
    pub(crate) sdk: Option<Sdk>,
}

/// The project to render.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// Empty where the schema came from a file.
    pub(crate) app_id: Option<String>,
    pub(crate) extension_point_id: Option<String>,
}

/// The two shapes that drivers use.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum FeatureFlags {
    List(Vec<String>),
    Map(BTreeMap<String, Value>),
    #[default]
    None,
}

/// A dependency, by the keys that Cargo.toml has for it.
#[derive(Debug, Deserialize)]
pub(crate) struct Sdk {
    pub(crate) version: Option<String>,
    pub(crate) git: Option<String>,
    pub(crate) path: Option<String>,
}

impl Context {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(Error::Context)
    }

    /// Whether the user asked for a feature.
    pub(crate) fn has_flag(&self, name: &str) -> bool {
        match &self.feature_flags {
            FeatureFlags::List(list) => list.iter().any(|flag| flag == name),
            FeatureFlags::Map(map) => map.get(name).is_some_and(is_on),
            FeatureFlags::None => false,
        }
    }
}

fn is_on(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}
