//! Every kind of content.

use mcp_servlet::Annotations;
use mcp_servlet::prelude::*;

/// A square of 8 by 8 pixels.
pub(crate) const SQUARE: &[u8] = include_bytes!("assets/square.png");

/// A tone of 20 milliseconds.
const TONE: &[u8] = include_bytes!("assets/tone.wav");

/// Answers with text.
#[tool(read_only)]
pub(crate) fn test_simple_text() -> &'static str {
    "This is a simple text."
}

/// Answers with an image.
#[tool(read_only)]
pub(crate) fn test_image_content() -> Content {
    Content::image(SQUARE, "image/png")
}

/// Answers with audio.
#[tool(read_only)]
pub(crate) fn test_audio_content() -> Content {
    Content::audio(TONE, "audio/wav")
}

/// Answers with a resource inside of the content.
#[tool(read_only)]
pub(crate) fn test_embedded_resource() -> Content {
    Content::text_resource("test://embedded-resource", "This text is embedded.")
        .with_mime_type("text/plain")
}

/// Answers with text, an image and a resource.
#[tool(read_only)]
pub(crate) fn test_multiple_content_types() -> Vec<Content> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        Content::text("Several kinds of content:"),
        Content::image(SQUARE, "image/png"),
        Content::text_resource("test://mixed-content-resource", json)
            .with_mime_type("application/json"),
    ]
}

/// Answers with a link to a resource, for the user only.
#[tool(read_only)]
pub(crate) fn test_resource_link() -> Content {
    Content::resource_link("test://static-text", "static-text")
        .with_mime_type("text/plain")
        .with_annotations(Annotations::for_user().with_priority(0.5))
}

/// Does not succeed, and says why.
#[tool(read_only)]
pub(crate) fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::new("This tool never succeeds."))
}
