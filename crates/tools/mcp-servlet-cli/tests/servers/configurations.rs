//! Servers in the configurations of MCP clients.

use std::{fs, path::Path};

use serde_json::{Value, json};

use puppet::Puppet;

use crate::support::{command_in, http, parts, puppet, url};

fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = command_in(home, arguments).output();
    parts(&output.expect("the command runs"))
}

/// A home with the configurations of two clients.
fn home(url: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let [program, script] = puppet("plain");
    let secret = json!({ "TOKEN": "s3cret-value" });
    let arguments = [&*script, "--log", "/dev/null"];
    let project = json!({ "mcpServers": {
        "demo": { "command": program, "args": arguments, "env": secret },
        "remote": { "type": "http", "url": url, "headers": {
            "X-Key": "s3cret-header", "Accept": "x", "Authorization": "Bearer s3cret",
        } },
        "keyed": { "command": "npx", "args": ["--api-key", "s3cret-argument"] },
        "my.server": { "command": "npx", "args": ["-H", "Authorization: Bearer s3cret"] },
        "unset": { "command": "npx", "args": ["${NO_SUCH_VARIABLE}"] },
    } });
    fs::write(home.path().join(".mcp.json"), project.to_string()).expect("a file");
    let cursor =
        json!({ "mcpServers": { "demo": { "url": "https://u:s3cret@mcp.example/mcp?k=s3cret" } } });
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    fs::write(home.path().join(".cursor/mcp.json"), cursor.to_string()).expect("a file");
    let cline = home.path().join(".cline/data/settings");
    fs::create_dir_all(&cline).expect("a folder");
    let off = json!({ "mcpServers": { "off": { "command": program, "args": [script], "disabled": true } } });
    fs::write(cline.join("cline_mcp_settings.json"), off.to_string()).expect("a file");
    home
}

#[test]
fn servers_are_listed_without_secrets() {
    let home = home("http://127.0.0.1:1/mcp");
    let (code, table, _) = run(home.path(), &["servers", "-vvv"]);
    assert_eq!(code, 0);
    let (_, json, _) = run(home.path(), &["servers", "--format", "json"]);
    assert!(
        !table.contains("s3cret") && !json.contains("s3cret"),
        "{table}{json}"
    );
    for part in [
        "demo       claude-code  ",
        "npx --api-key …",
        "npx -H …  (use `--server my.server`)",
        "https://…@mcp.example/mcp?…",
        "(disabled)",
        "(use `cursor:demo`",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["name"], "demo");
    assert_eq!(json[0]["env"], json!(["TOKEN"]));
    let used: Vec<_> = json
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["used"].clone())
        .collect();
    assert_eq!(
        json!(used),
        json!([true, true, true, true, true, false, false])
    );
    let (_, table, _) = run(home.path(), &["servers", "--source", "cursor"]);
    assert_eq!(table.lines().count(), 1);
}

#[test]
fn a_name_leads_to_the_server_of_its_configuration() {
    let home = home(&http("plain"));
    let [program, script] = puppet("plain");
    let command = ["catalog", "--format", "json", "--", &program, &script];
    let (_, catalog, _) = run(home.path(), &command);
    for words in [
        &["demo"][..],
        &["claude-code:demo"],
        &["--server", "demo"],
        &["remote"],
        &["--server", "off"],
    ] {
        let arguments = [&["catalog", "--format", "json"], words].concat();
        let (code, same, stderr) = run(home.path(), &arguments);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(same, catalog, "{words:?}");
    }
    let (_, stdout, _) = run(
        home.path(),
        &["call", "--server", "demo", "weather", "city=Oslo"],
    );
    assert_eq!(stdout, "Oslo\n");
}

#[test]
fn options_replace_headers_of_the_configuration() {
    for (option, expected) in [
        ("--bearer-env=TOKEN", "Bearer mine"),
        ("--header=authorization: Basic mine", "Basic mine"),
    ] {
        let puppet = Puppet::new("plain");
        let home = home(&url(&puppet));
        let mut ping = command_in(home.path(), ["ping", "remote", option]);
        let output = ping.env("TOKEN", "mine").output();
        let (code, _, stderr) = parts(&output.expect("the command runs"));
        assert_eq!(code, 0, "{stderr}");
        let log = puppet.log();
        let mut headers = log.iter().filter_map(|one| one.get("headers")).peekable();
        assert!(headers.peek().is_some(), "{log:?}");
        for headers in headers {
            assert_eq!(headers["authorization"], expected, "{option}");
            assert_eq!(headers["x-key"], "s3cret-header", "{option}");
        }
    }
}

#[test]
fn names_that_cannot_be_used_say_why() {
    let home = home("http://127.0.0.1:1/mcp");
    for (words, code, expected) in [
        (&["off"][..], 2, "server `off` is disabled in"),
        (&["dmo"], 2, "there is a server `demo`"),
        (
            &["unset"],
            2,
            "the environment variable `NO_SUCH_VARIABLE` is not set",
        ),
        (
            &["demo", "--header", "a: b"],
            2,
            "`--header` does not apply to `demo`, which is a command",
        ),
        (
            &["remote", "--env", "a=b"],
            2,
            "`--env` does not apply to `remote`, which is a URL",
        ),
        (&["remote"], 10, ": `remote`\n"),
        (
            &["demo", "--client-config", "none.json"],
            2,
            "cannot read `none.json`",
        ),
    ] {
        let arguments = [&["ping"], words].concat();
        let (got, _, stderr) = run(home.path(), &arguments);
        assert_eq!(got, code, "{words:?}: {stderr}");
        assert!(stderr.contains(expected), "{words:?}: {stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }
}

#[test]
fn one_configuration_can_be_named() {
    let home = tempfile::tempdir().expect("a folder");
    let [program, script] = puppet("plain");
    let server = json!({ "command": program, "args": ["${input:script}"] });
    let file = json!({ "servers": { "mine": server } });
    fs::write(home.path().join("any.json"), file.to_string()).expect("a file");
    let words = ["ping", "mine", "--client-config", "any.json"];
    let (code, _, stderr) = run(home.path(), &words);
    assert_eq!(code, 2);
    assert!(stderr.contains("asks for the input `script`"), "{stderr}");
    let input = format!("script={script}");
    let (code, _, stderr) = run(home.path(), &[&words[..], &["--input", &input]].concat());
    assert_eq!(code, 0, "{stderr}");
}
