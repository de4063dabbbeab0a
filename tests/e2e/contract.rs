//! Contracts: what a servlet says about itself in its module, and what a host does if that is not what it describes.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;

use e2e::{ALL, Profile, fixture, servlet_command, wasm};
use flate2::read::ZlibDecoder;
use mcp_servlet_call::RequestMeta;
use mcp_servlet_host::{Entry, Host, Listed, LoadError, Loaded, ResourceContents, Servlet};
use mcp_servlet_runtime::{Contract, LoadOptions, Module, Source};
use serde_json::{Value, json};

use crate::wat::{DESCRIPTION, Wat};

fn built(example: &str) -> Vec<u8> {
    fs::read(wasm(example, Profile::Servlet)).expect("a module")
}

fn contract(wasm: &[u8]) -> Contract {
    let module = Module::read(wasm).expect("a module");
    module.contract().expect("a contract").clone()
}

fn stripped(wasm: &[u8]) -> Vec<u8> {
    Contract::strip(wasm).expect("a module")
}

fn load(wasm: Vec<u8>) -> Result<Servlet, LoadError> {
    let name = "mine.wasm".to_owned();
    Servlet::load(Source::Bytes { name, wasm }, &LoadOptions::default())
}

fn refusal(wasm: Vec<u8>) -> String {
    load(wasm).expect_err("the contract is wrong").to_string()
}

