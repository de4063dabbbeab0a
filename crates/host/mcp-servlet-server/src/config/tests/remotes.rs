//! `[remote.NAME]`: other MCP servers.

use mcp_servlet_remote::WhenDown;

use super::*;

#[test]
fn the_examples_in_the_guide_are_valid() {
    let guide = include_str!("../../../../../../docs/remotes.md");
    let mut blocks = guide.split("```toml\n").skip(1);
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let mut names = Vec::new();
    for block in &mut blocks {
        fs::write(&path, block.split("```").next().unwrap_or_default()).expect("a file");
        let config = Config::check_without_env(&path).expect("a configuration");
        names.extend(config.remotes.into_iter().map(|remote| remote.name));
    }
    assert_eq!(names, ["github", "files", "github"]);
}

#[test]
fn reads_the_keys_of_a_remote() {
    let text = "[remote.files]\ncommand = [\"mcp-files\", \"--root\", \"/srv\"]\nenv = { A = \"b\" }\n\
        timeout = \"5s\"\nretry = { every = \"1s\", most = 3 }\nwhen_down = \"hide\"\nidle = \"10m\"\n\
        required = true\ntools = { only = [\"read_*\"], prefix = \"f\" }\n\
        [remote.web]\nurl = \"https://mcp.example/mcp\"\nretry.most = \"forever\"\n";
    let config = parse(text).expect("a configuration");
    let [files, web] = config.remotes.as_slice() else {
        panic!("two remotes, not {:?}", config.remotes);
    };
    assert_eq!(files.target.to_string(), "mcp-files …");
    assert_eq!(files.options.timeout, Duration::from_secs(5));
    assert_eq!(files.options.retries.every, Duration::from_secs(1));
    assert_eq!(files.options.retries.most, Some(3));
    assert_eq!(files.options.when_down, WhenDown::Hide);
    assert_eq!(files.options.idle, Some(Duration::from_mins(10)));
    assert!(files.required && !web.required);
    assert_eq!(files.prefix, Prefix::Name(Some("f".to_owned())));
    assert_eq!(files.filter.only, ["read_*"]);
    assert_eq!(web.options.retries.most, None);
    let same = parse(text).expect("the same");
    assert_eq!(same.remotes[0].connection, files.connection);
    let other = parse(&text.replace("/srv", "/etc")).expect("another");
    assert_ne!(other.remotes[0].connection, files.connection);
}

/// Checks that each configuration has a problem at a place, and that no error shows a secret.
fn assert_problems(problems: &[(&str, &str, &str)]) {
    for (text, place, problem) in problems {
        let error = parse(text).expect_err(text);
        assert!(error.contains(&format!(":{place}: ")), "{place}: {error}");
        assert!(error.contains(problem), "{problem}: {error}");
        assert!(!error.contains("s3cr3t"), "{error}");
    }
}

#[test]
fn a_command_has_no_settings_of_a_url() {
    assert_problems(&[(
        "[remote.a]\ncommand = [\"b\"]\ntls = { ca = \"a.pem\" }",
        "3:14",
        "`tls` is for a `url`",
    )]);
}

#[test]
fn reports_problems_of_remotes_without_their_secrets() {
    assert_problems(&[
        (
            "remote = 1",
            "1:10",
            "expected a table for each remote, such as [remote.github]",
        ),
        ("[remote.a]", "1:1", "missing key `url` or `command`"),
        (
            "[remote.a]\nurl = \"https://a.example\"\ncommand = [\"b\"]",
            "3:11",
            "expected `url` or `command`, found both",
        ),
        (
            "[remote.a]\ncommand = []",
            "2:11",
            "expected a program and its arguments, found an empty list",
        ),
        (
            "[remote.a]\nurl = \"a.example\"",
            "2:7",
            "the URL `a.example` has no scheme; write `https://a.example/mcp`",
        ),
        (
            "[remote.a]\nurl = \"http://a.example/mcp\"",
            "2:7",
            "`a.example` is another machine, and `http` is not encrypted",
        ),
        (
            "[remote.a]\nurl = \"https://a.example\"\nheaders = { host = \"s3cr3t\" }",
            "3:13",
            "the header `host` cannot be set",
        ),
        (
            "[remote.a]\nurl = \"https://a.example\"\nheaders = { x = \"s3cr3t${NO_SUCH_VARIABLE_HERE}\" }",
            "3:17",
            "the environment variable",
        ),
        (
            "[remote.a]\nurl = \"https://a.example\"\nenv = { T = \"s3cr3t\" }",
            "3:13",
            "`env` is for a `command`",
        ),
        (
            "[remote.a]\nurl = \"https://a.example\"\ntls = { cert = \"a.pem\" }",
            "3:16",
            "expected both `cert` and `key`, found only one",
        ),
        (
            "[remote.a]\nurl = \"https://a.example\"\nretry.most = \"always\"",
            "3:14",
            "or \"forever\"",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\n[remote.a]\ncommand = [\"b\"]",
            "3:1",
            "`a` is also a servlet; give one of them another name",
        ),
    ]);
}
