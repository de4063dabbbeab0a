//! Resource templates: which template a URI matches, and the values of its variables.

use mcp_servlet::prelude::*;
use serde_json::json;

/// The units of a size.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    Bytes,
    KiloBytes,
}

/// A user.
#[resource_template(
    uri_template = "users://{id}/profile",
    title = "Profile",
    mime_type = "text/plain"
)]
fn profile(
    /// number of the user
    id: u64,
) -> Option<String> {
    (id < 1000).then(|| format!("user {id}"))
}

#[resource_template(uri_template = "users://{id}/{section}")]
fn section(section: String, id: u64) -> String {
    format!("{section} of {id}")
}

#[resource(uri = "users://1/friends")]
fn friends() -> &'static str {
    "friends of the first"
}

#[resource_template(uri_template = "files:///{+path}")]
fn file(context: &Context, path: String) -> String {
    let base = context.config_value("base").unwrap_or_default();
    format!("{base}{path}")
}

#[resource_template(uri_template = "files:///{name}.size{?unit,precise,minimum}", crate = mcp_servlet)]
fn size(
    name: String,
    unit: Option<Unit>,
    #[arg(default = true)] precise: bool,
    #[arg(rename = "minimum", default = 0, max = 9)] at_least: u8,
) -> String {
    let unit = match unit {
        None => "-",
        Some(Unit::Bytes) => "bytes",
        Some(Unit::KiloBytes) => "kilobytes",
    };
    format!("{name} {unit} {precise} {at_least}")
}

mcp_servlet::export!(static SERVLET = {
    resources: [friends, file, section, profile, size, many],
});

fn text(uri: &str) -> String {
    match SERVLET.client().read_resource(uri) {
        Ok(result) => result.contents[0].text.clone().unwrap_or_default(),
        Err(fault) => format!("{}", fault.code()),
    }
}

#[test]
fn lists_templates_in_the_order_of_the_source() {
    let templates = SERVLET.client().list_resource_templates().unwrap();
    let uris = templates.iter().map(|template| &*template.uri_template);
    assert_eq!(
        uris.collect::<Vec<_>>(),
        [
            "files:///{+path}",
            "users://{id}/{section}",
            "users://{id}/profile",
            "files:///{name}.size{?unit,precise,minimum}",
            "many://{v}:{w}:{x}:{y}",
        ]
    );
    assert_eq!(
        serde_json::to_value(&templates[2]).unwrap(),
        json!({
            "uriTemplate": "users://{id}/profile",
            "name": "profile",
            "title": "Profile",
            "description": "A user.",
            "mimeType": "text/plain",
        })
    );
}

#[test]
fn most_specific_template_reads_the_uri() {
    for (uri, expected) in [
        ("users://1/friends", "friends of the first"),
        ("users://2/friends", "friends of 2"),
        ("users://1/profile", "user 1"),
        ("files:///a.size", "a - true 0"),
        ("files:///a/b.size", "a/b.size"),
        ("files:///a", "a"),
    ] {
        assert_eq!(text(uri), expected, "{uri}");
    }
}

#[test]
fn variables_are_decoded_and_read_by_their_types() {
    for (uri, expected) in [
        ("users://2/caf%C3%A9%20%2Fbar", "café /bar of 2"),
        ("users://2/%22quoted%22", "\"quoted\" of 2"),
        ("users://2/7", "7 of 2"),
        ("users://7.0/profile", "user 7"),
        ("files:///a.size?minimum=1e0", "a - true 1"),
        ("files:///a.size?minimum=9&precise=false", "a - false 9"),
        ("files:///a.size?unit=kilo-bytes", "a kilobytes true 0"),
        ("files:///a.size?unit=bytes", "a bytes true 0"),
    ] {
        assert_eq!(text(uri), expected, "{uri}");
    }
}

#[resource_template(uri_template = "many://{v}:{w}:{x}:{y}")]
fn many(v: String, w: String, x: String, y: String) -> String {
    [v, w, x, y].join("|")
}

/// A naive matcher takes a number of steps that grows with the length of the URI to the power of four.
#[test]
fn uri_without_a_match_is_refused_quickly() {
    assert_eq!(text("many://1:2:3:4:5"), "1|2|3|4:5");
    let uri = format!("many://{}/", ":".repeat(2000));
    assert!(SERVLET.client().read_resource(&uri).is_err());
}

#[test]
fn variable_that_does_not_parse_is_an_unknown_resource() {
    for uri in [
        "users://x/profile",
        "users://-1/profile",
        "users://007/profile",
        "users://1000/profile",
        "users://1,\"x\":2/profile",
        "users://%31%2/profile",
        "users:///profile",
        "users://1/",
        "files:///",
        "files:///a.size?precise=yes",
        "files:///a.size?minimum=10",
        "files:///a.size?unit=miles",
    ] {
        let fault = SERVLET.client().read_resource(uri).unwrap_err();
        assert_eq!(fault.code(), Fault::RESOURCE_NOT_FOUND, "{uri}");
    }
}
