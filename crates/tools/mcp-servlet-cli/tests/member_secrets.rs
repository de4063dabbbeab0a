//! No secret of a remote, a bundle or an endpoint is in any output at any log level, and in no error for a client.

mod secret;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Child, Stdio},
    sync::mpsc,
    thread::JoinHandle,
    time::Duration,
};

use mcp_servlet_client::{Http, Options, Session, Target};
use mcp_servlet_server::Sha256;
use puppet::{Puppet, eventually};
use secret::{MARK, assert_kept, command, run};
use serde_json::{Value, json};
use support::Wat;
use tempfile::TempDir;

/// The failures of the servlet's tool, by the number in its arguments.
const FAILURES: [&str; 6] = [
    "(unreachable)",
    "(loop $again (br $again))",
    "(loop $again (drop (memory.grow (i32.const 16))) (br $again))",
    "(call $error (i32.const 0) (i32.const 4)) (return (i32.const 1))",
    "(call $error (i32.const 0) (i32.const 4)) (unreachable)",
    "(drop (call $http (call $block (i32.const 4) (i32.const 33)) (i64.const 0)))",
];

/// A servlet whose tool fails in one of these ways, or, for a greater number, returns something that is not a result.
fn failing() -> Vec<u8> {
    let text = json!({ "type": "string", "maxLength": 60 });
    let properties = json!({ "do": { "type": "integer" }, "key": text, "token": text });
    let tool =
        json!({ "name": "t", "inputSchema": { "type": "object", "properties": properties } });
    let request = r#"{"url":"http://weather.example/"}"#;
    assert_eq!(request.len(), 33);
    let at = r#"{"params":{"name":"t","arguments":{"do":"#.len();
    let what = format!("(i32.sub (call $input (i64.const {at})) (i32.const 49))");
    let cases = FAILURES
        .iter()
        .enumerate()
        .map(|(number, body)| format!("(if (i32.eq {what} (i32.const {number})) (then {body}))"));
    let body = cases.collect::<String>() + "(call $output {}) (i32.const 0)";
    let import =
        r#"(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    Wat::new()
        .import(import)
        .text("gone")
        .text(request)
        .describe(&json!({ "tools": [tool] }).to_string())
        .export("call", "nonsense", &body)
        .wasm()
}

/// A remote that answers errors, lies, statuses of HTTP, or not at all.
fn puppet() -> Puppet {
    let properties = json!({ "key": {}, "token": {} });
    let schema = json!({ "type": "object", "properties": properties });
    let tool = json!({ "name": "t", "inputSchema": schema });
    let script = json!({
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [
                { "error": { "code": -32005, "message": "slow down" } },
                { "result": { "content": "none" } },
                { "status": 401, "headers": { "www-authenticate": "Bearer" } },
                { "status": 500 },
                { "wait_ms": 60_000 },
            ],
        },
    });
    Puppet::with(serde_json::from_value(script).expect("a script"))
}

/// How often the tool of that remote is called.
const CALLS: usize = 5;

/// Secrets in each place of a remote: the user, the password and the query of its URL, headers, arguments, variables.
fn remotes(puppet: &str) -> String {
    let url = |address: &str| {
        format!("url = \"http://s3cr3t-user:s3cr3t-password@{address}/mcp?key=s3cr3t-query\"")
    };
    let headers = "headers = { authorization = \"Bearer s3cr3t-header\", x-key = \"${MCP_SERVLET_TEST_TOKEN}\" }\n\
        timeout = \"500ms\"\nretry = { every = \"50ms\", most = 1 }\ntools.prefix = \"name\"\n";
    let env = "env = { KEY = \"s3cr3t-variable\", TOKEN = \"${MCP_SERVLET_TEST_TOKEN}\" }\n\
        retry = { every = \"50ms\", most = 1 }\ntools.prefix = \"name\"\n";
    let servlet = json!([
        env!("CARGO_BIN_EXE_servlet"),
        "serve",
        "a.wasm",
        "--config",
        "k=s3cr3t-argument"
    ]);
    [
        format!("[remote.errors]\n{}\n{headers}", url(puppet)),
        format!("[remote.down]\n{}\n{headers}", url("127.0.0.1:1")),
        format!("[remote.missing]\ncommand = [\"./no-such-program\", \"s3cr3t-argument\"]\n{env}"),
        format!(
            "[remote.ends]\ncommand = [\"sh\", \"-c\", \"exit 3\", \"s3cr3t-argument\"]\n{env}"
        ),
        format!("[remote.child]\ncommand = {servlet}\n{env}"),
    ]
    .concat()
}

