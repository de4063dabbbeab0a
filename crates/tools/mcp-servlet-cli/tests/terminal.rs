//! No command prints control characters from servlets, schemas, configurations or servers to the terminal.

mod help;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
};

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use support::Wat;
use tokio::runtime::Runtime;

/// Text that a terminal would act on, and a line that imitates output of the command.
const HOSTILE: &str =
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}1A\r\u{202e}\u{7f}pay\u{200b}pal\u{e0041}\nforged: line";

const ANSWER: &str = "(call $output {}) (i32.const 0)";

fn servlet(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(arguments)
        .arg("-vvv")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the command runs")
}

/// Characters that a terminal acts on, except line breaks and tabs, which tables contain.
fn active(text: &str) -> Option<char> {
    let text = text.replace("\r\n", "\n");
    text.chars().find(|one| {
        let is_layout = matches!(one, '\n' | '\t');
        let turns = matches!(one, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (one.is_control() && !is_layout) || turns
    })
}

/// Characters that people do not see but models read, and characters that a terminal acts on.
fn hidden(text: &str) -> Option<char> {
    let is_hidden = |one: &char| matches!(one, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    active(text).or_else(|| text.chars().find(is_hidden))
}

/// A string literal of the WebAssembly text format.
fn wat_string(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        write!(out, "\\{byte:02x}").expect("memory takes everything");
        out
    })
}

fn description(name: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { name: { "type": "integer", "description": name, "enum": [name] } },
        "required": [name],
    });
    json!({
        "serverInfo": { "name": name, "version": name },
        "instructions": name,
        "tools": [
            { "name": name, "title": name, "description": name, "inputSchema": schema },
            { "name": "t", "inputSchema": { "type": "object" } },
            { "name": "needs", "inputSchema": schema },
        ],
    })
}

/// A servlet with hostile text in every name and description.
fn everything(text: &str) -> Vec<u8> {
    let list = |key: &str| json!([{ key: format!("x:{text}"), "name": text, "description": text }]);
    let prompt = json!([{ "name": "p", "description": text, "arguments": [{ "name": text }] }]);
    let content = json!([
        { "type": "text", "text": text },
        { "type": "image", "mimeType": text, "data": "" },
        { "type": "resource_link", "uri": text },
        { "type": text },
    ]);
    let contents =
        json!([{ "uri": text, "mimeType": text, "text": text }, { "uri": text, "blob": "" }]);
    let message = json!({ "role": text, "content": { "type": "text", "text": text } });
    let log = r#"(import "extism:host/env" "log_warn" (func $log (param i64)))"#;
    Wat::new()
        .import(log)
        .describe(&description(text).to_string())
        .export("call", &json!({ "content": content }).to_string(), ANSWER)
        .export(
            "list_resources",
            &json!({ "resources": list("uri") }).to_string(),
            ANSWER,
        )
        .export(
            "list_resource_templates",
            &json!({ "resourceTemplates": list("uriTemplate") }).to_string(),
            ANSWER,
        )
        .export(
            "list_prompts",
            &json!({ "prompts": prompt }).to_string(),
            ANSWER,
        )
        .export(
            "read_resource",
            &json!({ "contents": contents }).to_string(),
            ANSWER,
        )
        .export(
            "get_prompt",
            &json!({ "messages": [message] }).to_string(),
            ANSWER,
        )
        .export(
            "complete",
            &json!({ "completion": { "values": [text] } }).to_string(),
            ANSWER,
        )
        .export("logs", text, "(call $log (call $block {})) (i32.const 0)")
        .after(&format!("(@custom \"{}\" \"\")", wat_string(text)))
        .wasm()
}

