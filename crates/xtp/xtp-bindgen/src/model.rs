//! The variables of templates.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use xtp_codegen::{Input, Options, Schema};

use crate::context::{Context, Sdk, Source};
use crate::{Error, filters, names};

/// The version of the SDK that this plugin belongs to.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file that `servlet gen` generates from. It holds JSON, which is also YAML; so is an empty file.
const SCHEMA: &str = "schema.yaml";

/// All variables, under the names that templates use.
#[derive(Debug, Serialize)]
pub(crate) struct Model {
    project: Project,
    /// The key `mcp-servlet` of Cargo.toml, as TOML.
    sdk: String,
    /// The shell command that installs `servlet` from where the SDK is.
    installation: String,
    /// Whether the schema is the one of MCP servlets, for which the SDK has macros.
    mcp: bool,
    /// Whether the project is built for WASI.
    wasi: bool,
    /// The target of the wasm.
    target: &'static str,
    /// Code for any other schema.
    plugin: Option<Plugin>,
}

/// A plugin for a schema other than the one of MCP servlets.
#[derive(Debug, Serialize)]
struct Plugin {
    /// The name of its struct.
    name: String,
    /// The schema.
    schema: String,
    /// The options of `servlet gen` that generate the same output again, with a leading space.
    arguments: String,
    /// The dependency for dates.
    dates: &'static str,
    /// Its types, its exports and the functions of the host.
    module: String,
    /// First implementations of the exports.
    stubs: String,
    /// The exports, as the schema spells them.
    exports: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Project {
    /// As the user wrote it.
    name: String,
    /// As the name of a cargo package.
    package: String,
    /// As the name of the library in Rust and in file names.
    library: String,
    description: String,
    app_id: String,
    extension_point_id: String,
}

impl Model {
    pub(crate) fn new(context: &Context) -> Result<Self, Error> {
        let mcp = xtp_codegen::is_servlet_schema(&context.schema);
        let wasi = context.has_flag("wasi");
        let plugin = if mcp {
            None
        } else {
            Some(Plugin::new(context)?)
        };
        let origin = origin(context.sdk.as_ref());
        Ok(Self {
            project: Project::new(context),
            sdk: dependency(origin, mcp),
            installation: installation(origin),
            mcp,
            wasi,
            target: if wasi {
                "wasm32-wasip1"
            } else {
                "wasm32-unknown-unknown"
            },
            plugin,
        })
    }
}

impl Plugin {
    fn new(context: &Context) -> Result<Self, Error> {
        let source = context.source.as_ref();
        // Other drivers pass the content of the schema, but not its source text.
        let schema = source.map_or_else(
            || format!("{:#}\n", context.schema),
            |source| source.schema.clone(),
        );
        let samples = context.has_flag("stub-with-code-samples");
        let default = Options::for_plugin().own_file(true).header(format!(
            "@generated from {SCHEMA} by xtp-codegen. Do not edit: run `servlet gen`."
        ));
        let options = source.map_or(default.clone(), |source| source.adjusted(default));
        let mut input = Input::new(SCHEMA, &schema);
        if let Some(source) = source {
            input = input.mode(source.mode()).one_of(source.one_of);
        }
        let parsed = Schema::parse(&input).map_err(Error::Schema)?;
        let module = parsed.to_plugin(&options).map_err(Error::Schema)?;
        let name = names::unused("Plugin", &module);
        let stubs = parsed.to_stubs(&name, samples, &options);
        Ok(Self {
            stubs: stubs.map_err(Error::Schema)?,
            exports: exports(&context.schema),
            arguments: arguments(source),
            dates: source.map_or("", Source::date_crate),
            name,
            schema,
            module,
        })
    }
}

fn arguments(source: Option<&Source>) -> String {
    match source {
        Some(source) if !source.arguments.is_empty() => format!(" {}", source.arguments),
        _ => String::new(),
    }
}

/// The names of the exports, without duplicates: keys in one version of XTP, items in the other.
fn exports(schema: &Value) -> Vec<String> {
    let mut seen = BTreeSet::new();
    match &schema["exports"] {
        Value::Object(map) => map.keys().cloned().collect(),
        Value::Array(list) => list
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| seen.insert(*name))
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

impl Project {
    fn new(context: &Context) -> Self {
        let project = &context.project;
        let package = names::package(&project.name);
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            name: project.name.clone(),
            library: package.replace('-', "_"),
            package,
            description: text(&project.description).trim().to_owned(),
            app_id: text(&project.app_id),
            extension_point_id: text(&project.extension_point_id),
        }
    }
}

/// Where the SDK comes from, as a key of Cargo.toml and its value.
fn origin(sdk: Option<&Sdk>) -> (&'static str, &str) {
    match sdk {
        Some(Sdk {
            path: Some(path), ..
        }) => ("path", path),
        Some(Sdk { git: Some(git), .. }) => ("git", git),
        Some(Sdk {
            version: Some(version),
            ..
        }) => ("version", version),
        _ => ("version", VERSION),
    }
}

/// The SDK in Cargo.toml: the right side of `mcp-servlet =`.
fn dependency((key, value): (&str, &str), mcp: bool) -> String {
    let value = filters::toml(value.to_owned());
    let features = if mcp {
        r#""global-allocator""#
    } else {
        r#""global-allocator", "xtp""#
    };
    format!("{{ {key} = {value}, features = [{features}] }}")
}

/// npm has programs, so it is faster than cargo.
fn installation((key, value): (&str, &str)) -> String {
    match key {
        "path" => {
            let package = filters::shell(&format!("{value}/../../tools/mcp-servlet-cli"));
            format!("cargo install --locked --path {package}")
        }
        "git" => format!(
            "cargo install --locked --git {} mcp-servlet-cli",
            filters::shell(value)
        ),
        _ => format!(
            "npm install --global {}",
            filters::shell(&format!("mcp-servlet@{value}"))
        ),
    }
}
