//! No command prints a secret at any log level: configuration values, URLs, headers, environment variables.

mod help;
mod secret;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
};

use secret::{MARK, assert_kept, command, run};
use serde_json::json;
use support::Wat;
use wire::{Http, Process, message::request};
use zip::ZipArchive;

/// Serves a module at `/a.wasm`, and errors and redirects everywhere else.
fn server(wasm: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            answer(stream, &line, &wasm);
        }
    });
    address.to_string()
}

fn answer(mut stream: TcpStream, line: &str, wasm: &[u8]) {
    let (status, location, body) = if line.contains("/a.wasm") {
        ("200 OK", "/", wasm)
    } else if line.contains("/moved") {
        (
            "302 Found",
            "http://elsewhere.example/?s3cr3t-location",
            &b""[..],
        )
    } else if line.contains("/denied") {
        ("403 Forbidden", "/", &b"s3cr3t-body"[..])
    } else {
        ("403 Forbidden", "/", &b"no"[..])
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
}

/// A servlet whose tool sends a request with a header, and which needs a configuration value.
fn sending(address: &str) -> Vec<u8> {
    let request = json!({
        "url": format!("http://{address}/?s3cr3t-request"),
        "method": "GET",
        "headers": { "authorization": "Bearer s3cr3t-header" },
    });
    let import =
        r#"(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    Wat::new()
        .import(import)
        .describe(&json!({ "tools": [tool] }).to_string())
        .export(
            "call",
            &request.to_string(),
            "(drop (call $http (call $block {}) (i64.const 0))) (call $output (i32.const 0) (i32.const 0)) (i32.const 0)",
        )
        .wasm()
}

/// A proxy that refuses connections.
const PROXY: &str = "http://s3cr3t-user:s3cr3t-password@127.0.0.1:1";

/// Commands, with the arguments that follow the servlet.
const COMMANDS: [(&str, &[&str]); 17] = [
    ("config init", &["-o", "-"]),
    ("describe", &[]),
    ("describe", &["--format", "json"]),
    ("inspect", &[]),
    ("inspect", &["--format", "json"]),
    ("check", &[]),
    ("check", &["--format", "json"]),
    ("serve", &[]),
    ("serve", &["--print-client-config", "claude"]),
    ("serve", &["--print-client-config", "codex"]),
    ("call", &["t", "--allow-host", "127.0.0.1"]),
    (
        "call",
        &[
            "t",
            "--allow-host",
            "*",
            "--allow-private",
            "--proxy",
            PROXY,
        ],
    ),
    (
        "serve",
        &["--print-client-config", "claude", "--proxy", PROXY],
    ),
    ("read", &["x:"]),
    ("prompt", &["p"]),
    ("complete", &["p", "x="]),
    ("test", &["--with"]),
];

/// Commands that read nothing.
const WITHOUT_SECRETS: [&str; 5] = [
    "auth key",
    "completions",
    "cache clean",
    "config schema",
    "explain",
];

/// Commands on servers, with the arguments that follow the URL.
const ON_SERVERS: [(&str, &[&str]); 9] = [
    ("catalog", &[]),
    ("export openapi", &[]),
    (
        "catalog diff",
        &["http://s3cr3t-user:s3cr3t-password@127.0.0.1:1/mcp"],
    ),
    ("ping", &["--header", "X-Key: s3cr3t-header"]),
    ("ping", &["--bearer-env", "MCP_SERVLET_TEST_TOKEN"]),
    ("watch", &["--basic", "user:MCP_SERVLET_TEST_TOKEN"]),
    ("call", &["t", "--json", "{}"]),
    ("read", &["x:"]),
    ("complete", &["p", "x="]),
];

/// Command lines with an invalid secret, with a configuration, or for a folder without a project.
const OTHERS: [&[&str]; 52] = [
    &["login", "http://s3cr3t:s3cr3t@127.0.0.1:1/?s3cr3t"],
    &["logout", "http://s3cr3t:s3cr3t@127.0.0.1:1/?s3cr3t"],
    &["config", "check", "secret.toml"],
    &["config", "explain", "secret.toml", "t"],
    &[
        "serve",
        "sends.wasm",
        "--proxy",
        "s3cr3t:s3cr3t@proxy.example",
    ],
    &[
        "call",
        "sends.wasm",
        "t",
        "--proxy=socks5://s3cr3t@proxy.example",
    ],
    &["serve", "sends.wasm", "--config", "s3cr3t-malformed"],
    &["call", "sends.wasm", "t", "--config=s3cr3t-malformed"],
    &[
        "call",
        "sends.wasm",
        "t",
        "--config-env=token=s3cr3t-instead-of-a-name",
    ],
    &[
        "call",
        "sends.wasm",
        "t",
        "--config-env=token=MCP_SERVLET_TEST_TOKEN",
    ],
    &[
        "serve",
        "sends.wasm",
        "--print-client-config=vscode",
        "--config-env=token=MCP_SERVLET_TEST_TOKEN",
    ],
    &[
        "serve",
        "sends.wasm",
        "--allow-host",
        "https://s3cr3t-user@a.example",
    ],
    &[
        "dev",
        "--print-client-config",
        "claude",
        "--config",
        "token=s3cr3t-value",
    ],
    &["dev", "--config", "token=s3cr3t-value"],
    &["build"],
    &["build", "https://s3cr3t-user:s3cr3t-password@a.example"],
    &[
        "serve",
        "sends.wasm",
        "--http",
        "s3cr3t-user:s3cr3t-password@127.0.0.1:1",
    ],
    &[
        "serve",
        "sends.wasm",
        "--http=127.0.0.1:1",
        "--http-origin=https://s3cr3t-user:s3cr3t-password@h",
    ],
    &[
        "config",
        "check",
        "https://s3cr3t-user:s3cr3t-password@h/a.toml",
    ],
    &[
        "new",
        "made",
        "--template",
        "https://s3cr3t-user:s3cr3t-password@h/x",
    ],
    &["gen", "https://s3cr3t-user:s3cr3t-password@h/x.yaml"],
    &[
        "gen",
        "client",
        "https://s3cr3t-user:s3cr3t-password@h/x.json",
    ],
    &["servers"],
    &["servers", "--format", "json"],
    &["ping", "local"],
    &["ping", "remote"],
    &["ping", "s3cr3t-user:s3cr3t-password@a.example"],
    &["ping", "--env", "TOKEN=s3cr3t-value", "--", "false"],
    &["ping", "http://127.0.0.1:1", "--header", "s3cr3t-malformed"],
    &["gen", "https://s3cr3t-user:s3cr3t/password@h/x.yaml"],
    &[
        "push",
        "sends.wasm",
        "oci://s3cr3t-user:s3cr3t@127.0.0.1:1/a:1",
    ],
    &["pull", "oci://s3cr3t-user:s3cr3t@127.0.0.1:1/a:1"],
    &["serve", "oci://s3cr3t-user:s3cr3t@127.0.0.1:1/a:1"],
    &[
        "install",
        "cursor",
        "--scope=project",
        "sends.wasm",
        "--config",
        "token=s3cr3t-value",
    ],
    &[
        "install",
        "codex",
        "--scope=project",
        "http://s3cr3t-user:s3cr3t-password@127.0.0.1:1/mcp?key=s3cr3t-query",
    ],
    &[
        "install",
        "claude",
        "--scope=project",
        "https://s3cr3t-user:s3cr3t-password@a.example/mcp?key=s3cr3t-query",
        "--no-check",
    ],
    &["uninstall", "cursor", "sends", "--scope=project"],
    &["key", "new", "-o", "missing/servlet.key"],
    &[
        "sign",
        "oci://s3cr3t-user:s3cr3t@127.0.0.1:1/a:1",
        "--key=env:MCP_SERVLET_TEST_TOKEN",
    ],
    &[
        "verify",
        "oci://s3cr3t-user:s3cr3t@127.0.0.1:1/a:1",
        "--key=sends.wasm",
    ],
    &[
        "stamp",
        "https://s3cr3t-user:s3cr3t-password@a.example/a.wasm",
    ],
    &[
        "pack",
        "--mcpb",
        "--author=a",
        "https://s3cr3t-user:s3cr3t-password@127.0.0.1:1/a.wasm?key=s3cr3t-query",
    ],
    &[
        "export",
        "registry",
        "--name=io.github.ada/weather",
        "https://s3cr3t-user:s3cr3t-password@127.0.0.1:1/a.wasm?key=s3cr3t-query",
    ],
    &["lock", "secret.toml"],
    &["stamp", "sends.wasm"],
    &["lock", "verify", "secret.toml"],
    &["lock", "update", "--file", "secret.toml"],
    &["lock", "remotes.toml"],
    &["lock", "verify", "remotes.toml"],
    &["lock", "show", "a", "--file", "secret.toml"],
    &["lock", "show", "far", "--file", "remotes.toml"],
    &["serve", "remotes.toml"],
];

/// A module, a redirect, an error and a refused connection, all with secrets in their URLs.
fn sources(address: &str) -> Vec<String> {
    let url = |path: &str| {
        format!("http://s3cr3t-user:s3cr3t-password@{address}/{path}?key=s3cr3t-query")
    };
    let there = url("a.wasm");
    vec![
        url("moved"),
        url("denied"),
        there.replace("127.0.0.1", "a.example"),
        there.replace("http://", "ftp://"),
        format!("{there}#sha256={}", "0".repeat(64)),
        there,
        "sends.wasm".to_owned(),
    ]
}

#[test]
fn no_command_prints_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = server(
        Wat::new()
            .describe(support::DESCRIPTION)
            .answer("{}")
            .wasm(),
    );
    fs::write(folder.path().join("sends.wasm"), sending(&address)).expect("a file");
    for source in sources(&address) {
        for (command, rest) in COMMANDS {
            let mut arguments: Vec<_> = command.split(' ').chain([&*source]).collect();
            arguments.extend(rest);
            match command {
                "config init" => {}
                "test" => arguments.extend([source.as_str(), "--config", "token=s3cr3t-value"]),
                _ => arguments.extend(["--config", "token=s3cr3t-value"]),
            }
            assert_kept(&arguments, &run(folder.path(), &arguments));
        }
    }
    for source in sources(&address) {
        // What an MCP server writes into an error is for the user.
        let source = source.replace("/denied", "/refused");
        for (command, rest) in ON_SERVERS {
            let mut arguments: Vec<_> = command.split(' ').chain([&*source]).collect();
            arguments.extend(rest);
            assert_kept(&arguments, &run(folder.path(), &arguments));
        }
    }
    let servers = json!({ "mcpServers": {
        "local": { "command": "false", "env": { "TOKEN": "s3cr3t" } },
        "remote": { "url": "http://s3cr3t:s3cr3t@127.0.0.1:1/mcp?s3cr3t", "headers": { "X-Key": "s3cr3t" } },
    } });
    fs::write(folder.path().join("mcp.json"), servers.to_string()).expect("a file");
    let config = "[servlet.a]\nsource = \"sends.wasm\"\nconfig = { token = \"s3cr3t\" }\n";
    fs::write(folder.path().join("secret.toml"), config).expect("a file");
    let remotes = "[remote.far]\nurl = \"http://s3cr3t:s3cr3t@127.0.0.1:1/mcp?s3cr3t\"\nrequired = true\nconnect = \"1s\"\n";
    let remote = json!({ "kind": "remote", "source": "s", "target": "t", "items": {} });
    let lock = json!({ "version": 1, "members": { "far": remote } }).to_string();
    fs::write(folder.path().join("remotes.toml"), remotes).expect("a file");
    fs::write(folder.path().join("remotes.lock"), lock).expect("a file");
    for arguments in OTHERS {
        assert_kept(arguments, &run(folder.path(), arguments));
    }
    let lock = fs::read_to_string(folder.path().join("secret.lock")).expect("a lock");
    assert!(!lock.contains(MARK), "{lock}");
    let run = COMMANDS.iter().chain(&ON_SERVERS);
    let mut run: Vec<_> = run.map(|(command, _)| (*command).to_owned()).collect();
    run.extend(OTHERS.map(|arguments| match arguments {
        [outer @ ("config" | "export" | "key" | "lock"), inner, ..]
        | [outer @ "gen", inner @ "client", ..] => {
            format!("{outer} {inner}")
        }
        arguments => arguments[0].to_owned(),
    }));
    for command in help::commands() {
        let is_tested = run.contains(&command) || WITHOUT_SECRETS.contains(&&*command);
        assert!(is_tested, "`servlet {command}` is not tested");
    }
}

