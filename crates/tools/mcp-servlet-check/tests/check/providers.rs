//! What the rules of providers refuse, before and after schemas are rewritten.

use mcp_servlet_check::check;
use mcp_servlet_host::{Host, Servlet};
use mcp_servlet_runtime::LoadOptions;
use mcp_servlet_schema::Provider;
use serde_json::{Value, json};

use super::{source, tools};

/// The provider, level, rule and pointer of each finding of a provider, without notes.
fn refused(tool: &Value) -> Vec<String> {
    let mut found = found(json!([tool]));
    found.retain(|line| !line.contains("Note"));
    found
}

/// All findings of providers about tools, including notes.
fn found(all: Value) -> Vec<String> {
    let wat = tools(all);
    let report =
        check(source(&wat), &LoadOptions::default(), &[], &Provider::ALL).expect("a report");
    let lines = report.findings.iter().flat_map(|finding| {
        let location = finding.location.as_ref();
        let pointer = location.map_or("", |location| location.pointer.as_str());
        let levels = finding.providers.iter();
        levels.map(move |(provider, level)| {
            format!("{provider} {level:?} {} {pointer}", finding.rule)
        })
    });
    lines.collect()
}

#[test]
fn finds_what_providers_refuse() {
    let argument = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    for (schema, expected) in [
        (json!({ "type": "object" }), &[][..]),
        (
            json!({ "type": "object", "anyOf": [{ "required": ["a"] }] }),
            &[
                "anthropic Error root-combinator /inputSchema",
                "openai Error root-combinator /inputSchema",
            ],
        ),
        (
            json!({ "type": "object", "if": {}, "then": {} }),
            &["openai Warning root-condition /inputSchema"],
        ),
        (
            argument(json!({ "type": ["string", "null"] })),
            &["gemini Warning type-list /inputSchema/properties/a"],
        ),
        (
            argument(json!({ "type": "integer", "enum": [1] })),
            &["gemini Warning enum-values /inputSchema/properties/a"],
        ),
        (
            argument(json!({ "type": "string", "enum": [] })),
            &["gemini Warning enum-values /inputSchema/properties/a"],
        ),
        (
            json!({ "type": "object", "properties": { "a b": { "type": "string" } } }),
            &["anthropic Error property-name /inputSchema/properties/a b"],
        ),
        (
            argument(json!({ "type": "array", "prefixItems": [{ "type": "string" }] })),
            &[
                "openai Error schema-items /inputSchema/properties/a",
                "gemini Warning schema-items /inputSchema/properties/a",
            ],
        ),
        (
            argument(json!({ "type": "integer", "maximum": u64::MAX })),
            &["anthropic Error integer-bound /inputSchema/properties/a"],
        ),
        (
            argument(json!({ "type": "integer", "maximum": 1_u64 << 53 })),
            &[],
        ),
        (
            json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "type": "string" } } }),
            &[
                "anthropic Warning schema-reference /inputSchema/properties/a",
                "gemini Warning schema-reference /inputSchema/properties/a",
            ],
        ),
    ] {
        let tool = json!({ "name": "t", "description": "Does it.", "inputSchema": schema });
        assert_eq!(refused(&tool), expected, "{tool}");
    }
}

#[test]
fn finds_names_and_descriptions_that_providers_refuse() {
    let tool = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    // No servlet has other special characters, but servers do.
    for name in ["t.t", "t t", "é"] {
        assert_eq!(
            refused(&tool(name, "Does it."))[..2],
            [
                "anthropic Warning tool-name /name",
                "openai Warning tool-name /name"
            ],
            "{name}"
        );
    }
    assert_eq!(
        refused(&tool("1t", "Does it.")),
        ["gemini Warning gemini-name /name"]
    );
    // Cursor counts `test-plugin` and a separator as well.
    assert_eq!(refused(&tool(&"t".repeat(48), "Does it.")), [""; 0]);
    assert_eq!(
        refused(&tool(&"t".repeat(49), "Does it.")),
        ["cursor Warning tool-name-length /name"]
    );
    // Claude Code counts `mcp__test-plugin__` as well.
    assert_eq!(refused(&tool(&"t".repeat(64), "Does it.")).len(), 1);
    assert_eq!(refused(&tool(&"t".repeat(110), "Does it.")).len(), 3);
    assert_eq!(
        refused(&tool(&"t".repeat(111), "Does it.")),
        [
            "anthropic Warning tool-name /name",
            "openai Warning tool-name /name",
            "anthropic Warning tool-name-length /name",
            "cursor Warning tool-name-length /name"
        ]
    );
    assert_eq!(refused(&tool("t", &"x".repeat(1024))), [""; 0]);
    assert_eq!(
        refused(&tool("t", &"x".repeat(1025))),
        ["openai Warning description-length /description"]
    );
}

