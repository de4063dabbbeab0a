//! Remotes with the settings of a configuration: logins, certificates, texts of tools, and requests that are sent again.

use std::path::Path;
use std::sync::Arc;

use mcp_servlet_call::{RequestCaller, RequestMeta};
use mcp_servlet_client::{Catalog, Http, OAuth, Session};
use mcp_servlet_config::Config;
use mcp_servlet_host::{Member, Mount, Tool};
use mcp_servlet_server::Remotes;
use puppet::{AuthorizationServer, Puppet, ROBOT, ROBOT_SECRET, browse};
use serde_json::{Value, json};

use crate::authority::{Authority, SERVER};
use crate::log;
use crate::support::{script, with_calls};

/// The only remote of a configuration.
async fn connect(config: Config) -> Result<(Remotes, Member), String> {
    let remotes = Remotes::default();
    let mounts = remotes.update(&config.settings.remotes).await;
    let mounts = mounts.map_err(|error| error.to_string())?;
    let [Mount { member, .. }] = <[Mount; 1]>::try_from(mounts).expect("one remote");
    Ok((remotes, member))
}

fn config(url: &str, settings: &str) -> Config {
    let text = format!(
        "[remote.far]\nurl = \"{url}\"\nrequired = true\nretry.most = 0\nretry.every = \"10ms\"\n{settings}\n"
    );
    Config::parse(Path::new("servlet.toml"), &text).unwrap_or_else(|error| panic!("{error}"))
}

