//! Draws SVG, so that a model can see the result.

use std::sync::Arc;

use epaint_default_fonts::UBUNTU_LIGHT;
use mcp_servlet::prelude::*;
use resvg::tiny_skia::{self, Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::roxmltree::Document;
use resvg::usvg::{Options, Size, Tree};
use svgtypes::Color;

mod refuse;

/// How large an image is at most: more takes memory that hosts may not give.
const MAX_PIXELS: u32 = 2048 * 2048;

/// Draws SVG as a PNG image, to see what it looks like.
#[tool(title = "Draw SVG", read_only, open_world = false)]
fn draw_svg(
    /// the document, from `<svg xmlns="http://www.w3.org/2000/svg">` to its end
    #[arg(
        example = r#"<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><circle cx="40" cy="40" r="30"/></svg>"#
    )]
    svg: String,
    /// the width of the image in pixels; by default the width of the drawing
    #[arg(min = 1, max = 4096)]
    width: Option<u16>,
    /// the background colour, in CSS syntax
    #[arg(default_str = "white", example = "transparent")]
    background: String,
) -> Result<Content, ToolError> {
    let background = background
        .parse()
        .map_err(|_| format!("`background`: expected a CSS colour, found `{background}`"))?;
    let image = paint(&parse(&svg)?, width, background)?;
    Ok(Content::image(&image.encode_png()?, "image/png"))
}

/// Parses a drawing, and refuses what cannot be painted.
fn parse(svg: &str) -> Result<Tree, ToolError> {
    let document = Document::parse(svg).map_err(|error| format!("`svg` is not XML: {error}"))?;
    refuse::elements(&document)?;
    let mut fonts = Database::new();
    fonts.load_font_data(UBUNTU_LIGHT.to_vec());
    // The fallback for every other font family.
    fonts.set_serif_family("Ubuntu");
    let options = Options {
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_xmltree(&document, &options)?;
    refuse::characters(tree.root())?;
    Ok(tree)
}

fn paint(tree: &Tree, width: Option<u16>, background: Color) -> Result<Pixmap, ToolError> {
    let (natural, wanted) = (tree.size(), scaled(tree.size(), width)?);
    let size = wanted.to_int_size();
    let mut image = Pixmap::new(size.width(), size.height()).ok_or("the image has no pixels")?;
    let Color {
        red,
        green,
        blue,
        alpha,
    } = background;
    image.fill(tiny_skia::Color::from_rgba8(red, green, blue, alpha));
    let scale = Transform::from_scale(
        wanted.width() / natural.width(),
        wanted.height() / natural.height(),
    );
    resvg::render(tree, scale, &mut image.as_mut());
    Ok(image)
}

/// The size of the image for the requested width, if it is not too large.
fn scaled(natural: Size, width: Option<u16>) -> Result<Size, String> {
    let scaled = match width {
        Some(width) => natural.scale_to_width(width.into()),
        None => Some(natural),
    };
    let scaled = scaled.ok_or("the image would have no height: set a larger `width`")?;
    let size = scaled.to_int_size();
    if size.width().saturating_mul(size.height()) > MAX_PIXELS {
        let pixels = format!("{} × {} pixels", size.width(), size.height());
        return Err(format!(
            "{pixels} are more than {MAX_PIXELS} in all: set a smaller `width`"
        ));
    }
    Ok(scaled)
}

mcp_servlet::export!(static SERVLET = { tools: [draw_svg] });

#[cfg(test)]
mod tests;
