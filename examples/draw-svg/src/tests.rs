//! Tests with known drawings: `cargo test` runs them natively, `servlet test` against the wasm module.

use mcp_servlet::testing::Client;
use resvg::tiny_skia::Pixmap;
use serde_json::json;

use super::{paint, parse};

/// A document of 20 × 10 with this in it.
fn svg(content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\" width=\"20\" height=\"10\">{content}</svg>"
    )
}

fn image(content: &str, width: Option<u16>, background: &str) -> Pixmap {
    let tree = parse(&svg(content)).unwrap();
    let image = paint(&tree, width, background.parse().unwrap()).unwrap();
    Pixmap::decode_png(&image.encode_png().unwrap()).unwrap()
}

/// Red, green, blue and alpha at a place.
fn pixel(image: &Pixmap, x: u32, y: u32) -> [u8; 4] {
    let color = image.pixel(x, y).unwrap().demultiply();
    [color.red(), color.green(), color.blue(), color.alpha()]
}

#[test]
fn shapes_are_where_they_belong_at_every_width() {
    let square = "<rect x='10' width='10' height='10' fill='#0000ff'/>";
    for (width, size) in [(None, (20, 10)), (Some(60), (60, 30)), (Some(7), (7, 4))] {
        let image = image(square, width, "rgb(255, 0, 0)");
        assert_eq!((image.width(), image.height()), size);
        assert_eq!(pixel(&image, 0, 0), [255, 0, 0, 255]);
        assert_eq!(pixel(&image, size.0 - 1, size.1 / 2), [0, 0, 255, 255]);
    }
    assert_eq!(pixel(&image(square, None, "transparent"), 0, 0)[3], 0);
}

#[test]
fn text_is_drawn_in_every_family() {
    let dark = |text: &str| {
        let image = image(text, Some(200), "white");
        image
            .pixels()
            .iter()
            .filter(|pixel| pixel.red() < 128)
            .count()
    };
    let plain = dark("<text y='9'>Aé Ж λ</text>");
    assert!(plain > 300, "{plain} dark pixels");
    for attributes in [
        "font-family='Arial'",
        "font-family='monospace' font-weight='bold'",
    ] {
        assert_eq!(
            dark(&format!("<text y='9' {attributes}>Aé Ж λ</text>")),
            plain
        );
    }
    assert_eq!(dark("<text y='9'> </text>"), 0);
}

#[mcp_servlet::test]
fn an_image_is_of_its_media_type(client: &Client) {
    let arguments = json!({ "svg": svg("<a href='https://example.com'><circle r='5'/></a>") });
    let result = client.call("draw_svg", arguments).unwrap();
    assert_eq!(result.is_error, None, "{:?}", result.content[0].as_text());
    let (data, mime_type) = result.content[0].as_image().unwrap();
    assert_eq!(mime_type, "image/png");
    assert!(data.starts_with("iVBORw0KGgo"), "{data}");
}

#[mcp_servlet::test]
fn what_would_be_missing_is_refused(client: &Client) {
    for (content, expected) in [
        ("<g>", "`svg` is not XML: expected 'g' tag, not 'svg' at 1:"),
        (
            "<image href='data:image/png;base64,AA=='/>",
            "<image> at 1:84 is not drawn",
        ),
        ("\n<foreignObject/>", "<foreignObject> at 2:1 is not drawn"),
        (
            "<use href='other.svg#a'/>",
            "<use> at 1:84 refers to another document",
        ),
        ("<text y='9'>a日</text>", "the font has no `日`"),
        ("<g><text y='9'>🦀</text></g>", "the font has no `🦀`"),
    ] {
        let result = client
            .call("draw_svg", json!({ "svg": svg(content) }))
            .unwrap();
        let text = result.text();
        assert!(text.starts_with(expected), "{content}: {text}");
        assert_eq!(result.is_error, Some(true), "{content}");
    }
}

#[mcp_servlet::test]
fn explains_invalid_arguments(client: &Client) {
    let wide = "<svg xmlns='http://www.w3.org/2000/svg' width='1000000' height='1000000'/>";
    let flat = "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='5'/>";
    for (arguments, expected) in [
        (
            json!({ "svg": "<svg/>" }),
            "`svg` must begin with <svg xmlns=",
        ),
        (
            json!({ "svg": "" }),
            "`svg` is not XML: the document does not have a root node",
        ),
        (
            json!({ "svg": wide }),
            "1000000 × 1000000 pixels are more than 4194304",
        ),
        (json!({ "svg": flat }), "SVG has an invalid size"),
        (
            json!({ "svg": svg(""), "background": "reddish" }),
            "`background`: expected a CSS colour, found `reddish`",
        ),
        (json!({ "svg": svg(""), "width": 5000 }), "`/width`"),
    ] {
        let result = client.call("draw_svg", &arguments).unwrap();
        let text = result.text();
        assert!(text.contains(expected), "{arguments}: {text}");
        assert_eq!(result.is_error, Some(true), "{arguments}");
    }
}
