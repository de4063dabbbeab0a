//! Draws QR codes.

use mcp_servlet::prelude::*;
use qrcode::render::{Renderer, svg};
use qrcode::{Color, EcLevel, QrCode};

/// What a drawing is made of.
#[derive(Default, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// pixels, as an image
    #[default]
    Png,
    /// shapes, as text
    Svg,
}

/// How much of a code may be covered before nobody can read it.
#[derive(Default, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Correction {
    /// 7 %
    Low,
    /// 15 %
    #[default]
    Medium,
    /// 25 %
    Quartile,
    /// 30 %
    High,
}

/// Draws a text as a QR code.
#[tool(title = "QR code", read_only, open_world = false)]
fn qr_code(
    /// what the code says, such as an address
    #[arg(example = "https://example.com/")]
    text: String,
    /// what the drawing is made of
    #[arg(default)]
    format: Format,
    /// how much of the code may be covered
    #[arg(default)]
    error_correction: Correction,
    /// the width of a module in pixels; a code has 21 to 177 of them in a row
    #[arg(default = 8, min = 1, max = 16)]
    size: u32,
    /// how many modules wide the white around the code is
    #[arg(default = 4, max = 16)]
    margin: u32,
) -> Result<Content, ToolError> {
    let level = match error_correction {
        Correction::Low => EcLevel::L,
        Correction::Medium => EcLevel::M,
        Correction::Quartile => EcLevel::Q,
        Correction::High => EcLevel::H,
    };
    let code = QrCode::with_error_correction_level(text, level)
        .map_err(|error| format!("{error}: shorten the text, or lower `error_correction`"))?;
    match format {
        Format::Png => Ok(Content::image(&png(&code, size, margin)?, "image/png")),
        Format::Svg => Ok(Content::text(svg(&code, size, margin))),
    }
}

fn svg(code: &QrCode, size: u32, margin: u32) -> String {
    let colors = code.to_colors();
    let mut drawing = Renderer::<svg::Color<'_>>::new(&colors, code.width(), margin);
    drawing.module_dimensions(size, size).build()
}

/// One byte for each pixel: black where it is in a dark module, and white elsewhere.
fn png(code: &QrCode, size: u32, margin: u32) -> Result<Vec<u8>, ToolError> {
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

mcp_servlet::export!(static SERVLET = { tools: [qr_code] });

#[cfg(test)]
mod tests;
