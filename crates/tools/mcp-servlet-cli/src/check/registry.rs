//! What the MCP registry would refuse of a servlet, a server, or a `server.json`.

use std::{cmp::Reverse, fs, path::Path};

use mcp_servlet_call::JsonObject;
use mcp_servlet_check::{Report, check_parts_of_server_json};
use mcp_servlet_host::Servlet;
use mcp_servlet_oci::Digest;
use mcp_servlet_runtime::{LoadOptions, Source};
use serde_json::{Value, json};

use crate::export::registry::document;

/// What the `$schema` of every version of the format ends with.
const SCHEMA: &str = "/server.schema.json";

/// The document in this file, if it is a `server.json` by its name or by its schema.
pub(super) fn read_server_json(path: &Path) -> Option<Value> {
    let document: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let schema = document.get("$schema").and_then(Value::as_str);
    let is_named = path.file_name().is_some_and(|name| name == "server.json");
    let is_one = is_named || schema.is_some_and(|schema| schema.ends_with(SCHEMA));
    (document.is_object() && is_one).then_some(document)
}

/// The digest of the file with this name in the folder of a `server.json`, if there is one.
pub(super) fn digest_beside(document: &Path, file: &str) -> Option<String> {
    let bytes = fs::read(document.with_file_name(file)).ok()?;
    Some(Digest::of(&bytes).hex().to_owned())
}

pub(super) fn check_servlet(source: &Source, options: &LoadOptions, report: &mut Report) {
    // Another finding says why a servlet does not load.
    if let Ok(servlet) = Servlet::load(source.clone(), options) {
        add(&document(&servlet), report);
    }
}

/// Checks what a server says about itself.
pub(super) fn check_info(info: &JsonObject, report: &mut Report) {
    // The `name` of a server is not its name in the registry.
    add(
        &json!({
            "title": info.get("title"),
            "description": info.get("description"),
            "version": info.get("version"),
        }),
        report,
    );
}

fn add(parts: &Value, report: &mut Report) {
    let findings = &mut report.findings;
    findings.extend(check_parts_of_server_json(parts));
    findings.sort_by_key(|finding| Reverse(finding.level()));
}
