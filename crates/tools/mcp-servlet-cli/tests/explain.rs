//! `servlet config explain`.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};
use support::Wat;
use tempfile::TempDir;

/// The chapter of the guide about policies.
fn chapter() -> &'static str {
    let guide = include_str!("../../../../docs/access.md");
    let (_, chapter) = guide.split_once("### Policies").expect("the chapter");
    chapter.split("\n### ").next().expect("its end")
}

/// The first block with these words behind the backticks.
fn block(begin: &str) -> &'static str {
    let (_, rest) = chapter().split_once(begin).expect("a block");
    rest.split("```").next().expect("its end")
}

/// A folder with the policies, servlets for them, and a caller.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let number = json!({ "type": "number" });
    let pay = json!({ "type": "object", "properties": { "amount": number } });
    let tools = json!({ "tools": [
        { "name": "pay", "inputSchema": pay },
        { "name": "gh_get", "inputSchema": { "type": "object" } },
        { "name": "files_read", "inputSchema": { "type": "object" } },
        { "name": "report", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
    ] });
    let wasm = Wat::new().describe(&tools.to_string()).answer("{}").wasm();
    let config = format!(
        "{}[endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nauth = \"corp\"\n\
         [listener.local]\naddress = \"127.0.0.1:0\"\n[servlet.bank]\nsource = \"bank.wasm\"\n\
         [auth.corp]\nclaims = [\"tenant\"]\nscopes = [\"mcp\"]\n\
         key = [{{ name = \"ci\", sha256 = \"{}\" }}]\n",
        block("```toml\n"),
        "0".repeat(64)
    );
    let (_, ann) = chapter().split_once("`ann.json` is\n`").expect("a caller");
    let (ann, _) = ann.split_once('`').expect("its end");
    for (name, content) in [
        ("bank.wasm", &*wasm),
        ("servlet.toml", config.as_bytes()),
        ("ann.json", ann.as_bytes()),
        ("wrong.json", b"{ \"kind\": \"robot\" }"),
    ] {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

fn explain(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command
        .args(["config", "explain", "servlet.toml"])
        .args(arguments);
    command
        .current_dir(folder)
        .output()
        .expect("the command runs")
}

#[test]
fn the_explanation_of_the_guide_is_what_the_command_prints() {
    let (command, expected) = block("```console\n").split_once('\n').expect("a command");
    let arguments = command.strip_prefix("$ servlet config explain servlet.toml ");
    let arguments: Vec<_> = arguments.expect("a command").split(' ').collect();
    let folder = folder();
    let output = explain(folder.path(), &arguments);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(
        text,
        expected,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_exit_code_says_whether_the_call_is_allowed() {
    let folder = folder();
    for (arguments, code) in [
        (&["pay", "amount=50", "--caller", "ann.json"][..], 0),
        (&["pay", "amount=50"], 1),
        (
            &[
                "pay",
                "--json",
                "{\"amount\": \"x\"}",
                "--caller",
                "ann.json",
            ],
            1,
        ),
        (&["report", "--caller", "ann.json", "--endpoint", "main"], 0),
        (&["report", "--endpoint", "mian"], 2),
        (&["repotr"], 2),
        (&["report", "--caller", "wrong.json"], 2),
        (&["report", "--caller", "none.json"], 2),
    ] {
        let output = explain(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {output:?}"
        );
    }
    let output = explain(folder.path(), &["report", "--endpoint", "mian"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("there is no endpoint `mian`; did you mean `main`?"),
        "{errors}"
    );
}

#[test]
fn programs_read_the_explanation() {
    let folder = folder();
    let arguments = [
        "pay",
        "amount=250",
        "--caller",
        "ann.json",
        "--format",
        "json",
    ];
    let output = explain(folder.path(), &arguments);
    let explanation: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(explanation["listed"], true);
    assert_eq!(explanation["allowed"], false);
    let rule = json!({
        "line": 7,
        "name": "small payments",
        "effect": "allow",
        "holds": "no",
        "reason": "the call is with amount = 250; expected amount: number from 0 to 100",
    });
    let mut rules = explanation["call"].as_array().expect("rules").iter();
    assert_eq!(rules.nth(1), Some(&rule));
}

#[test]
fn conditions_of_sessions_are_explained() {
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let config = fs::read_to_string(&path).expect("a file");
    let hooks = "auth = \"corp\"\non_session = { tool = \"bank:report\" }\nreject = [\n\
        { when = \"${{ client.name == 'a' }}\" },\n\
        { when = \"${{ caller.subject == 'ann' && client.name == 'b' }}\", status = 410 },\n\
        { when = \"${{ caller.subject == 'bob' }}\", status = 429 },\n]\n";
    let config = config.replace("auth = \"corp\"\n", hooks);
    fs::write(&path, &config).expect("a file");
    let line = |text: &str| {
        let (before, _) = config.split_once(text).expect("the condition");
        before.matches('\n').count() + 1
    };
    let [first, second, third] = ["client.name == 'a'", "'ann' &&", "'bob'"].map(line);
    let bob = r#"{ "kind": "key", "subject": "bob", "scopes": ["mcp"] }"#;
    fs::write(folder.path().join("bob.json"), bob).expect("a file");
    let output = explain(folder.path(), &["gh_get", "--caller", "bob.json"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8(output.stdout).expect("text");
    let maybe = ": it depends on the client, its headers or its session";
    let expected = format!(
        "caller  key bob, scopes mcp, no roles\n  \
         reject with 403 (line {first})  maybe{maybe}\n  \
         reject with 410 (line {second})  no\n  \
         reject with 429 (line {third})  yes\n  \
         on_session  maybe: `bank:report` decides\n\
         listed  yes\n"
    );
    assert!(text.starts_with(&expected), "{text}{errors}");
    let denied =
        format!("call    denied\n  before the rules: the client gets status 429 (line {third})\n");
    assert!(text.contains(&denied), "{text}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_virtual_tool_depends_on_what_it_sends() {
    let folder = folder();
    let own = "deny = [\"pay\"], members = [\"bank\"]";
    let rest = "{ allow = [\"*\"] }";
    for (rules, verdict, code) in [
        (rest.to_owned(), "allowed", 0),
        (format!("{{ {own} }}, {rest}"), "denied", 1),
        (
            format!("{{ {own}, arguments = {{ amount = {{ minimum = 100 }} }} }}, {rest}"),
            "depends on what it sends to `bank:pay`",
            1,
        ),
        (
            format!(
                "{{ allow = [\"pay\"], members = [\"bank\"], arguments = {{ amount = {{ maximum = 50 }} }} }}, {rest}"
            ),
            "allowed",
            0,
        ),
        (
            format!(
                "{{ allow = [\"pay\"], members = [\"bank\"], arguments = {{ amount = {{ maximum = 50 }} }} }}, {{ {own} }}, {rest}"
            ),
            "depends on what it sends to `bank:pay`",
            1,
        ),
    ] {
        let config = format!(
            "[endpoint.pipe]\nkind = \"stdio\"\nrules = [{rules}]\n\
             [servlet.bank]\nsource = \"bank.wasm\"\n\
             [bundle.b.tool.v_pay]\ndescription = \"Pays.\"\nhandler = \"bank:pay\"\n"
        );
        fs::write(folder.path().join("servlet.toml"), config).expect("a file");
        let output = explain(folder.path(), &["v_pay", "amount:=5"]);
        let text = String::from_utf8_lossy(&output.stdout);
        let line = format!("call    {verdict}\n");
        assert!(text.contains(&line), "{rules}: {output:?}");
        assert_eq!(output.status.code(), Some(code), "{rules}");
    }
}
