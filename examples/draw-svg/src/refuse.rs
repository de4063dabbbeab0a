//! Errors for everything that would be missing from the image.

use resvg::usvg::roxmltree::{Document, Node};
use resvg::usvg::{self, Group};

const SVG: &str = "http://www.w3.org/2000/svg";

/// Elements that take more than a drawing: pictures, HTML, and programs.
const ELEMENTS: [&str; 3] = ["image", "foreignObject", "script"];

/// Refuses documents that are not SVG, elements that are not drawn, and references to other documents.
pub(crate) fn elements(document: &Document<'_>) -> Result<(), String> {
    if !document.root_element().has_tag_name((SVG, "svg")) {
        return Err(format!("`svg` must begin with <svg xmlns=\"{SVG}\">"));
    }
    let place = |node: Node<'_, '_>| document.text_pos_at(node.range().start);
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        if ELEMENTS.contains(&name) {
            let place = place(node);
            return Err(format!(
                "<{name}> at {place} is not drawn: use shapes and text"
            ));
        }
        let mut links = node.attributes().filter(|link| link.name() == "href");
        if name != "a" && links.any(|link| !link.value().starts_with('#')) {
            let place = place(node);
            return Err(format!(
                "<{name}> at {place} refers to another document, which is not loaded"
            ));
        }
    }
    Ok(())
}

/// Refuses characters that the font lacks.
pub(crate) fn characters(group: &Group) -> Result<(), String> {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => characters(group)?,
            usvg::Node::Text(text) => {
                let mut glyphs = text
                    .layouted()
                    .iter()
                    .flat_map(|span| &span.positioned_glyphs);
                if let Some(glyph) = glyphs.find(|glyph| glyph.id.0 == 0) {
                    let text = &glyph.text;
                    return Err(format!(
                        "the font has no `{text}`, only Latin, Greek and Cyrillic: draw it as a path"
                    ));
                }
            }
            usvg::Node::Path(_) | usvg::Node::Image(_) => {}
        }
    }
    Ok(())
}