/// The texts of all files in a package: a zip file, or a compressed tar file.
fn unpacked(package: &Path) -> String {
    let file = fs::File::open(package).expect("a package");
    let Ok(mut archive) = ZipArchive::new(file) else {
        let mut tar = Command::new("tar");
        let output = tar.arg("xzOf").arg(package).output().expect("tar");
        return String::from_utf8_lossy(&output.stdout).into_owned();
    };
    let mut bytes = Vec::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).expect("a file");
        file.read_to_end(&mut bytes).expect("its bytes");
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The URL of the module and the environment have secrets.
#[test]
fn no_package_has_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let described = json!({
        "serverInfo": { "name": "a", "version": "1.0.0" },
        "tools": [{ "name": "t", "inputSchema": { "type": "object" } }],
    });
    let needs = json!({ "config": {
        "type": "object",
        "properties": { "token": { "type": "string", "writeOnly": true } },
        "required": ["token"],
    } });
    let needs = needs.to_string().replace('"', "\\\"");
    let servlet_wasm = Wat::new()
        .describe(&described.to_string())
        .answer("{}")
        .after(&format!("(@custom \"mcp-servlet:needs\" \"{needs}\")"));
    let address = server(servlet_wasm.wasm());
    let source = format!("http://s3cr3t-user:s3cr3t-password@{address}/a.wasm?key=s3cr3t-query");
    for options in [
        &["--mcpb", "--author=a", "--bin=none"][..],
        &["--npm=@ada/a"],
        &["--wheel=ada-a"],
    ] {
        let arguments = [&["pack"], options, &[&source, "-o", "package"]].concat();
        let mut pack = command(folder.path(), &arguments);
        let output = pack.env("SERVLET_CONFIG_TOKEN", "s3cr3t-value").output();
        let output = output.expect("the command runs");
        assert!(output.status.success(), "{output:?}");
        assert_kept(options, &output);
        let text = unpacked(&folder.path().join("package"));
        assert!(text.contains("SERVLET_CONFIG_TOKEN"), "{text}");
        assert!(!text.contains(MARK), "{text}");
    }
}

