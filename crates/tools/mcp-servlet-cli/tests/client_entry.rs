//! The entries that `--print-client-config` prints and `servlet install` writes, and the packages of `servlet pack`, start a server
//! that works.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Read as _},
    path::Path,
    process::{Command, Stdio},
};

use mcp_servlet_oci::Digest;
use mcp_servlet_runtime::Contract;
use serde_json::{Value, json};
use support::Wat;
use tempfile::TempDir;
use wire::Process;
use zip::ZipArchive;

const DESCRIPTION: &str = r#"{
    "serverInfo": { "name": "weather", "version": "1.2.0" },
    "tools": [{ "name": "t", "description": "d", "inputSchema": { "type": "object" } }]
}"#;

/// A servlet that requires the configuration key `api-key` and returns its value as the result of its tool.
fn weather() -> Vec<u8> {
    let needs = json!({ "config": {
        "type": "object",
        "properties": {
            "api-key": { "type": "string", "writeOnly": true, "description": "the key" },
            "retries": { "type": "integer", "minimum": 0, "maximum": 9 },
            "unit": { "type": "string", "default": "celsius" },
        },
        "required": ["api-key"],
    } });
    let needs = needs.to_string().replace('"', "\\\"");
    Wat::new()
        .import(
            r#"(import "extism:host/env" "config_get" (func $config (param i64) (result i64)))"#,
        )
        .import(r#"(import "extism:host/env" "length" (func $length (param i64) (result i64)))"#)
        .describe(DESCRIPTION)
        .export(
            "call",
            "api-key",
            "(local $value i64)
            (local.set $value (call $config (call $block {})))
            (call $output_set (local.get $value) (call $length (local.get $value)))
            (i32.const 0)",
        )
        .after(&format!("(@custom \"mcp-servlet:needs\" \"{needs}\")"))
        .wasm()
}

/// The entry of the servlet in the configuration that the command prints, and the notes on standard error.
fn printed(folder: &Path, options: &[&str]) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(["serve", "weather.wasm", "--print-client-config", "claude"])
        .args(options)
        .current_dir(folder)
        .output()
        .expect("the command runs");
    let notes = String::from_utf8(output.stderr).expect("text");
    let config: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (config["mcpServers"]["weather"].clone(), notes)
}

/// Starts the server of an entry as a client does, with this value for every placeholder, and calls its tool.
fn call(entry: &Value, value: &str) -> (Value, String) {
    let strings = |value: &Value| -> Vec<String> {
        let all = value.as_array().expect("a list").iter();
        all.map(|one| one.as_str().expect("a string").to_owned())
            .collect()
    };
    let env = entry["env"].as_object().expect("variables");
    let env = env.iter().map(|(name, placeholder)| {
        assert_eq!(*placeholder, format!("${{{name}}}"));
        (name, value)
    });
    let mut server = Command::new(entry["command"].as_str().expect("a command"));
    ask(server.args(strings(&entry["args"])).envs(env))
}

/// Starts a server and calls its tool. Returns the answer, and what it wrote to standard error.
fn ask(server: &mut Command) -> (Value, String) {
    let mut server = Process::start(server);
    let answer = server.ask("tools/call", json!({ "name": "t", "arguments": {} }));
    server.leave();
    server.ended();
    (answer, server.printed())
}

#[test]
fn an_entry_works_once_its_placeholders_are_filled_in() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("weather.wasm"), weather()).expect("a file");
    for (options, variable) in [
        (&[][..], "WEATHER_API_KEY"),
        (&["--config", "api-key=s3cr3t"][..], "WEATHER_API_KEY"),
        (&["--config-env", "api-key=MY_KEY"][..], "MY_KEY"),
    ] {
        let (entry, notes) = printed(folder.path(), options);
        let names: Vec<_> = entry["env"]
            .as_object()
            .expect("variables")
            .keys()
            .collect();
        assert_eq!(names, [variable]);
        assert!(
            notes.contains(variable) && !notes.contains("unmet"),
            "{notes}"
        );
        assert!(!entry.to_string().contains("s3cr3t"), "{entry}");
        let result = json!({ "content": [{ "type": "text", "text": "it arrived" }] });
        let (answer, errors) = call(&entry, &result.to_string());
        assert_eq!(answer["result"]["content"], result["content"], "{answer}");
        assert!(!errors.contains("unmet needs"), "{errors}");
    }
}

/// A home with `weather.wasm` in it, which is also the folder of a project.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("weather.wasm"), weather()).expect("a file");
    home
}

