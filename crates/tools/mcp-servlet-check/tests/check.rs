//! Findings for modules of a few lines.

#[path = "check/providers.rs"]
mod providers;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{fs, path::Path};

use mcp_servlet_check::{Finding, Level, Target, check, check_all, rules_table, table};
use mcp_servlet_host::{Host, Servlet};
use mcp_servlet_runtime::{ContentFeature, LoadOptions, Source};
use mcp_servlet_schema::lowering_table;
use serde_json::{Value, json};
use support::{Wat, caller::CALL_TOOL};

/// An import of hyper-mcp.
const PROGRESS: &str = r#"(import "extism:host/user" "notify_progress" (func (param i64)))"#;

fn source(wat: &Wat) -> Source {
    Source::Bytes {
        name: "test-plugin".to_owned(),
        wasm: wat.wasm(),
    }
}

/// The level, rule and pointer of each finding; `*` means every host.
fn found(wat: &Wat, hosts: &[Target]) -> Vec<String> {
    let report = check(source(wat), &LoadOptions::default(), hosts, &[]).expect("a report");
    let line = |finding: &Finding| {
        let at = |level| {
            let names: Vec<_> = finding.hosts_at(level).map(Target::name).collect();
            match names.len() {
                0 => String::new(),
                3 => format!("{level:?} *; "),
                _ => format!("{level:?} {}; ", names.join(" ")),
            }
        };
        let levels = [Level::Error, Level::Warning, Level::Note].map(at).concat();
        let location = finding.location.as_ref();
        let pointer = location.map_or("", |location| location.pointer.as_str());
        format!("{levels}{} {pointer}", finding.rule)
            .trim_end()
            .to_owned()
    };
    report.findings.iter().map(line).collect()
}

fn tools(tools: Value) -> Wat {
    let description = json!({ "tools": tools }).to_string();
    Wat::new().describe(&description).answer("{}")
}

/// The findings for a tool that differs from a valid one in these members.
fn of_tool(members: Value) -> Vec<String> {
    let mut tool =
        json!({ "name": "t", "description": "Does it.", "inputSchema": { "type": "object" } });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    found(&tools(json!([tool])), &Target::ALL)
}

/// The findings for a tool with this argument.
fn of_argument(schema: Value) -> Vec<String> {
    of_tool(json!({ "inputSchema": { "type": "object", "properties": { "a": schema } } }))
}

#[test]
fn finds_nothing_wrong_with_a_plain_servlet() {
    assert!(of_tool(json!({})).is_empty());
    for text in ["what to do", " what to do\n"] {
        let text = json!({ "type": "string", "description": text });
        assert_eq!(
            of_argument(text),
            [""; 0],
            "mcp.run trims what a tool says only"
        );
    }
}

#[test]
fn finds_arguments_that_are_not_described_in_full() {
    for (schema, expected) in [
        (
            json!({ "description": "x" }),
            "Error mcp.run; Warning hyper-mcp mcp-servlet; schema-type",
        ),
        (
            json!({ "type": ["string", "null"], "description": "x" }),
            "Error mcp.run; schema-type",
        ),
        (
            json!({ "enum": ["x", "y"], "description": "x" }),
            "Error mcp.run; Warning hyper-mcp mcp-servlet; schema-enum",
        ),
        (
            json!({ "type": "string" }),
            "Error mcp.run; Warning hyper-mcp mcp-servlet; description",
        ),
        (
            json!({ "type": "string", "description": "A." }),
            "Warning *; description-repeats-name",
        ),
        (
            json!(true),
            "Error mcp.run; Warning hyper-mcp; schema-boolean",
        ),
    ] {
        let expected = format!("{expected} /inputSchema/properties/a");
        assert_eq!(of_argument(schema.clone()), [expected], "{schema}");
    }
}