/// A servlet that declares hostile needs.
fn needs(text: &str) -> Vec<u8> {
    let schema = json!({ "type": "string", "format": text, "pattern": text, "description": format!("a{text}"), "default": text });
    let config = json!({ "properties": { text: schema, "key": schema, "set": schema }, "required": [text, "key"] });
    let needs = json!({ "config": config, "hosts": [text], "paths": [text],
        "calls": [format!("a:{text}")], "reads": [format!("a:{text}")] })
    .to_string();
    Wat::new()
        .describe(&description("x").to_string())
        .answer("{}")
        .after(&format!(
            "(@custom \"mcp-servlet:needs\" \"{}\")",
            wat_string(&needs)
        ))
        .wasm()
}

/// A catalog in which every text is hostile.
fn catalog(text: &str) -> String {
    let property = json!({ "enum": [text, text.to_uppercase()], "not": true, "description": text });
    let input = json!({ "type": "object", "properties": { text: property }, "required": [text] });
    let tool =
        json!({ "name": text, "description": text, "inputSchema": input, "outputSchema": 1 });
    let info = json!({ "name": text, "version": text });
    let lists = json!({
        "protocol": text, "server": { "info": info, "capabilities": {} }, "tools": [tool],
        "resourceTemplates": [{ "name": text, "uriTemplate": format!("x:{{{text}") }],
    });
    lists.to_string()
}

fn write_files(folder: &Path, text: &str) {
    let write =
        |name: &str, contents: &[u8]| fs::write(folder.join(name), contents).expect("a file");
    let name = wat_string(text);
    write("everything.wasm", &everything(text));
    write("needs.wasm", &needs(text));
    let imports =
        format!("(module (import \"{name}\" \"{name}\" (func)) (func (export \"{name}\")))");
    write("imports.wasm", &wat::parse_str(imports).expect("a module"));
    let exports = format!("(module (func (export \"{name}\")))");
    write("exports.wasm", &wat::parse_str(exports).expect("a module"));
    let fails = "(call $error {}) (i32.const 1)";
    let log = r#"(import "extism:host/env" "log_warn" (func $log (param i64)))"#;
    let failing = Wat::new()
        .import(log)
        .describe(&description("x").to_string());
    let failing = failing.export(
        "call",
        text,
        &format!("(call $log (call $block {{}})) {fails}"),
    );
    write("fails.wasm", &failing.wasm());
    let wrong =
        Wat::new().describe(&json!({ "tools": [], text: 1, "instructions": [text] }).to_string());
    write("wrong.wasm", &wrong.answer("{}").wasm());
    let panics = Wat::new().export("describe", text, fails).answer("{}");
    write("panics.wasm", &panics.wasm());
    let key = json!(text);
    let config = format!("{key} = 1\n[servlet.{key}]\nsource = {key}\n# {text}\n{key} = 2\n");
    write("wrong.toml", config.replace('\u{7f}', "\\u007f").as_bytes());
    write(
        "garbled.toml",
        format!("[servlet.a]\nsource = {text}").as_bytes(),
    );
    write(
        "served.toml",
        format!("[servlet.{key}]\nsource = \"missing.wasm\"\n")
            .replace('\u{7f}', "\\u007f")
            .as_bytes(),
    );
    write(
        "rules.toml",
        format!("[endpoint.pipe]\nkind = \"stdio\"\n[[endpoint.pipe.rules]]\nname = {key}\nallow = [\"*\", {key}]\n[servlet.everything]\nsource = \"everything.wasm\"\n")
            .replace('\u{7f}', "\\u007f")
            .as_bytes(),
    );
    let schema =
        json!({ "version": text, "exports": { text: { "input": { "$ref": text } } }, text: 1 });
    write("schema.yaml", schema.to_string().as_bytes());
    write("garbled.yaml", text.as_bytes());
    write("hostile.json", catalog(text).as_bytes());
    write("noise", text.as_bytes());
    let servers = json!({ text: { "command": text, "args": [text] }, "demo": { "url": text } });
    let servers = json!({ "mcpServers": servers });
    write("mcp.json", servers.to_string().as_bytes());
    write(
        "Cargo.toml",
        format!("[package]\nname = \"{text}\"\n").as_bytes(),
    );
}

