//! Catalogs of servlets and of other servers.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Stdio},
};

use puppet::Puppet;
use serde_json::{Value, json};

use crate::support::{self, command, example, http, http_with, run, succeed};

/// Serves a servlet over HTTP.
struct Served {
    server: Child,
    url: String,
    _home: tempfile::TempDir,
}

impl Served {
    fn new(wasm: &str) -> Self {
        let (mut serve, home) = command(["serve", wasm, "--http", "127.0.0.1:0"]);
        let mut server = serve.stderr(Stdio::piped()).spawn().expect("a server");
        let mut errors = BufReader::new(server.stderr.take().expect("a pipe")).lines();
        let url = errors.find_map(|line| {
            let line = line.expect("text");
            line.strip_prefix("listening on ").map(str::to_owned)
        });
        Self {
            server,
            url: url.expect("the server listens"),
            _home: home,
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_servlet_has_one_catalog_in_process_over_stdio_and_over_http() {
    let wasm = example("greet");
    let wasm = wasm.to_str().expect("UTF-8");
    let served = Served::new(wasm);
    let json = ["--format", "json"];
    let in_process = succeed(["catalog", wasm].iter().chain(&json));
    let servlet = env!("CARGO_BIN_EXE_servlet");
    let over_stdio = ["catalog", "--format", "json", "--", servlet, "serve", wasm];
    assert_eq!(succeed(over_stdio), in_process);
    assert_eq!(
        succeed(["catalog", &served.url].iter().chain(&json)),
        in_process
    );
    let catalog: Value = serde_json::from_str(&in_process).expect("JSON");
    assert_eq!(catalog["items"][0]["name"], "greet");
}

#[test]
fn bad_entries_hide_no_good_ones() {
    let nested = (0..300).fold(json!({}), |inner, _| json!({ "not": inner }));
    let good = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let schema = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema });
    let tools = json!([
        good("one"),
        { "name": "no schema" },
        true,
        [],
        schema("pattern", json!({ "properties": { "a": { "pattern": "(" } } })),
        schema("remote", json!({ "$ref": "https://example.com/schema.json" })),
        good("two"),
        schema("dialect", json!({ "$schema": "https://example.com/dialect" })),
        schema("deep", nested),
        schema("circle", json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] })),
        good("three"),
    ]);
    let url = http_with(json!({
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "result": { "tools": tools } }] },
    }));
    let catalog: Value =
        serde_json::from_str(&succeed(["catalog", &url, "--format", "json"])).expect("JSON");
    let items = catalog["items"].as_array().expect("items");
    assert_eq!(items.len(), 11);
    let broken = |item: &&Value| {
        let diagnostics = catalog["diagnostics"].as_array().expect("diagnostics");
        let mut diagnostics = diagnostics.iter();
        let at = items.iter().position(|one| std::ptr::eq(one, *item));
        diagnostics.any(|one| one["item"]["index"] == json!(at) && one["severity"] == "error")
    };
    let (bad, good): (Vec<_>, Vec<_>) = items.iter().partition(broken);
    let names: Vec<_> = good.iter().map(|item| item["name"].clone()).collect();
    assert_eq!(
        (bad.len(), names),
        (8, vec![json!("one"), json!("two"), json!("three")])
    );
    assert_eq!(run(["catalog", &url, "--deny", "diagnostics"]).0, 1);
    assert_eq!(
        run(["catalog", &http("plain"), "--deny", "diagnostics"]).0,
        0
    );
}

#[test]
fn a_catalog_in_a_file_is_read_again_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (old, raw) = (path("old.json"), path("raw.json"));
    let url = http("plain");
    assert_eq!(succeed(["catalog", &url, "-o", &old]), "");
    succeed(["catalog", &url, "--format", "raw", "-o", &raw]);
    let written = fs::read_to_string(&old).expect("a catalog");
    for target in [&url, &old, &raw] {
        assert_eq!(succeed(["catalog", target, "--format", "json"]), written);
        assert_eq!(succeed(["catalog", "diff", &old, target]), "no changes\n");
    }
    let edited = written.replace("The weather of a city.", "The weather.");
    let edited = edited.replace("\"name\": \"review\"", "\"name\": \"look\"");
    let new = path("new.json");
    fs::write(&new, edited).expect("a file");
    let (code, stdout, _) = run(["catalog", "diff", &old, &new]);
    assert_eq!(code, 1);
    let described = path("described.json");
    let text = written.replace("The weather of a city.", "The weather.");
    fs::write(&described, text).expect("a file");
    for (deny, expected) in [("breaking", 0), ("text", 1), ("any", 1)] {
        let diff = ["catalog", "diff", &old, &described, "--deny", deny];
        assert_eq!(run(diff).0, expected, "{deny}");
    }
    assert_eq!(
        stdout,
        "changed tool `weather` /description\n  - \"The weather of a city.\"\n  + \"The weather.\"\n\
         removed prompt `review` (breaking)\nadded prompt `look`\n"
    );
    let (_, stdout, _) = run(["catalog", "diff", &old, &new, "--format", "json"]);
    let changes: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(changes[0]["pointer"], "/description");
    let impacts: Vec<_> = (0..3).map(|at| changes[at]["impact"].clone()).collect();
    assert_eq!(json!(impacts), json!(["text", "breaking", "compatible"]));
    assert_eq!(changes.as_array().map(Vec::len), Some(3));
}

/// The URL of a server with these tools, as it writes them.
fn http_with_tools(tools: &str) -> String {
    let line = format!(r#"{{"jsonrpc":"2.0","id":$id,"result":{{"tools":[{tools}]}}}}"#);
    http_with(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "line": line }] },
    }))
}

