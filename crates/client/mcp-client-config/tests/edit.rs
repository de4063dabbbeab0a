//! Servers that are added to the files of clients.

use std::{env, fmt::Write as _, fs, path::Path};

use jsonc_parser::{ParseOptions, cst::CstRootNode};
use mcp_client_config::{ClientFile, Connection, Places, Platform, Source, Transport, read_file};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn command(env: &[(&str, &str)]) -> Connection {
    let env = env.iter();
    Connection::Command {
        command: "/bin/servlet".to_owned(),
        args: vec!["serve".to_owned(), r#"/a "b".wasm"#.to_owned()],
        env: env
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned().into()))
            .collect(),
        cwd: None,
    }
}

fn url(transport: Transport) -> Connection {
    Connection::Http {
        url: "https://example.com/mcp".to_owned(),
        transport,
        headers: Vec::new(),
    }
}

fn set(source: Source, text: &str, connection: &Connection) -> String {
    let mut file = ClientFile::parse(source, text.as_bytes()).expect("a file");
    let entry = source.entry(connection).expect("an entry");
    file.set("greet", &entry).expect("a place for servers");
    file.to_string()
}

fn edited() -> impl Iterator<Item = Source> {
    Source::ALL
        .into_iter()
        .filter(|source| source.can_be_edited())
}

/// What is read from a file of a client.
fn read(source: Source, text: &str) -> Vec<(String, Connection)> {
    let places = Places::new(Platform::Linux, "/home/user", "/home/user/project", &|_| {
        None
    });
    let name = match source {
        Source::Codex => "config.toml",
        _ => "mcp.json",
    };
    let found = read_file(source, Path::new(name), text.as_bytes(), &places);
    assert!(
        found.warnings.is_empty(),
        "{source:?}: {:?}\n{text}",
        found.warnings
    );
    let servers = found.servers.into_iter();
    servers
        .map(|server| (server.name, server.connection))
        .collect()
}

#[test]
fn what_is_written_is_read_again() {
    for source in edited() {
        let env = [("MODE", "fast")];
        let text = set(source, "", &command(&env));
        assert_eq!(
            read(source, &text),
            [("greet".to_owned(), command(&env))],
            "{text}"
        );
        for transport in [Transport::Http, Transport::Sse] {
            let Some(entry) = source.entry(&url(transport)) else {
                assert_eq!(source, Source::ClaudeDesktop);
                continue;
            };
            let mut file = ClientFile::parse(source, text.as_bytes()).expect("a file");
            file.set("greet", &entry).expect("a place for servers");
            let read = read(source, &file.to_string());
            let [(_, Connection::Http { url, .. })] = &*read else {
                panic!("{source:?}: the command is left: {file}");
            };
            assert_eq!(url, "https://example.com/mcp");
            assert!(file.remove("greet").expect("an object"));
            assert!(!file.remove("greet").expect("an object"));
            assert!(!file.to_string().contains("greet"), "{file}");
        }
    }
}

#[test]
fn the_tools_that_the_user_allows_stay() {
    for (source, text, tools) in [
        (
            Source::Copilot,
            r#"{ "mcpServers": { "greet": { "command": "x", "tools": ["search"] } } }"#,
            r#""tools": ["search"]"#,
        ),
        (
            Source::Codex,
            "[mcp_servers.greet]\ncommand = \"x\"\n\n[mcp_servers.greet.tools.delete]\napproval_mode = \"prompt\"\n",
            "[mcp_servers.greet.tools.delete]\napproval_mode = \"prompt\"\n",
        ),
    ] {
        let text = set(source, text, &command(&[]));
        assert!(
            text.contains(tools) && text.contains("/bin/servlet"),
            "{text}"
        );
    }
}