/// The findings for a servlet whose code makes content with these features.
fn of_content(features: &[ContentFeature]) -> Vec<String> {
    let markers = features.iter().map(|feature| {
        let marker: Value = serde_json::from_str(feature.marker()).expect("JSON");
        marker
    });
    let tool =
        json!({ "name": "t", "description": "Does it.", "inputSchema": { "type": "object" } });
    let described = json!({ "tools": [tool], "_meta": { "markers": markers.collect::<Vec<_>>() } });
    let wat = Wat::new().describe(&described.to_string()).answer("{}");
    let hosts = [Target::McpRun];
    let report = check(source(&wat), &LoadOptions::default(), &hosts, &[]).expect("a report");
    let results = report.findings.into_iter().map(|finding| finding.problem);
    results.collect()
}

#[test]
fn finds_annotations_that_lack_a_member() {
    use ContentFeature::{Audience, LastModified, Priority};
    let lost = |what: &str| {
        format!(
            "clients see no {what}: the schema for several tools requires both members, so the whole result is lost"
        )
    };
    assert_eq!(of_content(&[]), [""; 0]);
    assert_eq!(
        of_content(&[Audience, LastModified]),
        [lost("audience without a priority")]
    );
    assert_eq!(
        of_content(&[Priority]),
        [lost("priority without an audience")]
    );
    assert_eq!(
        of_content(&[LastModified]),
        [lost(
            "time of the last change without audience and priority"
        )]
    );
}

#[test]
fn checks_schemas_at_any_depth() {
    let list = json!({ "type": "object", "description": "x",
        "properties": { "b/c": { "type": "array", "description": "x", "items": { "enum": [1, 2] } } } });
    assert_eq!(
        of_argument(list),
        ["Warning *; schema-enum /inputSchema/properties/a/properties/b~1c/items"]
    );
}

#[test]
fn finds_schemas_that_clients_do_not_read() {
    let tree =
        json!({ "type": "object", "properties": { "a": { "$ref": "#", "description": "x" } } });
    for (input, expected) in [
        (json!({}), vec!["Error *; schema-root /inputSchema"]),
        (
            json!({ "type": "object", "required": ["x"] }),
            vec![
                "Error mcp.run; Warning hyper-mcp mcp-servlet; schema-required /inputSchema/required/0",
            ],
        ),
        (
            json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }),
            vec!["Note *; schema-dialect /inputSchema/$schema"],
        ),
        (
            tree,
            vec![
                "Error mcp.run; schema-type /inputSchema/properties/a",
                "Warning *; schema-recursive /inputSchema",
            ],
        ),
        (
            json!({ "type": "object", "minProperties": "one" }),
            vec!["Error *; schema /inputSchema/minProperties"],
        ),
    ] {
        let found = of_tool(json!({ "inputSchema": input.clone() }));
        assert_eq!(found, expected, "{input}");
    }
}

#[test]
fn a_single_tool_should_have_the_name_of_the_servlet() {
    let tool = |name: &str| {
        let tool =
            json!({ "name": name, "description": "Does it.", "inputSchema": { "type": "object" } });
        let wat = Wat::new().describe(&tool.to_string()).answer("{}");
        found(&wat, &Target::ALL)
    };
    let finding = "Warning mcp.run mcp-servlet; name /name";
    assert!(tool("greet").contains(&finding.to_owned()));
    for same in ["test-plugin", "test_plugin"] {
        assert!(!tool(same).contains(&finding.to_owned()), "{same}");
    }
    assert!(
        of_tool(json!({ "name": "greet" })).is_empty(),
        "it is in a list"
    );
}

#[test]
fn requests_for_input_are_refused_by_hosts_that_do_not_forward_them() {
    let description = json!({ "tools": [] }).to_string();
    for request in [
        r#"{"method":"elicitation/create","params":{"mode":"form","message":"#,
        r#"{"method":"sampling/createMessage","params":{"messages":["#,
        r#"{"method":"roots/list""#,
    ] {
        let wat = Wat::new().describe(&description).text(request);
        let found = found(&wat.answer("{}"), &Target::ALL);
        assert_eq!(found, ["Warning mcp.run hyper-mcp; dropped"], "{request}");
    }
}

