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
    let mut arguments = input.params.arguments.unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    let arguments = Value::Object(arguments);
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
            description: "Draws a string as a QR code.".to_owned(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "text": {
                        "type": "string",
                        "description": "the content of the code, such as a URL",
                        "examples": ["https://example.com/"],
                    },
                    "format": {
                        "type": "string",
                        "description": "the format of the image\n- `png`: pixels, as an image\n- `svg`: shapes, as text",
                        "enum": ["png", "svg"],
                        "default": "png",
                    },
                    "error_correction": {
                        "type": "string",
                        "description": "the share of the code that may be covered\n- `low`: 7 %\n- `medium`: 15 %\n- `quartile`: 25 %\n- `high`: 30 %",
                        "enum": ["low", "medium", "quartile", "high"],
                        "default": "medium",
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
    let levels = [EcLevel::L, EcLevel::M, EcLevel::Q, EcLevel::H];
    let level = levels[arguments.error_correction as usize];
    let code = QrCode::with_error_correction_level(arguments.text, level).map_err(|error| {
        Error::msg(format!(
            "{error}: shorten the text, or lower `error_correction`"
        ))
    })?;
    let (modules, width) = (code.to_colors(), code.width());
    match arguments.format {
        Format::Png => {
            let file = png(&modules, width, size as usize, margin as usize)?;
            Ok(Content {
                data: Some(STANDARD.encode(file)),
                mime_type: Some("image/png".to_owned()),
                r#type: ContentType::Image,
                ..Content::default()
            })
        }
        Format::Svg => {
            let mut drawing = Renderer::<svg::Color<'_>>::new(&modules, width, margin);
            Ok(text(drawing.module_dimensions(size, size).build()))
        }
    }
}

/// Writes a file whose pixels are black or white. All lengths but `size` are in modules.
fn png(modules: &[Color], width: usize, size: usize, margin: usize) -> Result<Vec<u8>, Error> {
    let edge = (width + 2 * margin) * size;
    let module = |pixel: usize| (pixel / size).checked_sub(margin).filter(|at| *at < width);
    let gray = |pixel: usize| match (module(pixel % edge), module(pixel / edge)) {
        (Some(x), Some(y)) => modules[y * width + x].select(0, 255),
        _ => 255,
    };
    let pixels: Vec<u8> = (0..edge * edge).map(gray).collect();
    let mut file = Vec::new();
    let edge = u32::try_from(edge)?;
    let mut writer = png::Encoder::new(&mut file, edge, edge).write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(file)
}