#[test]
fn each_client_gets_the_placeholders_that_it_replaces() {
    let command = command(&[("WEATHER_KEY", "${env:WEATHER_KEY}")]);
    for (source, expected) in [
        (Source::ClaudeCode, r#""WEATHER_KEY": "${WEATHER_KEY}""#),
        (Source::ClaudeDesktop, r#""WEATHER_KEY": """#),
        (Source::Cursor, r#""WEATHER_KEY": "${env:WEATHER_KEY}""#),
        (Source::OpenCode, r#""WEATHER_KEY": "{env:WEATHER_KEY}""#),
        (Source::Codex, r#"env_vars = ["WEATHER_KEY"]"#),
    ] {
        let text = set(source, "", &command);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn visual_studio_code_asks_for_values() {
    let other = r#""other": { "command": "x", "env": { "B": "${input:B}" } }"#;
    let before = format!(
        "{{\n  // mine\n  \"servers\": {{ {other} }},\n  \"inputs\": [{{ \"id\": \"B\", \"type\": \"promptString\" }}]\n}}\n"
    );
    let read = |text: &str| {
        let text = text.replace("// mine", "");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let connection = command(&[("A", "${env:A}"), ("B", "${env:B}")]);
    let after = set(Source::VsCode, &before, &connection);
    assert_eq!(set(Source::VsCode, &after, &connection), after);
    let json = read(&after);
    assert_eq!(
        json["servers"]["greet"]["env"],
        json!({ "A": "${input:A}", "B": "${input:B}" })
    );
    let asked = json!([
        { "id": "B", "type": "promptString" },
        { "type": "promptString", "id": "A", "description": "A", "password": true },
    ]);
    assert_eq!(json["inputs"], asked);
    let mut file = ClientFile::parse(Source::VsCode, after.as_bytes()).expect("a file");
    assert!(file.remove("greet").expect("an object"));
    let left = file.to_string();
    let json = read(&left);
    assert_eq!(
        json["inputs"],
        json!([{ "id": "B", "type": "promptString" }])
    );
    assert!(
        json["servers"]["other"].is_object() && left.contains("// mine"),
        "{left}"
    );

    let alone = set(Source::VsCode, "", &connection);
    let mut file = ClientFile::parse(Source::VsCode, alone.as_bytes()).expect("a file");
    assert!(file.remove("greet").expect("an object"));
    assert!(!file.to_string().contains("inputs"), "{file}");
    let empty = set(Source::VsCode, r#"{ "inputs": [] }"#, &command(&[]));
    let mut file = ClientFile::parse(Source::VsCode, empty.as_bytes()).expect("a file");
    assert!(file.remove("greet").expect("an object"));
    assert_eq!(read(&file.to_string())["inputs"], json!([]));
    let wrong = ClientFile::parse(Source::VsCode, br#"{ "inputs": {} }"#);
    let entry = Source::VsCode.entry(&connection).expect("an entry");
    let problem = wrong
        .expect("a file")
        .set("greet", &entry)
        .expect_err("not a list");
    assert_eq!(problem.to_string(), "`inputs` is not a list");
}

#[test]
fn the_rest_of_a_file_stays_as_it_is() {
    let before = "{\r\n\t// my servers\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // mine\r\n\t},\r\n\t\"theme\": 'dark',\r\n}\r\n";
    let before = format!("\u{feff}{before}").replace("'dark'", "\"dark\"");
    let after = set(Source::Cursor, &before, &command(&[]));
    let entry = "\t\t\"greet\": {\r\n\t\t\t\"command\": \"/bin/servlet\",\r\n\t\t\t\"args\": [\"serve\", \"/a \\\"b\\\".wasm\"],\r\n\t\t},\r\n";
    let place = before.find("\t},").expect("the end of the servers");
    let expected = format!("{}{entry}{}", &before[..place], &before[place..]);
    assert_eq!(after, expected);
    assert_eq!(set(Source::Cursor, &after, &command(&[])), after);

    let before = "# models\nmodel = \"x\"\n\n[mcp_servers.other] # mine\ncommand = \"y\"\n\n[tui]\nshow = true\n";
    let after = set(Source::Codex, before, &command(&[]));
    let entry =
        "\n[mcp_servers.greet]\ncommand = \"/bin/servlet\"\nargs = [\"serve\", '/a \"b\".wasm']\n";
    let place = before.find("\n[tui]").expect("the next table");
    let expected = format!("{}{entry}{}", &before[..place], &before[place..]);
    assert_eq!(after, expected);
    assert_eq!(set(Source::Codex, &after, &command(&[])), after);
}

/// A file of a client with comments and another server.
fn commented(source: Source) -> String {
    let servers = match source {
        Source::Codex => {
            let file = "# mine\nmodel = \"x\"\n\n[mcp_servers.other] # here\ncommand = \"y\"\n\n[tui]\nshow = true # all\n";
            return file.to_owned();
        }
        Source::VsCode => "servers",
        Source::Zed => "context_servers",
        Source::OpenCode => "mcp",
        _ => "mcpServers",
    };
    format!(
        "{{\n  // mine\n  \"{servers}\": {{\n    /* a */ \"other\": {{ \"command\": \"y\" }} // here\n  }},\n  \"theme\": \"dark\" // all\n}}\n"
    )
}

/// The same file with an older entry of the server, to which the user has added a member.
fn with_old_entry(source: Source) -> String {
    let (place, entry) = match source {
        Source::Codex => (
            "[tui]",
            "[mcp_servers.greet]\ncommand = \"old\" # why\nenabled = false\n\n[tui]",
        ),
        _ => (
            " // here",
            ", // here\n    \"greet\": {\n      // why\n      \"command\": \"old\",\n      \"disabled\": true\n    }",
        ),
    };
    commented(source).replace(place, entry)
}

/// The files of all clients are in `edit.txt`; `UPDATE_GOLDENS=1` writes it.
#[test]
fn each_client_gets_its_entry() {
    let mut shown = String::new();
    for source in edited() {
        let (name, commented) = (source.name(), commented(source));
        let after = set(source, &commented, &command(&[]));
        assert!(
            is_extended(commented.as_bytes(), after.as_bytes()),
            "{after}"
        );
        for (what, before) in [
            ("empty", String::new()),
            ("commented", commented),
            ("with an old entry", with_old_entry(source)),
        ] {
            let after = set(source, &before, &command(&[]));
            assert_eq!(set(source, &after, &command(&[])), after);
            let _ = writeln!(shown, "=== {name}, {what}\n{after}");
        }
        let broken = ClientFile::parse(source, b"{ broken").expect_err("broken");
        let _ = writeln!(shown, "=== {name}, broken\n{broken}\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit.txt");
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, &shown).expect("a file");
    }
    let expected = fs::read_to_string(path).expect("a file");
    assert_eq!(
        shown, expected,
        "run with `UPDATE_GOLDENS=1`, then read the diff"
    );
}

/// What follows the part with which both texts begin.
fn rests<'t>(before: &'t [u8], after: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let bytes = before.iter().zip(after);
    let same = bytes.take_while(|(before, after)| before == after).count();
    (&before[same..], &after[same..])
}

/// Whether a text has all bytes of the one before, and one more part, after a comma if the last member had none.
fn is_extended(before: &[u8], after: &[u8]) -> bool {
    let (before, after) = rests(before, after);
    let Some(after_comma) = after.strip_prefix(b",".as_slice()) else {
        return after.ends_with(before);
    };
    let (before_part, after_part) = rests(before, after_comma);
    after.ends_with(before) || after_part.ends_with(before_part)
}

#[test]
fn lines_of_a_mixed_file_get_no_other_ends() {
    let before = "{\r\n  \"mcpServers\": {\n  }\n}\n";
    let after = set(Source::Cursor, before, &command(&[]));
    assert_eq!(after.matches('\r').count(), 1, "{after:?}");
    assert_eq!(set(Source::Cursor, &after, &command(&[])), after);
}

#[test]
fn an_entry_keeps_what_the_client_and_the_user_have_stored_in_it() {
    let before = "{ \"mcpServers\": { \"greet\": {\n  // old\n  \"command\": \"old\", \"args\": [],\n  \"env\": { \"KEY\": \"mine\" }, \"disabled\": true } } }";
    let connection = command(&[("KEY", "${env:KEY}"), ("NEW", "1")]);
    let after = set(Source::Cursor, before, &connection);
    let mut file = ClientFile::parse(Source::Cursor, after.as_bytes()).expect("a file");
    let expected = json!({
        "command": "/bin/servlet",
        "args": ["serve", "/a \"b\".wasm"],
        "env": { "KEY": "mine", "NEW": "1" },
        "disabled": true,
    });
    assert_eq!(file.server("greet"), Some(expected));
    assert!(after.contains("// old"), "{after}");
    let entry = Source::Cursor
        .entry(&url(Transport::Http))
        .expect("an entry");
    file.set("greet", &entry).expect("an object");
    let expected = json!({ "url": "https://example.com/mcp", "env": { "KEY": "mine", "NEW": "1" }, "disabled": true });
    assert_eq!(file.server("greet"), Some(expected));

    let before = "[mcp_servers.greet]\ncommand = \"old\" # why\nenabled = false\n[mcp_servers.greet.env]\nKEY = \"mine\"\n";
    let after = set(Source::Codex, before, &command(&[("NEW", "1")]));
    let file = ClientFile::parse(Source::Codex, after.as_bytes()).expect("a file");
    let expected = json!({
        "command": "/bin/servlet",
        "args": ["serve", "/a \"b\".wasm"],
        "env": { "KEY": "mine", "NEW": "1" },
        "enabled": false,
    });
    assert_eq!(file.server("greet"), Some(expected));
}

#[test]
fn a_file_that_cannot_be_changed_says_where() {
    let problem = |source, text: &str| {
        let entry = source_entry(source);
        let file = ClientFile::parse(source, text.as_bytes());
        let changed = file.and_then(|mut file| file.set("greet", &entry));
        changed.expect_err(text).to_string()
    };
    let cursor = |text| problem(Source::Cursor, text);
    assert!(
        cursor("{ broken").starts_with("1:9: "),
        "{}",
        cursor("{ broken")
    );
    assert_eq!(cursor("[]"), "the file is not an object");
    assert_eq!(
        cursor(r#"{ "mcpServers": 3 }"#),
        "`mcpServers` is not an object"
    );
    for twice in [
        r#"{ "mcpServers": {}, "mcpServers": {} }"#,
        r#"{ "mcpServers": { "greet": {}, "gr\u0065et": {} } }"#,
    ] {
        assert!(cursor(twice).ends_with("occurs twice"), "{twice}");
        let mut file = ClientFile::parse(Source::Cursor, twice.as_bytes()).expect("a file");
        assert!(file.remove("greet").is_err(), "{twice}");
    }
    let codex = |text| problem(Source::Codex, text);
    assert_eq!(codex("mcp_servers = 3"), "`mcp_servers` is not an object");
    assert!(
        codex("a = 's3cr3t\nb = 1").starts_with("1:"),
        "{}",
        codex("a = 's3cr3t\nb = 1")
    );
    assert!(!codex("a = 's3cr3t\nb = 1").contains("s3cr3t"));
    assert!(problem(Source::Goose, "").contains("goose"));
    let utf16 = ClientFile::parse(Source::Cursor, &[0xff, 0xfe, b'{', 0]);
    assert!(utf16.expect_err("UTF-16").to_string().contains("UTF-8"));
}

fn source_entry(source: Source) -> Map<String, Value> {
    source.entry(&command(&[])).expect("an entry")
}

#[test]
fn a_server_of_opencode_may_be_called_servers() {
    let nested = set(Source::OpenCode, r#"{"mcp":{"servers":{}}}"#, &command(&[]));
    assert_eq!(read(Source::OpenCode, &nested).len(), 1, "{nested}");
    let called = r#"{"mcp":{"servers":{"type":"local","command":["x"]}}}"#;
    let called = set(Source::OpenCode, called, &command(&[]));
    assert_eq!(read(Source::OpenCode, &called).len(), 2, "{called}");
}

/// JSON with comments, blank lines, and trailing commas wherever they may be. `open` follows the start of each object.
fn written(value: &Value, open: &str, trivia: &mut impl Iterator<Item = &'static str>) -> String {
    match value {
        Value::Object(members) => {
            let mut text = format!("{{{open}{}", trivia.next().unwrap_or_default());
            for (at, (name, value)) in members.iter().enumerate() {
                let comma = if at + 1 < members.len() {
                    ","
                } else {
                    [",", ""][name.len() % 2]
                };
                let name = json!(name).to_string();
                let before = trivia.next().unwrap_or_default();
                let value = written(value, open, trivia);
                let after = trivia.next().unwrap_or_default();
                text.extend([before, &name, ":", &value, after, comma]);
            }
            text + "}"
        }
        other => other.to_string(),
    }
}

fn files(open: &'static str) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    });
    let servers = prop::collection::btree_map("[a-z]{1,4}", value.clone(), 0..3);
    let file = (
        prop::collection::btree_map("[a-z]{1,6}", value, 0..4),
        prop::option::of(servers),
    );
    let trivia = prop::sample::select(vec![
        "", " ", "\n", "\n\t", "\r\n  ", "// a\n", "/* b */", "\n\n",
    ]);
    (file, prop::collection::vec(trivia, 0..60)).prop_map(move |((members, servers), trivia)| {
        let mut members: Map<_, _> = members.into_iter().collect();
        if let Some(servers) = servers {
            members.insert(
                "mcpServers".to_owned(),
                Value::Object(servers.into_iter().collect()),
            );
        }
        written(&Value::Object(members), open, &mut trivia.into_iter())
    })
}

fn value(text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let tree = CstRootNode::parse(text, &ParseOptions::default()).expect("JSON");
    tree.to_serde_value().expect("a value")
}

/// An object that gets a member loses blank lines at its start and its end.
fn without_blank_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r'));
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// An object in one line that gets a member gets lines.
fn without_spaces(text: &str) -> String {
    text.replace(char::is_whitespace, "")
}

/// Adds a server to a file. Nothing else changes, except what `normal` leaves out, and a second time there is nothing to do.
fn assert_keeps_all_else(before: &str, normal: fn(&str) -> String) -> Result<(), TestCaseError> {
    let after = set(Source::Cursor, before, &command(&[]));
    let (old, new) = (normal(before), normal(&after));
    let is_extended = is_extended(old.as_bytes(), new.as_bytes());
    prop_assert!(is_extended, "{:?}\n{:?}", before, after);
    let mut expected = value(before);
    let servers = expected
        .as_object_mut()
        .expect("an object")
        .entry("mcpServers");
    servers.or_insert_with(|| json!({}))["greet"] = Value::Object(source_entry(Source::Cursor));
    prop_assert_eq!(value(&after), expected);
    prop_assert_eq!(set(Source::Cursor, &after, &command(&[])), after);
    Ok(())
}

proptest! {
    #[test]
    fn any_file_keeps_all_else(before in files("")) {
        assert_keeps_all_else(&before, without_spaces)?;
    }

    #[test]
    fn any_file_with_lines_keeps_its_lines(
        lines in files("\n"),
        has_mark in any::<bool>(),
        has_crlf in any::<bool>(),
    ) {
        let mut before = lines;
        if has_crlf {
            before = before.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if has_mark {
            before.insert(0, '\u{feff}');
        }
        assert_keeps_all_else(&before, without_blank_lines)?;
    }
}
