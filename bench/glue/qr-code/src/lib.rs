//! Draws QR codes.

#[path = "../../../official/src/pdk.rs"]
mod pdk;

use base64::{engine::general_purpose::STANDARD, Engine};
use extism_pdk::Error;
use pdk::types::*;
use qrcode::render::{svg, Renderer};
use qrcode::{Color, EcLevel, QrCode};
use serde::Deserialize;
use serde_json::{json, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    text: String,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    error_correction: Correction,
    #[serde(default = "default_size")]
    size: u32,
    #[serde(default = "default_margin")]
    margin: u32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Png,
    Svg,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Correction {
    Low,
    #[default]
    Medium,
    Quartile,
    High,
}

fn default_size() -> u32 {
    8
}

fn default_margin() -> u32 {
    4
}

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let arguments = Value::Object(input.params.arguments.unwrap_or_default());
    let result = match input.params.name.as_str() {
        "qr_code" => qr_code(arguments),
        name => return Err(Error::msg(format!("unknown tool `{name}`"))),
    };
    let is_error = result.is_err().then_some(true);
    let content = result.unwrap_or_else(|error| text(format!("{error:#}")));
    Ok(CallToolResult {
        content: vec![content],
        is_error,
    })
}

fn text(text: String) -> Content {
    Content {
        text: Some(text),
        ..Content::default()
    }
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![ToolDescription {
            name: "qr_code".to_owned(),
            description: "Draws a text as a QR code.".to_owned(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "text": {
                        "type": "string",
                        "description": "what the code says, such as an address",
                        "examples": ["https://example.com/"],
                    },
                    "format": {
                        "type": "string",
                        "description": "what the drawing is made of\n- `png`: pixels, as an image\n- `svg`: shapes, as text",
                        "enum": ["png", "svg"],
                    },
                    "error_correction": {
                        "type": "string",
                        "description": "how much of the code may be covered\n- `low`: 7 %\n- `medium`: 15 %\n- `quartile`: 25 %\n- `high`: 30 %",
                        "enum": ["low", "medium", "quartile", "high"],
                    },
                    "size": {
                        "type": "integer",
                        "description": "the width of a module in pixels; a code has 21 to 177 of them in a row",
                        "minimum": 1,
                        "maximum": 16,
                        "default": 8,
                    },
                    "margin": {
                        "type": "integer",
                        "description": "how many modules wide the white around the code is",
                        "minimum": 0,
                        "maximum": 16,
                        "default": 4,
                    },
                },
                "required": ["text"],
            }))?,
        }],
    })
}

fn qr_code(arguments: Value) -> Result<Content, Error> {
    let arguments: Arguments = serde_path_to_error::deserialize(arguments)?;
    let (size, margin) = (arguments.size, arguments.margin);
    if !(1..=16).contains(&size) {
        return Err(Error::msg("size: must be from 1 to 16"));
    }
    if margin > 16 {
        return Err(Error::msg("margin: must be from 0 to 16"));
    }
    let level = match arguments.error_correction {
        Correction::Low => EcLevel::L,
        Correction::Medium => EcLevel::M,
        Correction::Quartile => EcLevel::Q,
        Correction::High => EcLevel::H,
    };
    let code = QrCode::with_error_correction_level(arguments.text, level).map_err(|error| {
        Error::msg(format!(
            "{error}: shorten the text, or lower `error_correction`"
        ))
    })?;
    match arguments.format {
        Format::Png => Ok(Content {
            data: Some(STANDARD.encode(png(&code, size, margin)?)),
            mime_type: Some("image/png".to_owned()),
            r#type: ContentType::Image,
            ..Content::default()
        }),
        Format::Svg => Ok(text(svg(&code, size, margin))),
    }
}

fn svg(code: &QrCode, size: u32, margin: u32) -> String {
    let colors = code.to_colors();
    let mut drawing = Renderer::<svg::Color<'_>>::new(&colors, code.width(), margin);
    drawing.module_dimensions(size, size).build()
}

/// One byte for each pixel: black where it is in a dark module, and white elsewhere.
fn png(code: &QrCode, size: u32, margin: u32) -> Result<Vec<u8>, Error> {
    let width = u32::try_from(code.width())?;
    let edge = (width + 2 * margin) * size;
    let module = |pixel| u32::checked_sub(pixel / size, margin).filter(|at| *at < width);
    let pixel = |at| match (module(at % edge), module(at / edge)) {
        (Some(x), Some(y)) if code[(x as usize, y as usize)] == Color::Dark => 0,
        _ => u8::MAX,
    };
    let pixels: Vec<_> = (0..edge * edge).map(pixel).collect();
    let mut file = Vec::new();
    let mut writer = png::Encoder::new(&mut file, edge, edge).write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(file)
}
