//! The files of every client, and what is read from them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use mcp_client_config::{
    Connection, Found, Places, Platform, ResolveError, Secret, Source, Transport, Variables,
    discover, read_file,
};
use proptest::prelude::*;
use serde_json::json;

const HOME: &str = "/home/user";
const FOLDER: &str = "/home/user/code/project";

fn environment(name: &str) -> Option<String> {
    match name {
        "KEY" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn places() -> Places {
    Places::new(Platform::Linux, HOME, FOLDER, &environment)
}

/// Reads the files of a computer that has only these.
fn found(files: &[(&str, &str)]) -> Found {
    let files: BTreeMap<_, _> = files.iter().copied().collect();
    discover(&places(), |path| {
        let text = path.to_str().and_then(|path| files.get(path));
        text.map(|text| text.as_bytes().to_owned())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    })
}

fn command(words: &[&str], env: &[(&str, &str)]) -> Connection {
    Connection::Command {
        command: words[0].to_owned(),
        args: words[1..].iter().map(|word| (*word).to_owned()).collect(),
        env: secrets(env),
        cwd: None,
    }
}

fn http(url: &str, transport: Transport, headers: &[(&str, &str)]) -> Connection {
    Connection::Http {
        url: url.to_owned(),
        transport,
        headers: secrets(headers),
    }
}

fn secrets(members: &[(&str, &str)]) -> Vec<(String, Secret)> {
    let members = members.iter();
    members
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned().into()))
        .collect()
}

/// Checks that the only server of a file is `x`.
fn assert_reads(source: &str, path: &str, text: &str, connection: &Connection) {
    let found = found(&[(&format!("{HOME}/{path}"), text)]);
    assert_eq!(found.warnings, [], "{path}");
    let [server] = &found.servers[..] else {
        panic!("{path}: {:?}", found.servers)
    };
    assert_eq!(
        (&*server.name, server.source.name()),
        ("x", source),
        "{path}"
    );
    assert_eq!(&server.connection, connection, "{path}");
}

/// The server that [`assert_runs`] expects.
const COMMAND: &str =
    r#"{ "mcpServers": { "x": { "command": "run", "args": ["a"], "env": { "K": "v" } } } }"#;

fn assert_runs(source: &str, path: &str, text: &str) {
    assert_reads(source, path, text, &command(&["run", "a"], &[("K", "v")]));
}

fn url(transport: Transport, headers: &[(&str, &str)]) -> Connection {
    http("https://a.example/mcp", transport, headers)
}

#[test]
fn most_clients_have_the_same_form() {
    for (source, path) in [
        ("claude-code", "code/.mcp.json"),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
        ),
        ("cursor", "code/project/.cursor/mcp.json"),
        ("copilot", ".copilot/mcp-config.json"),
        ("cline", ".cline/data/settings/cline_mcp_settings.json"),
        ("neovim", ".config/nvim/mcp.json"),
        ("helix", ".config/helix/mcp.json"),
        ("file", "code/project/mcp.json"),
    ] {
        assert_runs(source, path, COMMAND);
    }
}

#[test]
fn some_clients_have_forms_of_their_own() {
    for (source, path, text) in [
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.x]\ncommand = \"run\"\nargs = [\"a\"]\nenv = { K = \"v\" }\n",
        ),
        (
            "zed",
            ".config/zed/settings.json",
            r#"{ "context_servers": { "x": { "command": { "path": "run", "args": ["a"], "env": { "K": "v" } } } } }"#,
        ),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            r#"{ "mcp": { "x": { "type": "local", "command": ["run", "a"], "environment": { "K": "v" } } } }"#,
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n  memory: {type: builtin}\n  x:\n    type: stdio\n    cmd: run\n    args: [a]\n    envs: {K: v}\n",
        ),
        (
            "file",
            "code/project/mcp.json",
            r#"{ "servers": { "x": { "command": ["run", "a"], "env": { "K": "v" } } } }"#,
        ),
    ] {
        assert_runs(source, path, text);
    }
}

