//! The schema of a new project, as JSON for the template.

use std::path::Path;

use serde_json::{Value, json};
use xtp_codegen::Diagnostics;

use crate::{
    failure::{Failure, Kind},
    generate::{self, Reading, Source},
    terminal::note,
};

/// The XTP schema of MCP servlets.
const INTERFACE: &str = include_str!("../../schema.yaml");

/// Reads a schema in YAML or JSON, or takes the schema of MCP servlets. Returns the parsed schema,
/// and its text with the options from the command line.
///
/// With `check`, its problems are printed as by `servlet gen`, and an error fails the command.
pub(super) fn read(
    path: Option<&Path>,
    reading: &Reading,
    check: bool,
) -> Result<(Value, Option<Value>), Failure> {
    let refused = |problems: Diagnostics| {
        generate::show(&problems);
        Failure::Shown(Kind::Build)
    };
    let Some(path) = path else {
        let schema = xtp_codegen::to_json("schema.yaml", INTERFACE).map_err(refused)?;
        return Ok((schema, None));
    };
    let schema = Source::read(path)?;
    if check {
        generate::check_schema(&schema, reading)?;
    }
    let Source { name, text } = &schema;
    let schema = xtp_codegen::to_json(name, text).map_err(refused)?;
    if xtp_codegen::is_servlet_schema(&schema) {
        note(format_args!(
            "note: `{name}` is the interface of MCP servlets, for which the SDK has macros: the project is a servlet \
             without generated code, and without the schema"
        ));
    }
    let mut source = reading.to_json();
    source["schema"] = json!(text);
    Ok((schema, Some(source)))
}
