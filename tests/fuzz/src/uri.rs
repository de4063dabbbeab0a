//! URIs, read by templates with each operator of RFC 6570.

use mcp_servlet::prelude::*;

/// Simple variables.
#[resource_template(uri_template = "simple://{scheme}/{path}/end")]
fn simple(scheme: String, path: u64) -> String {
    format!("{scheme} {path}")
}

/// A label and a path.
#[resource_template(uri_template = "label://x{.extension}{/folder,file}")]
fn label(extension: String, folder: Option<String>, file: Option<String>) -> String {
    format!("{extension} {folder:?} {file:?}")
}

/// Parameters.
#[resource_template(uri_template = "parameter://x{;first,second}")]
fn parameter(first: Option<String>, second: Option<bool>) -> String {
    format!("{first:?} {second:?}")
}

/// A query.
#[resource_template(uri_template = "query://x{?text,limit}{&page}")]
fn query(text: Option<String>, limit: Option<f64>, page: Option<i8>) -> String {
    format!("{text:?} {limit:?} {page:?}")
}

/// Anything.
#[resource_template(uri_template = "reserved://{+anything}/end")]
fn reserved(anything: String) -> String {
    anything
}

/// A fragment.
#[resource_template(uri_template = "fragment://{host}{#fragment}")]
fn fragment(host: String, fragment: Option<String>) -> String {
    format!("{host} {fragment:?}")
}

mcp_servlet::export!(static SERVLET = {
    resources: [simple, label, parameter, query, reserved, fragment],
});

pub(crate) fn run(bytes: &[u8]) {
    let Ok(uri) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(result) = SERVLET.client().read_resource(uri) {
        assert_eq!(result.contents.len(), 1);
        assert_eq!(result.contents[0].uri, uri);
    }
}
