//! Resources with fixed URIs, and a resource template.

use mcp_servlet::prelude::*;

use crate::content::SQUARE;

/// A text.
#[resource(uri = "test://static-text", mime_type = "text/plain")]
pub(crate) fn static_text() -> &'static str {
    "This is the text of a resource."
}

/// A square of 8 by 8 pixels.
#[resource(uri = "test://static-binary", mime_type = "image/png", size = SQUARE.len())]
pub(crate) fn static_binary() -> &'static [u8] {
    SQUARE
}

/// Something that clients may watch.
#[resource(uri = "test://watched-resource", mime_type = "text/plain")]
pub(crate) fn watched_resource() -> &'static str {
    "Nothing ever changes here."
}

/// Data about what has a number or a name.
#[resource_template(
    uri_template = "test://template/{id}/data",
    mime_type = "application/json"
)]
pub(crate) fn template(id: String) -> Json<Data> {
    Json(Data {
        data: format!("Data of {id}"),
        id,
    })
}

/// What the template gives.
#[derive(Serialize, Schema)]
pub(crate) struct Data {
    id: String,
    data: String,
}

/// Ids that there are.
#[completion(of = template.id)]
pub(crate) fn ids() -> [&'static str; 3] {
    ["123", "124", "ada"]
}
