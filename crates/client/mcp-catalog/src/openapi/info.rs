//! What the document says about the server.

use serde_json::Value;

use crate::{JsonObject, catalog::Catalog};

/// The name of a server that does not say its own.
const TITLE: &str = "MCP server";

/// The version of a server that does not say its own. Many programs want one of this form.
const VERSION: &str = "0.0.0";

/// `info`, which must have a title and a version.
pub(super) fn info_object(catalog: &Catalog) -> Value {
    let server = &catalog.server;
    let text = |name: &str| {
        let text = server.info.get(name).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let title = text("title").or(text("name")).unwrap_or(TITLE);
    let mut info = JsonObject::new();
    info.insert("title".to_owned(), title.into());
    if let Some(instructions) = &server.instructions {
        info.insert("description".to_owned(), instructions.as_str().into());
    }
    let version = text("version").unwrap_or(VERSION);
    info.insert("version".to_owned(), version.into());
    info.insert(
        "x-mcp-protocol".to_owned(),
        catalog.protocol.as_str().into(),
    );
    info.insert("x-mcp-server".to_owned(), server.info.clone().into());
    Value::Object(info)
}