/// An MCP server with hostile text in every field, over HTTP.
fn mcp_server(text: &str, runtime: &Runtime) -> String {
    let url = format!("x:{text}");
    let description = description(text);
    let entry = |key: &str, value: &str| json!({ key: value, "name": text, "title": text, "description": text, "mimeType": text });
    let ask = json!({ "method": "elicitation/create", "params": { "message": text, "requestedSchema": {} } });
    let log = json!({ "method": "notifications/message", "params": { "level": text, "logger": text, "data": text } });
    let progress = json!({ "method": "notifications/progress", "params": {
        "progressToken": "$params/_meta/progressToken", "progress": 1, "message": text,
    } });
    let content = json!([
        { "type": "text", "text": text },
        { "type": "image", "mimeType": text, "data": "" },
        { "type": "resource_link", "uri": text },
        { "type": text },
    ]);
    let script = json!({
        "versions": ["2025-11-25"],
        "info": { "name": text, "version": text, "title": text },
        "instructions": text,
        "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {}, text: {} },
        "replies": {
            "tools/list": [{ "result": { "tools": description["tools"] } }],
            "resources/list": [{ "result": { "resources": [entry("uri", &url)] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [entry("uriTemplate", "x:{a}")] } }],
            "prompts/list": [{ "result": { "prompts": [{ "name": "p", "description": text, "arguments": [{ "name": text, "description": text }] }] } }],
            "tools/call": [
                { "before": [progress, log], "ask": ask, "result": { "content": content } },
                { "error": { "code": 1, "message": text, "data": text } },
            ],
            "resources/read": [{ "result": { "contents": [{ "uri": text, "mimeType": text, "text": text }, { "uri": text, "blob": "" }] } }],
            "prompts/get": [{ "result": { "messages": [{ "role": text, "content": { "type": "text", "text": text } }] } }],
            "completion/complete": [{ "result": { "completion": { "values": [text] } } }],
        },
    });
    let script = serde_json::from_value(script).expect("a script");
    let puppet = puppet::Puppet::with(script);
    format!("http://{}/mcp", runtime.block_on(puppet.http()))
}

/// Answers every request with a hostile status and location.
fn server(text: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let text = text.replace(['\r', '\n'], " ");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            let answer =
                format!("HTTP/1.1 302 {text}\r\nLocation: {text}\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/a.wasm")
}

const FILES: [&str; 7] = [
    "everything.wasm",
    "needs.wasm",
    "imports.wasm",
    "exports.wasm",
    "fails.wasm",
    "wrong.wasm",
    "panics.wasm",
];

/// Command lines that use a hostile MCP server.
fn runs_on_server(mcp: &str, argument: &str) -> Vec<Vec<String>> {
    let (uri, empty) = (format!("x:{argument}"), format!("{argument}=1"));
    let (uri, empty) = (uri.as_str(), empty.as_str());
    let runs: Vec<Vec<&str>> = vec![
        vec!["call", mcp],
        vec!["call", mcp, "t"],
        vec!["call", mcp, "t"],
        vec!["call", mcp, "t", "--format", "json"],
        vec!["call", mcp, argument],
        vec!["read", mcp, uri],
        vec!["read", mcp, uri, "--format", "json"],
        vec!["prompt", mcp, "p", "--json", "{}"],
        vec!["prompt", mcp, "p", empty],
        vec!["complete", mcp, "p", empty],
        vec!["complete", mcp, "x:{a}", "a="],
        vec!["ping", mcp],
        vec!["ping", argument],
        vec!["ping", mcp, "--format", "json"],
        vec!["watch", mcp, "--resource", uri],
        vec!["catalog", mcp],
        vec!["catalog", mcp, "--ui"],
        vec!["catalog", mcp, "--format", "json"],
        vec!["catalog", mcp, "--format", "raw"],
        vec!["catalog", mcp, "-o", "catalog.json"],
        vec!["catalog", "everything.wasm"],
        vec!["catalog", "catalog.json"],
        vec!["catalog", "diff", "catalog.json", "everything.wasm"],
        vec!["export", "openapi", mcp],
        vec!["export", "openapi", "catalog.json"],
        vec![
            "catalog",
            "--",
            "sh",
            "-c",
            "cat noise >&2; cat noise; exit 1",
        ],
        vec!["servers"],
        vec!["servers", "--format", "json"],
        vec!["servers", "--client-config", "garbled.yaml"],
        vec!["ping", "demo", "--client-config", "mcp.json"],
        vec!["explain"],
        vec!["explain", argument],
    ];
    owned(runs)
}

