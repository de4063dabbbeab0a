//! Whole descriptions of tools and servlets: both historic shapes, names, hints, strings.

use mcp_servlet::prelude::*;
use mcp_servlet::{IconTheme, Meta, StaticIcon, ToolUi, UiVisibility};
use serde_json::{Value, json};

use crate::schemas::strict::checked_description;

/// Sets every hint. The `..` in the expansion then adds nothing, which Clippy must not report in the author's crate.
#[tool(read_only = false, destructive, idempotent, open_world)]
fn wipe() {}

/// Adds two numbers.
#[tool(title = "Add", read_only, idempotent = true, open_world = false)]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

/// This is not shown.
#[tool(name = "clear-all.v2", description = concat!("Clears ", "everything."), destructive)]
fn clear() {}

mod nested {
    use mcp_servlet::prelude::*;

    #[tool]
    pub(crate) fn r#match() {}
}

/// Shows a chart.
#[tool(
    icons = [
        StaticIcon::new("data:image/png;base64,AA==")
            .mime_type("image/png")
            .sizes(&["48x48"])
            .theme(IconTheme::Light),
    ],
    ui = ToolUi::page("ui://chart"),
    meta = [Meta::integer("example.com/cost", 2), Meta::json("more", "[true, null]")],
)]
fn chart() {}

/// Shows nothing, and says so at length.
#[tool(
    meta = [Meta::bool(concat!("a", "b"), true), Meta::integer("min", i64::MIN)],
    ui = ToolUi::page("ui://none").visible_to(&[UiVisibility::Model, UiVisibility::App]),
)]
fn none() {}

mcp_servlet::export!(static SHOWN = { tools: [chart, none] });
mcp_servlet::export!(static ONE = { tools: [add] });
mcp_servlet::export!(static SEVERAL = {
    tools: [clear, nested::r#match, add],
    version: "1.2.3-beta",
    instructions: concat!("Be ", "polite."),
    name: "several",
});
mcp_servlet::export!(static NONE = { tools: [] });

#[test]
fn one_tool_is_described_in_both_historic_shapes() {
    let description = checked_description(&ONE);
    let tool = description["tools"][0].as_object().unwrap();
    for (key, value) in tool {
        assert_eq!(description[key], *value, "{key}");
    }
    assert_eq!(description.as_object().unwrap().len(), tool.len() + 2);
    assert_eq!(
        description["serverInfo"],
        json!({ "name": "mcp-servlet", "version": env!("CARGO_PKG_VERSION") })
    );
}

#[test]
fn several_tools_are_described_as_a_list_in_the_order_of_the_source() {
    let description = checked_description(&SEVERAL);
    let mut keys: Vec<_> = description.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["instructions", "serverInfo", "tools"]);
    let names: Vec<_> = description["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["clear-all.v2", "match", "add"]);
    assert_eq!(
        description["serverInfo"],
        json!({ "name": "several", "version": "1.2.3-beta" })
    );
    assert_eq!(description["instructions"], "Be polite.");
    assert_eq!(SEVERAL.client().describe().unwrap().tools.unwrap().len(), 3);
}

#[test]
fn no_tool_is_an_empty_list() {
    assert_eq!(checked_description(&NONE)["tools"], json!([]));
}

#[test]
fn only_hints_of_the_author_are_listed() {
    let description = checked_description(&SEVERAL);
    let tools = &description["tools"];
    assert_eq!(tools[0]["annotations"], json!({ "destructiveHint": true }));
    assert_eq!(tools[1].get("annotations"), None);
    assert_eq!(
        tools[2]["annotations"],
        json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false })
    );
}

#[test]
fn a_tool_is_called_titled_and_described_as_its_attributes_say() {
    let description = checked_description(&SEVERAL);
    assert_eq!(description["tools"][0]["description"], "Clears everything.");
    assert_eq!(description["tools"][2]["title"], "Add");
    assert_eq!(description["tools"][0].get("title"), None);
}

/// "Quotes", back\slashes and /slashes/.
///
/// Tabs	and ünïcödé ✓ 👍 \u{1}
#[doc = "\u{1}\u{b}\u{1f}\u{7f}\u{2028}."]
#[doc = "end\r\nof it  "]
#[tool(title = "\"\\\n\t\0")]
fn escaped(
    /// "
    #[arg(default_str = "\"\\\u{2}", example = "\n", rename = "a\"\\\n")]
    value: String,
) -> String {
    value
}

mcp_servlet::export!(static ESCAPED = { instructions: "\"\\\u{7}é", tools: [escaped] });

#[test]
fn escapes_what_json_requires() {
    let description = checked_description(&ESCAPED);
    assert_eq!(
        description["description"],
        "\"Quotes\", back\\slashes and /slashes/.\n\nTabs\tand ünïcödé ✓ 👍 \\u{1}\n\
         \u{1}\u{b}\u{1f}\u{7f}\u{2028}.\nend\nof it"
    );
    assert_eq!(description["title"], "\"\\\n\t\0");
    assert_eq!(description["instructions"], "\"\\\u{7}é");
    let property = &description["inputSchema"]["properties"]["a\"\\\n"];
    assert_eq!(property["description"], "\"");
    assert_eq!(property["default"], "\"\\\u{2}");
    assert_eq!(property["examples"], json!(["\n"]));
}

/// First line.
#[doc = include_str!("included.md")]
/// Last line.
#[tool]
fn included() {}

#[doc = include_str!("included.md")]
#[tool]
fn included_alone() {}

mcp_servlet::export!(static INCLUDED = { tools: [included, included_alone] });

#[test]
fn includes_a_file_as_a_description() {
    let description = checked_description(&INCLUDED);
    let texts = description["tools"].as_array().unwrap();
    assert_eq!(
        texts[0]["description"],
        "First line.\nFrom a *file*.\n\nLast line."
    );
    assert_eq!(texts[1]["description"], "From a *file*.");
}

#[test]
fn reads_back_as_the_wire_type() {
    let description = SEVERAL.client().describe().unwrap();
    assert_eq!(description.name, None);
    assert_eq!(
        ONE.client().describe().unwrap().name.as_deref(),
        Some("add")
    );
    let again: Value = serde_json::to_value(&description).unwrap();
    assert_eq!(again, checked_description(&SEVERAL));
}

#[test]
fn icons_user_interfaces_and_meta_are_at_their_place_in_mcp() {
    let description = checked_description(&SHOWN);
    let [chart, none] = [&description["tools"][0], &description["tools"][1]];
    assert_eq!(
        chart["icons"],
        json!([{
            "src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light",
        }])
    );
    assert_eq!(
        chart["_meta"],
        json!({
            "ui": { "resourceUri": "ui://chart" }, "example.com/cost": 2, "more": [true, null],
        })
    );
    assert_eq!(none.get("icons"), None);
    assert_eq!(
        none["_meta"],
        json!({ "ui": { "resourceUri": "ui://none", "visibility": ["model", "app"] }, "ab": true, "min": i64::MIN })
    );
    assert_eq!(checked_description(&ONE)["tools"][0].get("_meta"), None);
}
