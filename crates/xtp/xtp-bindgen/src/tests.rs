//! Renders contexts and templates as drivers pass them.

use super::*;

/// Renders a template for a context with a minimal schema.
fn rendered(template: &str, members: &str) -> Result<String, String> {
    let context = format!(r#"{{{members}"schema": {{"version": "v1-draft", "exports": {{}}}}}}"#);
    render(template.as_bytes(), &context).map_err(|error| error.to_string())
}

#[test]
fn takes_project_and_sdk_from_the_context() {
    const VERSION: &str = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    let project =
        r#""project": {"name": "My \"x\"", "appId": "app_1", "description": "Does\nit. "},"#;
    let template = "{{ project.package }} {{ project.library }} {{ project.name|toml }} \
                    {{ project.app_id }}|{{ project.extension_point_id }}|{{ project.description|doc('//') }}\n";
    assert_eq!(
        rendered(template, project).unwrap(),
        "my-x my_x \"My \\\"x\\\"\" app_1||// Does\n// it.\n"
    );
    assert_eq!(rendered("{{ project.package }}", "").unwrap(), "servlet");
    for (sdk, expected) in [
        ("", VERSION),
        (r#""sdk": null,"#, VERSION),
        (r#""sdk": {},"#, VERSION),
        (r#""sdk": {"version": "1.2"},"#, r#"version = "1.2""#),
        (
            r#""sdk": {"git": "https://x/y.git"},"#,
            r#"git = "https://x/y.git""#,
        ),
        (r#""sdk": {"path": "C:\\x"},"#, r#"path = "C:\\x""#),
    ] {
        let expected = format!(r#"{{ {expected}, features = ["global-allocator", "xtp"] }}"#);
        assert_eq!(rendered("{{ sdk }}", sdk).unwrap(), expected);
    }
}

#[test]
fn the_command_is_installed_from_where_the_sdk_is() {
    const VERSION: &str = concat!(
        "npm install --global 'mcp-servlet@",
        env!("CARGO_PKG_VERSION"),
        "'"
    );
    for (sdk, expected) in [
        ("", VERSION),
        (
            r#""sdk": {"version": "^1.2"},"#,
            "npm install --global 'mcp-servlet@^1.2'",
        ),
        (
            r#""sdk": {"git": "https://x/y.git"},"#,
            "cargo install --locked --git 'https://x/y.git' mcp-servlet-cli",
        ),
        (
            r#""sdk": {"path": "/x/crates/guest/mcp-servlet"},"#,
            "cargo install --locked --path '/x/crates/guest/mcp-servlet/../../tools/mcp-servlet-cli'",
        ),
    ] {
        assert_eq!(rendered("{{ installation }}", sdk).unwrap(), expected);
    }
}

#[test]
fn keeps_a_file_to_the_last_byte() {
    assert_eq!(rendered("a\n\n", "").unwrap(), "a\n\n");
    assert_eq!(rendered("{% if mcp %}\na\n{% endif %}\n", "").unwrap(), "");
}

#[test]
fn reads_feature_flags_in_both_shapes() {
    let flag = |flags: &str| {
        let text = format!(r#"{{"schema": {{}}{flags}}}"#);
        Context::parse(&text).unwrap().has_flag("samples")
    };
    for flags in [
        r#", "featureFlags": ["other", "samples"]"#,
        r#", "featureFlags": {"samples": true}"#,
    ] {
        assert!(flag(flags), "{flags}");
    }
    for flags in [
        "",
        r#", "featureFlags": null"#,
        r#", "featureFlags": []"#,
        r#", "featureFlags": ["none"]"#,
        r#", "featureFlags": {"samples": false}"#,
    ] {
        assert!(!flag(flags), "{flags}");
    }
}

#[test]
fn knows_the_interfaces_of_servlets() {
    let schema = |describe: &str| {
        let refer = |name: &str| {
            format!(
                r##"{{"$ref": "#/components/schemas/{name}", "contentType": "application/json"}}"##
            )
        };
        let names = ["CallToolRequest", "CallToolResult", describe];
        let schemas = names
            .map(|name| format!(r#""{name}": {{"properties": {{"x": {{"type": "string"}}}}}}"#));
        format!(
            r#"{{"schema": {{"version": "v1-draft", "exports": {{"call": {{"input": {}, "output": {}}},
                "describe": {{"output": {}}}}}, "components": {{"schemas": {{{}}}}}}}}}"#,
            refer(names[0]),
            refer(names[1]),
            refer(names[2]),
            schemas.join(","),
        )
    };
    for (describe, mcp) in [
        ("ToolDescription", "true"),
        ("ListToolsResult", "true"),
        ("ServletDescription", "true"),
        ("Other", "false"),
    ] {
        let is_mcp = render(b"{{ 'true' if mcp else 'false' }}", &schema(describe)).unwrap();
        assert_eq!(is_mcp, mcp, "{describe}");
    }
}

#[test]
fn lists_an_export_that_is_repeated_once() {
    let schema = r#"{"schema": {"version": "v0", "exports": ["b", "a", "b"]}}"#;
    let exports = render(b"{{ plugin.exports|join(' ') }}", schema).unwrap();
    assert_eq!(exports, "b a");
}

#[test]
fn a_schema_keeps_every_byte_and_is_read_as_it_was_checked() {
    let schema = "# A comment.\r\nversion: v1-draft\nexports:\n  f: {output: {$ref: '#/components/schemas/D', contentType: application/json}}\ncomponents:\n  schemas:\n    C: {required: [c], properties: {c: {type: string, format: date-time}}}\n    D: {oneOf: [{$ref: '#/components/schemas/C'}]}\n\n\n";
    let source = serde_json::json!({
        "schema": schema, "mode": "lenient", "dates": "jiff", "oneOf": true, "keepNull": false, "catchAll": false,
        "arguments": "--dates jiff --one-of",
    });
    let json = xtp_codegen::to_json("schema.yaml", schema).unwrap();
    let context = serde_json::json!({ "schema": json, "source": source }).to_string();
    let rendered = |template: &str| render(template.as_bytes(), &context).unwrap();
    let file = "{% if not mcp %}\n{{ plugin.schema }}\n{%- endif %}\n";
    assert_eq!(rendered(file), schema);
    let module = rendered("{{ plugin.module }}");
    assert!(module.contains("pub enum D {"), "{module}");
    assert!(module.contains("pub c: ::jiff::Timestamp,"), "{module}");
    assert!(rendered("{{ plugin.dates }}").starts_with("jiff = { version = "));
    assert_eq!(
        rendered("servlet gen schema.yaml{{ plugin.arguments }}"),
        "servlet gen schema.yaml --dates jiff --one-of"
    );
}

#[test]
fn error_names_the_problem() {
    let context = render(b"", "{}").unwrap_err().to_string();
    assert!(
        context.starts_with("the configuration key `ctx` is not a context: missing field `schema`"),
        "{context}"
    );
    let schema = render(b"", r#"{"schema": {"version": "v2"}}"#)
        .unwrap_err()
        .to_string();
    assert!(
        schema.starts_with("the schema has problems:\n  #/version: error[XTP104]: "),
        "{schema}"
    );
    let template = rendered("a\n{{ nothing }}", "").unwrap_err();
    assert!(template.starts_with("undefined value"), "{template}");
    assert!(template.contains(":2)"), "{template}");
    assert_eq!(
        render(b"\xff", "{}").unwrap_err().to_string(),
        "the template is not UTF-8"
    );
}