/// Command lines that lock a hostile servlet and a hostile MCP server, and find that the servlet has changed.
/// A process gets no NUL as an argument, but a configuration can contain it.
fn runs_on_lock(folder: &Path, mcp: &str, text: &str, argument: &str) -> Vec<Vec<String>> {
    let (key, mcp) = (json!(text), json!(mcp));
    let config =
        format!("[servlet.{key}]\nsource = \"everything.wasm\"\n[remote.far]\nurl = {mcp}\n");
    let config = config.replace('\u{7f}', "\\u007f");
    fs::write(folder.join("members.toml"), config).expect("a file");
    let verify = |format| vec!["lock", "verify", "members.toml", "--format", format];
    owned(vec![
        vec!["lock", "members.toml"],
        vec!["stamp", "everything.wasm"],
        verify("human"),
        verify("json"),
        verify("sarif"),
        verify("github"),
        vec!["lock", "show", argument, "--file", "members.toml"],
        vec!["lock", "show", "far", "--file", "members.toml"],
        vec!["lock", "update", "--file", "members.toml"],
        vec!["serve", "members.toml"],
        vec!["inspect", "everything.wasm"],
        vec!["catalog", "everything.wasm"],
    ])
}

fn owned(runs: Vec<Vec<&str>>) -> Vec<Vec<String>> {
    let owned = |run: Vec<&str>| run.into_iter().map(str::to_owned).collect();
    runs.into_iter().map(owned).collect()
}

/// Command lines that use every hostile file.
fn runs(url: &str, argument: &str) -> Vec<Vec<String>> {
    let (uri, empty) = (format!("x:{argument}"), format!("{argument}=1"));
    let (uri, empty) = (uri.as_str(), empty.as_str());
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["call", "everything.wasm", "t"],
        vec!["call", "everything.wasm", "t", "--format", "json"],
        vec!["call", "everything.wasm", "needs", empty],
        vec!["call", "everything.wasm", argument],
        vec!["call", "fails.wasm", "t"],
        vec!["call", "fails.wasm", "t", "--format", "json"],
        vec!["read", "everything.wasm", uri],
        vec!["read", "everything.wasm", uri, "--format", "json"],
        vec!["prompt", "everything.wasm", "p"],
        vec!["prompt", "everything.wasm", "p", empty],
        vec!["complete", "everything.wasm", "p", empty],
        vec!["complete", "everything.wasm", uri, "x="],
        vec!["complete", "everything.wasm", "none", "x="],
        vec!["login", url],
        vec!["login", argument],
        vec!["logout", argument],
        vec!["serve", url],
        vec!["ping", url],
        vec!["serve", "everything.wasm", "--prefix", "never"],
        vec!["serve", "everything.wasm", "--config", argument],
        vec!["serve", "everything.wasm", "--print-client-config", "codex"],
        vec!["serve", "served.toml"],
        vec!["serve", "wrong.toml"],
        vec!["serve", "needs.wasm", "--config", "set=1"],
        vec!["serve", "needs.wasm", "--print-client-config", "claude"],
        vec!["gen", "schema.yaml"],
        vec!["gen", "garbled.yaml"],
        vec!["gen", "schema.yaml", "--format", "json"],
        vec!["gen", "client", "hostile.json"],
        vec!["gen", "client", "hostile.json", "--only", argument],
        vec!["gen", "client", "hostile.json", "--name", argument],
        vec!["new", "made", "--schema", "schema.yaml"],
        vec!["build"],
        vec!["dev"],
        vec!["test"],
        vec!["test", "imports.wasm", "--with", "exports.wasm"],
    ];
    for file in FILES {
        for command in ["describe", "inspect", "check"] {
            runs.push(vec![command, file]);
            runs.push(vec![command, file, "--format", "json"]);
        }
        runs.push(vec!["call", file, "t"]);
        runs.push(vec!["serve", file]);
    }
    // It changes the files, so it comes last.
    for file in FILES {
        runs.push(vec!["stamp", file]);
    }
    owned(runs)
}

