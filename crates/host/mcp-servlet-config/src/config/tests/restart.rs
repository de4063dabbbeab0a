//! Sections that need a restart.

use super::*;

const LISTENER: &str = "[listener.l]\naddress = \"127.0.0.1:8080\"\n";
const ENDPOINTS: &str = "[endpoint.e]\nkind = \"http\"\nlistener = \"l\"\n\
    [endpoint.s]\nkind = \"sse\"\nlistener = \"l\"\nsession.most = 9\n";

#[test]
fn names_the_section_that_differs_and_not_those_that_follow_it() {
    let started = format!("{LISTENER}{ENDPOINTS}");
    for (new, expected) in [
        (
            format!("[http]\nsessions = 9\nbody = \"1MiB\"\nhead_time = \"1s\"\n{started}"),
            &["[http]"][..],
        ),
        (
            format!("{LISTENER}head_time = \"1s\"\n{ENDPOINTS}"),
            &["[listener.l]"],
        ),
        (started.replace("127.0.0.1", "localhost"), &["[listener.l]"]),
        (
            format!("{LISTENER}trusted_proxies = [\"10.0.0.5\"]\n{ENDPOINTS}"),
            &["[listener.l]"],
        ),
        (
            started.replace("session.most = 9", "session.most = 8"),
            &["[endpoint.s]"],
        ),
        (
            started.replace("\"http\"\n", "\"http\"\nsession.idle = \"1s\"\n"),
            &["[endpoint.e]"],
        ),
        (
            started.replace("\"http\"\n", "\"http\"\nhosts = [\"mcp.example\"]\n"),
            &["[endpoint.e]"],
        ),
        (
            started.replace("\"http\"\n", "\"http\"\nheaders.a = \"b\"\n"),
            &[],
        ),
        (format!("{started}[servlet.a]\nsource = \"a.wasm\"\n"), &[]),
    ] {
        let both = [&new, &started].map(|text| parse(text).expect("a configuration"));
        assert_eq!(
            both[0].settings.needs_restart(&both[1].settings),
            expected,
            "{new}"
        );
        assert_eq!(
            both[1].settings.needs_restart(&both[0].settings),
            expected,
            "{new}"
        );
    }
}