#[test]
fn clients_name_servers_by_url() {
    for (source, path, entry, transport) in [
        (
            "claude-code",
            ".mcp.json",
            r#""type": "http", "url""#,
            Transport::Http,
        ),
        ("cursor", ".cursor/mcp.json", r#""url""#, Transport::Auto),
        (
            "gemini",
            ".gemini/settings.json",
            r#""url""#,
            Transport::Sse,
        ),
        (
            "gemini",
            "code/project/.gemini/settings.json",
            r#""httpUrl""#,
            Transport::Http,
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#""serverUrl""#,
            Transport::Auto,
        ),
    ] {
        let text =
            format!(r#"{{ "mcpServers": {{ "x": {{ {entry}: "https://a.example/mcp" }} }} }}"#);
        assert_reads(source, path, &text, &url(transport, &[]));
    }
    assert_reads(
        "claude-code",
        ".claude.json",
        r#"{ "projects": { "/home/user/code/project": { "mcpServers": { "x": { "url": "https://a.example/mcp" } } } } }"#,
        &url(Transport::Auto, &[]),
    );
    assert_reads(
        "opencode",
        "code/project/opencode.json",
        r#"{ "mcp": { "servers": { "x": { "type": "remote", "url": "https://a.example/mcp" } } } }"#,
        &url(Transport::Auto, &[]),
    );
    assert_reads(
        "goose",
        ".config/goose/config.yaml",
        "extensions:\n  x: {type: streamable_http, uri: https://a.example/mcp}\n",
        &url(Transport::Http, &[]),
    );
}

#[test]
fn clients_have_headers() {
    assert_reads(
        "vscode",
        "code/project/.vscode/mcp.json",
        r#"{
            // The server of the team.
            "inputs": [],
            "servers": { "x": { "type": "sse", "url": "https://a.example/mcp", "headers": { "A": "b" }, }, }
        }"#,
        &url(Transport::Sse, &[("A", "b")]),
    );
    assert_reads(
        "codex",
        "code/project/.codex/config.toml",
        r#"
            [mcp_servers.x]
            url = "https://a.example/mcp"
            bearer_token_env_var = "T"
            http_headers = { A = "b" }
            env_http_headers = { C = "D" }
        "#,
        &url(
            Transport::Auto,
            &[
                ("A", "b"),
                ("C", "${env:D}"),
                ("Authorization", "Bearer ${env:T}"),
            ],
        ),
    );
}

#[test]
fn a_project_of_claude_code_is_found_with_either_slash_and_case_on_windows() {
    let servers = |name: &str| json!({ "mcpServers": { name: { "command": "a" } } });
    let document = json!({ "projects": {
        "C:/Users/me/p": servers("slash"),
        "c:\\Users\\me\\p": servers("case"),
        "C:/Users/me/other": servers("other"),
    } });
    let folder = r"C:\Users\me\p";
    let names = |platform| {
        let places = Places::new(platform, HOME, folder, &|_| None);
        let path = Path::new(".claude.json");
        let found = read_file(
            Source::ClaudeCode,
            path,
            document.to_string().as_bytes(),
            &places,
        );
        let names = found.servers.iter().map(|server| server.name.clone());
        names.collect::<BTreeSet<_>>()
    };
    let both = ["case", "slash"].map(str::to_owned).into();
    assert_eq!(names(Platform::Windows), both);
    assert_eq!(names(Platform::Linux), BTreeSet::new());
}

#[test]
fn every_source_has_files_on_every_platform() {
    for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
        let places = Places::new(platform, HOME, FOLDER, &|_| None);
        for source in Source::ALL {
            let files = source.files(&places);
            assert!(!files.is_empty(), "{source:?}");
            assert!(files.iter().all(|file| file.starts_with(HOME)), "{files:?}");
        }
    }
    for (source, variable, file) in [
        (Source::Codex, "CODEX_HOME", "/moved/config.toml"),
        (
            Source::ClaudeCode,
            "CLAUDE_CONFIG_DIR",
            "/moved/.claude.json",
        ),
    ] {
        let environment = |name: &str| (name == variable).then(|| "/moved".to_owned());
        let places = Places::new(Platform::Linux, HOME, FOLDER, &environment);
        assert_eq!(source.user_files(&places), [Path::new(file)]);
    }
}

#[test]
fn claude_desktop_for_windows_is_a_package() {
    let environment = |name: &str| (name == "LOCALAPPDATA").then(|| "/local".to_owned());
    let places = Places::new(Platform::Windows, HOME, FOLDER, &environment);
    let package = "/local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming";
    assert_eq!(
        Source::ClaudeDesktop.files(&places),
        [package, "/home/user/AppData/Roaming"]
            .map(|folder| Path::new(folder).join("Claude/claude_desktop_config.json"))
    );
}

#[test]
fn xdg_moves_the_folder_for_configuration() {
    let environment = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/xdg".to_owned());
    let zed = |platform| {
        let places = Places::new(platform, HOME, FOLDER, &environment);
        let opencode = Source::OpenCode.user_files(&places);
        assert_eq!(opencode[0], Path::new("/xdg/opencode/opencode.json"));
        Source::Zed.user_files(&places).remove(0)
    };
    assert_eq!(zed(Platform::Linux), Path::new("/xdg/zed/settings.json"));
    assert_eq!(
        zed(Platform::MacOs),
        Path::new("/home/user/.config/zed/settings.json")
    );
}

