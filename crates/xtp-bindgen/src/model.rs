//! What a template may use.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use xtp_codegen::{Input, Options, Schema};

use crate::context::{Context, Sdk, Source};
use crate::{Error, names};

/// The version of the SDK that this plugin belongs to.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file that `servlet gen` generates from. It holds JSON, which is YAML; an empty file is YAML as well.
const SCHEMA: &str = "schema.yaml";

/// The file that says what the schema cannot say.
const OVERLAY: &str = "overlay.yaml";

/// Everything, under the names that templates have for it.
#[derive(Debug, Serialize)]
pub(crate) struct Model {
    project: Project,
    /// The key `mcp-servlet` of Cargo.toml, as TOML.
    sdk: String,
    /// Whether the schema is the interface of MCP servlets, for which the SDK has macros.
    mcp: bool,
    /// Whether the project is built for WASI.
    wasi: bool,
    /// What rustc builds it for.
    target: &'static str,
    /// What is generated for any other schema.
    plugin: Option<Plugin>,
}

/// A plugin of an interface that is not MCP's.
#[derive(Debug, Serialize)]
struct Plugin {
    /// The name of its type.
    name: String,
    /// The schema.
    schema: String,
    /// What says what the schema cannot say.
    overlay: String,
    /// The options of `servlet gen` that generate the same again, with a blank before each.
    arguments: String,
    /// The dependency for dates.
    dates: &'static str,
    /// Its types, its exports and the host's functions.
    module: String,
    /// First implementations of the exports.
    stubs: String,
    /// The exports, as the schema spells them.
    exports: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Project {
    /// As the user gave it.
    name: String,
    /// As cargo takes it.
    package: String,
    /// As Rust and the file system know the library.
    library: String,
    description: String,
    app_id: String,
    extension_point_id: String,
}

impl Model {
    pub(crate) fn new(context: &Context) -> Result<Self, Error> {
        let mcp = xtp_codegen::is_interface_of_servlets(&context.schema);
        let wasi = context.has_flag("wasi");
        let plugin = if mcp {
            None
        } else {
            Some(Plugin::new(context)?)
        };
        Ok(Self {
            project: Project::new(context),
            sdk: dependency(context.sdk.as_ref(), mcp),
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
        // Other drivers pass what the schema says, but not its text.
        let schema = source.map_or_else(
            || format!("{:#}\n", context.schema),
            |source| source.schema.clone(),
        );
        let overlay = source.and_then(|source| source.overlay.clone());
        let samples = context.has_flag("stub-with-code-samples");
        let options = Options::for_plugin().own_file(true).header(format!(
            "@generated from {SCHEMA} by xtp-codegen. Do not edit: run `servlet gen`."
        ));
        let options = source.map_or(options.clone(), |source| source.adjusted(options));
        let mut input = Input::new(SCHEMA, &schema);
        if let Some(source) = source {
            input = input.mode(source.mode()).one_of(source.one_of);
        }
        if let Some(overlay) = &overlay {
            input = input.overlay(OVERLAY, overlay);
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
            overlay: overlay.unwrap_or_default(),
            name,
            schema,
            module,
        })
    }
}

fn arguments(source: Option<&Source>) -> String {
    let Some(source) = source else {
        return String::new();
    };
    let overlay = source.overlay.as_ref();
    let overlay = overlay.map(|_| format!("--overlay {OVERLAY}"));
    let given = Some(source.arguments.clone()).filter(|given| !given.is_empty());
    let all = given.into_iter().chain(overlay);
    all.flat_map(|argument| [" ".to_owned(), argument])
        .collect()
}

/// The names of the exports, each once: keys in one version of the language, items in the other.
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

/// The SDK in Cargo.toml, on the right of `mcp-servlet =`.
fn dependency(sdk: Option<&Sdk>, mcp: bool) -> String {
    let (key, value) = match sdk {
        Some(Sdk {
            path: Some(path), ..
        }) => ("path", path.as_str()),
        Some(Sdk { git: Some(git), .. }) => ("git", git.as_str()),
        Some(Sdk {
            version: Some(version),
            ..
        }) => ("version", version.as_str()),
        _ => ("version", VERSION),
    };
    let value = crate::filters::toml(value.to_owned());
    if mcp {
        format!("{{ {key} = {value} }}")
    } else {
        format!("{{ {key} = {value}, features = [\"xtp\"] }}")
    }
}