/// The pointer and the problem of each finding of a rule.
fn problems(rule: &str, members: &Value) -> Vec<[String; 2]> {
    let mut tool = json!({ "name": "t", "description": "Does it." });
    for (name, value) in members.as_object().expect("members") {
        tool[name] = value.clone();
    }
    let wat = tools(json!([tool]));
    let report = check(source(&wat), &LoadOptions::default(), &Target::ALL, &[]).expect("a report");
    let findings = report.findings.into_iter().filter(|one| one.rule == rule);
    let findings = findings.map(|one| {
        let location = one.location.expect("a location");
        [location.pointer, one.problem]
    });
    findings.collect()
}

#[test]
fn names_each_reference_without_a_target() {
    let input = json!({
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/Range" },
            "b": { "type": "array", "items": { "$ref": "#/$defs/a~1b" } },
            "c": { "$ref": "#/%24defs/a~1b" },
            "d": { "$ref": "#/$defs/Page%3CItem%3E" },
            "$ref": { "type": "string" },
        },
        "$defs": {
            "a/b": { "anyOf": [{ "$ref": "#/definitions/Gone" }, { "$ref": "#" }] },
            "Page<Item>": { "type": "array" },
        },
    });
    let output = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/X" } } });
    let found = problems(
        "schema-target",
        &json!({ "inputSchema": input, "outputSchema": output }),
    );
    let expected = [
        ("/inputSchema/properties/a/$ref", "#/$defs/Range"),
        ("/inputSchema/$defs/a~1b/anyOf/0/$ref", "#/definitions/Gone"),
        ("/outputSchema/properties/x/$ref", "#/$defs/X"),
    ];
    let expected = expected.map(|(pointer, reference)| {
        let problem = format!("the schema has no `{reference}`, so nothing is checked against it");
        [pointer.to_owned(), problem]
    });
    assert_eq!(found, expected);
}

#[test]
fn names_schemas_that_our_host_does_not_apply() {
    for (schema, why) in [
        (
            json!({ "type": "object", "anyOf": [{ "$ref": "#" }, { "properties": { "a": { "$ref": "#" } } }] }),
            "it refers to itself in several ways at once",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "$ref": "#name" } }, "$defs": { "a": { "$anchor": "name" } } }),
            "its references have names of their own",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "$dynamicRef": "#a" } } }),
            "its references depend on the value",
        ),
    ] {
        let problem = format!("nothing is checked against the schema: {why}");
        assert_eq!(
            problems("schema-unchecked", &json!({ "inputSchema": schema })),
            [["/inputSchema".to_owned(), problem]]
        );
    }
    let plain = json!({ "inputSchema": { "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": {} } } });
    assert_eq!(problems("schema-unchecked", &plain), [[""; 2]; 0]);
    assert_eq!(problems("schema-target", &plain), [[""; 2]; 0]);
}

#[test]
fn checks_output_schemas_less_strictly() {
    let output =
        json!({ "type": "object", "properties": { "a": true, "b": { "type": "string" } } });
    assert_eq!(
        of_tool(json!({ "outputSchema": output })),
        [
            "Warning mcp.run; dropped /outputSchema",
            "Warning hyper-mcp; schema-boolean /outputSchema/properties/a",
            "Warning hyper-mcp mcp-servlet; description /outputSchema/properties/b",
        ]
    );
}

#[test]
fn a_dropped_schema_of_a_plain_value_is_no_loss() {
    for (schema, found) in [
        (json!({ "type": "number" }), &[][..]),
        (json!({ "type": ["integer", "null"], "minimum": 0 }), &[]),
        (
            json!({ "type": "array" }),
            &["Warning mcp.run; dropped /outputSchema"],
        ),
    ] {
        let wrapped = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"],
            "x-fastmcp-wrap-result": true });
        assert_eq!(of_tool(json!({ "outputSchema": wrapped })), found);
    }
}

