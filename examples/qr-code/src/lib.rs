//! Draws QR codes.

use std::io::Cursor;

use image::{ImageFormat, Luma};
use mcp_servlet::prelude::*;
use qrcode::render::{Renderer, svg};
use qrcode::{EcLevel, QrCode};

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
    #[arg(default = "png")] format: Format,
    #[arg(default = "medium")] error_correction: Correction,
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
            let mut drawing = Renderer::<Luma<u8>>::new(&modules, width, margin);
            let image = drawing.module_dimensions(size, size).build();
            let mut file = Cursor::new(Vec::new());
            image.write_to(&mut file, ImageFormat::Png)?;
            Ok(Content::image(&file.into_inner(), "image/png"))
        }
        Format::Svg => {
            let mut drawing = Renderer::<svg::Color<'_>>::new(&modules, width, margin);
            Ok(Content::text(drawing.module_dimensions(size, size).build()))
        }
    }
}

mcp_servlet::export!(static SERVLET = { tools: [qr_code] });

#[cfg(test)]
mod tests;
