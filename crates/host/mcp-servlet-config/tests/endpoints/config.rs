//! What a configuration may say about endpoints and listeners.

use std::{fs, time::Duration};

use mcp_servlet_config::Config;
use mcp_servlet_server::{EndpointTransport, HttpTransport, ResponseForm};

const LISTENER: &str = "[listener.l]\naddress = \"127.0.0.1:8080\"\n";
const HTTP: &str = "[endpoint.e]\nkind = \"http\"\nlistener = \"l\"\n";

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
    assert_eq!(config.settings.listeners[0].address, "127.0.0.1:8080");
    let [web, old, pipe] = &*config.settings.endpoints else {
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
