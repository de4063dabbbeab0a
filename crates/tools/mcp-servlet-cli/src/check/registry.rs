//! What the MCP registry would refuse of a servlet, a server, or a `server.json`.

use std::{cmp::Reverse, fs, path::Path};

use mcp_servlet_call::JsonObject;
use mcp_servlet_check::{Report, check_parts_of_server_json};
use mcp_servlet_host::Servlet;
use mcp_servlet_oci::Digest;
use mcp_servlet_runtime::{LoadOptions, Source};
use serde_json::{Value, json};

use crate::{
    export::registry::document,
    failure::{Failure, Kind},
};

/// What the `$schema` of every version of the format ends with.
const SCHEMA: &str = "/server.schema.json";

/// A byte order mark in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The document in this file, if it is a `server.json` by its name or by its schema.
pub(super) fn read_server_json(path: &Path) -> Result<Option<Value>, Failure> {
    let Ok(bytes) = fs::read(path) else {
        return Ok(None);
    };
    let text = bytes.strip_prefix(MARK).unwrap_or(&bytes);
    let document = serde_json::from_slice::<Value>(text);
    let schema = document
        .as_ref()
        .ok()
        .and_then(|document| document.get("$schema")?.as_str());
    let is_named = path.file_name().is_some_and(|name| name == "server.json");
    if !is_named && !schema.is_some_and(|schema| schema.ends_with(SCHEMA)) {
        return Ok(None);
    }
    let problem = match document {
        Err(error) => format!("it is not JSON: {error}"),
        Ok(_) if text.len() < bytes.len() => {
            "it begins with a byte order mark, which JSON must not have; save it as UTF-8 without one"
                .to_owned()
        }
        Ok(document) if document.is_object() => return Ok(Some(document)),
        Ok(_) => "expected an object".to_owned(),
    };
    let message = format!("cannot read `{}`: {problem}", path.display());
    Err(Failure::new(Kind::Usage, message))
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