/// Command lines that write packages and configurations.
fn runs_that_write(url: &str, argument: &str) -> Vec<Vec<String>> {
    owned(vec![
        vec!["install", "cursor", "everything.wasm", "--scope=project"],
        vec!["install", "cursor", url, "--scope=project", "--no-check"],
        vec!["uninstall", "cursor", argument, "--scope=project"],
        vec![
            "pack",
            "--mcpb",
            "everything.wasm",
            "--author",
            argument,
            "--bin=none",
        ],
        vec!["pack", "everything.wasm", "--npm", argument],
        vec![
            "pack",
            "everything.wasm",
            "--wheel=everything",
            "--author",
            argument,
        ],
        vec!["export", "registry", "everything.wasm", "--name", argument],
        vec!["check", "everything.wasm", "--for=registry"],
        vec!["config", "init", "needs.wasm", "--output", "-"],
        vec!["config", "init", "needs.wasm", "--output", "made.toml"],
        vec!["config", "init", "everything.wasm", argument],
        vec!["config", "schema"],
        vec!["completions", "bash"],
        vec!["completions", argument],
        vec!["config", "check", "wrong.toml"],
        vec!["config", "check", "garbled.toml"],
        vec!["config", "check", "served.toml"],
        vec!["config", "check", "rules.toml", "--load", "-v"],
        vec!["config", "explain", "rules.toml", argument],
        vec![
            "config",
            "explain",
            "rules.toml",
            "t",
            "--endpoint",
            argument,
        ],
        vec![
            "config",
            "explain",
            "rules.toml",
            "t",
            "--caller",
            "garbled.yaml",
        ],
        vec!["config", "check", "made.toml", "--no-env"],
    ])
}

/// Command lines that use a hostile registry.
fn runs_on_registry(url: &str, argument: &str) -> Vec<Vec<String>> {
    let image = url.replace("http://", "oci+http://");
    let image = image.replace("/a.wasm", "/a:1");
    owned(vec![
        vec!["push", "everything.wasm", &image],
        vec!["push", "everything.wasm", argument],
        vec!["key", "new", "-o", argument],
        vec!["sign", &image, "--key", argument],
        vec!["verify", &image, "--key", argument],
        vec!["pull", &image],
        vec!["pull", argument],
        vec!["describe", &image],
        vec!["cache", "clean", argument],
        vec!["auth", "key", argument],
    ])
}

