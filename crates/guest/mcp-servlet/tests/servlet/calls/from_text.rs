//! Types with `#[derive(FromText)]`.

use std::net::Ipv4Addr;
use std::num::ParseIntError;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::calls::{complaint, text, wrong};

/// the address of a machine
#[derive(FromText)]
#[text(example = "192.0.2.1", format = "ipv4")]
struct Machine(Ipv4Addr);

/// how bright, in hexadecimal digits
#[derive(FromText)]
#[text(parse = hexadecimal)]
struct Brightness(u8);

fn hexadecimal(text: &str) -> Result<u8, ParseIntError> {
    u8::from_str_radix(text, 16)
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

/// Lights lamps.
#[tool]
fn light(
    machine: Machine,
    #[arg(default_str = "ff")] brightness: Brightness,
    #[arg(default_str = "green")] color: Color,
    /// further machines
    others: Option<Vec<Machine>>,
) -> String {
    let others = others.unwrap_or_default().len();
    let color = match color {
        Color::Red => "red",
        Color::Green => "green",
    };
    format!("{} {} {color} {others}", machine.0, brightness.0)
}

mcp_servlet::export!(static SERVLET = { tools: [light] });

#[test]
fn text_is_read_by_from_str_or_by_a_function() {
    let arguments = json!({ "machine": "192.0.2.7", "brightness": "0a", "color": "red" });
    assert_eq!(
        text(&SERVLET, "light", arguments).unwrap(),
        "192.0.2.7 10 red 0"
    );
    let arguments = json!({ "machine": "192.0.2.7", "others": ["192.0.2.8"] });
    assert_eq!(
        text(&SERVLET, "light", arguments).unwrap(),
        "192.0.2.7 255 green 1"
    );
}

#[test]
fn explains_invalid_text() {
    let arguments = json!({ "machine": "192.0.2.7", "others": ["192.0.2.8", "here"] });
    let complaint = complaint(&SERVLET, "light", arguments);
    let (place, schema, got) = wrong(&complaint);
    assert_eq!((place, &schema["format"]), ("/others/1", &json!("ipv4")));
    assert_eq!(got, "\"here\": invalid IPv4 address syntax");
}

#[test]
fn schema_has_description_and_format_of_the_type() {
    let description: Value =
        serde_json::from_str(&SERVLET.client().request("describe", "").unwrap()).unwrap();
    let schema = &description["tools"][0]["inputSchema"];
    let machine = json!({
        "type": "string",
        "description": "the address of a machine",
        "format": "ipv4",
        "examples": ["192.0.2.1"],
    });
    assert_eq!(schema["properties"]["machine"], machine);
    assert_eq!(schema["properties"]["others"]["items"], machine);
    let brightness = json!({
        "type": "string",
        "description": "how bright, in hexadecimal digits",
        "default": "ff",
    });
    assert_eq!(schema["properties"]["brightness"], brightness);
    assert_eq!(schema["properties"]["color"]["default"], "green");
    assert_eq!(schema["required"], json!(["machine"]));
}