async fn call(member: &Member, tool: &str) -> Result<Value, String> {
    let arguments = json!({ "city": "Oslo" });
    let arguments = arguments.as_object();
    let result = member
        .call_with(tool, arguments, &RequestMeta::default())
        .await;
    let result = result.map_err(|error| error.to_string())?;
    Ok(result.json()["content"][0]["text"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_uses_the_stored_login_for_its_url() {
    let server = AuthorizationServer::default().start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let logins = |oauth: OAuth| oauth.folder(folder.path());
    let far = || {
        let mut config = config(&server.url(), "login = true");
        let options = &mut config.settings.remotes[0].options;
        options.oauth = options.oauth.take().map(logins);
        config
    };
    let error = connect(far()).await.expect_err("no login");
    assert!(error.contains("requires credentials"), "{error}");

    let http = Http::new(&server.url()).expect("a URL");
    let login = logins(OAuth::new()).login(&http, browse).await;
    login.expect("a login");
    let (_remotes, member) = connect(far()).await.expect("a remote");
    assert_eq!(call(&member, "weather").await, Ok(json!("Oslo")));
    server.expire_tokens();
    assert_eq!(call(&member, "weather").await, Ok(json!("Oslo")));
    assert_eq!(server.count("refresh_token"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_gets_tokens_with_the_secret_of_a_client() {
    let server = AuthorizationServer::default().start().await;
    let login = |secret: &str| {
        format!(
            "login = {{ client_id = \"{ROBOT}\", client_secret = \"{secret}\", scopes = [\"read\"] }}"
        )
    };
    let error = connect(config(&server.url(), &login("hush-wrong"))).await;
    let error = error.expect_err("another secret");
    assert!(!error.contains("hush-wrong"), "{error}");

    let far = config(&server.url(), &login(ROBOT_SECRET));
    let (_remotes, member) = connect(far).await.expect("a remote");
    let before = server.count("client_credentials");
    assert_eq!(call(&member, "weather").await, Ok(json!("Oslo")));
    assert_eq!(server.count("client_credentials"), before);
    server.expire_tokens();
    assert_eq!(call(&member, "weather").await, Ok(json!("Oslo")));
    assert_eq!(server.count("client_credentials"), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_certificate_of_a_remote_is_refused() {
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let roots = authority.roots();
    for (serials, is_accepted) in [(&[SERVER + 1], true), (&[SERVER], false)] {
        let revoked = authority.revoked(serials);
        let tls = format!(
            "tls = {{ ca = '{}', crl = '{}' }}",
            roots.display(),
            revoked.display()
        );
        let connected = connect(config(&url, &tls)).await;
        assert_eq!(connected.is_ok(), is_accepted);
        if let Err(error) = connected {
            assert!(error.to_lowercase().contains("revoked"), "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_certificate_of_a_remote_is_accepted_with_a_warning() {
    log::start();
    let url = Authority::new().serve(false).await;
    assert!(connect(config(&url, "")).await.is_err());
    let connected = connect(config(&url, "tls.insecure = true")).await;
    connected.expect("a remote");
    log::says(&format!("read and changed on its way server=\"{url}/mcp\"")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_see_the_texts_of_the_configuration() {
    let tools = json!([
        { "name": "a", "description": "of the remote", "inputSchema": { "type": "object" },
          "annotations": { "readOnlyHint": false, "openWorldHint": true } },
        { "name": "b", "title": "B", "inputSchema": { "type": "object" } },
    ]);
    let puppet = script(json!({ "replies": { "tools/list": [{ "result": { "tools": tools } }] } }));
    let url = format!("http://{}/mcp", puppet.http().await);
    let settings = "tool.a = { description = \"ours\", annotations = { readOnlyHint = true } }\n\
        tool.b = { title = \"C\" }\n";
    let (_remotes, member) = connect(config(&url, settings)).await.expect("a remote");
    let remote = member.as_remote().expect("a remote").remote().lists();
    let lists = remote.borrow().clone();
    let listed: Vec<_> = lists.tools.iter().map(Tool::json).cloned().collect();
    assert_eq!(
        Value::from(listed.into_iter().map(Value::from).collect::<Vec<_>>()),
        json!([
            { "name": "a", "description": "ours", "inputSchema": { "type": "object" },
              "annotations": { "readOnlyHint": true, "openWorldHint": true } },
            { "name": "b", "title": "C", "inputSchema": { "type": "object" } },
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_starts_with_a_call_lists_its_catalog_until_then() {
    let puppet = Puppet::new("plain");
    let url = format!("http://{}/mcp", puppet.http().await);
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let session = session.expect("a session");
    let catalog = Catalog::from(&session.lists().await.expect("lists"));
    session.close().await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("far.json");
    let text = serde_json::to_string(&catalog).expect("JSON");
    std::fs::write(&path, text).expect("a file");

    let before = puppet.log().len();
    let settings = format!("start = \"call\"\ncatalog = '{}'", path.display());
    let (remotes, member) = connect(config(&url, &settings)).await.expect("a remote");
    assert_eq!(member.tools().len(), 1, "a client may ask at once");
    let remote = member.as_remote().expect("a remote").remote();
    let names = || {
        let updates = remote.lists();
        let lists = updates.borrow();
        let names = lists.tools.iter().map(|tool| tool.name().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(), ["weather"]);
    assert_eq!(remotes.tried().await, []);
    assert_eq!(puppet.log().len(), before, "it is not connected");
    assert_eq!(call(&member, "weather").await, Ok(json!("Oslo")));
    assert_eq!(names(), ["weather"]);
}

/// A server with two tools, which fails at first.
fn busy() -> Puppet {
    let busy = json!({ "status": 503 });
    let text = json!({ "result": { "content": [{ "type": "text", "text": "ran" }] } });
    let contents = json!({ "result": { "contents": [{ "uri": "a:b", "text": "x" }] } });
    let schema = json!({ "type": "object" });
    let tools = json!([
        { "name": "safe", "inputSchema": schema, "annotations": { "readOnlyHint": true } },
        { "name": "unsafe", "inputSchema": schema },
    ]);
    script(json!({
        "capabilities": { "tools": {}, "resources": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": tools } }],
            "resources/list": [{ "result": { "resources": [{ "uri": "a:b", "name": "a" }] } }],
            "tools/call": [busy, text],
            "resources/read": [busy, busy, contents],
        },
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_may_arrive_twice_are_sent_again() {
    let read = async |member: &Member| {
        let request_meta = RequestMeta::default();
        member.read_resource_with("a:b", &request_meta).await
    };
    for (settings, reads, calls) in [
        ("", 1, 1),
        ("retry.requests = 1", 2, 1),
        ("retry.requests = 2", 3, 1),
        ("retry.requests = 2\nretry.calls = true", 3, 2),
    ] {
        let puppet = busy();
        let url = format!("http://{}/mcp", puppet.http().await);
        let (_remotes, member) = connect(config(&url, settings)).await.expect("a remote");
        assert_eq!(read(&member).await.is_ok(), reads == 3, "{settings}");
        assert_eq!(puppet.received("resources/read"), reads, "{settings}");
        let called = call(&member, "safe").await;
        assert_eq!(called.is_ok(), calls == 2, "{settings}: {called:?}");
        assert_eq!(puppet.received("tools/call"), calls, "{settings}");
        if calls == 2 {
            let other = busy();
            let url = format!("http://{}/mcp", other.http().await);
            let (_remotes, member) = connect(config(&url, settings)).await.expect("a remote");
            assert!(call(&member, "unsafe").await.is_err());
            assert_eq!(other.received("tools/call"), 1);
        }
    }
}

/// The values of the headers `x-…` of each request that has one of them.
fn own_headers(puppet: &Puppet) -> Vec<Value> {
    let log = puppet.log().into_iter();
    let headers = log.filter_map(|entry| entry["headers"].as_object().cloned());
    let own = headers.map(|headers| {
        let own = headers
            .into_iter()
            .filter(|(name, _)| name.starts_with("x-"));
        Value::Object(own.collect())
    });
    own.filter(|own| own != &json!({})).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_a_request_depend_on_the_request_of_the_client() {
    for (transport, path) in [("http", "mcp"), ("sse", "sse")] {
        let reply = json!([{ "result": { "content": [{ "type": "text", "text": "hi" }] } }]);
        let puppet = with_calls(&["2025-06-18"], reply);
        let url = format!("http://{}/{path}", puppet.http().await);
        let settings = format!(
            "transport = \"{transport}\"\nheaders = {{ x-id = \"${{{{ request.id }}}}\", x-safe = \"${{{{ 6 / size(request.id) }}}}\", \
             x-about = \"of ${{{{ request.method }}}} in ${{{{ session.id }}}}\" }}"
        );
        let (_remotes, member) = connect(config(&url, &settings)).await.expect("a remote");
        assert!(
            own_headers(&puppet).is_empty(),
            "before a request of a client"
        );
        let with_id = |id: Value| {
            let mut meta = RequestMeta::default();
            let json = json!({ "mcp-servlet/request": id, "mcp-servlet/session": "s1" });
            meta.meta = json.as_object().cloned();
            meta
        };
        for (id, shown) in [(json!(7), "7"), (json!("seven"), "seven")] {
            let called = member.call_with("t", None, &with_id(id)).await;
            called.expect("a result");
            let expected = json!({ "x-id": shown, "x-safe": (6 / shown.len()).to_string(), "x-about": "of tools/call in s1" });
            assert_eq!(own_headers(&puppet).last(), Some(&expected), "{transport}");
        }
        let sent = puppet.received("tools/call");
        // An expression without a value, and a value that is not allowed in a header.
        for (id, reason) in [
            (
                Value::Null,
                "the header `x-safe` has no value: the arithmetic has no result",
            ),
            (
                json!("a\nb"),
                "the header `x-id` has no value: it would have line breaks",
            ),
        ] {
            let error = member.call_with("t", None, &with_id(id)).await;
            let error = error.expect_err("no header").to_string();
            assert!(
                error.starts_with("remote `far` got no `tools/call`: "),
                "{error}"
            );
            assert!(error.contains(reason), "{error}");
        }
        assert_eq!(puppet.received("tools/call"), sent);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_learns_who_calls_has_a_connection_for_each_caller() {
    let reply = json!([{ "result": { "content": [{ "type": "text", "text": "hi" }] } }]);
    let puppet = with_calls(&["2025-06-18"], reply);
    let url = format!("http://{}/mcp", puppet.http().await);
    let settings = "headers = { x-user = \"${{ caller.subject }}\" }";
    let (_remotes, member) = connect(config(&url, settings)).await.expect("a remote");
    assert_eq!(puppet.received("initialize"), 1);
    let call = async |key: &str, subject: &str| {
        let attributes = json!({ "subject": subject }).as_object().cloned();
        let attributes = attributes.expect("an object");
        let mut meta = RequestMeta::default();
        meta.caller = Some(Arc::new(RequestCaller::new(key.to_owned(), || attributes)));
        let called = member.call_with("t", None, &meta).await;
        called.expect("a result");
        (own_headers(&puppet).len(), puppet.received("initialize"))
    };
    assert_eq!(call("a", "ann").await, (1, 2));
    assert_eq!(call("b", "bob").await, (2, 3));
    assert_eq!(call("a", "ann").await, (3, 3));
    let users = ["ann", "bob", "ann"].map(|user| json!({ "x-user": user }));
    assert_eq!(own_headers(&puppet), users);
    // A request without credentials has an empty name, and uses the common connection.
    assert_eq!(call("", "").await, (3, 3));
}
