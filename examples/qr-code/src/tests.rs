//! Tests that decode the images: `cargo test` runs them natively, `servlet test` against the wasm module.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_servlet::testing::Client;
use mcp_servlet::testing::types::Content;
use serde_json::{Value, json};

/// What a reader sees in an image of eight bits for each pixel.
fn scan(file: &[u8]) -> String {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let edge = info.width as usize;
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(edge, edge, |x, y| pixels[y * edge + x]);
    let [grid] = &*image.detect_grids() else {
        panic!("one code");
    };
    grid.decode().unwrap().1
}

fn draw(client: &Client, arguments: Value) -> Content {
    let mut result = client.call("qr_code", arguments).unwrap();
    assert_eq!(result.is_error, None);
    result.content.remove(0)
}

fn png(client: &Client, arguments: Value) -> Vec<u8> {
    let data = draw(client, arguments).data.unwrap();
    STANDARD.decode(data).unwrap()
}

#[mcp_servlet::test]
fn draws_codes_that_can_be_read(client: &Client) {
    let long = "Ä".repeat(500);
    for text in ["https://example.com/", "0123456789", "", "grüße 🦀", &long] {
        for (size, margin) in [(3, 4), (5, 1)] {
            let file = png(
                client,
                json!({ "text": text, "size": size, "margin": margin }),
            );
            assert_eq!(scan(&file), text, "{size} {margin}");
        }
    }
}

#[mcp_servlet::test]
fn a_module_is_as_wide_as_is_asked_for(client: &Client) {
    for (size, margin, edge) in [(1, 0, 21), (8, 4, 232), (10, 1, 230)] {
        let mut arguments =
            json!({ "text": "text", "size": size, "margin": margin, "format": "png" });
        let file = png(client, arguments.clone());
        assert_eq!(file[16..20], u32::to_be_bytes(edge), "{size} {margin}");
        arguments["format"] = "svg".into();
        let shapes = draw(client, arguments).text.unwrap();
        assert!(
            shapes.contains(&format!("viewBox=\"0 0 {edge} {edge}\"")),
            "{shapes}"
        );
    }
}

#[mcp_servlet::test]
fn an_image_is_of_its_media_type(client: &Client) {
    let image = draw(client, json!({ "text": "https://example.com/" }));
    assert_eq!(image.mime_type.as_deref(), Some("image/png"));
    let data = image.data.unwrap();
    assert!(data.starts_with("iVBORw0KGgo"), "{data}");
}

#[mcp_servlet::test]
fn shapes_are_text(client: &Client) {
    let shapes = draw(
        client,
        json!({ "text": "text", "format": "svg", "margin": 0, "size": 1 }),
    );
    let text = shapes.text.unwrap();
    assert!(text.contains("<svg ") && text.ends_with("</svg>"), "{text}");
}

#[mcp_servlet::test]
fn more_correction_takes_a_larger_code(client: &Client) {
    let width = |level| {
        let arguments =
            json!({ "text": "a".repeat(100), "format": "svg", "error_correction": level });
        let text = draw(client, arguments).text.unwrap();
        let width = text.split("width=\"").nth(1).unwrap();
        width.split('"').next().unwrap().parse::<u32>().unwrap()
    };
    let widths = ["low", "medium", "quartile", "high"].map(width);
    assert!(widths.is_sorted_by(|a, b| a < b), "{widths:?}");
}

#[mcp_servlet::test]
fn a_text_that_is_too_long_is_refused(client: &Client) {
    let arguments = json!({ "text": "é".repeat(1000), "error_correction": "high" });
    let result = client.call("qr_code", arguments).unwrap();
    assert_eq!(result.is_error, Some(true));
    let text = "data too long: shorten the text, or lower `error_correction`";
    assert_eq!(result.text(), text);
}