/// The module with another text instead of the first one or the last one that it has.
fn replaced(wasm: &[u8], old: &str, new: &str, is_last: bool) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut places = wasm.windows(old.len()).enumerate();
    let mut found = places.by_ref().filter(|(_, text)| *text == old.as_bytes());
    let place = if is_last { found.last() } else { found.next() };
    let (at, _) = place.expect("the module has the text");
    let mut wasm = wasm.to_owned();
    wasm[at..at + new.len()].copy_from_slice(new.as_bytes());
    wasm
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = servlet_command(arguments);
    command
        .current_dir(folder)
        .output()
        .expect("the command runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn builds_of_one_crate_at_the_same_time_do_not_disturb_each_other() {
    let build = |_| thread::spawn(|| servlet_command(["build", "examples/greet"]).output());
    let builds: Vec<_> = (0..4).map(build).collect();
    for build in builds {
        let output = build.join().expect("a thread").expect("the command runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let stamped = built("greet");
    assert_eq!(contract(&stamped).package["name"], "greet");
}

/// The format of cargo-auditable, which scanners read.
#[test]
fn build_lists_the_crates_that_it_links() {
    let wasm = built("world-time");
    let payloads = wasmparser::Parser::new(0).parse_all(&wasm);
    let sections = payloads.filter_map(|payload| match payload.expect("a module") {
        wasmparser::Payload::CustomSection(section) if section.name() == ".dep-v0" => {
            Some(section.data())
        }
        _ => None,
    });
    let [section] = sections.collect::<Vec<_>>()[..] else {
        panic!("expected one section");
    };
    let list: Value = serde_json::from_reader(ZlibDecoder::new(section)).expect("compressed JSON");
    let packages = list["packages"].as_array().expect("packages");
    let named = |name: &str| packages.iter().position(|package| package["name"] == name);
    let at = |name: &str| &packages[named(name).unwrap_or_else(|| panic!("no {name}: {list}"))];
    assert_eq!(at("world-time")["root"], true);
    assert_eq!(at("world-time")["source"], "local");
    let own = at("world-time")["dependencies"]
        .as_array()
        .expect("dependencies");
    assert!(own.contains(&json!(named("jiff"))), "{list}");
    assert_eq!(at("jiff")["source"], "crates.io");
    assert!(at("jiff")["root"].is_null());
    // Macros run on the machine that builds.
    assert!(
        named("mcp-servlet").is_some() && named("mcp-servlet-macros").is_none(),
        "{list}"
    );
}

#[test]
fn build_can_leave_the_contract_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("greet.wasm");
    let path = file.to_str().expect("a path");
    let mut command = servlet_command(["build", "examples/greet", "-o", path]);
    let output = command
        .arg("--no-contract")
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let wasm = fs::read(&file).expect("a module");
    let module = Module::read(&wasm).expect("a module");
    assert!(module.contract().is_none());
    assert_eq!(wasm, stripped(&built("greet")));
}

#[test]
fn build_stamps_each_servlet_with_what_it_describes() {
    for example in ALL {
        let wasm = built(example);
        let contract = contract(&wasm);
        assert_eq!(contract.package["name"], example);
        let servlet = load(wasm).unwrap_or_else(|error| panic!("{example}: {error}"));
        assert_eq!(contract.output("describe"), Some(servlet.description()));
    }
}

#[test]
fn a_contract_takes_at_most_six_percent() {
    for example in ALL {
        let wasm = built(example);
        let plain = stripped(&wasm).len();
        let more = wasm.len() - plain;
        assert!(
            more * 100 <= plain * 6,
            "{example}: {more} of {plain} bytes"
        );
    }
}

#[test]
fn a_module_without_a_contract_loads() {
    let servlet = load(stripped(&built("calculator"))).expect("a servlet");
    assert!(servlet.module().contract().is_none());
    assert!(servlet.tool("add").is_some());
}

#[test]
fn a_changed_contract_does_not_load() {
    let description = "Adds two numbers";
    let wasm = built("calculator");
    assert_eq!(
        refusal(replaced(&wasm, description, "Adds two nambers", true)),
        "the contract in `mine.wasm` does not match the servlet: tool `add`, /description: differs from the contract"
    );
    assert_eq!(
        refusal(replaced(&wasm, "{\"v\":1", "{\"v\":7", true)),
        "the contract in `mine.wasm` cannot be read: expected version 1, found version 7"
    );
}

#[test]
fn changed_code_does_not_load_under_the_old_contract() {
    let wasm = replaced(
        &built("calculator"),
        "Adds two numbers",
        "Adds two nambers",
        false,
    );
    let error = load(wasm).expect_err("the code was changed");
    assert_eq!(
        error.to_string(),
        "the contract in `mine.wasm` does not match the servlet: tool `add`, /description: differs from the contract"
    );
    let help = error.help().expect("help");
    assert!(help.contains("run `servlet stamp` on its file"), "{help}");
}

#[test]
fn the_contract_of_another_module_does_not_load() {
    let other = contract(&built("calculator"));
    let wasm = other.stamp(&stripped(&built("greet")));
    assert_eq!(
        refusal(wasm),
        "the contract in `mine.wasm` does not match the servlet: tool `add`, /name: differs from the contract"
    );
    let other = contract(&built("kv-notes"));
    let wasm = other.stamp(&stripped(&built("greet")));
    assert_eq!(
        refusal(wasm),
        "the contract in `mine.wasm` has an output of `list_prompts`, which the servlet does not have"
    );
    let other = contract(&built("greet"));
    let wasm = other.stamp(&stripped(&built("kv-notes")));
    assert_eq!(
        refusal(wasm),
        "the contract in `mine.wasm` has no output of `list_resources`"
    );
}

/// A servlet that traps whenever it runs, with a contract that was written for another one.
fn trap(folder: &Path) {
    let runs = Wat::new().describe(DESCRIPTION).answer("{}").wasm();
    let contract = load(runs).expect("a servlet").to_contract();
    let traps = Wat::new()
        .export("describe", "", "unreachable")
        .export("call", "", "unreachable")
        .wasm();
    let wasm = contract.expect("a contract").stamp(&traps);
    fs::write(folder.join("trap.wasm"), wasm).expect("a file");
}

#[test]
fn a_contract_is_shown_without_running_the_servlet() {
    let folder = tempfile::tempdir().expect("a folder");
    trap(folder.path());
    let inspect = run(folder.path(), &["inspect", "trap.wasm"]);
    let shown = text(&inspect.stdout);
    assert!(inspect.status.success(), "{inspect:?}");
    assert!(shown.contains("  serves   tool      t\n"), "{shown}");
    assert!(
        shown.contains("the `serves` lines are read from it"),
        "{shown}"
    );

    let catalog = run(folder.path(), &["catalog", "trap.wasm", "--format", "json"]);
    assert!(catalog.status.success(), "{catalog:?}");
    let json: Value = serde_json::from_slice(&catalog.stdout).expect("JSON");
    assert_eq!(json["items"][0]["name"], "t");
    let note = "`trap` did not run: its lists come from its contract\n";
    assert!(text(&catalog.stderr).contains(note), "{catalog:?}");

    let described = run(folder.path(), &["describe", "trap.wasm"]);
    assert_eq!(described.status.code(), Some(3), "{described:?}");
    let call = run(folder.path(), &["call", "trap.wasm", "t"]);
    assert_eq!(call.status.code(), Some(3), "{call:?}");
}

/// What the command prints, which must succeed.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    text(&output.stdout).to_owned()
}