/// Virtual tools with secrets in constants. Their handlers fail, or an expression of theirs.
fn bundle() -> String {
    let constant = "key = \"s3cr3t-constant\", token = \"${MCP_SERVLET_TEST_TOKEN}\"";
    let number = "arguments = { type = \"object\", properties = { n = {} } }\n";
    let tools = format!(
        "[bundle.ops.tool.fixed]\nhandler = \"a:t\"\nset = {{ {constant} }}\n\
         [bundle.ops.tool.far]\nhandler = \"errors:t\"\nset = {{ {constant} }}\n\
         [bundle.ops.tool.near]\nhandler = \"child:t\"\ninputs = {{ do = 1, {constant} }}\n\
         [bundle.ops.tool.divide]\nhandler = \"a:t\"\ninputs = {{ do = \"${{{{ 1 / int(request.arguments.n) }}}}\", {constant} }}\n{number}\
         [bundle.ops.tool.long]\nhandler = \"a:t\"\ninputs = {{ do = 9, key = \"s3cr3t-constant ${{{{ request.arguments.n }}}}\" }}\n{number}"
    );
    let failures = (0..=FAILURES.len()).map(|kind| {
        let keys = format!("handler = \"a:t\"\ninputs = {{ do = {kind}, {constant} }}\n");
        format!(
            "[bundle.ops.tool.fails_{kind}]\n{keys}[bundle.ops.tool.caught_{kind}]\n{keys}\
             [[bundle.ops.tool.caught_{kind}.catches]]\n\
             when = \"${{{{ error.data.none > 1 }}}}\"\nerror = {{ code = -32001 }}\n\
             [[bundle.ops.tool.caught_{kind}.catches]]\n\
             error = {{ code = -32002, message = \"${{{{ error.code }}}}\", data = \"${{{{ error.data.none }}}}\" }}\n"
        )
    });
    failures.fold(tools, |all, one| all + &one)
}

/// A configuration whose secrets are in all places that can have them.
fn config(puppet: &str) -> String {
    let endpoint = "[listener.local]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"local\"\n\
        headers = { x-key = \"s3cr3t-response\", x-token = \"${MCP_SERVLET_TEST_TOKEN}\" }\nauth = \"corp\"\n";
    let key = Sha256::of(b"s3cr3t-of-client");
    let auth = format!(
        "[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{{ name = \"c\", sha256 = \"{key}\" }}]\n\
         introspection = {{ url = \"http://127.0.0.1:1/\", client = \"mcp\", secret = \"s3cr3t-of-server\", issuer = \"http://127.0.0.1:1/\" }}\n"
    );
    let servlet = "[servlet.a]\nsource = \"a.wasm\"\nconfig = { token = \"s3cr3t-value\" }\n\
        limits = { timeout = \"500ms\", memory = \"4MiB\" }\n";
    [endpoint, &auth, servlet, &remotes(puppet), &bundle()].concat()
}

/// A folder with the configuration and its servlet.
fn folder(config: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), failing()).expect("a file");
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    folder
}