#[test]
fn the_nearest_file_comes_first() {
    let server =
        |command: &str| format!(r#"{{ "mcpServers": {{ "x": {{ "command": "{command}" }} }} }}"#);
    let texts = [server("near"), server("far"), server("cursor")];
    let found = found(&[
        ("/home/user/.mcp.json", &texts[1]),
        ("/home/user/code/project/.mcp.json", &texts[0]),
        // Above the home, files of other people are not read.
        ("/home/.mcp.json", &texts[1]),
        ("/home/user/.cursor/mcp.json", &texts[2]),
    ]);
    assert_eq!(found.servers.len(), 3);
    assert_eq!(found.find("x").unwrap().connection, command(&["near"], &[]));
    assert_eq!(
        found.find("cursor:x").unwrap().connection,
        command(&["cursor"], &[])
    );
    assert!(found.find("vscode:x").is_none());
}

#[test]
fn a_disabled_server_is_listed_but_not_found() {
    let found = found(&[
        (
            "/home/user/.mcp.json",
            r#"{ "mcpServers": { "x": { "command": "a", "disabled": true } } }"#,
        ),
        (
            "/home/user/.codex/config.toml",
            "[mcp_servers.x]\ncommand = 'b'\nenabled = false\ntool_timeout_sec = 2.5",
        ),
    ]);
    assert_eq!(found.named("x").count(), 2);
    assert!(found.find("x").is_none());
    assert_eq!(found.servers[1].timeout.unwrap().as_millis(), 2500);
}

#[test]
fn unreadable_files_and_entries_hide_no_others() {
    let found = found(&[
        ("/home/user/.mcp.json", "{"),
        ("/home/user/.codex/config.toml", "a = 1\nkey = s3cret"),
        (
            "/home/user/.copilot/mcp-config.json",
            r#"{ "mcpServers": {
                "a": 7,
                "b": {},
                "c": { "command": [] },
                "d": { "command": "d", "env": { "K": ["s3cret"] } },
                "e": { "command": "e" }
            } }"#,
        ),
    ]);
    let warnings: Vec<_> = found.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "/home/user/.mcp.json:1:1: Unterminated object",
            "/home/user/.copilot/mcp-config.json: server `a`: expected an object",
            "/home/user/.copilot/mcp-config.json: server `b`: has neither a command nor a URL",
            "/home/user/.copilot/mcp-config.json: server `c`: `command` is empty",
            "/home/user/.copilot/mcp-config.json: server `d`: `K` must be a string",
            "/home/user/.codex/config.toml:2:7: string values must be quoted, expected literal string",
        ]
    );
    assert!(found.find("e").is_some());
}