#[test]
fn finds_names_that_clients_do_not_take() {
    for (name, expected) in [
        ("t t".to_owned(), "Error *; name /name"),
        ("x".repeat(65), "Error *; name /name"),
        ("x".repeat(60), "Warning hyper-mcp; name-length /name"),
        ("x".repeat(50), "Note hyper-mcp; name-length /name"),
    ] {
        assert_eq!(of_tool(json!({ "name": name })), [expected], "{name}");
    }
    let tool =
        json!({ "name": "t", "description": "Does it.", "inputSchema": { "type": "object" } });
    let twice = tools(json!([tool, tool]));
    assert_eq!(
        found(&twice, &Target::ALL),
        ["Error *; duplicate", "Note mcp.run; dropped"]
    );
}

#[test]
fn finds_entries_that_are_not_tools() {
    let nameless = tools(json!([{ "inputSchema": { "type": "object" }, "description": "x" }]));
    assert_eq!(found(&nameless, &Target::ALL), ["Error *; tool /name"]);
    assert_eq!(
        of_tool(json!({ "inputSchema": null })),
        ["Error *; tool /inputSchema"]
    );
    assert_eq!(
        of_tool(json!({ "_meta": "x" })),
        [
            "Error hyper-mcp; Warning mcp.run mcp-servlet; tool /_meta",
            "Warning mcp.run; dropped /_meta"
        ]
    );
    assert_eq!(
        found(&tools(json!("none")), &Target::ALL),
        ["Error *; list"]
    );
}

#[test]
fn names_features_that_hosts_drop() {
    let list = r#"{"resources":[{"uri":"urn:x","name":"x","description":"It.","annotations":{"priority":2}}]}"#;
    let servlet =
        tools(json!([])).export("list_resources", list, "(call $output {}) (i32.const 0)");
    assert_eq!(
        found(&servlet, &Target::ALL),
        [
            "Warning mcp.run hyper-mcp; dropped",
            "Warning *; priority /annotations/priority"
        ]
    );
    // A list that is empty loses nothing.
    let list = r#"{"resourceTemplates":[]}"#;
    let servlet = servlet.export(
        "list_resource_templates",
        list,
        "(call $output {}) (i32.const 0)",
    );
    assert_eq!(found(&servlet, &Target::ALL).len(), 2);
    assert_eq!(
        found(&servlet, &[Target::McpServlet]),
        ["Warning mcp-servlet; priority /annotations/priority"]
    );
}

#[test]
fn a_host_that_lacks_a_function_does_not_load_the_module() {
    let progress = tools(json!([])).import(PROGRESS);
    assert_eq!(
        found(&progress, &Target::ALL),
        ["Error mcp.run; imports", "Warning hyper-mcp; dropped"]
    );
    let elsewhere =
        r#"(import "extism:host/user" "get_keyring_secret" (func (param i64) (result i64)))"#;
    assert_eq!(
        found(&tools(json!([])).import(elsewhere), &Target::ALL),
        [
            "Error mcp.run mcp-servlet; imports",
            "Note hyper-mcp; unchecked"
        ]
    );
}

/// The hosts, the problem and the help of each finding of a rule.
fn explained(wat: &Wat, rule: &str) -> Vec<(String, String, String)> {
    let report = check(source(wat), &LoadOptions::default(), &Target::ALL, &[]).expect("a report");
    let findings = report.findings.into_iter().filter(|one| one.rule == rule);
    let findings = findings.map(|one| {
        let hosts: Vec<_> = one.hosts.keys().map(|host| host.name()).collect();
        let help = one.help.expect("help");
        (hosts.join(" "), one.problem, help)
    });
    findings.collect()
}

#[test]
fn other_hosts_do_not_load_a_servlet_that_calls_tools() {
    let calls = tools(json!([])).import(CALL_TOOL);
    let expected = [
        (
            "mcp.run",
            "mcp.run does not have `call_tool` and does not load the servlet",
            "build it with `--abi servlet-strict` or the feature `no-tools`",
        ),
        (
            "hyper-mcp",
            "hyper-mcp does not have `call_tool` and skips the whole servlet",
            "build it with `--abi hyper-mcp-v2` or the feature `no-tools`",
        ),
    ];
    let expected = expected.map(|(host, problem, help)| (host.into(), problem.into(), help.into()));
    assert_eq!(explained(&calls, "imports"), expected);
    assert_eq!(
        found(&calls, &Target::ALL),
        ["Error mcp.run; imports", "Error hyper-mcp; imports"]
    );
    let both = found(&calls.import(PROGRESS), &[Target::McpRun]);
    assert_eq!(both, ["Error mcp.run; imports", "Error mcp.run; imports"]);
}

