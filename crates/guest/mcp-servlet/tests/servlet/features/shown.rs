//! How clients show resources, resource templates and prompts: icons, user interfaces and `_meta`.

use mcp_servlet::prelude::*;
use mcp_servlet::{IconTheme, Meta, PageUi, StaticIcon, UiPermission};
use serde_json::{Value, json};

const PAGE: &str = "<!doctype html><title>Sales</title>";

#[resource(
    uri = "ui://sales/chart.html",
    icons = [StaticIcon::new("data:,").sizes(&["any"]).theme(IconTheme::Light)],
    ui = PageUi::new()
        .connect(&["https://api.example.com"])
        .resource(&["https://cdn.example.com", "https://*.example.org"])
        .frame(&["https://video.example.com"])
        .base_uri(&["https://cdn.example.com"])
        .permissions(&[
            UiPermission::Camera,
            UiPermission::Microphone,
            UiPermission::Geolocation,
            UiPermission::ClipboardWrite,
        ])
        .domain("sales.example.com")
        .prefers_border(false),
    meta = [Meta::integer("example.com/k", 1)],
)]
fn chart() -> &'static str {
    PAGE
}

#[resource(uri = "ui://plain", mime_type = "text/html;profile=mcp-app+later")]
fn plain() -> Vec<u8> {
    PAGE.into()
}

#[resource(uri = "ui://several", ui = PageUi::new().permissions(&[UiPermission::Camera]))]
fn several() -> Vec<ResourceContents> {
    let meta = RawJson::parse(r#"{"ui":{}}"#).unwrap();
    vec![
        ResourceContents::text("ui://several", PAGE),
        ResourceContents::text("ui://several", PAGE).with_meta(meta),
    ]
}

#[resource_template(
    uri_template = "ui://years/{year}",
    ui = PageUi::new().connect(&[]),
    icons = [StaticIcon::new("https://example.com/i.png")],
)]
fn year(year: u16) -> String {
    format!("<!doctype html><title>{year}</title>")
}

#[prompt(icons = [StaticIcon::new("data:,"), StaticIcon::new("https://example.com/i.png")])]
fn ask() -> &'static str {
    "What do the sales say?"
}

mcp_servlet::export!(static SERVLET = {
    resources: [chart, plain, several, year],
    prompts: [ask],
});

fn ui() -> Value {
    json!({
        "csp": {
            "connectDomains": ["https://api.example.com"],
            "resourceDomains": ["https://cdn.example.com", "https://*.example.org"],
            "frameDomains": ["https://video.example.com"],
            "baseUriDomains": ["https://cdn.example.com"],
        },
        "permissions": { "camera": {}, "microphone": {}, "geolocation": {}, "clipboardWrite": {} },
        "domain": "sales.example.com",
        "prefersBorder": false,
    })
}

fn read(uri: &str) -> Value {
    let result = SERVLET.client().read_resource(uri).unwrap();
    serde_json::to_value(result.contents).unwrap()
}

#[test]
fn lists_have_the_policy_of_a_page() {
    let resources = serde_json::to_value(SERVLET.client().list_resources().unwrap()).unwrap();
    assert_eq!(
        resources[0],
        json!({
            "uri": "ui://sales/chart.html",
            "name": "chart",
            "mimeType": "text/html;profile=mcp-app",
            "icons": [{ "src": "data:,", "sizes": ["any"], "theme": "light" }],
            "_meta": { "ui": ui(), "example.com/k": 1 },
        })
    );
    let templates =
        serde_json::to_value(SERVLET.client().list_resource_templates().unwrap()).unwrap();
    assert_eq!(
        templates[0],
        json!({
            "uriTemplate": "ui://years/{year}",
            "name": "year",
            "mimeType": "text/html;profile=mcp-app",
            "icons": [{ "src": "https://example.com/i.png" }],
            "_meta": { "ui": { "csp": { "connectDomains": [] } } },
        })
    );
    let icons = serde_json::to_value(&SERVLET.client().list_prompts().unwrap()[0].icons).unwrap();
    assert_eq!(
        icons,
        json!([{ "src": "data:," }, { "src": "https://example.com/i.png" }])
    );
}

/// Clients read the policy from the contents, since a page need not be listed.
#[test]
fn contents_have_the_policy_of_a_page() {
    assert_eq!(
        read("ui://sales/chart.html"),
        json!([{
            "uri": "ui://sales/chart.html",
            "mimeType": "text/html;profile=mcp-app",
            "text": PAGE,
            "_meta": { "ui": ui() },
        }])
    );
    let year = &read("ui://years/1999")[0];
    assert_eq!(
        year["_meta"],
        json!({ "ui": { "csp": { "connectDomains": [] } } })
    );
    let plain = &read("ui://plain")[0];
    assert_eq!(plain["mimeType"], "text/html;profile=mcp-app+later");
    assert_eq!(plain.get("_meta"), None);
}

#[test]
fn metadata_of_contents_wins() {
    let several = read("ui://several");
    assert_eq!(several[0]["mimeType"], "text/html;profile=mcp-app");
    assert_eq!(
        several[0]["_meta"],
        json!({ "ui": { "permissions": { "camera": {} } } })
    );
    assert_eq!(several[1]["_meta"], json!({ "ui": {} }));
}
