//! Draws QR codes.

use mcp_servlet::prelude::*;
use qrcode::render::{Renderer, svg};
use qrcode::{Color, EcLevel, QrCode};

/// the format of the image
#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// pixels, as an image
    Png,
    /// shapes, as text
    Svg,
}

/// the share of the code that may be covered
#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Correction {
    /// 7 %
    Low,
    /// 15 %
    Medium,
    /// 25 %
    Quartile,
    /// 30 %
    High,
}

/// Draws a string as a QR code.
#[tool(title = "QR code", read_only, open_world = false)]
fn qr_code(
    /// the content of the code, such as a URL
    #[arg(example = "https://example.com/")]
    text: String,
    #[arg(default_str = "png")] format: Format,
    #[arg(default_str = "medium")] error_correction: Correction,
    /// the width of a module in pixels; a code has 21 to 177 of them in a row
    #[arg(default = 8, min = 1, max = 16)]
    size: u32,
    /// how many modules wide the white around the code is
    #[arg(default = 4, max = 16)]
    margin: u32,
) -> Result<Content, ToolError> {
    let levels = [EcLevel::L, EcLevel::M, EcLevel::Q, EcLevel::H];
    let code = QrCode::with_error_correction_level(text, levels[error_correction as usize])
        .map_err(|error| format!("{error}: shorten the text, or lower `error_correction`"))?;
    let (modules, width) = (code.to_colors(), code.width());
    match format {
        Format::Png => {
            let file = png(&modules, width, size as usize, margin as usize)?;
            Ok(Content::image(&file, "image/png"))
        }
        Format::Svg => {
            let mut drawing = Renderer::<svg::Color<'_>>::new(&modules, width, margin);
            Ok(Content::text(drawing.module_dimensions(size, size).build()))
        }
    }
}

/// Writes a file whose pixels are black or white. All lengths but `size` are in modules.
fn png(modules: &[Color], width: usize, size: usize, margin: usize) -> Result<Vec<u8>, ToolError> {
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

mcp_servlet::export!(static SERVLET = { tools: [qr_code] });

#[cfg(test)]
mod tests;
