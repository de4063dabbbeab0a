//! `[remote.NAME]`: other MCP servers.

use mcp_servlet_remote::{Sessions, WhenDown};
use serde_json::json;

use super::*;

#[test]
fn limits_of_a_remote_are_keys() {
    let text = "[remote.a]\ncommand = [\"b\"]\nlimits = { message = \"64MiB\", entries = 20_000, lists = \"32MiB\" }\n\
        [remote.b]\ncommand = [\"b\"]\n";
    let config = Config::parse("servlet.toml".as_ref(), text).expect("a configuration");
    let limits = |at: usize| {
        let limits = config.settings.remotes[at].options.limits;
        (limits.message, limits.entries, limits.lists)
    };
    assert_eq!(limits(0), (64 << 20, 20_000, 32 << 20));
    assert_eq!(limits(1), (16 << 20, 10_000, 16 << 20));
}

#[test]
fn the_examples_in_the_guide_are_valid() {
    let guide = include_str!("../../../../../../docs/remotes.md");
    let mut blocks = guide.split("```toml\n").skip(1);
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let catalog =
        json!({ "protocol": "", "server": { "info": {}, "capabilities": {} }, "items": [] });
    fs::write(folder.path().join("tracker.json"), catalog.to_string()).expect("a file");
    let mut names = Vec::new();
    for block in &mut blocks {
        fs::write(&path, block.split("```").next().unwrap_or_default()).expect("a file");
        let config = Config::check_without_env(&path).expect("a configuration");
        names.extend(
            config
                .settings
                .remotes
                .into_iter()
                .map(|remote| remote.name),
        );
    }
    let settings = ["github", "files", "github", "github", "tracker"];
    let logins = ["tracker", "wiki", "reports"];
    let others = ["tracker", "browser"];
    assert_eq!(names, [&settings[..], &logins, &others].concat());
}

#[test]
fn reads_the_keys_of_a_remote() {
    let text = "[remote.files]\ncommand = [\"mcp-files\", \"--root\", \"/srv\"]\nenv = { A = \"b\" }\n\
        timeout = \"5s\"\nretry = { every = \"1s\", most = 3 }\nwhen_down = \"hide\"\nidle = \"10m\"\n\
        required = true\ntools = { only = [\"read_*\"], prefix = \"f\" }\n\
        [remote.web]\nurl = \"https://mcp.example/mcp\"\nretry.most = \"forever\"\n";
    let config = parse(text).expect("a configuration");
    let [files, web] = config.settings.remotes.as_slice() else {
        panic!("two remotes, not {:?}", config.settings.remotes);
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
    assert_eq!(same.settings.remotes[0].connection, files.connection);
    let other = parse(&text.replace("/srv", "/etc")).expect("another");
    assert_ne!(other.settings.remotes[0].connection, files.connection);
}

#[test]
fn a_remote_has_a_connection_for_each_session_if_it_says_so() {
    let sessions = |keys: &str| {
        let text = format!("[remote.a]\ncommand = [\"b\"]\n{keys}");
        parse(&text).expect("a configuration").settings.remotes[0]
            .options
            .sessions
    };
    assert_eq!(sessions(""), Sessions::Shared);
    assert_eq!(sessions("sessions = \"shared\""), Sessions::Shared);
    assert_eq!(
        sessions("sessions = \"each\""),
        Sessions::Each { most: 100 }
    );
    assert_eq!(
        sessions("sessions = \"each\"\nmost_sessions = 5"),
        Sessions::Each { most: 5 }
    );
}