#[test]
fn locks_and_packages_come_from_the_contract_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let described = DESCRIPTION.replacen(
        '{',
        r#"{"serverInfo":{"name":"trap","version":"1.2.0"},"#,
        1,
    );
    let runs = Wat::new().describe(&described).answer("{}").wasm();
    let contract = load(runs).expect("a servlet").to_contract();
    let traps = Wat::new()
        .export("describe", "", "unreachable")
        .export("call", "", "unreachable")
        .wasm();
    let wasm = contract.expect("a contract").stamp(&traps);
    fs::write(folder.join("trap.wasm"), wasm).expect("a file");

    let config = printed(folder, &["config", "init", "trap.wasm", "-o", "-"]);
    fs::write(folder.join("servlet.toml"), config).expect("a file");
    printed(folder, &["lock"]);
    let lock = fs::read_to_string(folder.join("servlet.lock")).expect("a lock");
    assert!(lock.contains("\"tool t\""), "{lock}");
    let registry = [
        "export",
        "registry",
        "trap.wasm",
        "--name=io.github.ada/trap",
    ];
    assert!(printed(folder, &registry).contains("\"1.2.0\""));
    printed(folder, &["pack", "--npm=trap", "trap.wasm"]);
    let described = run(folder, &["describe", "trap.wasm"]);
    assert_eq!(described.status.code(), Some(3), "{described:?}");
}

/// The digest of a contract, as `inspect` shows it.
fn shown_digest(folder: &Path, wasm: &[u8]) -> Value {
    fs::write(folder.join("mine.wasm"), wasm).expect("a file");
    let reports = printed(folder, &["inspect", "mine.wasm", "--format", "json"]);
    let reports: Value = serde_json::from_str(&reports).expect("JSON");
    reports[0]["contract"]["digest"].clone()
}

#[test]
fn the_digest_of_a_contract_is_that_of_what_models_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let stamped = |description: &str| {
        let wasm = Wat::new().describe(description).answer("{}").wasm();
        let contract = load(wasm.clone()).expect("a servlet").to_contract();
        contract.expect("a contract").stamp(&wasm)
    };
    let of_version = |version: &str| {
        let info = format!(r#"{{"serverInfo":{{"name":"mine","version":"{version}"}},"#);
        stamped(&DESCRIPTION.replacen('{', &info, 1))
    };
    let first = shown_digest(folder, &of_version("1.0.0"));
    assert!(
        first
            .as_str()
            .is_some_and(|digest| digest.starts_with("sha256:")),
        "{first}"
    );
    assert_eq!(shown_digest(folder, &of_version("2.0.0")), first);
    let other = stamped(&DESCRIPTION.replace("\"d\"", "\"e\""));
    assert_ne!(shown_digest(folder, &other), first);
    let plain = stripped(&other);
    assert_eq!(shown_digest(folder, &plain), Value::Null);

    // The lock and the registry have the same one.
    fs::write(folder.join("mine.wasm"), of_version("2.0.0")).expect("a file");
    fs::write(
        folder.join("servlet.toml"),
        "[servlet.mine]\nsource = \"mine.wasm\"\n",
    )
    .expect("a file");
    printed(folder, &["lock"]);
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let lock = json(&fs::read_to_string(folder.join("servlet.lock")).expect("a lock"));
    assert_eq!(lock["members"]["mine"]["contract"], first);
    let registry = [
        "export",
        "registry",
        "mine.wasm",
        "--name=io.github.ada/mine",
    ];
    let registry = json(&printed(folder, &registry));
    let meta = &registry["_meta"]["io.modelcontextprotocol.registry/publisher-provided"];
    assert_eq!(meta["contract"], first);
}