/// A running server, whose log is read all the time.
struct Server {
    child: Child,
    url: String,
    log: JoinHandle<String>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = command(folder, &["serve", "servlet.toml"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let (sender, url) = mpsc::channel();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            let mut start = 0;
            while errors.read_line(&mut log).expect("text") > 0 {
                if let Some((_, url)) = log[start..].split_once(": listening on ") {
                    // An error means that the test has ended.
                    let _ = sender.send(url.trim().to_owned());
                }
                start = log.len();
            }
            log
        });
        let url = url.recv_timeout(Duration::from_mins(1)).expect("a URL");
        Self { child, url, log }
    }

    fn session(&self) -> impl Future<Output = Session> + use<> {
        let http = Http::new(&self.url).expect("a URL");
        let http = http.header("authorization", "Bearer s3cr3t-of-client");
        let http = http.expect("a header").header("cookie", "s3cr3t-cookie");
        let target = Target::Http(Box::new(http.expect("a header")));
        async move {
            let session = Session::connect_with(&target, &Options::new()).await;
            session.expect("a session")
        }
    }

    /// Ends the server, and returns all that it has written.
    fn end(mut self) -> String {
        self.child.kill().expect("the server ends");
        self.child.wait().expect("the server ends");
        let mut output = String::new();
        let mut stdout = self.child.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut output).expect("text");
        output + &self.log.join().expect("no panic")
    }
}

/// Calls a tool, which fails, and returns what the client gets.
async fn answer(session: &Session, tool: &str, arguments: Value) -> String {
    match session.call(tool, arguments).await {
        Ok(result) => {
            assert!(result.is_error, "{tool}: {:?}", result.raw);
            result.raw.get().to_owned()
        }
        Err(error) => format!("{error} {:?}", error.data()),
    }
}