/// Runs the command in a home: its exit code, and what it says. It never says the secret.
fn run(home: &TempDir, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    for name in [
        "XDG_CONFIG_HOME",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
    ] {
        command.env_remove(name);
    }
    let output = command
        .args(arguments)
        .current_dir(home)
        .envs([("HOME", home.path()), ("USERPROFILE", home.path())])
        .env("SET_HERE", "s3cr3t")
        .stdin(Stdio::null())
        .output()
        .expect("the command runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("text");
    assert!(!said.contains("s3cr3t"), "{said}");
    (output.status.code(), said)
}

/// The clients, with the file of each below a home.
const FILES: [(&str, &str); 11] = [
    ("claude-code", ".claude.json"),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
    ),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("copilot", ".copilot/mcp-config.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("zed", ".config/zed/settings.json"),
    ("opencode", ".config/opencode/opencode.json"),
    ("cline", ".cline/data/settings/cline_mcp_settings.json"),
];

#[cfg(target_os = "linux")]
#[test]
fn a_servlet_is_installed_in_each_client_and_removed() {
    let home = home();
    for (client, file) in FILES {
        let file = home.path().join(file);
        let install = [
            "install",
            client,
            "weather.wasm",
            "--config-env",
            "api-key=SET_HERE",
        ];
        let (code, said) = run(&home, &install);
        assert_eq!(code, Some(0), "{said}");
        // Clients without placeholders have no value yet.
        let works = match client {
            "claude-desktop" | "copilot" | "zed" | "cline" => {
                "`weather` has 1 tool; its entry has no value for SET_HERE yet"
            }
            _ => "`weather` answers, with 1 tool",
        };
        assert!(said.contains(works), "{said}");
        assert!(
            said.contains("`weather` can read its configuration"),
            "{said}"
        );
        let first = fs::read_to_string(&file).expect("a file");
        assert!(!first.contains("s3cr3t"), "{first}");
        let (code, said) = run(&home, &install);
        assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
        assert_eq!(fs::read_to_string(&file).expect("a file"), first);

        let listed = run(&home, &["servers", "--source", client, "--format", "json"]).1;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        assert_eq!(listed[0]["name"], "weather", "{listed}");

        let (code, said) = run(&home, &["install", client, "weather.wasm"]);
        assert!(code == Some(2) && said.contains("would change"), "{said}");
        let (code, said) = run(&home, &["uninstall", client, "weather"]);
        assert_eq!(code, Some(0), "{said}");
        let last = fs::read_to_string(&file).expect("a file");
        assert!(!last.contains("weather"), "{last}");
        let (code, said) = run(&home, &["uninstall", client, "weather"]);
        assert!(
            code == Some(2) && said.contains("has no server `weather`"),
            "{said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_of_the_edition_that_is_there_is_chosen() {
    let home = home();
    let insiders = home.path().join(".config/Code - Insiders/User");
    fs::create_dir_all(&insiders).expect("a folder");
    let url = "https://mcp.example.com/mcp";
    let install = |client, options: &[&str]| {
        let install = ["install", client, url, "--name", "x y", "--no-check"];
        let (code, said) = run(&home, &[&install[..], options].concat());
        assert_eq!(code, Some(0), "{said}");
    };
    install("vscode", &[]);
    assert!(insiders.join("mcp.json").exists());

    let with_comments = home.path().join("opencode.jsonc");
    fs::write(&with_comments, "{}").expect("a file");
    let in_project = ["--scope", "project"];
    install("opencode", &in_project);
    let text = fs::read_to_string(&with_comments).expect("a file");
    assert!(text.contains(url), "{text}");
    let uninstall = ["uninstall", "opencode", "x y"];
    let (code, said) = run(&home, &[&uninstall[..], &in_project].concat());
    assert_eq!(code, Some(0), "{said}");
}

#[cfg(unix)]
#[test]
fn a_value_is_only_written_if_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home();
    let file = home.path().join(".config/zed/settings.json");
    let install = [
        "install",
        "zed",
        "weather.wasm",
        "--config-env",
        "api-key=SET_HERE",
    ];
    let (code, said) = run(&home, &install);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("SET_HERE: write it into"), "{said}");
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains(r#""SET_HERE": """#), "{text}");
    run(&home, &["uninstall", "zed", "weather"]);

    let (code, said) = run(&home, &[&install[..], &["--write-secrets"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains(r#""SET_HERE": "s3cr3t""#), "{text}");
    let mode = fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    run(&home, &["uninstall", "zed", "weather"]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
    run(&home, &install);
    let mode = || fs::metadata(&file).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(), 0o644, "it has no secret yet");
    run(&home, &["uninstall", "zed", "weather"]);
    run(&home, &[&install[..], &["--write-secrets"]].concat());
    assert_eq!(mode(), 0o600);
    let unset = [
        "install",
        "zed",
        "weather.wasm",
        "--name",
        "w",
        "--config-env",
        "api-key=NOT_SET",
        "--write-secrets",
    ];
    let (code, said) = run(&home, &unset);
    assert!(code == Some(2) && said.contains("NOT_SET"), "{said}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_unless_the_server_works_and_the_file_can_be_read() {
    let home = home();
    let settings = home.path().join("dotfiles.json");
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    std::os::unix::fs::symlink(&settings, &file).expect("a link");
    let broken = "{ \"mcpServers\": {\n  broken\n}";
    fs::write(&settings, broken).expect("a file");
    let install = ["install", "cursor", "weather.wasm"];
    let (code, said) = run(&home, &install);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("dotfiles.json:3:1: "), "{said}");
    assert!(
        said.contains("add this yourself") && said.contains(r#""weather": {"#),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&settings).expect("a file"), broken);

    let before =
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" },\n  },\n}\n";
    fs::write(&settings, before).expect("a file");
    let unchanged = || fs::read_to_string(&settings).expect("a file") == before;
    fs::write(home.path().join("wrong.wasm"), "wrong").expect("a file");
    let (code, said) = run(&home, &["install", "cursor", "wrong.wasm"]);
    assert!(
        code != Some(0) && said.contains("nothing was changed"),
        "{said}"
    );
    assert!(unchanged());
    let (code, said) = run(&home, &[&install[..], &["--dry-run"]].concat());
    assert!(code == Some(0) && unchanged(), "{said}");
    // A repository may bring such a link.
    let elsewhere = home.path().join("elsewhere");
    let backup = home.path().join("dotfiles.json.servlet-bak");
    std::os::unix::fs::symlink(&elsewhere, &backup).expect("a link");
    let (code, said) = run(&home, &install);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("WEATHER_API_KEY") && said.contains("not started"),
        "{said}"
    );
    let after = fs::read_to_string(&settings).expect("a file");
    let added = after
        .lines()
        .filter(|line| !before.lines().any(|old| old == *line));
    let added: Vec<_> = added.map(str::trim).collect();
    assert_eq!(added.first(), Some(&r#""weather": {"#), "{after}");
    assert!(before.lines().all(|line| after.contains(line)), "{after}");
    assert!(fs::symlink_metadata(&file).expect("a link").is_symlink());
    assert!(!elsewhere.exists());
    assert!(said.contains("a copy of the old file is"), "{said}");
    assert_eq!(fs::read_to_string(&backup).expect("a copy"), before);
    let (code, said) = run(&home, &["uninstall", "cursor", "weather"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("is still the copy from before an earlier change")
            && !said.contains("a copy of the old file"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&backup).expect("a copy"), before);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let home = home();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    std::os::unix::fs::symlink("../dotfiles.json", &file).expect("a link");
    let (code, said) = run(&home, &["install", "cursor", "weather.wasm"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::symlink_metadata(&file).expect("a link").is_symlink());
    let text = fs::read_to_string(home.path().join("dotfiles.json")).expect("a file");
    assert!(text.contains("weather"), "{text}");
}

#[test]
fn the_values_that_force_keeps_are_named() {
    let home = home();
    let install = ["install", "cursor", "weather.wasm", "--no-check"];
    assert_eq!(run(&home, &install).0, Some(0));
    let file = home.path().join(".cursor/mcp.json");
    let text = fs::read_to_string(&file).expect("a file");
    let changed = text
        .replace("${env:WEATHER_API_KEY}", "s3cr3t")
        .replace("\"serve\"", "\"other\"");
    fs::write(&file, &changed).expect("a file");
    let (code, said) = run(&home, &[&install[..], &["--force"]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("unchanged: WEATHER_API_KEY"), "{said}");
    let text = fs::read_to_string(&file).expect("a file");
    assert!(
        text.contains("s3cr3t") && text.contains("\"serve\""),
        "{text}"
    );
}

/// The check starts the server, which starts a program that writes the file of the client.
#[cfg(unix)]
#[test]
fn a_file_that_another_program_changes_meanwhile_is_read_again() {
    let home = home();
    let path = |name: &str| home.path().join(name).display().to_string();
    let file = home.path().join(".cursor/mcp.json");
    let script = format!(
        "mkdir -p '{}' && cp '{}' '{}' && exec '{}' serve '{}'",
        path(".cursor"),
        path("other.json"),
        file.display(),
        env!("CARGO_BIN_EXE_servlet"),
        path("weather.wasm"),
    );
    let config =
        format!("[remote.writer]\ncommand = [\"sh\", \"-c\", {script:?}]\nrequired = true\n");
    fs::write(home.path().join("servlet.toml"), config).expect("a file");
    for (name, is_added) in [("other", true), ("mine", false)] {
        let other = json!({ "mcpServers": { name: { "command": "x" } } }).to_string();
        fs::write(home.path().join("other.json"), &other).expect("a file");
        let _ = fs::remove_file(&file);
        let (code, said) = run(&home, &["install", "cursor", "servlet.toml", "--name=mine"]);
        let text = fs::read_to_string(&file).expect("a file");
        if is_added {
            assert_eq!(code, Some(0), "{said}");
            assert!(
                text.contains("\"other\"") && text.contains("\"mine\""),
                "{text}"
            );
        } else {
            assert_eq!(code, Some(2), "{said}");
            let expected = "has just been changed by another program";
            assert!(said.contains(expected), "{said}");
            assert_eq!(text, other);
        }
    }
}

/// Replaces the placeholders of a bundle as Claude Desktop does: one without a value and a default stays as it is.
fn replaced(text: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value)
    })
}

#[test]
fn a_bundle_asks_for_the_settings_and_works_without_the_optional_ones() {
    let home = home();
    let pack = ["pack", "--mcpb", "weather.wasm", "--author", "Ada"];
    let (code, said) = run(&home, &pack);
    assert_eq!(code, Some(0), "{said}");
    let bundle = home.path().join("weather-1.2.0.mcpb");
    let bytes = fs::read(&bundle).expect("a bundle");
    let folder = home.path().join("unpacked");
    ZipArchive::new(Cursor::new(&bytes))
        .and_then(|mut zip| zip.extract(&folder))
        .expect("a zip file");
    let packed = ["one.mcpb", "two.mcpb"].map(|name| {
        let options = ["--bin", "none", "-o", name];
        assert_eq!(run(&home, &[&pack[..], &options].concat()).0, Some(0));
        fs::read(home.path().join(name)).expect("a bundle")
    });
    assert_eq!(packed[0], packed[1]);

    let manifest = fs::read(folder.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(
        manifest["user_config"],
        json!({
            "api_key": {
                "type": "string", "title": "Api key", "description": "the key", "required": true, "sensitive": true,
            },
            "retries": {
                "type": "number", "title": "Retries", "description": "retries", "required": false,
                "min": 0, "max": 9, "default": "",
            },
            "unit": {
                "type": "string", "title": "Unit", "description": "unit", "required": false, "default": "celsius",
            },
        })
    );
    let settings = manifest["user_config"].as_object().expect("settings");
    let mut values = BTreeMap::from([("__dirname".to_owned(), folder.display().to_string())]);
    for (key, setting) in settings {
        if let Some(default) = setting["default"].as_str() {
            values.insert(format!("user_config.{key}"), default.to_owned());
        }
    }
    let result = json!({ "content": [{ "type": "text", "text": "it arrived" }] });
    values.insert("user_config.api_key".to_owned(), result.to_string());

    let start = &manifest["server"]["mcp_config"];
    let args = start["args"].as_array().expect("arguments").iter();
    let args = args.map(|arg| replaced(arg.as_str().expect("text"), &values));
    let env = start["env"].as_object().expect("variables").iter();
    let env = env.map(|(name, value)| (name, replaced(value.as_str().expect("text"), &values)));
    let mut server = Command::new(replaced(start["command"].as_str().expect("text"), &values));
    let (answer, errors) = ask(server.args(args).envs(env));
    assert_eq!(answer["result"]["content"], result["content"], "{answer}");
    assert!(!errors.contains("warning"), "{errors}");
}

#[test]
fn a_bundle_has_an_icon_and_the_author_of_the_contract() {
    let home = home();
    let (code, said) = run(&home, &["pack", "--mcpb", "weather.wasm", "--bin=none"]);
    assert!(
        code == Some(2) && said.contains("write `--author NAME`"),
        "{said}"
    );
    let mut contract = Contract::default();
    contract
        .add("describe", DESCRIPTION.as_bytes())
        .expect("JSON");
    let package = json!({ "name": "weather", "authors": ["Ada <ada@example.com>", "Bob"] });
    contract.package = package.as_object().expect("an object").clone();
    fs::write(home.path().join("weather.wasm"), contract.stamp(&weather())).expect("a file");
    fs::write(home.path().join("icon.png"), b"\x89PNG\r\n\x1a\nrest").expect("a file");
    let pack = ["pack", "--mcpb", "weather.wasm", "--bin=none", "-o=a.mcpb"];
    let (code, said) = run(&home, &[&pack[..], &["--icon=weather.wasm"]].concat());
    assert!(
        code == Some(2) && said.contains("expected a PNG file"),
        "{said}"
    );
    let (code, said) = run(&home, &[&pack[..], &["--icon=icon.png"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let bundle = fs::File::open(home.path().join("a.mcpb")).expect("a bundle");
    let mut bundle = ZipArchive::new(bundle).expect("a zip file");
    assert!(bundle.by_name("icon.png").is_ok());
    let manifest = bundle.by_name("manifest.json").expect("a manifest");
    let manifest: Value = serde_json::from_reader(manifest).expect("JSON");
    assert_eq!(manifest["author"]["name"], "Ada, Bob");
    assert_eq!(manifest["icon"], "icon.png");
}

/// Some clients leave the placeholder of a setting that the user has not made.
#[test]
fn a_placeholder_that_a_client_leaves_is_no_value() {
    let home = home();
    let serve = |api_key: &str, retries: &str| {
        let mut server = Command::new(env!("CARGO_BIN_EXE_servlet"));
        server
            .args(["serve", "weather.wasm", "--config-env=api-key=KEY"])
            .args(["--config-env=retries=RETRIES"])
            .current_dir(home.path())
            .envs([("KEY", api_key), ("RETRIES", retries)]);
        ask(&mut server)
    };
    let result = json!({ "content": [{ "type": "text", "text": "it arrived" }] });
    let result = result.to_string();
    for retries in ["${user_config.retries}", "${RETRIES}", "${env:RETRIES}"] {
        let (answer, errors) = serve(&result, retries);
        assert_eq!(
            answer["result"]["content"][0]["text"], "it arrived",
            "{answer}"
        );
        let left = format!("`RETRIES` is the placeholder `{retries}`");
        assert!(errors.contains(&left), "{errors}");
        assert!(!errors.contains("invalid"), "{errors}");
    }
    let (answer, errors) = serve("${user_config.api_key}", "");
    assert!(answer["result"]["content"].is_null(), "{answer}");
    assert!(
        errors.contains("config `api-key` is not set (the key)"),
        "{errors}"
    );
    assert!(errors.contains("help: set KEY\n"), "{errors}");
}

/// The text of a file in a package of npm. Such a package is a compressed tar file.
fn npm_file(package: &Path, file: &str) -> String {
    let output = Command::new("tar")
        .args(["xzOf"])
        .arg(package)
        .arg(format!("package/{file}"))
        .output()
        .expect("tar runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn packages_name_the_settings_and_the_servlet_of_the_registry() {
    let home = home();
    let pack = |arguments: &[&str]| {
        let start = [
            "pack",
            "weather.wasm",
            "--author=Ada",
            "--name=io.github.ada/weather",
        ];
        run(&home, &[&start[..], arguments].concat())
    };
    for name in ["one.tgz", "two.tgz"] {
        assert_eq!(pack(&["--npm=@ada/weather", "-o", name]).0, Some(0));
    }
    let bytes = |name: &str| fs::read(home.path().join(name)).expect("a package");
    assert_eq!(bytes("one.tgz"), bytes("two.tgz"));
    let package = home.path().join("one.tgz");
    let manifest: Value =
        serde_json::from_str(&npm_file(&package, "package.json")).expect("a manifest");
    assert_eq!(
        manifest,
        json!({
            "name": "@ada/weather",
            "version": "1.2.0",
            "description": "Tools: t",
            "mcpName": "io.github.ada/weather",
            "author": "Ada",
            "bin": { "weather": "serve.js" },
            "engines": { "node": ">=18" },
            "dependencies": { "mcp-servlet": env!("CARGO_PKG_VERSION") },
        })
    );
    let script = npm_file(&package, "serve.js");
    assert!(
        script.contains(r#""--config-env=api-key=SERVLET_CONFIG_API_KEY""#),
        "{script}"
    );
    let readme = npm_file(&package, "README.md");
    assert!(
        readme.contains("| `SERVLET_CONFIG_API_KEY` | the key (required) |"),
        "{readme}"
    );
}

#[test]
fn a_wheel_has_a_module_that_python_itself_does_not_have() {
    let home = home();
    let name = "--name=io.github.ada/weather";
    let arguments = [
        "pack",
        "weather.wasm",
        "--author=Ada",
        name,
        "--wheel=ada-weather",
    ];
    let (code, said) = run(&home, &arguments);
    assert_eq!(code, Some(0), "{said}");
    let wheel = home.path().join("ada_weather-1.2.0-py3-none-any.whl");
    let wheel = fs::read(wheel).expect("a package");
    let mut wheel = ZipArchive::new(Cursor::new(wheel)).expect("a wheel");
    let mut text = |path: &str| {
        let mut text = String::new();
        let mut file = wheel.by_name(path).expect("a file");
        file.read_to_string(&mut text).expect("text");
        text
    };
    let scripts = text("ada_weather-1.2.0.dist-info/entry_points.txt");
    assert!(
        scripts.ends_with("\nada-weather = ada_weather_servlet:main\n"),
        "{scripts}"
    );
    assert!(text("ada_weather_servlet/__init__.py").contains(".wasm\""));
    let metadata = text("ada_weather-1.2.0.dist-info/METADATA");
    for line in [
        "Name: ada-weather",
        "Author: Ada",
        concat!("Requires-Dist: mcp-servlet==", env!("CARGO_PKG_VERSION")),
        "<!-- mcp-name: io.github.ada/weather -->",
    ] {
        assert!(metadata.lines().any(|found| found == line), "{metadata}");
    }
}

#[test]
fn a_package_has_a_name_that_its_site_accepts() {
    let home = home();
    for name in [
        "--npm=",
        "--npm=@ada",
        "--npm=Ada/weather",
        "--npm=@ada/weather/x",
        "--wheel=1x",
        "--wheel=a b",
        "--wheel=@a/b",
    ] {
        let (code, said) = run(&home, &["pack", "weather.wasm", name]);
        assert!(
            code == Some(2) && said.contains("is not the name of a package"),
            "{said}"
        );
    }
    let description = DESCRIPTION.replace("1.2.0", "1.2.0-rc.1");
    let wasm = Wat::new().describe(&description).answer("{}").wasm();
    fs::write(home.path().join("weather.wasm"), wasm).expect("a file");
    let (code, said) = run(&home, &["pack", "weather.wasm", "--wheel=weather"]);
    assert!(
        code == Some(2) && said.contains("pip does not accept the version"),
        "{said}"
    );
    let (code, said) = run(&home, &["pack", "weather.wasm", "--npm=weather"]);
    assert!(
        code == Some(0) && said.contains("weather-1.2.0-rc.1.tgz"),
        "{said}"
    );
    let description = DESCRIPTION.replace("1.2.0", "../../1.2.0");
    let wasm = Wat::new().describe(&description).answer("{}").wasm();
    fs::write(home.path().join("weather.wasm"), wasm).expect("a file");
    for name in ["--npm=weather", "--wheel=weather"] {
        let (code, said) = run(&home, &["pack", "weather.wasm", name]);
        assert!(
            code == Some(2) && said.contains("does not accept"),
            "{said}"
        );
    }
}

#[test]
fn a_bundle_needs_a_program_and_a_version() {
    let home = home();
    let refused = |arguments: &[&str], message: &str| {
        let (code, said) = run(
            &home,
            &[&["pack", "--mcpb", "--author", "Ada"], arguments].concat(),
        );
        assert!(code != Some(0) && said.contains(message), "{said}");
    };
    refused(
        &["weather.wasm", "--bin", "weather.wasm"],
        "not a program for Linux, macOS or Windows",
    );
    refused(
        &["weather.wasm", "--bin", "missing"],
        "cannot pack `missing`",
    );
    fs::write(
        home.path().join("plain.wasm"),
        Wat::new()
            .describe(support::DESCRIPTION)
            .export("call", "{}", "(i32.const 0)")
            .wasm(),
    )
    .expect("a file");
    refused(&["plain.wasm"], "`plain` does not say its version");
    refused(
        &["weather.wasm", "-o", "missing/a.mcpb"],
        "cannot write `missing/a.mcpb`",
    );
}

/// The settings of the servlet as the registry has them.
fn settings() -> Value {
    json!([
        {
            "name": "SERVLET_CONFIG_API_KEY", "description": "the key",
            "isRequired": true, "isSecret": true, "format": "string",
        },
        {
            "name": "SERVLET_CONFIG_RETRIES", "description": "retries",
            "isRequired": false, "isSecret": false, "format": "number",
        },
        {
            "name": "SERVLET_CONFIG_UNIT", "description": "unit",
            "isRequired": false, "isSecret": false, "format": "string", "default": "celsius",
        },
    ])
}

#[test]
fn the_document_for_the_registry_has_what_users_need() {
    let home = home();
    fs::write(home.path().join("weather.mcpb"), "abc").expect("a file");
    let url = "https://github.com/ada/weather/releases/download/v1/weather.mcpb";
    let (code, said) = run(
        &home,
        &[
            "export",
            "registry",
            "weather.wasm",
            "--name=io.github.ada/weather",
            "--package=npm:@ada/weather",
            "--package",
            &format!("mcpb:{url},weather.mcpb"),
            "--remote=https://weather.example/mcp",
            "-o=server.json",
        ],
    );
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said, "publish it: mcp-publisher publish server.json\n");
    let document = fs::read(home.path().join("server.json")).expect("a file");
    let mut document: Value = serde_json::from_slice(&document).expect("JSON");
    let meta = &document["_meta"]["io.modelcontextprotocol.registry/publisher-provided"];
    assert_eq!(meta["module"], Digest::of(&weather()).to_string());
    document.as_object_mut().expect("an object").remove("_meta");
    assert_eq!(
        document,
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": "io.github.ada/weather",
            "description": "Tools: t",
            "version": "1.2.0",
            "packages": [
                {
                    "registryType": "npm",
                    "identifier": "@ada/weather",
                    "version": "1.2.0",
                    "transport": { "type": "stdio" },
                    "environmentVariables": settings(),
                },
                {
                    "registryType": "mcpb",
                    "identifier": url,
                    "fileSha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    "transport": { "type": "stdio" },
                },
            ],
            "remotes": [{ "type": "streamable-http", "url": "https://weather.example/mcp" }],
        })
    );
}

#[test]
fn what_the_registry_would_refuse_is_not_written() {
    let home = home();
    let refused = |arguments: &[&str], expected: i32, message: &str| {
        let start = ["export", "registry", "weather.wasm", "-o=server.json"];
        let (code, said) = run(&home, &[&start[..], arguments].concat());
        assert!(code == Some(expected) && said.contains(message), "{said}");
        assert!(!home.path().join("server.json").exists());
    };
    refused(&[], 2, "does not say its name in the registry");
    refused(&["--name=weather"], 1, "error[registry-name]");
    let named = "--name=io.github.ada/weather";
    let long = format!("--description={}", "w".repeat(101));
    refused(&[named, &long], 1, "the description has 101 characters");
    refused(&[named, "--package=oci:weather"], 2, "expected `npm:NAME`");
    let mcpb = "--package=mcpb:https://weather.example/weather.mcpb,weather.wasm";
    refused(&[named, mcpb], 1, "not a file of a release");
    let missing = "--package=mcpb:https://weather.example/weather.mcpb,missing";
    refused(&[named, missing], 2, "cannot read `missing`");
}

#[test]
fn the_check_for_the_registry_finds_a_description_that_is_too_long() {
    let home = home();
    let long = "w".repeat(101);
    let description = DESCRIPTION.replace(
        "\"weather\"",
        &format!("\"weather\", \"description\": \"{long}\""),
    );
    let wasm = Wat::new().describe(&description).answer("{}").wasm();
    fs::write(home.path().join("long.wasm"), wasm).expect("a file");
    let check = ["check", "long.wasm", "--host=mcp-servlet"];
    let (code, said) = run(&home, &check);
    assert!(code == Some(0) && !said.contains("registry"), "{said}");
    let (code, said) = run(&home, &[&check[..], &["--for=registry"]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("error[registry-description]: the description has 101"),
        "{said}"
    );
    assert!(said.contains("in the MCP registry"), "{said}");
    let (code, said) = run(
        &home,
        &["check", "long.wasm", "--for=registry", "--format=json"],
    );
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("\"registry\":\"error\""), "{said}");
    let (code, said) = run(&home, &["check", "long.wasm", "--for=registy"]);
    assert!(code == Some(2) && said.contains("or `registry`"), "{said}");
}

#[test]
fn a_server_json_is_checked_for_the_registry() {
    let home = home();
    let check = |arguments: &[&str]| run(&home, &[&["check"][..], arguments].concat());
    let write = |name: &str, document: &Value| {
        fs::write(home.path().join(name), document.to_string()).expect("a file");
    };
    let good = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.ada/weather",
        "description": "The weather",
        "version": "1.2.0",
    });
    write("good.json", &good);
    let (code, said) = check(&["good.json", "--for=registry"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said, "good.json: a `server.json` for the MCP registry\n");
    let bad =
        json!({ "name": "weather", "version": "^1.2", "remotes": [{ "url": "http://a.example" }] });
    write("server.json", &bad);
    let (code, said) = check(&["server.json"]);
    assert_eq!(code, Some(1), "{said}");
    for expected in [
        "error[registry-missing]: missing string member `$schema`",
        "error[registry-missing]: missing string member `description`",
        "error[registry-name]: `weather`",
        "error[registry-version]: `^1.2`",
        "error[registry-remote]",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let file = "weather.mcpb";
    let mut with_bundle = good.clone();
    with_bundle["packages"] = json!([{
        "registryType": "mcpb",
        "identifier": format!("https://github.com/ada/weather/releases/download/v1/{file}"),
        "fileSha256": Digest::of(b"uploaded").hex(),
        "transport": { "type": "stdio" },
    }]);
    write("server.json", &with_bundle);
    assert_eq!(check(&["server.json"]).0, Some(0), "the bundle is not here");
    for (content, expected) in [("uploaded", 0), ("another", 1)] {
        fs::write(home.path().join(file), content).expect("a file");
        let (code, said) = check(&["server.json"]);
        assert!(code == Some(expected), "{said}");
        let differs = format!("but `{file}` has {}", Digest::of(b"another").hex());
        assert_eq!(said.contains(&differs), expected == 1, "{said}");
    }
    let (code, said) = check(&["server.json", "--host=hyper-mcp"]);
    assert!(
        code == Some(2) && said.contains("only applies to servlets"),
        "{said}"
    );
}

#[test]
fn what_a_server_says_is_checked_for_the_registry() {
    let home = home();
    let check = |arguments: &[&str]| run(&home, &[&["check"][..], arguments].concat());
    let (code, said) = run(&home, &["catalog", "weather.wasm", "-o=catalog.json"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = check(&["catalog.json", "--for=registry"]);
    assert_eq!(code, Some(0), "{said}");
    let expected = "note[registry-name]: no repository is known";
    assert!(
        said.contains(expected) && said.contains("the MCP registry"),
        "{said}"
    );
    let (code, said) = check(&["weather.wasm", "--for=registry"]);
    assert!(code == Some(0) && said.contains(expected), "{said}");
}

#[test]
fn some_clients_have_no_file_for_a_project_or_no_urls() {
    let home = home();
    let (code, said) = run(
        &home,
        &["install", "windsurf", "weather.wasm", "--scope", "project"],
    );
    assert!(
        code == Some(2) && said.contains("windsurf has no"),
        "{said}"
    );
    let url = "https://user:s3cr3t@example.com/mcp";
    let (code, said) = run(&home, &["install", "claude-desktop", url]);
    assert!(
        code == Some(2) && said.contains("no servers at URLs"),
        "{said}"
    );
}

#[test]
fn a_server_json_that_cannot_be_read_is_wrong_usage() {
    let home = home();
    for (text, problem) in [
        ("{ \"name\": 1", "it is not JSON: EOF while parsing"),
        ("\u{feff}{}", "it begins with a byte order mark"),
        ("[]", "expected an object"),
    ] {
        fs::write(home.path().join("server.json"), text).expect("a file");
        let (code, said) = run(&home, &["check", "server.json"]);
        let expected = format!("cannot read `server.json`: {problem}");
        assert!(code == Some(2) && said.contains(&expected), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_write_protected_file_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home();
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    let file = home.path().join(".cursor/mcp.json");
    fs::write(&file, "{}").expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("a mode");
    let url = "https://mcp.example.com/mcp";
    let (code, said) = run(&home, &["install", "cursor", url, "--no-check"]);
    assert!(
        code == Some(2) && said.contains("it is write-protected"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}");
}
