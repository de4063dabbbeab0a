//! What each command prints.

use std::process::{Command, Stdio};

use puppet::eventually_blocking;
use serde_json::{Value, json};

use crate::support::{command, http, http_with, parts, puppet, run, succeed};

const ERAS: [&str; 2] = ["handshake", "stateless"];

/// Command lines before and after the words that name no server, for each transport and protocol generation.
fn ways(script: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let mut ways = Vec::new();
    for era in ERAS {
        let era = ["--era".to_owned(), era.to_owned()];
        ways.push((vec![http(script)], era.to_vec()));
        let command = ["--".to_owned()].into_iter().chain(puppet(script));
        ways.push((Vec::new(), era.into_iter().chain(command).collect()));
    }
    ways
}

fn line(command: &str, way: &(Vec<String>, Vec<String>), words: &[&str]) -> Vec<String> {
    let words = words.iter().map(|word| (*word).to_owned());
    let before = std::iter::once(command.to_owned()).chain(way.0.clone());
    before.chain(words).chain(way.1.clone()).collect()
}

#[test]
fn every_command_works_over_each_transport_and_protocol_generation() {
    for way in ways("plain") {
        let run = |command: &str, words: &[&str]| succeed(line(command, &way, words));
        assert_eq!(run("call", &["weather", "city=Oslo"]), "Oslo\n");
        assert_eq!(
            run("call", &[]),
            "weather city=string\n    The weather of a city.\n"
        );
        assert_eq!(
            run("read", &["file:///readme"]),
            "[resource file:///readme, text/plain]\nhello\n[resource file:///logo, image/png, 4 bytes]\n"
        );
        let prompt = run("prompt", &["review", "code=7"]);
        assert!(prompt.starts_with("user:\n"), "{prompt}");
        assert!(run("ping", &[]).starts_with("puppet 1: protocol 20"));
        let catalog = run("catalog", &[]);
        for part in [
            "puppet 1, protocol 20",
            "Ask for the weather.",
            "  weather\n",
            "city://{name}",
            "  review\n",
        ] {
            assert!(catalog.contains(part), "{part}: {catalog}");
        }
    }
}

#[test]
fn a_number_that_looks_like_text_is_read_by_the_schema_of_the_tool() {
    let url = http("plain");
    let arguments = [
        "call",
        &url,
        "weather",
        "city=42",
        "--select",
        "/structuredContent/got/arguments",
    ];
    assert_eq!(succeed(arguments), "{\"city\":\"42\"}\n");
}

