//! Servlets that call tools and read resources of others.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    DESCRIPTION, Wat,
    caller::{CALL_TOOL, caller, to_call, to_read},
};

/// What grants the calls of `planner`.
const GRANTS: [&str; 4] = ["--allow-tool", "weather:*", "--allow-resource", "docs:*"];

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(arguments).current_dir(folder);
    command.output().expect("the command runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The answers to the calls of `planner`.
fn answers(output: &Output) -> Vec<Value> {
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let answers = result["structuredContent"]["answers"].as_array();
    answers.expect("a list")[1..].to_vec()
}

fn weather() -> Wat {
    let sunny = json!({ "structuredContent": { "b": 1, "a": 2 }, "content": [] });
    let names = DESCRIPTION.replace("\"t\"", "\"get\"");
    Wat::new().describe(&names).answer(&sunny.to_string())
}

fn docs() -> Wat {
    Wat::new()
        .describe(r#"{"tools":[]}"#)
        .export(
            "read_resource",
            r#"{"contents":[{"uri":"docs://a","text":"A"}]}"#,
            "(call $output {}) (i32.const 0)",
        )
        .answer("{}")
}

/// A folder with these servlets in `servlets`.
fn folder(servlets: &[(&str, Wat)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("servlets");
    fs::create_dir(&inner).expect("a folder");
    for (name, wat) in servlets {
        fs::write(inner.join(format!("{name}.wasm")), wat.wasm()).expect("a file");
    }
    folder
}

/// A planner that makes three calls, and what it calls.
fn planner() -> TempDir {
    let mut with_arguments = to_call("weather:get");
    with_arguments["params"]["arguments"] = json!({ "to": "Oslo", "at": 1 });
    let requests = [
        with_arguments,
        to_read("docs", "docs://a"),
        to_call("weather:none"),
    ];
    folder(&[
        ("planner", caller(&requests, "")),
        ("weather", weather()),
        ("docs", docs()),
    ])
}

#[test]
fn servlets_of_a_folder_call_each_other_if_options_allow_it() {
    let folder = planner();
    let call = ["call", "servlets/", "t", "--format", "json"];
    let called = run(&folder, &call);
    let refused = answers(&called);
    assert_eq!(refused[0]["error"]["kind"], "not_allowed", "{called:?}");
    let called = run(&folder, &[&call[..], &GRANTS].concat());
    let answers = answers(&called);
    assert_eq!(
        answers[0]["result"]["structuredContent"],
        json!({ "b": 1, "a": 2 })
    );
    assert_eq!(answers[1]["result"]["contents"][0]["text"], "A");
    assert_eq!(answers[2]["error"]["kind"], "unknown");
}

#[test]
fn a_servlet_alone_has_nothing_to_call() {
    let folder = planner();
    let call = ["call", "servlets/planner.wasm", "t", "--format", "json"];
    let called = run(&folder, &[&call[..], &GRANTS].concat());
    assert_eq!(
        answers(&called)[0]["error"]["message"],
        "there is no servlet or remote `weather`"
    );
}

#[test]
fn records_what_calls_return() {
    let folder = planner();
    let config = "[servlet.planner]\nsource = \"servlets/planner.wasm\"\n\
        allow = { tools = [\"weather:*\"], resources = [\"docs:*\"] }\n\
        [servlet.weather]\nsource = \"servlets/weather.wasm\"\n\
        [servlet.docs]\nsource = \"servlets/docs.wasm\"\n";
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    let with_options = [&["call", "servlets/", "t"], &GRANTS[..]].concat();
    let with_config = ["call", "servlet.toml", "t"];
    let expected = r#"[
  {
    "arguments": {
      "at": 1,
      "to": "Oslo"
    },
    "name": "weather:get",
    "result": {
      "content": [],
      "structuredContent": {
        "a": 2,
        "b": 1
      }
    }
  },
  {
    "member": "docs",
    "result": {
      "contents": [
        {
          "text": "A",
          "uri": "docs://a"
        }
      ]
    },
    "uri": "docs://a"
  },
  {
    "arguments": {},
    "error": {
      "kind": "unknown",
      "message": "servlet `weather` has no tool `none`"
    },
    "name": "weather:none"
  }
]
"#;
    for command in [&with_options[..], &with_config] {
        let called = run(&folder, &[command, &["--record", "calls.json"]].concat());
        assert!(called.status.success(), "{called:?}");
        let recorded = fs::read_to_string(folder.path().join("calls.json"));
        assert_eq!(recorded.expect("a recording"), expected);
        fs::remove_file(folder.path().join("calls.json")).expect("a file");
    }
}

#[test]
fn records_only_what_servlets_in_this_process_call() {
    let folder = planner();
    for server in [
        &["call", "http://127.0.0.1:1/mcp", "t"][..],
        &["call", "t", "--record", "calls.json", "--", "server"],
    ] {
        let mut arguments = server.to_vec();
        if !arguments.contains(&"--record") {
            arguments.extend(["--record", "calls.json"]);
        }
        let called = run(&folder, &arguments);
        assert_eq!(called.status.code(), Some(2), "{called:?}");
        let error = stderr(&called);
        assert_eq!(error, "error: `--record` only applies to servlets\n");
    }
    let into_nothing = ["call", "servlets/", "t", "--record", "no/calls.json"];
    let called = run(&folder, &into_nothing);
    assert_eq!(called.status.code(), Some(5), "{called:?}");
    assert!(!called.stdout.is_empty(), "the result is lost: {called:?}");
    let error = stderr(&called);
    assert!(
        error.contains("error: cannot write `no/calls.json`: "),
        "{error}"
    );
}

#[test]
fn servlets_that_could_call_each_other_for_ever_do_not_start() {
    let folder = folder(&[
        ("a", caller(&[to_call("b:t")], "")),
        ("b", caller(&[to_call("a:t")], "")),
        ("weather", weather()),
    ]);
    let each_other = ["--allow-tool", "a:*", "--allow-resource", "b:*"];
    let (a, b) = ("servlets/a.wasm", "servlets/b.wasm");
    let message =
        "error: servlets could call each other for ever: `a` may call `b`, `b` may call `a`\n";
    for command in [
        &["serve", "servlets/"][..],
        &["serve", a, b],
        &["call", "servlets/"],
        &["ping", "servlets/"],
    ] {
        let started = run(&folder, &[command, &each_other].concat());
        assert_eq!(started.status.code(), Some(2), "{command:?}: {started:?}");
        assert_eq!(stderr(&started), message, "{command:?}");
    }
    let own = run(&folder, &["call", a, "--allow-tool", "a:t"]);
    assert_eq!(own.status.code(), Some(2), "{own:?}");
    assert_eq!(
        stderr(&own),
        "error: servlet `a` cannot call its own tools: call the function\n"
    );
    let one_way = ["call", "servlets/", "--allow-tool", "b:*", "--allow-tool"];
    let one_way = run(&folder, &[&one_way[..], &["weather:get"]].concat());
    assert!(one_way.status.success(), "{one_way:?}");
}

/// The blocks of code in a section of a page.
fn blocks<'p>(page: &'p str, section: &str, language: &str) -> Vec<&'p str> {
    let (_, section) = page.split_once(section).expect("the section");
    let (section, _) = section.split_once("\n## ").expect("its end");
    let begin = format!("```{language}\n");
    let blocks = section.split(&*begin).skip(1);
    let blocks = blocks.map(|block| block.split("```").next().expect("a block"));
    blocks.collect()
}