/// The catalog says the same, whether a contract answers or the servlet runs.
#[test]
fn a_catalog_from_a_contract_is_that_of_the_servlet() {
    let folder = tempfile::tempdir().expect("a folder");
    let wasm = built("everything");
    let catalog = |file: &str, wasm: &[u8]| {
        fs::write(folder.path().join("everything.wasm"), wasm).expect("a file");
        let output = run(
            folder.path(),
            &["catalog", "everything.wasm", "--format", "json"],
        );
        assert!(output.status.success(), "{file}: {output:?}");
        output
    };
    let with = catalog("stamped", &wasm);
    let without = catalog("not stamped", &stripped(&wasm));
    assert_eq!(text(&with.stdout), text(&without.stdout));
    assert!(text(&with.stderr).contains("did not run"), "{with:?}");
    assert!(
        !text(&without.stderr).contains("did not run"),
        "{without:?}"
    );
}

#[test]
fn stamp_writes_the_contract_of_any_servlet_and_keeps_its_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.wasm");
    let read = || fs::read(&file).expect("a file");
    fs::write(&file, Wat::new().describe(DESCRIPTION).answer("{}").wasm()).expect("a file");
    let stamp = run(folder.path(), &["stamp", "mine.wasm"]);
    assert!(stamp.status.success(), "{stamp:?}");
    assert_eq!(contract(&read()).output("describe"), Some(DESCRIPTION));
    let once = read();
    assert!(run(folder.path(), &["stamp", "mine.wasm"]).status.success());
    assert_eq!(read(), once, "a second stamp changes nothing");

    // A change that its author wants.
    let changed = replaced(
        &built("calculator"),
        "Adds two numbers",
        "Adds two nambers",
        false,
    );
    fs::write(&file, changed).expect("a file");
    let refused = run(folder.path(), &["describe", "mine.wasm"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(run(folder.path(), &["stamp", "mine.wasm"]).status.success());
    assert!(
        run(folder.path(), &["describe", "mine.wasm"])
            .status
            .success()
    );
    assert_eq!(contract(&read()).package["name"], "calculator");
}

#[test]
fn stamp_leaves_a_file_alone_that_is_no_servlet() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.wasm");
    let wasm = Wat::new().export("render", "", "(i32.const 0)").wasm();
    fs::write(&file, &wasm).expect("a file");
    let stamp = run(folder.path(), &["stamp", "mine.wasm"]);
    assert_eq!(stamp.status.code(), Some(3), "{stamp:?}");
    assert_eq!(fs::read(&file).expect("a file"), wasm);
}

fn uris(host: &Host) -> Vec<&str> {
    host.resources().map(Listed::key).collect()
}

/// A host with the fixture `listed`, stamped, and its module.
fn listed() -> (Host, Vec<u8>) {
    let wasm = fs::read(fixture("listed")).expect("a module");
    let contract = load(wasm.clone()).expect("a servlet").to_contract();
    let wasm = contract.expect("a contract").stamp(&wasm);
    let name = "listed".to_owned();
    let source = Source::Bytes {
        name,
        wasm: wasm.clone(),
    };
    let entries = [Entry::of(source, LoadOptions::default())];
    (Loaded::load(&entries, None).expect("a host").host, wasm)
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_that_a_function_lists_are_served_and_not_in_the_contract() {
    let (host, wasm) = listed();
    assert_eq!(uris(&host), ["notes:///count", "notes:///first"]);
    let arguments = json!({ "name": "a" });
    let arguments = arguments.as_object().cloned();
    let written = host
        .call_with("write", arguments.as_ref(), &RequestMeta::default())
        .await;
    assert!(!written.expect("a result").is_error());

    // The contract has only the resource with the fixed URI, and the host compares the two again.
    let host = host.relisted();
    assert_eq!(
        uris(&host),
        ["notes:///count", "notes:///first", "notes:///a"]
    );
    let read = host
        .read_resource_with("notes:///a", &RequestMeta::default())
        .await
        .expect("contents");
    assert_eq!(
        read.contents().next().and_then(ResourceContents::text),
        Some("a")
    );
    let contract = contract(&wasm);
    let output: Value =
        serde_json::from_str(contract.output("list_resources").expect("a list")).expect("JSON");
    assert_eq!(
        output,
        json!({ "resources": [{ "uri": "notes:///count", "name": "count", "description": "How many notes there are." }] })
    );
}