#[test]
fn http_requests_without_declared_hosts_are_noted() {
    let http =
        r#"(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    let needs = r#"{"hosts":["a.example"]}"#.replace('"', "\\22");
    let declared = format!("(@custom \"mcp-servlet:needs\" \"{needs}\")");
    let expected = (
        "mcp-servlet".to_owned(),
        "it sends HTTP requests but declares no hosts".to_owned(),
        "name them with `hosts` in `export!`, so that operators know which ones to allow"
            .to_owned(),
    );
    let sends = || tools(json!([])).import(http);
    assert_eq!(explained(&sends(), "needs"), [expected]);
    assert_eq!(
        found(&sends(), &[Target::McpServlet]),
        ["Note mcp-servlet; needs"]
    );
    assert_eq!(explained(&sends().after(&declared), "needs"), []);
}

#[test]
fn a_declared_call_needs_the_import() {
    let needs = r#"{"calls":["a:b","c:*"],"reads":["d:e"]}"#.replace('"', "\\22");
    let needs = format!("(@custom \"mcp-servlet:needs\" \"{needs}\")");
    let wat = || tools(json!([])).after(&needs);
    let help = |key: &str| {
        format!(
            "use `context.tools()`, build without the feature `no-tools`, or remove `{key}` from `export!`"
        )
    };
    let finding = |problem: &str, key| {
        let problem = format!("{problem} but does not import `call_tool`");
        ("mcp-servlet".to_owned(), problem, help(key))
    };
    let expected = [
        finding("it declares the tools `a:b`, `c:*`", "calls"),
        finding("it declares the resources `d:e`", "reads"),
    ];
    assert_eq!(explained(&wat(), "needs"), expected);
    assert_eq!(explained(&wat().import(CALL_TOOL), "needs"), []);
    let for_hyper_mcp = Wat::new()
        .export(
            "list_tools",
            r#"{"tools":[]}"#,
            "(call $output {}) (i32.const 0)",
        )
        .export("call_tool", "{}", "(call $output {}) (i32.const 0)")
        .after(&needs);
    assert_eq!(explained(&for_hyper_mcp, "needs"), []);
}