#[test]
fn new_configuration_hides_and_reports_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let servlet_wasm = Wat::new().describe(support::DESCRIPTION).answer("{}");
    let address = server(servlet_wasm.wasm());
    let source = format!("http://user:s3cr3t@{address}/a.wasm?key=s3cr3t");
    let output = run(folder.path(), &["config", "init", &source]);
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    let note = format!("note: the URL `http://…@{address}/a.wasm?…` may be secret");
    assert!(errors.contains(&note), "{errors}");
    let written = fs::read_to_string(folder.path().join("servlet.toml")).expect("a file");
    assert!(!written.contains(MARK), "{written}");
}

#[test]
fn no_error_of_a_configuration_shows_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("servlet.toml");
    for text in [
        // Invalid values next to secrets, and secrets that are invalid.
        "[servlet.a]\nsource = \"none.wasm\"\nconfig = { token = \"s3cr3t\" }\nlimits = 1\n",
        "[servlet.a]\nsource = \"none.wasm\"\nconfig = { token = \"s3cr3t\", n = 1 }\n",
        "[servlet.a]\nsource = \"none.wasm\"\nconfig.token = \"${MCP_SERVLET_TEST_TOKEN} $s3cr3t\"\n",
        "[servlet.a]\nsource = \"none.wasm\"\nconfig.token = [\"s3cr3t\"]\n",
        "[servlet.a]\nsource = \"none.wasm\"\nconfig = \"s3cr3t\"\n",
        "servlet.a = { source = \"none.wasm\", config = { token = \"s3cr3t\" }, x = 1 }\n",
        "[servlet.a]\nsource = \"none.wasm\"\n[servlet.a.config]\ntoken = \"s3cr3t\n",
        "[servlet.a]\nsource = \"none.wasm\"\n[servlet.a.config]\ntoken = \"\"\"\ns3cr3t\n",
        "[servlet.a]\nsource = \"https://s3cr3t:s3cr3t@a.example/x?s3cr3t#sha256=1\"\n",
        "[servlet.a]\nsource = \"http://s3cr3t:s3cr3t@a.example/x?s3cr3t\"\non_failure = \"fail\"\n",
        "[servlet.a]\nsource = \"ftp://s3cr3t:s3cr3t@a.example/x?s3cr3t\"\n",
        "[servlet.a]\nsource = \"none.wasm\"\nconfig.token = \"${MCP_SERVLET_TEST_TOKEN}\"\n",
        "[requests]\nproxy = \"http://s3cr3t:s3cr3t@proxy.example/x\"\n",
        "[servlet.a]\nsource = \"none.wasm\"\nrequests = { proxy = \"s3cr3t:s3cr3t@proxy.example\" }\n",
        "requests = { prxy = \"http://s3cr3t@proxy.example\" }\n",
        "[requests]\nproxy = \"http://u:${MCP_SERVLET_TEST_TOKEN}@proxy.example/x\"\n",
    ] {
        fs::write(&path, text).expect("a file");
        for arguments in [&["config", "check"][..], &["serve", "servlet.toml"]] {
            let output = run(folder.path(), arguments);
            assert_kept([text], &output);
        }
    }
}

#[test]
fn a_server_logs_no_header_of_a_request() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), sending("127.0.0.1:1")).expect("a file");
    let arguments = [
        "serve",
        "a.wasm",
        "--http",
        "127.0.0.1:0",
        "--config",
        "token=s3cr3t-value",
    ];
    let mut server = Process::connect(command(folder.path(), &arguments));
    let url = server.said_after("listening on http://");
    let (address, _) = url.split_once('/').expect("a path");
    let client = Http::new(format!("http://{address}/mcp?s3cr3t-query")).with_all(&[
        ("authorization", "Bearer s3cr3t-header"),
        ("cookie", "s3cr3t-cookie"),
    ]);
    client.post(&request("tools/list", json!({})));
    server.kill();
    let message = server.printed();
    assert!(!message.contains(MARK), "{message}");
}
