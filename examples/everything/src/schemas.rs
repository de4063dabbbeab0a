//! Schemas of results, and handwritten schemas.

use mcp_servlet::prelude::*;

/// The weather somewhere.
#[derive(Serialize, Schema)]
pub(crate) struct Weather {
    /// in degrees Celsius
    temperature: f64,
    /// in words
    conditions: &'static str,
}

/// Answers with data that has a schema.
#[tool(read_only)]
pub(crate) fn test_structured_content() -> Json<Weather> {
    Json(Weather {
        temperature: 21.5,
        conditions: "clear",
    })
}

/// The argument of `test_custom_header`.
#[derive(Deserialize, Schema)]
pub(crate) struct Header {
    value: String,
}

/// Repeats an argument that clients send as an HTTP header as well.
#[tool(read_only, input_schema = include_str!("assets/custom-header.json"))]
pub(crate) fn test_custom_header(#[arg(flatten)] header: Header) -> String {
    header.value
}

/// A person, as the schema by hand describes it.
#[derive(Deserialize, Schema)]
pub(crate) struct Person {
    name: Option<String>,
}

/// Has a schema with what JSON Schema 2020-12 can say.
#[tool(read_only, input_schema = include_str!("assets/schema-2020-12.json"))]
pub(crate) fn json_schema_2020_12_tool(#[arg(flatten)] person: Person) -> String {
    let name = person.name.as_deref().unwrap_or("nobody");
    format!("This is about {name}.")
}