/// The warnings of a file that the user names.
fn warnings(name: &str, bytes: &[u8]) -> Vec<String> {
    let found = read_file(Source::File, Path::new(name), bytes, &places());
    found.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_path_with_single_backslashes_is_an_error_with_its_place() {
    let fix = r"write each backslash twice, as in `C:\\tools\\npx.cmd`";
    for (entry, place, problem) in [
        (r#""command": "C:\Users\me\npx.cmd""#, 22, "Invalid escape"),
        (r#""command": "é:\xampp\npx.cmd""#, 22, "Invalid escape"),
        (
            r#""command": "C:\users\me\npx.cmd""#,
            22,
            "Expected four hex digits",
        ),
        (r#""command": "C:\\bin\npx.cmd""#, 27, ""),
        (r#""command": "%APPDATA%\npm\npx.cmd""#, 29, ""),
        (
            r#""command": "node", "args": ["-v", "D:\tools\new.js"]"#,
            45,
            "",
        ),
        (
            r#""command": "node", "env": { "NODE_PATH": "D:\node" }"#,
            52,
            "",
        ),
        (r#""command": "node", "cwd": "code\new""#, 39, ""),
    ] {
        let text = format!(
            "{{ \"mcpServers\": {{\n\"x\": {{ {entry} }}, \"y\": {{ \"command\": \"y\" }} }} }}"
        );
        let problem = match problem {
            "" => "server `x`: the backslash begins an escape in a path",
            problem => problem,
        };
        let expected = format!("a.json:2:{place}: {problem}; {fix}");
        assert_eq!(warnings("a.json", text.as_bytes()), [expected], "{entry}");
    }
    for entry in [
        r#""command": "C:\\Users\\me\\npx.cmd""#,
        r#""command": "C:/Users/me/npx.cmd""#,
        r#""command": "sh", "args": ["-c", "a\nb"], "env": { "KEY": "-----BEGIN\nMII" }"#,
    ] {
        let text =
            format!("{{ \"mcpServers\": {{ \"x\": {{ {entry} }} }}, \"note\": \"C:\\new\" }}");
        assert_eq!(warnings("a.json", text.as_bytes()), [""; 0], "{entry}");
    }
}

#[test]
fn files_with_a_byte_order_mark_are_read() {
    let text = r#"{ "mcpServers": { "é": { "command": "run" } } }"#;
    let marked = format!("\u{feff}{text}");
    let big = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let little = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [marked.into_bytes(), big, little] {
        let found = read_file(Source::File, Path::new("a.json"), &bytes, &places());
        assert_eq!(found.warnings, []);
        assert_eq!(found.find("é").unwrap().connection, command(&["run"], &[]));
    }
    for (bytes, encoding) in [
        (b"{ \"\xe9\": 1 }".as_slice(), "UTF-8"),
        (b"\xff\xfe{\0\x00\xd8}\0", "UTF-16LE"),
    ] {
        let expected =
            format!("a.json: the file has bytes that are not {encoding}; save it as UTF-8");
        assert_eq!(warnings("a.json", bytes), [expected]);
    }
}

#[test]
fn servers_that_are_no_object_are_a_warning() {
    for (text, expected) in [
        (
            r#"{ "mcpServers": [{ "name": "x", "command": "run" }] }"#,
            Some(
                "a.json: `mcpServers`: expected an object with the names of servers as keys, found a list",
            ),
        ),
        (
            r#"{ "mcp": { "servers": "x" } }"#,
            Some(
                "a.json: `mcp.servers`: expected an object with the names of servers as keys, found a string",
            ),
        ),
        (
            r#"[{ "name": "x", "command": "run" }]"#,
            Some("a.json: expected an object, found a list"),
        ),
        (r#"{ "mcpServers": null }"#, None),
        (r#"{ "mcpServers": {} }"#, None),
        ("{}", None),
        ("", None),
    ] {
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(warnings("a.json", text.as_bytes()), expected, "{text}");
    }
}

/// The arguments of a command after placeholders were replaced.
fn resolved(argument: &str) -> Result<String, ResolveError> {
    let variables = Variables::new(&places(), &environment).input("id", "typed");
    match command(&["run", argument], &[]).resolve(&variables)? {
        Connection::Command { mut args, .. } => Ok(args.remove(0)),
        Connection::Http { .. } => unreachable!("it is a command"),
    }
}

#[test]
fn placeholders_are_replaced() {
    for (argument, expected) in [
        ("plain $KEY {KEY}", "plain $KEY {KEY}"),
        ("a ${KEY} b ${env:KEY}", "a s3cret b s3cret"),
        ("{env:KEY}", "s3cret"),
        ("${NONE:-default}", "default"),
        ("${KEY:-default}", "s3cret"),
        ("${env:KEY:-default}", "s3cret"),
        ("${env:NONE:-default}", "default"),
        ("{env:KEY:-default}", "s3cret"),
        ("${EMPTY:-default} ${EMPTY}", "default "),
        ("${input:id}", "typed"),
        ("${userHome}/x", "/home/user/x"),
        ("${workspaceFolder}", FOLDER),
        ("${unclosed", "${unclosed"),
    ] {
        assert_eq!(resolved(argument).as_deref(), Ok(expected), "{argument}");
    }
}

#[test]
fn a_placeholder_without_a_value_is_an_error() {
    for (argument, expected) in [
        (
            "${NONE}",
            "the environment variable `NONE` is not set; set it, or remove `${NONE}` from the configuration",
        ),
        (
            "${input:other}",
            "the configuration asks for the input `other`; pass its value",
        ),
        (
            "${command:pick}",
            "unknown placeholder `${command:pick}`; expected an environment variable or an input",
        ),
        (
            "{file:./key}",
            "unknown placeholder `{file:./key}`; expected an environment variable or an input",
        ),
        (
            "${}",
            "unknown placeholder `${}`; expected an environment variable or an input",
        ),
        (
            "${command:pick:-x}",
            "unknown placeholder `${command:pick:-x}`; expected an environment variable or an input",
        ),
    ] {
        assert_eq!(resolved(argument).unwrap_err().to_string(), expected);
    }
}

#[test]
fn secrets_are_not_shown() {
    for (entry, shown) in [
        (
            r#""url": "https://s3cret@a.example/s3cret?s3cret", "headers": { "A": "s3cret" }"#,
            "\"A\", …",
        ),
        (
            r#""command": "run", "args": ["--token", "s3cret"], "env": { "K": "s3cret" }"#,
            "\"run\"",
        ),
    ] {
        let server = format!(r#"{{ "mcpServers": {{ "x": {{ {entry} }} }} }}"#);
        let found = format!("{:?}", found(&[("/home/user/.mcp.json", &server)]));
        assert!(
            found.contains(shown) && !found.contains("s3cret"),
            "{found}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "[\\[\\]{}:,\"a-c=\\n \\-$&*]{0,60}|\\PC{0,60}") {
        for name in ["a.json", "a.toml", "a.yaml"] {
            read_file(Source::File, Path::new(name), text.as_bytes(), &places());
        }
    }
}