/// Runs every command on the hostile files. Returns the names of the commands.
fn run_all(text: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    write_files(folder.path(), text);
    // An argument cannot contain a NUL byte.
    let runtime = Runtime::new().expect("a runtime");
    let mcp = mcp_server(text, &runtime);
    let argument = text.replace('\0', " ");
    let url = server(text);
    let mut runs = runs(&url, &argument);
    runs.extend(runs_that_write(&url, &argument));
    runs.extend(runs_on_registry(&url, &argument));
    runs.extend(runs_on_server(&mcp, &argument));
    runs.extend(runs_on_lock(folder.path(), &mcp, text, &argument));
    for run in &runs {
        let arguments: Vec<_> = run.iter().map(String::as_str).collect();
        let output = servlet(folder.path(), &arguments);
        for (stream, bytes) in [("output", &output.stdout), ("error", &output.stderr)] {
            let shown = String::from_utf8_lossy(bytes);
            // Redirected results stay as the servlet or the server wrote them. Another test has a terminal.
            let is_result = matches!(&*run[0], "call" | "read" | "prompt");
            if is_result && stream == "output" {
                continue;
            }
            // The text of a document stays the same, but for control characters, which TOML escapes.
            let is_document = run.iter().take(2).eq(["config", "init"]) && stream == "output";
            let found = if is_document { active } else { hidden };
            assert_eq!(
                found(&shown),
                None,
                "{run:?}, standard {stream}:\n{shown:?}"
            );
        }
        // A tool's error and the user's own arguments are printed as they are, so they may contain line breaks.
        let is_answer = run[0] == "call" && output.status.code() == Some(1);
        let is_typed = run.iter().any(|argument| argument.contains("forged"));
        if is_answer || is_typed {
            continue;
        }
        // Results and documents keep their line breaks.
        let is_shown = matches!(
            &*run[0],
            "describe" | "inspect" | "check" | "catalog" | "lock"
        );
        for bytes in [Some(&output.stderr), is_shown.then_some(&output.stdout)] {
            let shown = String::from_utf8_lossy(bytes.map_or(&[], |bytes| bytes));
            let forged = shown.lines().any(|line| line.starts_with("forged"));
            assert!(!forged, "{run:?}: {shown}");
        }
    }
    let made = fs::read_to_string(folder.path().join("made.toml")).expect("a configuration");
    assert_eq!(active(&made), None, "{made}");
    let name = |run: &Vec<String>| match &*run[0] {
        "auth" | "cache" | "config" | "export" | "key" | "lock" => run[..2].join(" "),
        "catalog" if run[1] == "diff" => run[..2].join(" "),
        "gen" if run[1] == "client" => run[..2].join(" "),
        _ => run[0].clone(),
    };
    runs.iter().map(name).collect()
}

#[test]
fn foreign_text_cannot_control_the_terminal() {
    let run = run_all(HOSTILE);
    let commands = help::commands();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        assert!(run.contains(&command), "`servlet {command}` is not tested");
    }
}

#[test]
fn no_combination_of_characters_acts_on_the_terminal() {
    let active = prop_oneof![
        any::<char>(),
        (0_u32..0xa0).prop_map(|code| char::from_u32(code).unwrap_or(' ')),
        Just('\u{1b}'),
        Just('\u{2067}'),
        Just('\u{200b}'),
        Just('\u{e0041}'),
    ];
    let text = prop::collection::vec(active, 1..20).prop_map(String::from_iter);
    let config = ProptestConfig {
        cases: 2,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&text, |text| {
            run_all(&text);
            Ok(())
        })
        .expect("nothing acts on the terminal");
}

/// A crate that rustc rejects.
#[cfg(target_os = "linux")]
fn broken_crate() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = "[package]\nname = \"broken\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("a file");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    let source = "pub fn twice(number: u8) -> u8 { number.repeat(2) }\n";
    fs::write(folder.path().join("src/lib.rs"), source).expect("a file");
    folder
}

/// What a command writes to a pseudo-terminal of this width, which `script` of util-linux makes.
#[cfg(target_os = "linux")]
fn on_terminal(folder: &Path, columns: u16, arguments: &str) -> String {
    on_terminal_with("NO_COLOR=", "TERM=xterm", folder, columns, arguments)
}

/// The same with these environment variables.
#[cfg(target_os = "linux")]
fn on_terminal_with(
    colors: &str,
    term: &str,
    folder: &Path,
    columns: u16,
    arguments: &str,
) -> String {
    // The limit ends reads of an output that never comes. Some of the commands compile a crate.
    let line = format!(
        "stty cols {columns}; {colors} {term} timeout --foreground 600 {} {arguments}",
        env!("CARGO_BIN_EXE_servlet")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]);
    let script = script.current_dir(folder);
    // `servlet dev` ends at once if its standard input is closed.
    let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("`script` runs");
    let mut output = script.stdout.take().expect("an output");
    let (mut shown, mut buffer) = (String::new(), [0; 4096]);
    while !shown.contains("waiting for a change") {
        match output.read(&mut buffer).expect("an output") {
            0 => break,
            count => shown += &String::from_utf8_lossy(&buffer[..count]),
        }
    }
    let _ = script.kill();
    script.wait().expect("it ends");
    shown
}

