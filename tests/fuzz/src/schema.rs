//! XTP schemas, the code generated from them, and the official library's verdict on them.

use xtp_codegen::to_json;

/// Parts of the tests of `xtp-codegen`.
#[path = "../../../crates/xtp/xtp-codegen/tests/codegen"]
#[expect(dead_code, reason = "the tests use more of it")]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod codegen {
    pub(super) mod library;
    pub(super) mod survive;
    mod yaml;
}

use codegen::{library, survive};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    survive::survive(text);
    // As JSON, the document has no aliases and tags, which the library resolves in its own way.
    if let Ok(document) = to_json("schema.yaml", text)
        && let text = document.to_string()
        && to_json("schema.yaml", &text).is_ok()
    {
        let missed = library::missed(&text, &library::report(&text));
        assert!(missed.is_empty(), "compat takes {missed:?} of {text}");
    }
}
