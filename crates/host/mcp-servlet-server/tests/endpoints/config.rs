//! What a configuration may say about endpoints and listeners.

use std::{fs, time::Duration};

use mcp_servlet_server::{
    HttpTransport, ResponseForm,
    config::{Config, EndpointTransport},
};

const LISTENER: &str = "[listener.l]\naddress = \"127.0.0.1:8080\"\n";
const HTTP: &str = "[endpoint.e]\nkind = \"http\"\nlistener = \"l\"\n";
const STDIO: &str = "[endpoint.e]\nkind = \"stdio\"\n";

fn check(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("servlet.toml");
    for name in ["weather.wasm", "ops.wasm"] {
        fs::write(folder.path().join(name), "").expect("a file");
    }
    let text = format!(
        "{text}\n[servlet.weather]\nsource = \"weather.wasm\"\n[servlet.ops]\nsource = \"ops.wasm\"\n"
    );
    let config = Config::parse(&path, &text).map_err(|error| error.to_string());
    config.map_err(|error| error.replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn reads_all_keys() {
    let text = "[http]\nbody = \"1MiB\"\nsessions = 7\n[server]\nname = \"acme\"\n\
        [listener.l]\naddress = \"127.0.0.1:8080\"\nconnections = 3\nhead_time = \"1s\"\nbody_time = \"2s\"\nbody = \"2MiB\"\n\
        [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\npath = \"/x/mcp\"\nbundles = [\"ops\"]\nname = \"web\"\n\
        version = \"2\"\ninstructions = \"i\"\nhosts = [\"mcp.example\"]\norigins = [\"https://app.example:443\"]\n\
        timeout = \"30s\"\nquestion_time = \"1m\"\nresponse = \"sse\"\nheaders = { a = \"1\" }\n\
        forward_headers = [\"X-A\"]\nsession = { idle = \"2m\", most = 9 }\n\
        [endpoint.old]\nkind = \"sse\"\nlistener = \"l\"\nmessages = \"/post\"\nmessage_headers = { b = \"2\" }\n\
        [endpoint.pipe]\nkind = \"stdio\"\n";
    let config = check(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config.listeners[0].address, "127.0.0.1:8080");
    let [web, old, pipe] = &*config.endpoints else {
        panic!("three endpoints");
    };
    assert_eq!(web.members.as_deref(), Some(&["ops".to_owned()][..]));
    assert_eq!(web.introduction.name.as_deref(), Some("web"));
    assert_eq!(old.introduction.name.as_deref(), Some("acme"));
    assert_eq!(web.options.timeout, Some(Duration::from_secs(30)));
    assert_eq!(web.options.question_time, Duration::from_mins(1));
    assert_eq!(web.options.forward_headers, ["x-a"]);
    let EndpointTransport::Http { listener, options } = &web.transport else {
        panic!("HTTP");
    };
    assert_eq!((&**listener, &*options.path), ("l", "/x/mcp"));
    let response = ResponseForm::Sse;
    assert_eq!(options.transport, HttpTransport::Streamable { response });
    assert_eq!(
        (options.body, options.connections, options.sessions),
        (2 << 20, 3, 9)
    );
    assert_eq!(options.head_time, Some(Duration::from_secs(1)));
    assert_eq!(options.body_time, Some(Duration::from_secs(2)));
    assert_eq!(options.session_idle, Some(Duration::from_mins(2)));
    assert_eq!(
        (&*options.hosts, &*options.origins),
        (
            &["mcp.example".to_owned()][..],
            &["https://app.example:443".to_owned()][..]
        )
    );
    let EndpointTransport::Http { options, .. } = &old.transport else {
        panic!("HTTP");
    };
    assert_eq!(
        (&*options.path, options.sessions, options.session_idle),
        ("/sse", 7, None)
    );
    let HttpTransport::Sse { messages, headers } = &options.transport else {
        panic!("SSE");
    };
    assert_eq!(
        (&**messages, format!("{headers:?}")),
        ("/post", "[\"b\"]".to_owned())
    );
    assert_eq!(pipe.transport, EndpointTransport::Stdio);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table with one row for each text")]
fn reports_each_problem_with_its_position() {
    let http = |line: &str| format!("{LISTENER}{HTTP}{line}");
    let other = |more: &str| format!("{LISTENER}{HTTP}[endpoint.f]\nlistener = \"l\"\n{more}");
    for (text, expected) in [
        (
            http("bundles = [\"wether\"]"),
            "6:12: there is no servlet, remote or bundle `wether`; did you mean `weather`?",
        ),
        (
            http("bundles = [\"x\"]"),
            "6:12: there is no servlet, remote or bundle `x`\n",
        ),
        (
            http("bundles = [\n\"ops\",\n\"ops\"]"),
            "8:1: `ops` is listed twice, first in line 7",
        ),
        (
            "[endpoint.e]\nkind = \"http\"".to_owned(),
            "2:8: missing key `listener`: an endpoint of the kind `http` needs one",
        ),
        (
            format!("{LISTENER}[endpoint.e]\nkind = \"sse\"\nlistener = \"ll\""),
            "5:12: there is no listener `ll`; did you mean `l`?",
        ),
        (
            HTTP.to_owned(),
            "3:12: there is no listener `l`; add `[listener.l]` with its `address`",
        ),
        (
            other("kind = \"http\""),
            "8:8: endpoint `e` has the path `/mcp` on listener `l` already; choose another path",
        ),
        (
            other("kind = \"sse\"\nmessages = \"/mcp\""),
            "9:12: endpoint `e` has the path `/mcp` on listener `l` already",
        ),
        (
            http("path = \"/health\""),
            "6:8: `/health` is the path of the health check; give the endpoint another one",
        ),
        (
            http("path = \"mcp\""),
            "6:8: expected a path such as /mcp, found `mcp`",
        ),
        (
            http("path = \"/mcp/\""),
            "6:8: expected a path such as /mcp, found `/mcp/`",
        ),
        (
            http("path = \"/a?b\""),
            "6:8: expected a path such as /mcp, found `/a?b`",
        ),
        (
            http("messages = \"/m\""),
            "6:12: `messages` is for endpoints of the kind `sse`; `e` is `http`",
        ),
        (
            format!("{LISTENER}{STDIO}listener = \"l\""),
            "5:12: `listener` is for endpoints of the kind `http` or `sse`; `e` is `stdio`",
        ),
        (
            format!("{STDIO}[endpoint.f]\nkind = \"stdio\""),
            "4:8: endpoint `e` is `stdio` already; there can be one",
        ),
        (
            "[endpoint.e]\nkind = \"pipe\"".to_owned(),
            "2:8: expected one of `http`, `sse`, `stdio`, found `pipe`",
        ),
        ("[endpoint.e]".to_owned(), "1:1: missing key `kind`"),
        (http("auth = \"corp\""), "6:1: unknown key `auth`"),
        (
            http("session = { store = \"memory\" }"),
            "6:13: unknown key `store`",
        ),
        (
            format!("{LISTENER}tls = {{ cert = \"a\" }}"),
            "3:1: unknown key `tls`",
        ),
        (
            "[listener.l]\naddress = \"8080\"".to_owned(),
            "2:11: expected a host and a port such as 127.0.0.1:8080, found `8080`",
        ),
        (
            format!("{LISTENER}[listener.m]\naddress = \"127.0.0.1:8080\""),
            "4:11: listener `l` has this address too",
        ),
        (
            http("").replace("127.0.0.1", "0.0.0.0"),
            "5:12: other machines can connect to `0.0.0.0:8080`: list the names that they use in `hosts`",
        ),
        (
            http("hosts = [\"http://a\"]"),
            "6:10: expected a host name or an IP address, optionally with a port, such as mcp.example",
        ),
        (
            http("hosts = []"),
            "6:9: expected at least one name, such as mcp.example",
        ),
        (
            http("headers = { X-A = \"secret\", x-a = \"secret\" }"),
            "6:35: the header `x-a` is listed twice",
        ),
        (
            http("").replace("\"http\"", "\"sse\"") + "messages = \"//other.example/m\"",
            "6:12: expected a path such as /mcp, found `//other.example/m`",
        ),
        (
            http("origins = [\"a\"]"),
            "6:12: expected a scheme, a host and an optional port such as https://app.example:443, or null",
        ),
        (
            http("headers = { \"x y\" = \"secret\" }"),
            "6:21: expected the name of a header, such as x-request-id, found `x y`",
        ),
        (
            http("headers = { content-type = \"secret\" }"),
            "6:28: the server sets the header `content-type` itself",
        ),
        (
            http("headers = { a = \"secret\\nb\" }"),
            "6:17: expected a value without line breaks and other control characters",
        ),
        (
            http("headers = { a = \"${NO_SUCH_VARIABLE_HERE}\" }"),
            "6:17: the environment variable `NO_SUCH_VARIABLE_HERE` is not set",
        ),
        (
            http("headers = { a = \"${{ secret }}\" }"),
            "6:17: expected text and `${NAME}`, found an expression",
        ),
        (
            http("forward_headers = [\"x y\"]"),
            "6:20: expected the name of a header, such as x-request-id, found `x y`",
        ),
        (
            http("forward_headers = [\"Cookie\"]"),
            "6:20: servlets cannot read the header `Cookie`: it is a credential",
        ),
        (http("timeout = 30"), "6:11: expected a time such as "),
        (
            http("response = \"xml\""),
            "6:12: expected `json` or `sse`, found `xml`",
        ),
    ] {
        let error = check(&text).err().unwrap_or_else(|| panic!("{text}"));
        let expected = format!("servlet.toml:{expected}");
        assert!(error.starts_with(&expected), "{error}\nis not\n{expected}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn clients_get_the_url_of_an_endpoint_unless_they_start_the_server() {
    let url = |text: &str| check(text).unwrap_or_else(|error| panic!("{error}")).url();
    let expected = |text: &str| Some(text.to_owned());
    assert_eq!(
        url(&format!("{LISTENER}{HTTP}path = \"/a\"")),
        expected("http://localhost:8080/a")
    );
    let named = format!("{LISTENER}{HTTP}hosts = [\"mcp.example:80\"]");
    assert_eq!(url(&named), expected("http://mcp.example:80/mcp"));
    assert_eq!(
        url(&format!("{LISTENER}{HTTP}[endpoint.p]\nkind = \"stdio\"")),
        None
    );
    assert_eq!(url(""), None);
    let sse = format!("{LISTENER}[endpoint.old]\nkind = \"sse\"\nlistener = \"l\"\n");
    assert_eq!(url(&sse), None);
    let sse_url = |text: &str| {
        check(text)
            .unwrap_or_else(|error| panic!("{error}"))
            .sse_url()
    };
    assert_eq!(sse_url(&sse), expected("http://localhost:8080/sse"));
    assert_eq!(
        sse_url(&format!("{sse}[endpoint.p]\nkind = \"stdio\"")),
        None
    );
}

#[test]
fn one_endpoint_cannot_have_two_virtual_tools_of_one_name() {
    let bundles =
        "[bundle.one.tool.run]\nhandler = \"ops:x\"\n[bundle.two.tool.run]\nhandler = \"ops:y\"\n";
    let apart = format!(
        "{LISTENER}{HTTP}bundles = [\"one\"]\n[endpoint.pipe]\nkind = \"stdio\"\nbundles = [\"two\"]\n{bundles}"
    );
    check(&apart).unwrap_or_else(|error| panic!("{error}"));
    let error = check(&format!("{STDIO}{bundles}")).expect_err("two tools");
    let expected = "servlet.toml:5:18: endpoint `e` would have two tools `run`: of bundle `two` here, and of bundle `one` in \
        line 3";
    assert!(error.contains(expected), "{error}");
    let error = check(bundles).expect_err("two tools");
    let expected = "there are two tools `run`: of bundle `two` here, and of bundle `one` in line 1";
    assert!(error.contains(expected), "{error}");
}