#[test]
fn a_difference_that_catalogs_do_not_show_is_named() {
    let tool = |more: &str| format!(r#"{{"name":"a","inputSchema":{{"type":"object"}}{more}}}"#);
    for (old, new, expected) in [
        (
            tool(r#","title":"b""#),
            tool(r#","title":"a","title":"b""#),
            "changed tool `a` in a part that catalogs leave out, such as `null` or a member that occurs twice (breaking)\n  - ",
        ),
        (
            format!("{},{}", tool(""), tool("")),
            format!("{},{}", tool(""), tool(r#","title":"b""#)),
            "added tool `a` (number 2 of this name) /title\n  + \"b\"\n",
        ),
        (
            format!("{},{}", tool(""), tool("")),
            tool(""),
            "removed tool `a` (number 2 of this name) (breaking)\n",
        ),
    ] {
        let (old, new) = (http_with_tools(&old), http_with_tools(&new));
        let (_, stdout, stderr) = run(["catalog", "diff", &old, &new, "--deny", "any"]);
        assert!(stdout.starts_with(expected), "{stdout}{stderr}");
        let (code, same, _) = run(["catalog", "diff", &old, &old, "--deny", "any"]);
        assert_eq!((code, &*same), (0, "no changes\n"));
    }
}

#[test]
fn credentials_never_go_to_both_servers_of_a_comparison() {
    let url = http("plain");
    let puppets = [Puppet::new("plain"), Puppet::new("plain")];
    let [old, new] = [support::url(&puppets[0]), support::url(&puppets[1])];
    for option in [
        &["--header", "X-Key: hush"][..],
        &["--bearer-env", "PATH"],
        &["--basic", "me:PATH"],
    ] {
        let arguments = [&["catalog", "diff", &old, &new], option].concat();
        let (code, _, stderr) = run(arguments);
        let message = format!("error: `{}` would go to both servers\n", option[0]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.starts_with(&message), "{stderr}");
    }
    assert!(puppets.iter().all(|puppet| puppet.log().is_empty()));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("old.json");
    let file = file.to_str().expect("UTF-8");
    succeed(["catalog", &url, "-o", file]);
    for targets in [[file, &new], [&new, file]] {
        let [old, new] = targets;
        succeed(["catalog", "diff", old, new, "--header", "X-Key: hush"]);
    }
    let log = puppets[1].log();
    let mut headers = log.iter().map(|one| &one["headers"]["x-key"]);
    assert!(headers.any(|value| value == "hush"));
}

#[test]
fn user_interfaces_are_one_line_each() {
    let ui = json!({ "ui": { "resourceUri": "ui://clock/face", "visibility": ["app"] } });
    let tool = json!({ "name": "clock", "inputSchema": { "type": "object" }, "_meta": ui });
    let url = http_with(json!({
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "result": { "tools": [tool] } }] },
    }));
    assert_eq!(
        succeed(["catalog", &url, "--ui"]),
        "clock → ui://clock/face (for app)\n"
    );
    assert_eq!(
        succeed(["catalog", &http("plain"), "--ui"]),
        "no tool has a user interface\n"
    );
}

#[test]
fn a_server_and_its_catalog_in_a_file_have_one_openapi_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (catalog, document) = (path("catalog.json"), path("openapi.json"));
    let url = http("plain");
    succeed(["catalog", &url, "-o", &catalog]);
    let printed = succeed(["export", "openapi", &catalog]);
    assert_eq!(succeed(["export", "openapi", &url]), printed);
    assert_eq!(succeed(["export", "openapi", &url, "-o", &document]), "");
    assert_eq!(fs::read_to_string(&document).expect("a document"), printed);
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    let weather = &printed["paths"]["/tools/weather"]["post"];
    assert_eq!(weather["description"], "The weather of a city.");
    let review = &printed["paths"]["/prompts/review"]["post"];
    assert_eq!(review["operationId"], "prompt_review");
    let read = &printed["paths"]["/resources"]["get"];
    let example = &read["parameters"][0]["examples"]["readme"];
    assert_eq!(example["value"], "file:///readme");
    let templates = json!([{ "uriTemplate": "city://{name}", "name": "city" }]);
    assert_eq!(read["x-mcp-resource-templates"], templates);
}

#[test]
fn an_openapi_document_leaves_out_what_no_request_reaches() {
    let list = |name: &str, entries: Value| json!([{ "result": { name: entries } }]);
    let url = http_with(json!({ "replies": {
        "prompts/list": list("prompts", json!([{ "name": "a" }, { "name": "a" }])),
        "resources/list": list("resources", json!([{ "name": "no URI" }])),
        "resources/templates/list": list("resourceTemplates", json!([{ "name": "no template" }])),
        "tools/list": list("tools", json!([])),
    } }));
    let (code, document, warnings) = run(["export", "openapi", &url]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let paths = document["paths"].as_object().expect("paths").keys();
    assert_eq!(paths.collect::<Vec<_>>(), ["/prompts/a"]);
    let expected = "\
warning[bad-member]: resource without a URI at /uri: is missing or empty, so no request reaches the resource; the document leaves it out
warning[bad-member]: resource template without a URI template at /uriTemplate: is missing or empty, so no request reaches the resource template; the document leaves it out
warning[duplicate-name]: prompt `a` at /name: item 2 has the same one, so no request reaches the prompt; the document leaves it out
";
    assert_eq!(warnings, expected);
}
