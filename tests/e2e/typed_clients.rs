//! Projects with typed clients, made by a build script and by the command. They have all lints on, and follow `docs/typed-clients.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use e2e::{root, servlet};
use serde_json::Value;

use crate::projects::{command, run};

/// A server whose names, types and descriptions are against lints.
const STRANGE: &str = "tests/e2e/typed_clients/strange.catalog.json";

const LINTS: &str = "#![warn(missing_docs, unreachable_pub, clippy::pedantic)]";

/// The code of a block of the page.
fn block(language: &str, number: usize) -> String {
    let page = fs::read_to_string(root().join("docs/typed-clients.md")).expect("a page");
    let fence = format!("\n```{language}\n");
    let after = page.split(&fence).nth(number + 1).expect("a block");
    after.split_once("```").expect("its end").0.to_owned()
}

/// A library that generates a client of this catalog in its build script. The projects of two tests share a target folder, where cargo
/// tells packages apart by their names.
fn start(folder: &Path, name: &str, catalog: &str, build: &str) {
    let is_for_wasm = |line: &&str| !line.contains("mcp-servlet-client") && !line.contains("tokio");
    let dependencies = block("toml", 0) + &block("toml", 1);
    let lines: Vec<_> = dependencies.lines().filter(is_for_wasm).collect();
    let path = format!("\"{}", root().display());
    let dependencies = lines.join("\n").replace("\"…", &path);
    let package =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let manifest = format!("{package}{dependencies}\n[workspace]\n");
    let catalog = root().join(catalog);
    fs::create_dir(folder.join("src")).expect("a folder");
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(folder.join("build.rs"), build).expect("a script");
    fs::copy(catalog, folder.join("weather.catalog.json")).expect("a catalog");
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("a lock file");
}

/// The names of the lints that the library is against.
fn warnings(folder: &Path, library: &str) -> BTreeSet<String> {
    fs::write(folder.join("src/lib.rs"), library).expect("a library");
    let mut clippy = command("cargo", folder);
    clippy.args(["clippy", "--lib", "--message-format=json"]);
    let output = run(clippy.args(["--target", "wasm32-unknown-unknown"]));
    let messages = String::from_utf8(output.stdout).expect("text");
    let messages = messages.lines().map(serde_json::from_str::<Value>);
    let messages = messages.map(|message| message.expect("JSON"));
    let lints = messages.filter_map(|message| {
        let name = message["message"]["code"]["code"].as_str()?;
        Some(name.to_owned())
    });
    lints.collect()
}

/// A library with the clients of the build script and of the command.
fn both_clients(folder: &Path) -> String {
    let mut servlet = command(servlet(), folder);
    servlet.args(["gen", "client", "weather.catalog.json"]);
    run(servlet.args(["-o", "src/of_command.rs"]));
    let page = fs::read_to_string(root().join("docs/typed-clients.md")).expect("a page");
    let client = "mcp_caller::client!(pub mod weather);";
    assert!(page.contains(client));
    format!("//! Clients.\n{LINTS}\n\n{client}\nmod of_command;\n")
}

#[test]
fn the_build_script_of_the_page_makes_a_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let catalog = "crates/xtp/xtp-codegen/tests/client/weather/catalog.json";
    start(folder, "of-page", catalog, &block("rust,no_run", 0));
    let uses = "
/// The weather in Oslo.
pub fn oslo<C: mcp_caller::Caller>(caller: C) {
    let client = weather::Weather::new(caller);
    let _ = client.get_weather(&weather::GetWeather::new(\"Oslo\"));
}
";
    let found = warnings(folder, &(both_clients(folder) + uses));
    assert!(found.is_empty(), "{found:?}");
}

/// The lints are allowed one by one, and each is there because a server can be against it.
#[test]
fn clients_allow_exactly_the_lints_that_a_server_can_be_against() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let build = block("rust,no_run", 0).replace(".only([\"get_weather\"])", "");
    start(folder, "strange", STRANGE, &build);
    let clients = both_clients(folder);
    let found = warnings(folder, &clients);
    assert!(found.is_empty(), "{found:?}");

    let include = "include!(concat!(env!(\"OUT_DIR\"), \"/weather.rs\"));";
    let bare =
        ["mod", "pub mod"].map(|module| format!("{module} bare{} {{ {include} }}\n", module.len()));
    let found = warnings(
        folder,
        &format!("//! Clients.\n{LINTS}\n\n{}", bare.concat()),
    );
    let file = fs::read_to_string(folder.join("src/of_command.rs")).expect("a client");
    let header = file.split("///").next().unwrap_or_default();
    let lines = header.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.filter_map(|line| line.strip_suffix(','));
    let allowed: BTreeSet<_> = lines
        .filter(|line| !line.contains(' '))
        .map(str::to_owned)
        .collect();
    assert_eq!(found, allowed);
}