#[test]
fn counts_the_tools() {
    for (count, expected) in [
        (40, &[][..]),
        (41, &["cursor Warning tool-count "]),
        (128, &["cursor Warning tool-count "]),
        (
            129,
            &["cursor Warning tool-count ", "openai Warning tool-count "],
        ),
    ] {
        let tools = (0..count).map(|number| json!({ "name": format!("t{number}"), "description": "Does it.", "inputSchema": { "type": "object" } }));
        let mut found = found(tools.collect());
        found.retain(|line| !line.contains("Note"));
        assert_eq!(found, expected, "{count} tools");
    }
}

#[test]
fn notes_of_providers_can_be_left_out() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "examples": ["x"], "format": "uri" } } });
    let tool = json!({ "name": "t", "description": "Does it.", "inputSchema": schema });
    let mut report = check(
        source(&tools(json!([tool]))),
        &LoadOptions::default(),
        &[],
        &Provider::ALL,
    )
    .expect("a report");
    let rules: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["strict-object", "gemini-keyword", "gemini-format"]);
    report.without_provider_notes();
    assert_eq!(report.findings, []);
}

/// A tool that is rewritten for a provider passes its rules, except for those about names.
#[test]
fn schemas_for_a_provider_pass_its_rules() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/A" },
            "b": { "type": ["string", "null"], "examples": ["x"], "x-order": 1 },
            "c": { "type": "integer", "enum": [1, 2] },
            "d": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }] },
            "e": { "type": "integer", "maximum": u64::MAX },
            "f": { "type": "string", "enum": [], "format": "uri" },
        },
        "oneOf": [{ "required": ["a"] }, { "properties": { "g": { "type": "boolean" } } }],
        "$defs": { "A": { "type": "object", "properties": { "b": { "type": "array" } } } },
    });
    let tool = json!({ "name": "t", "description": "x".repeat(1500), "inputSchema": schema });
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Gemini] {
        let servlet = Servlet::load(source(&tools(json!([tool]))), &LoadOptions::default());
        let host = Host::new(vec![servlet.expect("a servlet")]);
        let host = host.with_schemas_for(Some(provider));
        let shown = json!(host.tool("t").expect("a tool").json());
        let left = refused(&shown);
        let left: Vec<_> = left
            .iter()
            .filter(|line| line.starts_with(provider.name()))
            .collect();
        assert_eq!(left, [""; 0].iter().collect::<Vec<_>>(), "{shown:#}");
    }
}

#[test]
fn schemas_for_openai_are_strict() {
    let range = json!({ "type": "object", "properties": { "from": { "type": "integer" } } });
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": { "type": "string" },
            "b": { "type": "string", "enum": ["x"] },
            "range": range,
            "ranges": { "type": "array", "items": range },
        },
    });
    let tool = json!({ "name": "t", "description": "Does it.", "inputSchema": schema });
    let is_strict = |tool: &Value| {
        !found(json!([tool]))
            .iter()
            .any(|line| line.contains("strict-object"))
    };
    assert!(!is_strict(&tool));
    let servlet = Servlet::load(source(&tools(json!([tool]))), &LoadOptions::default());
    let host = Host::new(vec![servlet.expect("a servlet")]);
    let host = host.with_schemas_for(Some(Provider::OpenAi));
    let shown = json!(host.tool("t").expect("a tool").json());
    assert!(is_strict(&shown), "{shown:#}");
}