/// Makes each failure happen, and returns what the client gets.
async fn failures(session: &Session) -> Vec<(String, String)> {
    let mut calls: Vec<_> = (0..=FAILURES.len())
        .flat_map(|kind| [format!("fails_{kind}"), format!("caught_{kind}")])
        .map(|tool| (tool, json!({})))
        .collect();
    calls.extend(std::iter::repeat_n(("far".to_owned(), json!({})), CALLS));
    for (tool, arguments) in [
        ("near", json!({})),
        ("fixed", json!({ "do": 1 })),
        ("fixed", json!({ "do": "x" })),
        ("fixed", json!({ "key": "mine" })),
        ("divide", json!({ "n": 0 })),
        ("divide", json!({})),
        ("long", json!({ "n": "x".repeat(60) })),
        ("fails_none", json!({})),
        ("errors_t", json!({})),
    ] {
        calls.push((tool.to_owned(), arguments));
    }
    let mut answers = Vec::new();
    for (tool, arguments) in calls {
        let answer = answer(session, &tool, arguments).await;
        answers.push((tool, answer));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_shows_no_secret_of_its_members_when_they_fail() {
    let puppet = puppet();
    let address = puppet.http().await.to_string();
    let folder = folder(&config(&address));
    let server = Server::start(folder.path());
    let session = server.session().await;
    // The remotes are connected in the background.
    let lists_all = async || {
        let lists = session.lists().await.expect("lists");
        let tools = json!(lists.tools.unwrap_or_default());
        let text = tools.to_string();
        assert!(!text.contains(MARK), "{text}");
        let has_all = text.contains("\"far\"") && text.contains("\"near\"");
        if has_all { Ok(()) } else { Err(text) }
    };
    eventually("the tools of all members", lists_all).await;
    let answers = failures(&session).await;
    for (tool, answer) in &answers {
        assert!(!answer.contains(MARK), "{tool}: {answer}");
        let is_unknown = answer.contains("unknown tool");
        assert_eq!(is_unknown, tool == "fails_none", "{tool}: {answer}");
    }
    for (header, token) in [
        ("authorization", "Bearer s3cr3t-of-stranger"),
        ("cookie", "s3cr3t"),
    ] {
        let http = Http::new(&server.url).expect("a URL").header(header, token);
        let target = http.expect("a header").into();
        let refused = Session::connect_with(&target, &Options::new()).await;
        let error = refused
            .map(drop)
            .expect_err("an unknown caller")
            .to_string();
        assert!(!error.contains(MARK), "{error}");
    }
    // The secrets have reached the remote.
    let log = json!(puppet.log()).to_string();
    assert!(log.contains("s3cr3t-constant"), "{log}");
    let written = server.end();
    assert!(written.contains("remote"), "{written}");
    let line = written.lines().find(|line| line.contains(MARK));
    assert_eq!(line, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_reach_a_remote_with_the_values_of_environment_variables() {
    let remotes = [("http", puppet(), "mcp"), ("sse", puppet(), "sse")];
    let mut sections = Vec::new();
    for (transport, puppet, path) in &remotes {
        let address = puppet.http().await;
        sections.push(format!(
            "[remote.{transport}]\nurl = \"http://{address}/{path}\"\ntransport = \"{transport}\"\n\
             headers = {{ authorization = \"Bearer ${{MCP_SERVLET_TEST_TOKEN}}\", x-plain = \"as written\" }}\n"
        ));
    }
    let folder = folder(&sections.concat());
    let path = folder.path().to_owned();
    let check = move || run(&path, &["config", "check", "servlet.toml", "--connect"]);
    let output = tokio::task::spawn_blocking(check).await.expect("output");
    assert!(output.status.success(), "{output:?}");
    for (transport, puppet, _) in remotes {
        let log = puppet.log();
        let requests = log.iter().filter_map(|entry| entry.get("headers"));
        let requests: Vec<_> = requests.collect();
        assert!(!requests.is_empty(), "{transport}");
        for headers in requests {
            let token = &headers["authorization"];
            assert_eq!(token, "Bearer s3cr3t-environment", "{transport}");
            assert_eq!(headers["x-plain"], "as written", "{transport}");
        }
    }
}

/// Commands that read the configuration.
const COMMANDS: [&[&str]; 9] = [
    &["config", "check", "servlet.toml"],
    &["config", "check", "servlet.toml", "--load"],
    &["config", "check", "servlet.toml", "--connect"],
    &[
        "config",
        "check",
        "servlet.toml",
        "--connect",
        "--format",
        "json",
    ],
    &["config", "check", "servlet.toml", "--no-env"],
    &["serve", "servlet.toml", "--print-client-config", "claude"],
    &["call", "servlet.toml", "fails_1"],
    &[
        "call",
        "servlet.toml",
        "long",
        "n=012345678901234567890123456789012345678901234567890",
    ],
    &["call", "servlet.toml", "far"],
];

#[tokio::test(flavor = "multi_thread")]
async fn no_command_shows_a_secret_of_a_member() {
    let puppet = puppet();
    let address = puppet.http().await.to_string();
    let folder = folder(&config(&address));
    for arguments in COMMANDS {
        let path = folder.path().to_owned();
        let output = tokio::task::spawn_blocking(move || run(&path, arguments)).await;
        assert_kept(format!("{arguments:?}"), &output.expect("output"));
    }
}

const REMOTE: &str = "[remote.r]\nurl = \"https://r.example/mcp\"\n";
const COMMAND: &str = "[remote.r]\ncommand = [\"r\", \"s3cr3t\"]\n";
const TOOL: &str = "[servlet.a]\nsource = \"a.wasm\"\n[bundle.b.tool.x]\nhandler = \"a:t\"\n";
const WEB: &str =
    "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.e]\nkind = \"http\"\nlistener = \"l\"\n";

const AUTH: &str = "[auth.a]\nresource = \"https://mcp.example/mcp\"\n";

/// Invalid values next to secrets, and secrets that are invalid.
const INVALID: [(&str, &str); 37] = [
    (
        "[remote.r]\n",
        "url = \"ftp://s3cr3t:s3cr3t@r.example/mcp?s3cr3t\"",
    ),
    (
        "[remote.r]\n",
        "url = \"http://s3cr3t:s3cr3t@r.example/mcp?s3cr3t\"",
    ),
    ("[remote.r]\n", "url = \"s3cr3t:s3cr3t@r.example\""),
    (
        "[remote.r]\n",
        "url = \"https://s3cr3t:s3cr3t@r.example:99999/?s3cr3t\"",
    ),
    (REMOTE, "command = [\"r\", \"s3cr3t\"]"),
    (REMOTE, "env = { TOKEN = \"s3cr3t\" }"),
    (REMOTE, "headers = { \"x y\" = \"s3cr3t\" }"),
    (REMOTE, "headers = { x = \"s3cr3t\\n\" }"),
    (REMOTE, "headers = { x = [\"s3cr3t\"] }"),
    (REMOTE, "headers = \"s3cr3t\""),
    (
        REMOTE,
        "headers = { x = \"${MCP_SERVLET_TEST_TOKEN} $s3cr3t\" }",
    ),
    (
        REMOTE,
        "headers = { x = \"s3cr3t ${NO_SUCH_VARIABLE_HERE}\" }",
    ),
    (COMMAND, "headers = { x = \"s3cr3t\" }"),
    (COMMAND, "env = { \"A=B\" = \"s3cr3t\" }"),
    (COMMAND, "env = { A = [\"s3cr3t\"] }"),
    (COMMAND, "env = \"s3cr3t\""),
    (COMMAND, "env = { A = \"s3cr3t\\u0000\" }"),
    (
        TOOL,
        "set = { key = 7, token = \"s3cr3t\", nope = \"s3cr3t\" }",
    ),
    (TOOL, "set = { do = \"s3cr3t\" }"),
    (TOOL, "set = { key = [\"s3cr3t\"] }"),
    (TOOL, "set = \"s3cr3t\""),
    (TOOL, "set = { key = \"s3cr3t ${{ request.nope }}\" }"),
    (TOOL, "set = { key = \"s3cr3t ${NO_SUCH_VARIABLE_HERE}\" }"),
    (
        TOOL,
        "set = { key = \"s3cr3t\" }\ninputs = { key = \"s3cr3t\" }",
    ),
    (TOOL, "inputs = { do = \"s3cr3t\" }"),
    (
        TOOL,
        "inputs = { do = \"s3cr3t ${{ request.arguments.n }}\" }",
    ),
    (TOOL, "inputs = { nope = { deep = [\"s3cr3t\"] } }"),
    (
        TOOL,
        "inputs = { key = \"s3cr3t-012345678901234567890123456789012345678901234567890123456789\" }",
    ),
    (WEB, "headers = { x = \"s3cr3t\\n\" }"),
    (WEB, "headers = { \"x y\" = \"s3cr3t\" }"),
    (WEB, "headers = { x = [\"s3cr3t\"] }"),
    (WEB, "headers = \"s3cr3t\""),
    (WEB, "headers = { x = \"s3cr3t ${NO_SUCH_VARIABLE_HERE}\" }"),
    (WEB, "auth = { token = \"s3cr3t\" }"),
    (AUTH, "key = [{ name = \"c\", value = \"s3cr3t\" }]"),
    (
        AUTH,
        "introspection = { client = \"c\", secret = [\"s3cr3t\"] }",
    ),
    (
        AUTH,
        "introspection = { secret = \"s3cr3t ${NO_SUCH_VARIABLE_HERE}\" }",
    ),
];

#[test]
fn no_error_of_a_configuration_shows_a_secret_of_a_member() {
    for (section, keys) in INVALID {
        let folder = folder(&format!("{section}{keys}\n"));
        for arguments in [
            &["config", "check", "servlet.toml", "--load"][..],
            &[
                "config",
                "check",
                "servlet.toml",
                "--load",
                "--format",
                "json",
            ],
            &["serve", "servlet.toml"],
        ] {
            assert_kept(
                format!("{keys} {arguments:?}"),
                &run(folder.path(), arguments),
            );
        }
    }
}