#[test]
fn the_configuration_of_the_guide_allows_calls() {
    let guide = include_str!("../../../../docs/serving.md");
    let config = blocks(guide, "### Calls of other servlets", "toml")[0];
    let requests = [
        to_call("weather:get_now"),
        to_read("weather", "forecast://oslo"),
        to_read("weather", "docs://a"),
    ];
    let forecast = r#"{"contents":[{"uri":"forecast://oslo","text":"rain"}]}"#;
    let weather = Wat::new()
        .describe(&DESCRIPTION.replace("\"t\"", "\"get_now\""))
        .export("read_resource", forecast, "(call $output {}) (i32.const 0)")
        .answer(r#"{"content":[]}"#);
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("a file");
    };
    write("servlet.toml", config.as_bytes());
    write("planner.wasm", &caller(&requests, "").wasm());
    write("weather.wasm", &weather.wasm());
    let checked = run(&folder, &["config", "check", "--load", "servlet.toml"]);
    assert!(checked.status.success(), "{checked:?}");
    let listed = run(&folder, &["call", "servlet.toml"]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "t\n    d\n");
    let called = run(&folder, &["call", "servlet.toml", "t", "--format", "json"]);
    let answers = answers(&called);
    assert_eq!(answers[0]["result"]["content"], json!([]));
    assert_eq!(answers[1]["result"]["contents"][0]["text"], "rain");
    assert_eq!(answers[2]["error"]["kind"], "not_allowed");
}