#[test]
fn meta_arrives_next_to_the_arguments() {
    let url = http("plain");
    let select = ["--select", "/structuredContent/got/_meta/k"];
    let arguments = ["call", &url, "weather", "city=x", "--meta", "k:=1"];
    assert_eq!(succeed(arguments.iter().chain(&select)), "1\n");
    let arguments = ["call", &url, "weather", "city=x", "--meta", "k=1"];
    assert_eq!(succeed(arguments.iter().chain(&select)), "1\n");
    let (code, _, stderr) = run(["call", &url, "weather", "city=x", "--select", "/nothing"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("the result has nothing at `/nothing`"),
        "{stderr}"
    );
}

#[test]
fn results_for_programs_are_as_the_server_wrote_them() {
    let result = r#"{"isError":true,"content":[],"structuredContent":{"b":1.10,"a":12345678901234567890123}}"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{result}}}"#);
    let url = http_with(json!({
        "versions": ["2025-11-25"],
        "replies": { "tools/call": [{ "line": line }] },
    }));
    let (code, stdout, _) = run(["call", &url, "any", "--json", "{}", "--format", "json"]);
    assert_eq!(code, 1, "the tool reports an error");
    assert_eq!(stdout, format!("{result}\n"));
    let (_, _, stderr) = run(["call", &http("contents"), "any", "--json", "{}"]);
    for part in [
        "hi\n",
        "[image, image/png, 3 bytes]",
        "[link to a:b]",
        "[hologram]",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

#[test]
fn progress_and_log_are_on_standard_error() {
    let (code, stdout, stderr) = run(["call", &http("progress"), "any", "--json", "{}"]);
    assert_eq!((code, &*stdout), (0, "done\n"));
    for part in [
        "progress: 1 of 2: half\n",
        "log[info] puppet: {\"at\":1}\n",
        "progress: 2 of 2\n",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

#[test]
fn a_wrong_name_gets_the_one_that_was_probably_meant() {
    let url = http("plain");
    for (arguments, error, help) in [
        (
            ["call", "wether"],
            "unknown tool `wether`",
            "there is a tool `weather`",
        ),
        (
            ["prompt", "revew"],
            "unknown prompt `revew`",
            "there is a prompt `review`",
        ),
    ] {
        let [command, name] = arguments;
        let (code, _, stderr) = run([command, &url, name]);
        assert_eq!(code, 2);
        assert_eq!(stderr, format!("error: {error}\n  help: {help}\n"));
    }
    let (code, _, stderr) = run(["complete", &url, "review", "language=r"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("`review` has no argument `language`"),
        "{stderr}"
    );
}

#[test]
fn completions_come_from_the_server() {
    let completion = json!({ "values": ["paris", "parma"], "total": 7, "hasMore": true });
    let url = http_with(json!({
        "capabilities": { "prompts": {}, "resources": {}, "completions": {} },
        "replies": {
            "prompts/list": [{ "result": { "prompts": [{ "name": "trip", "arguments": [{ "name": "city" }] }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [{ "uriTemplate": "map://{city}", "name": "map" }] } }],
            "completion/complete": [{ "result": { "completion": completion } }],
        },
    }));
    for of in ["trip", "map://{city}"] {
        assert_eq!(
            succeed(["complete", &url, of, "city=pa"]),
            "paris\nparma\n[2 of 7]\n"
        );
    }
    let json = succeed(["complete", &url, "trip", "city=pa", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["completion"], completion);
}

/// Runs `servlet watch` until it has printed this number of lines, and ends it with Ctrl-C.
#[cfg(unix)]
fn watch(arguments: &[&str], count: usize) -> Vec<String> {
    use std::io::{BufRead as _, BufReader};

    let (mut watch, _home) = command(["watch"].iter().chain(arguments));
    let watch = watch.stdout(Stdio::piped());
    let mut running = watch.spawn().expect("the command runs");
    let lines = BufReader::new(running.stdout.take().expect("a pipe")).lines();
    let lines: Vec<_> = lines.take(count).map(|line| line.expect("text")).collect();
    interrupt(running.id());
    assert_eq!(running.wait().expect("it ends").code(), Some(0));
    lines
}

#[cfg(unix)]
fn interrupt(process: u32) {
    let mut kill = Command::new("kill");
    kill.args(["-INT", &process.to_string()]);
    assert!(kill.status().expect("kill runs").success());
}

#[cfg(unix)]
#[test]
fn events_are_one_per_line_until_ctrl_c() {
    let url = http_with(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "resources": { "subscribe": true }, "logging": {} },
        "replies": {
            "logging/setLevel": [{ "result": {} }],
            "resources/subscribe": [{
                "before": [
                    { "method": "notifications/resources/updated", "params": { "uri": "file:///log" } },
                    { "method": "notifications/tools/list_changed" },
                    { "method": "notifications/message", "params": { "level": "info", "logger": "db", "data": "two\nlines" } },
                ],
                "result": {},
            }],
        },
    }));
    let lines = watch(&[&url, "--resource", "file:///log"], 3);
    assert_eq!(
        lines,
        [
            "resource updated: file:///log",
            "tools changed",
            "log[info] db: two\\nlines"
        ]
    );
    let lines = watch(&[&url, "--resource", "file:///log", "--format", "json"], 3);
    let first: Value = serde_json::from_str(&lines[0]).expect("JSON");
    assert_eq!(
        first,
        json!({ "event": "resource-updated", "uri": "file:///log" })
    );
}

#[test]
fn without_a_terminal_questions_are_declined_and_reported() {
    let (code, stdout, stderr) = run([
        "call",
        &http("elicits"),
        "any",
        "--json",
        "{}",
        "--format",
        "json",
    ]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(r#""action":"decline""#), "{stdout}");
    assert!(
        stderr.contains("the server asks `Which city?`, and gets no answer"),
        "{stderr}"
    );
}

#[test]
fn options_of_another_kind_of_target_are_refused_by_name() {
    let url = http("plain");
    for (arguments, error) in [
        (
            vec!["ping", &url, "--config", "a=b"],
            "`--config` only applies to servlets",
        ),
        (
            vec!["ping", &url, "--env", "a=b"],
            "`--env` only applies to commands",
        ),
        (
            vec!["ping", "--header", "a: b", "--", "true"],
            "`--header` only applies to URLs",
        ),
        (
            vec!["call", "x.wasm", "t", "--era", "handshake"],
            "`--era` only applies to servers that are not servlets",
        ),
        (
            vec!["call", "x.wasm", "t", "--insecure"],
            "`--insecure` only applies to servers that are not servlets",
        ),
        (
            vec!["catalog", "x.toml", "--memory", "1MiB"],
            "`--memory` cannot be combined with a configuration file",
        ),
        (
            vec!["catalog", "x.json", "--retry", "3"],
            "`--retry` does not apply to a catalog in a file",
        ),
        (
            vec!["ping", "--server", "a", "--", "true"],
            "`--server` cannot be combined with a command after `--`",
        ),
        (
            vec!["ping", "a.wasm", "--", "true"],
            "`a.wasm` is one server too many\n  help: name the server as TARGET, with `--server`, or as a command after `--`",
        ),
        (
            vec!["check", ".", "--", "true"],
            "`.` is one server too many\n  help: name the server as TARGET, with `--server`, or as a command after `--`",
        ),
    ] {
        let (code, _, stderr) = run(&arguments);
        assert_eq!((code, stderr), (2, format!("error: {error}\n")));
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_command_and_its_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let [log, requests] = ["log", "requests"].map(|name| folder.path().join(name));
    let [program, script] = puppet("slow");
    let line = format!(
        "tee {} | {program} {script} --log {}",
        requests.display(),
        log.display()
    );
    let call = ["call", "any", "--json", "{}", "--era", "handshake"];
    let server = ["--", "sh", "-c", &line];
    let (mut servlet, _home) = command(call.iter().chain(&server));
    let running = servlet
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let running = running.expect("the command runs");
    // The call takes a minute.
    eventually_blocking("the call", || {
        let requests = std::fs::read_to_string(&requests).unwrap_or_default();
        requests.contains("tools/call")
    });
    interrupt(running.id());
    let (code, _, stderr) = parts(&running.wait_with_output().expect("it ends"));
    assert_eq!((code, &*stderr), (27, "error: cancelled\n"));
    let log = std::fs::read_to_string(log).expect("the server has ended in an orderly way");
    assert!(log.contains("notifications/initialized"), "{log}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_an_error_in_json() {
    let puppet = puppet::Puppet::new("slow");
    let url = crate::support::url(&puppet);
    let (mut servlet, _home) = command(["call", &url, "any", "--json", "{}", "--format", "json"]);
    let running = servlet
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let running = running.expect("the command runs");
    eventually_blocking("`tools/call`", || puppet.received("tools/call") == 1);
    interrupt(running.id());
    let (code, stdout, _) = parts(&running.wait_with_output().expect("it ends"));
    let error = json!({ "error": { "kind": "cancelled", "message": "cancelled" } });
    assert_eq!((code, stdout), (27, format!("{error}\n")));
}

#[test]
fn text_that_is_redirected_is_as_the_server_wrote_it() {
    let text = "a\u{1b}[31mb\u{200b}c\r";
    let url = http_with(json!({
        "replies": {
            "tools/call": [{ "result": {
                "content": [{ "type": "text", "text": text }], "structuredContent": { "a": text },
            } }],
            "resources/read": [{ "result": { "contents": [{ "uri": "a:b", "text": text }] } }],
            "prompts/get": [{ "result": { "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] } }],
        },
    }));
    let call = ["call", &url, "any", "--json", "{}"];
    assert_eq!(succeed(call), format!("{text}\n"));
    let select = ["--select", "/structuredContent/a"];
    assert_eq!(succeed(call.iter().chain(&select)), format!("{text}\n"));
    assert_eq!(succeed(["read", &url, "a:b"]), format!("{text}\n"));
    let prompt = succeed(["prompt", &url, "p", "--json", "{}"]);
    assert_eq!(prompt, format!("user:\n{text}\n"));
}

/// A question on a pseudo-terminal, which `script` of util-linux makes.
#[cfg(target_os = "linux")]
#[test]
fn case_does_not_count_in_answers() {
    use std::io::{Read as _, Write as _};

    // Without the limit, the test would hang if the elicitation request never came.
    let line = format!(
        "timeout --foreground {} {} call {} t --json '{{}}' --select /structuredContent/answer",
        puppet::PATIENCE.as_secs(),
        env!("CARGO_BIN_EXE_servlet"),
        http("elicits")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]);
    let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("`script` runs");
    let mut keyboard = script.stdin.take().expect("a pipe");
    let mut screen = script.stdout.take().expect("a pipe");
    let mut shown = String::new();
    let mut wait_for = |text: &str| {
        while !shown.contains(text) {
            let mut buffer = [0; 4096];
            let count = screen.read(&mut buffer).expect("an output");
            assert!(count > 0, "no `{text}`: {shown}");
            shown += &String::from_utf8_lossy(&buffer[..count]);
        }
    };
    for (question, answer) in [("answer? [Y/n] ", "Y\n"), ("optional): ", "Oslo\n")] {
        wait_for(question);
        keyboard.write_all(answer.as_bytes()).expect("an input");
    }
    wait_for(r#""city":"Oslo""#);
    assert!(script.wait().expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_command_that_waits_for_standard_input() {
    use std::io::Write as _;

    for [name, item] in [["call", "t"], ["prompt", "p"]] {
        let (mut servlet, _home) = command([name, &http("plain"), item, "-"]);
        let mut running = servlet.stdin(Stdio::piped()).spawn().expect("it runs");
        // `wait` would close it.
        let mut typing = running.stdin.take().expect("a pipe");
        // More than a pipe takes: the command has begun to read.
        let typed = typing.write_all(&vec![b' '; 1 << 17]);
        typed.expect("it reads all of it");
        // Some shells let programs in the background ignore SIGINT.
        let kill = Command::new("kill").arg(running.id().to_string()).status();
        assert!(kill.expect("kill runs").success());
        // Nothing has begun that would have to end in order.
        assert_eq!(running.wait().expect("it ends").code(), None, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_remotes_that_a_lock_is_for() {
    for arguments in [
        &["lock"][..],
        &["config", "check", "--connect"],
        &["config", "explain", "servlet.toml", "t", "--connect"],
    ] {
        let (mut servlet, home) = command(arguments);
        let remote = "[endpoint.pipe]\nkind = \"stdio\"\n[[endpoint.pipe.rules]]\nallow = [\"*\"]\n\
            [remote.far]\nconnect = \"60s\"\nrequired = true\ncommand = [\"sh\", \"-c\", \"echo $$$$ > pid; exec sleep 1000\"]\n";
        std::fs::write(home.path().join("servlet.toml"), remote).expect("a file");
        let mut running = servlet.spawn().expect("the command runs");
        let pid = eventually_blocking("the process id", || {
            let ended = running.try_wait().expect("a process");
            assert_eq!(ended, None, "{arguments:?} does not wait");
            let pid = std::fs::read_to_string(home.path().join("pid")).ok()?;
            Some(pid.strip_suffix('\n')?.to_owned())
        });
        interrupt(running.id());
        let ended = running.wait().expect("it ends");
        assert_eq!(ended.code(), Some(27), "{arguments:?}");
        let signal = Command::new("kill").args(["-0", &pid]).output();
        let is_alive = signal.expect("kill runs").status.success();
        assert!(!is_alive, "{arguments:?}");
    }
}

/// The same commands on a pseudo-terminal, which `script` of util-linux makes.
#[cfg(target_os = "linux")]
#[test]
fn text_on_a_terminal_is_escaped() {
    let text = "a\u{1b}[31mb\u{200b}c";
    let url = http_with(json!({
        "replies": { "tools/call": [{ "result": { "content": [{ "type": "text", "text": text }] } }] },
    }));
    let servlet = env!("CARGO_BIN_EXE_servlet");
    let line = format!("{servlet} call {url} any --json '{{}}'");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .stdin(Stdio::null());
    let (code, stdout, _) = parts(&script.output().expect("`script` runs"));
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("a\\u{1b}[31mb\\u{200b}c"), "{stdout:?}");
}

#[test]
fn binary_contents_are_saved_to_new_files() {
    let content = json!([
        { "type": "text", "text": "here" },
        { "type": "image", "data": "AAEC", "mimeType": "image/png" },
        { "type": "audio", "data": "AwQ=", "mimeType": "../../evil" },
        { "type": "resource", "resource": { "uri": "file:///../../x.sh", "mimeType": "application/pdf", "blob": "BQ==" } },
        { "type": "resource", "resource": { "uri": "a:b", "text": "text" } },
        { "type": "image", "data": "no base64!", "mimeType": "image/png" },
    ]);
    let url =
        http_with(json!({ "replies": { "tools/call": [{ "result": { "content": content } }] } }));
    let home = tempfile::tempdir().expect("a folder");
    let call = ["call", &url, "any", "--json", "{}", "--save", "out"];
    let run = |more: &[&str]| {
        let mut command = crate::support::command_in(home.path(), call.iter().chain(more));
        parts(&command.output().expect("the command runs"))
    };
    let (code, stdout, stderr) = run(&[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.starts_with("here\n[image, image/png, 3 bytes]\n"),
        "{stdout}"
    );
    assert_eq!(
        stderr,
        "saved `out/image-1.png`\nsaved `out/audio-2.bin`\nsaved `out/resource-3.pdf`\n\
         warning: image 4 is not base64, so it is not saved\n"
    );
    let read = |name: &str| std::fs::read(home.path().join("out").join(name)).expect("a file");
    assert_eq!(read("image-1.png"), [0, 1, 2]);
    assert_eq!(read("audio-2.bin"), [3, 4]);
    assert_eq!(read("resource-3.pdf"), [5]);
    std::fs::write(home.path().join("out/image-1.png"), "mine").expect("a file");
    let (_, stdout, stderr) = run(&["--format", "json"]);
    assert!(stdout.starts_with('{'), "{stdout}");
    assert!(
        stderr.starts_with("saved `out/image-1-2.png`\n"),
        "{stderr}"
    );
    assert_eq!(read("image-1.png"), b"mine");
    assert_eq!(read("image-1-2.png"), [0, 1, 2]);
    let entries = std::fs::read_dir(home.path().join("out")).expect("a folder");
    assert_eq!(entries.count(), 6);
}

#[test]
fn a_call_does_not_run_if_its_result_could_not_be_saved() {
    let puppet = puppet::Puppet::new("plain");
    let url = crate::support::url(&puppet);
    let (mut call, home) = command(["call", &url, "weather", "--json", "{}", "--save", "file/x"]);
    std::fs::write(home.path().join("file"), "").expect("a file");
    let (code, _, stderr) = parts(&call.output().expect("the command runs"));
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.starts_with("error: cannot create `file/x`"),
        "{stderr}"
    );
    assert_eq!(puppet.received("tools/call"), 0);
}

#[test]
fn a_part_that_the_error_of_a_tool_does_not_have_does_not_hide_it() {
    let content = json!([{ "type": "text", "text": "no such city" }]);
    let result = json!({ "isError": true, "content": content });
    let url = http_with(json!({ "replies": { "tools/call": [{ "result": result }] } }));
    for (pointer, stdout, stderr) in [
        ("/structuredContent/total", "", "no such city\n"),
        ("/content/0/text", "no such city\n", ""),
    ] {
        let shown = run(["call", &url, "any", "--json", "{}", "--select", pointer]);
        assert_eq!(shown, (1, stdout.to_owned(), stderr.to_owned()));
    }
}

#[test]
fn lists_before_a_call_or_a_prompt_have_limits() {
    for (command, list) in [("call", "tools"), ("prompt", "prompts")] {
        let page = |number: usize| {
            let entries: Vec<_> = (0..3)
                .map(|at| json!({ "name": format!("{number}-{at}") }))
                .collect();
            json!({ "result": { list: entries, "nextCursor": number.to_string() } })
        };
        let pages: Vec<_> = (0..10).map(page).collect();
        let script =
            json!({ "capabilities": { list: {} }, "replies": { format!("{list}/list"): pages } });
        let script = serde_json::from_value(script).expect("a script");
        let puppet = puppet::Puppet::with(script);
        let url = crate::support::url(&puppet);
        let (code, _, stderr) = run([command, &url, "other", "a=b", "--max-items", "10"]);
        assert_eq!(code, 24, "{stderr}");
        assert!(
            stderr.contains("more than 10 entries of a list"),
            "{stderr}"
        );
        assert_eq!(puppet.received(&format!("{list}/list")), 4);
    }
}
