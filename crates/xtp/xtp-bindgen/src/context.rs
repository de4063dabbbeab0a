//! The context that the driver of a bundle passes: a JSON document, the same for all files.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use xtp_codegen::Options;

use crate::Error;

/// The configuration key `ctx`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Context {
    #[serde(default)]
    pub(crate) project: Project,
    /// The XTP document as JSON, otherwise unchanged.
    pub(crate) schema: Value,
    #[serde(default)]
    feature_flags: FeatureFlags,
    /// The format of the schema and the options for reading it. `servlet new` sets them; other drivers leave them
    /// out.
    pub(crate) source: Option<Source>,
    /// Where the SDK comes from. `servlet new` sets it; other drivers leave it out.
    pub(crate) sdk: Option<Sdk>,
}

/// The project to render.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// Empty if the schema came from a file.
    pub(crate) app_id: Option<String>,
    pub(crate) extension_point_id: Option<String>,
}

/// The schema as its author wrote it, with the options of `servlet new`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    pub(crate) schema: String,
    mode: Mode,
    dates: Dates,
    pub(crate) one_of: bool,
    keep_null: bool,
    catch_all: bool,
    /// The options, as `servlet gen` takes them.
    pub(crate) arguments: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Lenient,
    Strict,
    Compat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dates {
    #[default]
    Text,
    Chrono,
    Jiff,
}

impl Source {
    pub(crate) fn mode(&self) -> xtp_codegen::Mode {
        match self.mode {
            Mode::Lenient => xtp_codegen::Mode::Lenient,
            Mode::Strict => xtp_codegen::Mode::Strict,
            Mode::Compat => xtp_codegen::Mode::Compat,
        }
    }

    pub(crate) fn adjusted(&self, options: Options) -> Options {
        let dates = match self.dates {
            Dates::Text => xtp_codegen::Dates::Text,
            Dates::Chrono => xtp_codegen::Dates::Chrono,
            Dates::Jiff => xtp_codegen::Dates::Jiff,
        };
        let options = options.dates(dates).keep_null(self.keep_null);
        options.catch_all(self.catch_all)
    }

    /// The dependency that dates need, as a line of Cargo.toml.
    pub(crate) fn date_crate(&self) -> &'static str {
        match self.dates {
            Dates::Text => "",
            Dates::Chrono => {
                r#"chrono = { version = "0.4", default-features = false, features = ["alloc", "serde"] }"#
            }
            Dates::Jiff => {
                r#"jiff = { version = "0.2", default-features = false, features = ["alloc", "serde"] }"#
            }
        }
    }
}

/// The two shapes of flags that drivers pass.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum FeatureFlags {
    List(Vec<String>),
    Map(BTreeMap<String, Value>),
    #[default]
    None,
}

/// A dependency, with the keys of Cargo.toml.
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
