//! The table of errors: which exit code and which text each has.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{command, command_in, example, http, http_with, parts, puppet, run};

/// Runs a command that fails, in both formats. Its exit code, its kind, and its text.
#[track_caller]
fn fail(arguments: &[&str], server: &[&str]) -> (i32, String, String) {
    let (code, _, stderr) = run(arguments.iter().chain(server));
    let json = ["--format", "json"];
    let (same, stdout, _) = run(arguments.iter().chain(&json).chain(server));
    assert_eq!(code, same, "{arguments:?}: {stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    let kind = report["error"]["kind"].as_str().expect("a kind").to_owned();
    let message = report["error"]["message"].as_str().expect("a message");
    let start = message.lines().next().unwrap_or_default();
    assert!(stderr.contains(start), "{message}: {stderr}");
    (code, kind, stderr)
}

#[test]
fn each_code_of_json_rpc_has_an_exit_code() {
    let url = http("errors");
    for (code, exit, kind) in [
        (-32700, 18, "parse-error"),
        (-32600, 15, "invalid-request"),
        (-32601, 14, "method-not-found"),
        (-32602, 16, "invalid-params"),
        (-32603, 19, "internal-error"),
        (-32001, 20, "server-error"),
        (-32021, 23, "protocol"),
        (7, 21, "json-rpc-error"),
    ] {
        let arguments = json!({ "code": code }).to_string();
        let (got, got_kind, stderr) = fail(&["call", &url, "any", "--json", &arguments], &[]);
        assert_eq!((got, &*got_kind), (exit, kind), "{code}: {stderr}");
        let expected = format!("error: as you wish: tools/call of `{url}`\n");
        assert!(stderr.starts_with(&expected), "{stderr}");
    }
    let (exit, kind, _) = fail(&["read", &url, "a:b"], &[]);
    assert_eq!((exit, &*kind), (17, "invalid-uri"));
    let arguments = [
        "call",
        &url,
        "any",
        "--json",
        r#"{"code":7}"#,
        "--format",
        "json",
    ];
    let (_, stdout, _) = run(arguments);
    let error = json!({
        "error": { "kind": "json-rpc-error", "message": "as you wish", "code": 7, "data": { "b": 1, "a": 2 } },
    });
    assert_eq!(stdout, format!("{error}\n"));
}

#[test]
fn a_reader_that_leaves_does_not_change_the_exit_code() {
    let url = http("plain");
    for (arguments, expected) in [
        (&["check", "empty.wasm"][..], 1),
        (&["check", "empty.wasm", "--format", "json"], 1),
        (&["ping", "http://127.0.0.1:9/mcp", "--format", "json"], 10),
        (&["ping", &url], 0),
        (&["completions", "bash"], 0),
    ] {
        let (mut command, home) = command(arguments);
        std::fs::write(home.path().join("empty.wasm"), b"\0asm\x01\0\0\0").expect("a file");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let status = command.stdout(writer).stderr(Stdio::null()).status();
        let code = status.expect("the command runs").code();
        assert_eq!(code, Some(expected), "{arguments:?}");
    }
}

#[test]
fn check_names_the_tools_of_a_server_that_nobody_can_use() {
    let tools = json!([
        { "name": "get city", "inputSchema": { "type": "object" } },
        { "name": "bare" },
    ]);
    let url = http_with(json!({ "replies": { "tools/list": [{ "result": { "tools": tools } }] } }));
    let (code, stdout, stderr) = run(["check", &url]);
    assert_eq!(code, 1, "{stderr}");
    for expected in [
        "warning[tool-name]: ` ` in the name of a tool is refused\n  at tool `get city`, /name\n",
        "error[tool]: ",
        "  at tool `bare`",
    ] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
}

#[test]
fn each_failure_of_a_connection_has_an_exit_code() {
    let refused = ["ping", "http://127.0.0.1:1"];
    let (exit, kind, stderr) = fail(&refused, &[]);
    assert_eq!((exit, &*kind), (10, "connectivity"));
    assert!(
        stderr.contains("  help: check the URL, and that the server runs\n"),
        "{stderr}"
    );

    let retries = [&refused[..], &["--retry", "3", "--every", "20ms"]].concat();
    let (exit, kind, stderr) = fail(&retries, &[]);
    assert_eq!((exit, &*kind), (12, "retry-exhausted"));
    assert!(
        stderr.starts_with("error: 4 attempts failed, the last one because "),
        "{stderr}"
    );

    let (exit, kind, _) = fail(
        &["catalog", &http("silent-lists"), "--timeout", "200ms"],
        &[],
    );
    assert_eq!((exit, &*kind), (11, "request-timeout"));

    let (exit, kind, stderr) = fail(
        &[
            "call",
            &http("expires-always"),
            "any",
            "--json",
            "{}",
            "--era",
            "handshake",
        ],
        &[],
    );
    assert_eq!((exit, &*kind), (22, "session-invalid"), "{stderr}");
}

#[test]
fn a_command_that_ends_is_quoted() {
    let [program, script] = puppet("dies-at-start");
    let (exit, kind, stderr) = fail(&["catalog"], &["--", &program, &script]);
    assert_eq!((exit, &*kind), (10, "connectivity"));
    for part in [
        "ended with exit status: 7",
        "\n  standard error: a setting is missing\n",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
    let (exit, _, stderr) = fail(&["catalog"], &["--", "no-such-program"]);
    assert_eq!(exit, 10);
    assert!(
        stderr.contains("cannot start `no-such-program`"),
        "{stderr}"
    );
}

#[test]
fn servers_that_break_rules_have_exit_codes() {
    let denied = json!({ "replies": {
        "server/discover": [{ "status": 401, "headers": { "www-authenticate": "Bearer" } }],
        "initialize": [{ "status": 401, "headers": { "www-authenticate": "Bearer" } }],
    } });
    for (url, exit, kind) in [
        (http("wrong-list"), 23, "protocol"),
        (http("endless"), 24, "limit"),
        (http_with(denied), 13, "authentication"),
    ] {
        let (got, got_kind, stderr) = fail(&["catalog", &url], &[]);
        assert_eq!((got, &*got_kind), (exit, kind), "{stderr}");
    }
    let asks = json!({ "versions": ["2026-07-28"], "replies": { "tools/call": [{ "result": {
        "resultType": "input_required",
        "inputRequests": { "x": { "method": "sampling/createMessage", "params": {} } },
    } }] } });
    let (exit, kind, stderr) = fail(&["call", &http_with(asks), "any", "--json", "{}"], &[]);
    assert_eq!((exit, &*kind), (26, "input-required"));
    assert!(
        stderr.contains("the server sent `sampling/createMessage`"),
        "{stderr}"
    );
}

#[test]
fn check_compares_a_call_with_the_schemas_of_the_tool() {
    let input = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let output = json!({ "type": "object", "required": ["days"] });
    let tool = json!({ "name": "weather", "inputSchema": input, "outputSchema": output });
    let bad = json!({ "name": "bad", "inputSchema": { "type": 7 } });
    let result = json!({ "content": [], "structuredContent": { "rain": "much" } });
    let url = http_with(json!({ "replies": {
        "tools/list": [{ "result": { "tools": [tool, bad] } }],
        "tools/call": [{ "result": result }],
    } }));
    let shown = "{\"rain\":\"much\"}\n";
    for (arguments, expected, stdout, problem) in [
        // Without `--check`, the schemas do not matter.
        (&["weather", "city=Oslo"][..], 0, shown, ""),
        (&["weather", "--json", "{}"], 0, shown, ""),
        (
            &["weather", "--check", "--json", "{}"],
            25,
            "",
            "error: invalid arguments: `/city` is missing",
        ),
        (
            &["weather", "--check", "city=Oslo"],
            25,
            shown,
            "error: the structured content of the result is wrong",
        ),
        (
            &["bad", "--check"],
            25,
            "",
            "error: a schema of the tool is not valid: /inputSchema/type",
        ),
    ] {
        let call = ["call", &url, "--select", "/structuredContent"];
        let (code, found, stderr) = run(call.iter().chain(arguments));
        assert_eq!(
            (code, &*found),
            (expected, stdout),
            "{arguments:?}: {stderr}"
        );
        assert!(stderr.starts_with(problem), "{arguments:?}: {stderr}");
    }
}

#[test]
fn targets_that_cannot_be_used_are_wrong_usage() {
    for (arguments, expected) in [
        (
            vec!["catalog", "localhost:8080"],
            "`http://localhost:8080/mcp`",
        ),
        (vec!["catalog", "ftp://host/a"], "unknown scheme `ftp`"),
        (
            vec!["catalog", "http://mcp.example"],
            "`http` is not encrypted",
        ),
        (
            vec!["catalog", "nothing"],
            "no configuration of an MCP client has a server `nothing`",
        ),
        (vec!["catalog"], "a servlet or a server is missing"),
        (vec!["call", "old.json", "tool"], "it is a catalog"),
        (
            vec!["ping", "http://127.0.0.1:1", "--header", "Accept: x"],
            "the header `Accept` cannot be set",
        ),
        (
            vec![
                "ping",
                "http://127.0.0.1:1",
                "--bearer-env",
                "NO_SUCH_VARIABLE",
            ],
            "`NO_SUCH_VARIABLE` is not set",
        ),
        (
            vec!["servers", "--source", "curser"],
            "tip: a similar value exists: 'cursor'",
        ),
        (
            vec!["watch", "http://127.0.0.1:1", "--level", "loud"],
            "invalid value 'loud' for '--level <LEVEL>'",
        ),
        (vec!["explain", "limits"], "there is a code `limit`"),
    ] {
        let (code, _, stderr) = run(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_secret_instead_of_the_name_of_its_variable_is_not_shown() {
    let url = "https://mcp.example/mcp";
    for arguments in [
        &["ping", url, "--bearer-env", "s3cr3t-value"][..],
        &["ping", url, "--basic", "ada:s3cr3t-value"],
        &[
            "login",
            url,
            "--client-id=a",
            "--client-secret-env=s3cr3t-value",
        ],
    ] {
        let (code, _, stderr) = run(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(
            stderr.contains("expected the name of an environment variable"),
            "{stderr}"
        );
        assert!(!stderr.contains("s3cr3t"), "{stderr}");
    }
}

#[test]
fn a_servlet_has_the_same_exit_codes_alone_and_in_a_folder_or_a_configuration() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("servlets");
    std::fs::create_dir(&folder).expect("a folder");
    let wasm = folder.join("everything.wasm");
    std::fs::copy(example("everything"), wasm).expect("a copy");
    let config = "[servlet.everything]\nsource = \"servlets/everything.wasm\"\n";
    std::fs::write(home.path().join("Servlet.TOML"), config).expect("a file");
    for words in [
        &["call", "TARGET", "no-such-tool", "a=b"][..],
        &["call", "TARGET", "no-such-tool", "--json", "{}"],
        &["read", "TARGET", "no-such:uri"],
        &["prompt", "TARGET", "no-such-prompt"],
        &["prompt", "TARGET", "no-such-prompt", "--json", "{}"],
    ] {
        let exit = |target: &str| {
            let words = words.iter().map(|word| word.replace("TARGET", target));
            let output = command_in(home.path(), words).output();
            let (code, _, stderr) = parts(&output.expect("the command runs"));
            assert!(stderr.starts_with("error: "), "{stderr}");
            code
        };
        let codes = ["servlets/everything.wasm", "./servlets/", "Servlet.TOML"].map(exit);
        assert_eq!(codes, [2; 3], "{words:?}");
    }
}

#[test]
fn a_tls_error_names_what_mends_it() {
    let url = http("plain").replace("http://", "https://");
    let (exit, _, stderr) = fail(&["ping", &url], &[]);
    assert_eq!(exit, 10, "{stderr}");
    assert!(
        stderr.contains("write `http://` instead of `https://`"),
        "{stderr}"
    );
    assert!(!stderr.contains("ERROR"), "{stderr}");
}

#[test]
fn credentials_are_complete_and_not_given_twice() {
    let url = http("plain");
    let ping = |token: &str, more: &[&str]| {
        let arguments = [&["ping", &*url], more].concat();
        let (mut command, _home) = command(arguments);
        parts(
            &command
                .env("TOKEN", token)
                .output()
                .expect("the command runs"),
        )
    };
    let header = ["--header", "Authorization: Bearer other"];
    let (code, _, stderr) = ping("token", &[&header[..], &["--bearer-env", "TOKEN"]].concat());
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("`--header authorization` cannot be combined with `--bearer-env`"),
        "{stderr}"
    );
    let (code, _, stderr) = ping("token", &[&header[..], &["--basic", "ann:TOKEN"]].concat());
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("with `--basic`"), "{stderr}");
    let (code, _, stderr) = ping("", &["--bearer-env", "TOKEN"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("the environment variable `TOKEN` is empty"),
        "{stderr}"
    );
    let (code, _, stderr) = ping("token", &["--bearer-env", "TOKEN"]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn credentials_that_are_refused_are_not_called_missing() {
    let refuse = json!([{ "status": 401 }]);
    let url = http_with(json!({ "replies": {
        "initialize": refuse, "server/discover": refuse, "ping": refuse,
    } }));
    for (options, message) in [
        (&[][..], "the server requires credentials (HTTP 401"),
        (
            &["--bearer-env", "TOKEN"],
            "the server refuses the token (HTTP 401",
        ),
        (
            &["--basic", "ann:TOKEN"],
            "the server refuses the credentials (HTTP 401",
        ),
    ] {
        let (mut command, _home) = command([&["ping", &*url], options].concat());
        let output = command.env("TOKEN", "token").output();
        let (code, _, stderr) = parts(&output.expect("the command runs"));
        assert_eq!(code, 13, "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
    }
}

#[test]
fn a_tool_whose_schema_is_too_deep_is_called_without_it() {
    let levels = 300;
    let schema = format!(
        r#"{}{{"type":"object"}}{}"#,
        r#"{"properties":{"a":"#.repeat(levels),
        "}}".repeat(levels)
    );
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{{"name":"flat","inputSchema":{{"type":"object"}}}},{{"name":"deep","inputSchema":{schema}}}]}}}}"#
    );
    let url = http_with(json!({ "replies": {
        "tools/list": [{ "line": line }],
        "tools/call": [{ "result": { "content": [{ "type": "text", "text": "called" }] } }],
    } }));
    let handshake = ["--era", "handshake"];
    let call = |more: &[&str]| run([&["call", &*url], more, &handshake].concat());
    let (code, stdout, stderr) = call(&[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("flat"), "{stdout}");
    assert!(
        stderr.contains("`deep` is left out: its JSON has more than"),
        "{stderr}"
    );
    let (code, _, stderr) = call(&["deep", "a=1"]);
    assert_eq!(code, 18, "{stderr}");
    assert!(
        stderr.contains("`deep`") && stderr.contains("`--json JSON`"),
        "{stderr}"
    );
    let (code, stdout, stderr) = call(&["deep", "--json", "{}"]);
    assert_eq!((code, &*stdout), (0, "called\n"), "{stderr}");
}

#[test]
fn a_filter_of_the_log_that_cannot_be_read_is_named() {
    let (mut command, _home) = command(["servers"]);
    let output = command.env("RUST_LOG", "servlet=loud").output();
    let (code, _, stderr) = parts(&output.expect("the command runs"));
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("warning: `RUST_LOG` is not used: "),
        "{stderr}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_not_wrong_usage() {
    let (mut command, _home) = command(["completions", "bash"]);
    let full = std::fs::File::create("/dev/full").expect("a device");
    let output = command.stdout(full).stderr(Stdio::piped()).output();
    let output = output.expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{stderr}");
}