#[test]
fn both_checks_find_a_read_only_tool_that_may_call_one_that_is_not() {
    let tool = json!({
        "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
    });
    let look = Wat::new().import(CALL_TOOL).answer("{}");
    let look = look.describe(&json!({ "tools": [tool] }).to_string());
    let folder = folder(&[("look", look), ("weather", weather())]);
    let config = "[servlet.look]\nsource = \"servlets/look.wasm\"\nallow = { tools = [\"weather:*\"] }\n\
        [servlet.weather]\nsource = \"servlets/weather.wasm\"\n";
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    let expected = "servlet.toml:3:20: tool `look` of servlet `look` is read-only, but may call `weather:get`, which is not\n";
    for check in [
        &["config", "check", "--load", "servlet.toml"][..],
        &["check", "servlet.toml"],
    ] {
        let checked = run(&folder, check);
        assert!(checked.status.success(), "{checked:?}");
        assert!(stderr(&checked).contains(expected), "{checked:?}");
    }
}

#[test]
fn the_function_of_the_guide_answers_as_it_says() {
    let guide = include_str!("../../../../docs/abis.md");
    let json = blocks(guide, "## Calls of tools", "json").into_iter();
    let json = json.map(|block| serde_json::from_str::<Value>(block).expect("JSON"));
    let [call, read, result, error] = &*json.collect::<Vec<_>>() else {
        panic!("the page has two requests and two answers");
    };
    let requests = [call.clone(), read.clone(), to_call("other:t")];
    let weather = Wat::new()
        .describe(&DESCRIPTION.replace("\"t\"", "\"get_weather\""))
        .answer(&result["result"].to_string());
    let folder = folder(&[
        ("planner", caller(&requests, "")),
        ("weather", weather),
        ("docs", docs()),
    ]);
    let call = ["call", "servlets/", "t", "--format", "json"];
    let called = run(&folder, &[&call[..], &GRANTS].concat());
    let answers = answers(&called);
    assert_eq!(answers[0], *result);
    assert!(answers[1]["result"]["contents"].is_array(), "{called:?}");
    assert_eq!(answers[2]["error"]["kind"], error["error"]["kind"]);
    let (begin, _) = error["error"]["message"]
        .as_str()
        .and_then(|message| message.split_once('…'))
        .expect("the beginning of a message");
    let message = answers[2]["error"]["message"].as_str().expect("a text");
    assert!(message.starts_with(begin), "{message}");

    let import = blocks(guide, "## Calls of tools", "wat")[0];
    let module = wat::parse_str(format!("(module {import} (memory 1))")).expect("an import");
    fs::write(folder.path().join("module.wasm"), module).expect("a file");
    let inspected = run(&folder, &["inspect", "module.wasm"]);
    let shown = String::from_utf8_lossy(&inspected.stdout).into_owned();
    assert!(
        shown.contains("  can      call tools of other servlets\n"),
        "{shown}"
    );
}

#[test]
fn a_raw_result_has_no_shape() {
    let folder = folder(&[("weather", weather())]);
    let config = "[servlet.weather]\nsource = \"servlets/weather.wasm\"\ntool.get.shape = { take = [\"/a\"] }\n";
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    let call = [
        "call",
        "servlet.toml",
        "get",
        "--select",
        "/structuredContent",
    ];
    for (more, expected) in [
        (&[][..], json!({ "a": 2 })),
        (&["--raw"], json!({ "b": 1, "a": 2 })),
    ] {
        let called = run(&folder, &[&call[..], more].concat());
        let content: Value = serde_json::from_slice(&called.stdout)
            .unwrap_or_else(|error| panic!("{error}: {called:?}"));
        assert_eq!(content, expected);
    }
    let called = run(&folder, &["call", "servlets/weather.wasm", "get", "--raw"]);
    assert_eq!(called.status.code(), Some(2));
    assert!(
        stderr(&called).contains("`--raw` only applies to a `servlet.toml`"),
        "{called:?}"
    );
}
