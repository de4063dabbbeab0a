//! `[requests]`: HTTP requests that servlets send.

use super::*;

#[test]
fn a_proxy_is_for_all_servlets_or_for_one() {
    let text = "[requests]\nproxy = \"http://u:${NO_SUCH_VARIABLE_HERE:-p%40ss}@proxy.example:3128\"\n\
        [servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\nrequests.proxy = \"none\"\n";
    let config = parse(text).expect("a configuration");
    let proxy = mcp_servlet_runtime::Proxy::parse("http://u:p%40ss@proxy.example:3128").ok();
    assert_eq!(config.entries[0].options.proxy, proxy);
    assert_eq!(config.entries[1].options.proxy, None);
    let text = "[requests]\nproxy = \"${NO_SUCH_VARIABLE_HERE}\"\n";
    let error = parse(text).expect_err("no variable");
    assert!(error.contains(":2:9: the environment variable"), "{error}");
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    fs::write(&path, text).expect("a file");
    Config::check_without_env(&path).expect("the variables are elsewhere");
}

#[test]
fn reports_an_invalid_proxy_without_its_credentials() {
    for (value, shown) in [
        ("user:s3cr3t@proxy.example:3128", "************@"),
        ("http://user:s3cr3t@proxy.example/x", "http://***********@"),
        ("http://user:s3@cr3t@", "http://************@"),
        (
            "socks5://user:s3cr3t@proxy.example",
            "socks5://***********@",
        ),
    ] {
        for text in [
            format!("[requests]\nproxy = \"{value}\""),
            format!("[servlet.a]\nsource = \"a.wasm\"\nrequests.proxy = \"{value}\""),
        ] {
            let error = parse(&text).expect_err(value);
            let expected = "expected the URL of an HTTP proxy without a path, such as http://proxy.example:3128, or none";
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("s3") && !error.contains("user"), "{error}");
            assert!(
                error.contains(shown) || value.starts_with("user"),
                "{error}"
            );
        }
    }
}