#[cfg(target_os = "linux")]
#[test]
fn messages_of_the_compiler_keep_their_colors() {
    let folder = broken_crate();
    for columns in [80, 200] {
        for command in ["build", "check", "test", "dev"] {
            let shown = on_terminal(folder.path(), columns, command);
            assert!(shown.contains("\u{1b}[1m"), "{command}: {shown}");
            assert!(
                shown.contains("no method named `repeat`"),
                "{command}: {shown}"
            );
            assert!(!shown.contains("\\u{1b}"), "{command}: {shown}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_fits_the_terminal() {
    let text = "each of these words is part of a very long description ".repeat(5);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("long.wasm"), needs(&text)).expect("a file");
    for columns in [80, 200] {
        for command in ["describe", "inspect", "check", "catalog"] {
            let shown = on_terminal(folder.path(), columns, &format!("{command} long.wasm"));
            let widest = shown.lines().map(width).max();
            assert!(widest <= Some(columns.into()), "{command}: {shown}");
            assert!(
                shown.contains("\u{1b}["),
                "{command} has no colors: {shown}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_without_colors_gets_none() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), needs("a")).expect("a file");
    for (colors, term) in [("NO_COLOR=1", "TERM=xterm"), ("NO_COLOR=", "TERM=dumb")] {
        let shown = on_terminal_with(colors, term, folder.path(), 80, "describe a.wasm");
        assert!(!shown.contains('\u{1b}'), "{colors} {term}: {shown}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_change_of_a_lock_is_approved_on_a_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let write_servlet = |name: &str| {
        let wasm = Wat::new().describe(&description(name).to_string());
        fs::write(file("a.wasm"), wasm.answer("{}").wasm()).expect("a file");
    };
    fs::write(file("servlet.toml"), "[servlet.a]\nsource = \"a.wasm\"\n").expect("a file");
    write_servlet("one");
    assert!(servlet(folder.path(), &["lock"]).status.success());
    write_servlet("two");
    for (answer, code) in [("n", 1), ("y", 0)] {
        let line = concat!(env!("CARGO_BIN_EXE_servlet"), " lock update");
        let mut script = Command::new("script");
        script
            .args(["-qec", line, "/dev/null"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut script = script.spawn().expect("`script` runs");
        // It is open until the end: the terminal would end with it.
        let mut input = script.stdin.take().expect("an input");
        writeln!(input, "{answer}").expect("the terminal reads");
        let output = script.wait_with_output().expect("it ends");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert!(shown.contains("approve sha256:"), "{shown}");
        let lock = fs::read_to_string(file("servlet.lock")).expect("a lock");
        assert_eq!(lock.contains("tool two"), answer == "y", "{lock}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_people_copy_is_not_wrapped() {
    let text = "each of these words is part of a very long description ".repeat(5);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("long.wasm"), needs(&text)).expect("a file");
    let shown = on_terminal(folder.path(), 80, "config init long.wasm -o -");
    let table: toml::Table = shown
        .parse()
        .unwrap_or_else(|error| panic!("{error}: {shown}"));
    assert!(table.contains_key("servlet"), "{shown}");
    let command = "serve long.wasm --prefix never --print-client-config cursor 2>/dev/null";
    let shown = on_terminal(folder.path(), 80, command);
    let file: Result<Value, _> = serde_json::from_str(&shown);
    file.unwrap_or_else(|error| panic!("{error}: {shown}"));
}

/// The characters of a line that take a column.
#[cfg(target_os = "linux")]
fn width(line: &str) -> usize {
    let parts = line.trim_end().split("\u{1b}[");
    let shown = parts.enumerate().map(|(at, part)| match at {
        0 => part.chars().count(),
        _ => part
            .split_once('m')
            .map_or(0, |(_, rest)| rest.chars().count()),
    });
    shown.sum()
}