#[test]
fn distinguishes_the_abis() {
    let context = "(call $output {}) (i32.const 0)";
    let second = |resources: &str| {
        let list = json!({ "tools": [{ "name": "t t", "description": "Does it.", "inputSchema": { "type": "object" } }] });
        Wat::new()
            .export("list_tools", &list.to_string(), context)
            .export("call_tool", "{}", context)
            .export("list_resources", resources, context)
    };
    for (uri, expected) in [
        ("mem://a/b", None),
        ("mem://a/b c", Some("Warning hyper-mcp; uri /uri")),
        ("urn:x:y", Some("Error hyper-mcp; uri /uri")),
        ("b", Some("Error hyper-mcp; uri /uri")),
    ] {
        let resource = json!({ "uri": uri, "name": "n", "description": "It." });
        let servlet = second(&json!({ "resources": [resource] }).to_string());
        let found = found(&servlet, &[Target::HyperMcp]);
        assert!(
            found.contains(&"Error hyper-mcp; name /name".to_owned()),
            "{found:?}"
        );
        assert!(
            found.contains(&"Note hyper-mcp; dropped".to_owned()),
            "{found:?}"
        );
        let about_uris = found.iter().find(|line| line.contains("; uri "));
        assert_eq!(about_uris.map(String::as_str), expected, "{uri}");
    }
    let report = check(
        source(&second(r#"{"resources":[]}"#)),
        &LoadOptions::default(),
        &[Target::McpRun],
        &[],
    )
    .expect("a report");
    assert_eq!(report.findings[0].rule, "exports");
}

#[test]
fn trapping_servlet_works_in_no_host() {
    let wat = Wat::new()
        .export("describe", "", "unreachable")
        .answer("{}");
    assert_eq!(found(&wat, &Target::ALL), ["Error *; load"]);
}

/// If the host of this project refuses a servlet, the check must report an error.
#[test]
fn reports_an_error_for_what_our_host_refuses() {
    let tool = |name: &str, schema: Value| json!({ "name": name, "description": "d", "inputSchema": schema });
    let object = || json!({ "type": "object" });
    for servlet in [
        tools(json!([tool("t", object()), tool("t", object())])),
        tools(json!([tool("", object())])),
        tools(json!([tool("a/b", object())])),
        tools(json!([tool("t", json!({ "type": 1 }))])),
        tools(json!([tool(
            "t",
            json!({ "$ref": "https://example.com/s" })
        )])),
        tools(json!([1])),
        tools(json!([])).export("list_prompts", "{}", "(call $output {}) (i32.const 0)"),
        tools(json!([])).export("list_prompts", "", "unreachable"),
        Wat::new().describe("[]").answer("{}"),
        Wat::new()
            .describe(r#"{"tools":[],"instructions":1}"#)
            .answer("{}"),
        Wat::new().answer("{}"),
    ] {
        let loaded = Servlet::load(source(&servlet), &LoadOptions::default());
        let served = loaded.map(|servlet| Host::new(vec![servlet]));
        assert!(served.is_err() || served.is_ok_and(|host| host.problems().len() > 0));
        let report = check(
            source(&servlet),
            &LoadOptions::default(),
            &[Target::McpServlet],
            &[],
        )
        .expect("a report");
        assert_eq!(report.level(), Some(Level::Error), "{:?}", report.findings);
        let loads = Servlet::load(source(&servlet), &LoadOptions::default()).is_ok();
        assert_eq!(report.loads_in.is_empty(), !loads, "{:?}", report.findings);
    }
}

#[test]
fn reports_entries_skipped_in_a_composition() {
    let named = |name: &str, servlet: &Wat| Source::Bytes {
        name: name.into(),
        wasm: servlet.wasm(),
    };
    let servlet = tools(
        json!([{ "name": "a_t", "inputSchema": { "type": "object" } },
        { "name": "t", "inputSchema": { "type": "object" } }]),
    );
    let other = tools(json!([{ "name": "t", "inputSchema": { "type": "object" } }]));
    let sources = [named("a", &other), named("b", &servlet)];
    let reports = check_all(&sources, &LoadOptions::default(), &Target::ALL, &[]).expect("reports");
    let findings = reports.iter().map(|report| {
        let findings = report.findings.iter();
        findings.filter(|one| one.rule == "collision").collect()
    });
    let findings: Vec<Vec<_>> = findings.collect();
    assert!(findings[0].is_empty());
    let [finding] = &*findings[1] else {
        panic!("{:?}", findings[1]);
    };
    assert_eq!(
        finding.problem,
        "tool `a_t` of `b` is skipped: `a` already has the tool `a_t`"
    );
    assert_eq!(finding.level(), Level::Warning);
}

/// `./x bless` writes the tables.
#[test]
fn the_guide_shows_the_tables() {
    const END: &str = "\n<!-- End of the table. -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/hosts.md");
    let mut text = fs::read_to_string(&path).expect("the guide is text");
    for (name, table) in [
        ("features", table()),
        ("rules", rules_table()),
        ("rewritings", lowering_table()),
    ] {
        let start = format!("<!-- `./x bless` writes this table of {name}. -->\n\n");
        let (before, rest) = text.split_once(&start).expect("the start of a table");
        let (found, after) = rest.split_once(END).expect("the end of a table");
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            text = [before, &start, &table, END, after].concat();
            continue;
        }
        assert_eq!(found, table, "docs/hosts.md, see `./x bless`");
    }
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(path, text).expect("the guide is writable");
    }
}
