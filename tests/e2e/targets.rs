//! The targets of servlets: plain WebAssembly, where randomness comes from the host, and WASI.

use std::fs;
use std::path::Path;

use e2e::servlet;
use serde_json::json;
use wire::Process;

use crate::projects::{add_features, command, run, start, stdout};

/// The lines of Cargo.toml in the guide.
fn documented(name: &str) -> String {
    let guide = include_str!("../../docs/crates.md");
    let mut lines = guide
        .lines()
        .filter(|line| line.starts_with(&format!("{name} = ")));
    let line = lines.next().expect("a line of the guide");
    let code = line.split("  #").next().unwrap_or(line);
    code.trim_end().to_owned()
}

fn edit(path: &Path, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(path).expect("a file");
    let changed = change(&text);
    assert_ne!(text, changed, "{}", path.display());
    fs::write(path, changed).expect("a file");
}

/// The output of a command that must fail.
fn failure(folder: &Path, options: &[&str]) -> String {
    let output = command(servlet(), folder).args(options).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&output));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The code block of the guide that contains a function of this name.
fn documented_code(function: &str) -> &'static str {
    let guide = include_str!("../../docs/crates.md");
    let mut blocks = guide.split("```text\n").skip(1);
    let block = blocks.find(|block| block.starts_with(&format!("fn {function}(")));
    let code = block.and_then(|block| block.split("```").next());
    code.expect("a block of the guide")
}

const RANDOM: &str = r#"
use chrono::{DateTime, Utc};
use mcp_servlet::prelude::*;

/// Rolls numbers.
#[tool]
fn roll(context: &Context) -> String {
    let mut bytes = [0; 4];
    getrandom_02::getrandom(&mut bytes).unwrap();
    let of_02 = u32::from_le_bytes(bytes);
    let of_03 = getrandom_03::u32().unwrap();
    let of_04 = getrandom::u32().unwrap();
    let year = DateTime::<Utc>::from(context.now()).format("%Y");
    let (rand, rand_09) = (rand::random::<u32>(), rand_09::random::<u32>());
    let uuid = uuid::Uuid::new_v4();
    format!("{year} {of_02} {of_03} {of_04} {rand} {rand_09} {uuid}")
}

mcp_servlet::export!(pub static SERVLET = { tools: [roll] });
"#;

#[test]
fn randomness_of_other_crates_comes_from_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "dice", &[]);
    let source = format!("{RANDOM}\n{}", documented_code("random"));
    fs::write(project.join("src/lib.rs"), source).expect("a file");
    let manifest = project.join("Cargo.toml");
    let of_03 = "getrandom_03 = { package = \"getrandom\", version = \"0.3\" }";
    let rand_09 = "rand_09 = { package = \"rand\", version = \"0.9\" }";
    let lines = [
        &*documented("getrandom"),
        &documented("getrandom_02"),
        of_03,
        &documented("rand"),
        rand_09,
        &documented("uuid"),
        &documented("chrono"),
    ];
    let lines = lines.join("\n");
    edit(&manifest, |text| {
        text.replace("[dependencies]", &format!("[dependencies]\n{lines}"))
    });

    let without_feature = failure(&project, &["build"]);
    let help = "mcp-servlet = { …, features = [\"global-allocator\", \"getrandom\"] }";
    assert!(without_feature.contains(help), "{without_feature}");

    add_features(&project, &["getrandom"]);
    run(command(servlet(), &project).args(["build", "-o", "built"]));
    let roll = || {
        let called = run(command(servlet(), &project).args(["call", "built/dice.wasm", "roll"]));
        let values = stdout(&called);
        let values: Vec<_> = values.split_whitespace().map(str::to_owned).collect();
        assert_eq!(values.len(), 7, "{values:?}");
        values
    };
    let (one, other) = (roll(), roll());
    assert!(one[0].parse::<u32>().expect("a year") > 2024, "{one:?}");
    for (one, other) in one.iter().zip(&other).skip(1) {
        assert_ne!(one, other);
    }
    assert_eq!(one[6].as_bytes()[14], b'4', "version 4: {one:?}");

    fs::remove_file(project.join(".cargo/config.toml")).expect("a file");
    let without_lines = failure(&project, &["build"]);
    assert!(
        without_lines.contains("[target.wasm32-unknown-unknown]"),
        "{without_lines}"
    );
}

const FILES: &str = r#"
use std::time::{Duration, SystemTime};

use mcp_servlet::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> Result<String, ToolError> {
    Ok(std::fs::read_to_string(path)?)
}

/// Writes a file, a part after the other.
#[tool]
fn write(path: String, parts: Vec<String>) -> Result<usize, ToolError> {
    std::fs::write(&path, parts.concat())?;
    Ok(std::fs::read_dir("/data")?.count())
}

/// Whether the clock goes.
#[tool]
fn clock() -> bool {
    SystemTime::now() > SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// Prints, as libraries do.
#[tool]
fn mutter() -> &'static str {
    println!("on standard output");
    eprintln!("on standard error");
    "said"
}

mcp_servlet::export!(pub static SERVLET = { tools: [read, write, clock, mutter] });
"#;

#[test]
fn a_servlet_for_wasi_has_clock_and_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "reader", &["--wasi"]);
    run(command("cargo", &project).args(["fmt", "--check"]));
    fs::write(project.join("src/lib.rs"), FILES).expect("a file");
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    fs::write(data.join("note.txt"), "milk").expect("a file");
    run(command(servlet(), &project).args(["build", "-o", "built"]));
    let allow = format!("{}:/data", data.display());
    let call = |arguments: &[&str]| {
        let mut call = command(servlet(), &project);
        call.args(["call", "built/reader.wasm"])
            .args(arguments)
            .args(["--allow-path", &allow]);
        stdout(&run(&mut call))
    };
    assert_eq!(call(&["clock"]), "true\n");
    assert_eq!(call(&["read", "path=/data/note.txt"]), "milk\n");
    let long = "x".repeat(50_000);
    let parts = format!("parts:=[\"{long}\",\"{long}\"]");
    assert_eq!(call(&["write", "path=/data/long.txt", &parts]), "2\n");
    assert_eq!(
        fs::read_to_string(data.join("long.txt"))
            .expect("a file")
            .len(),
        100_000
    );

    without_a_directory_the_option_is_named(&project);
    what_it_prints_goes_to_the_log(&project);

    let target = ["build", "--target", "wasm32-unknown-unknown", "-o", "bare"];
    run(command(servlet(), &project).args(target));
    let mut bare = command(servlet(), &project);
    let bare = bare
        .args(["call", "bare/reader.wasm", "clock"])
        .output()
        .expect("the command starts");
    let messages = String::from_utf8_lossy(&bare.stderr);
    assert!(messages.contains("--target wasm32-wasip1"), "{messages}");
}

/// The tool returns an error. The operator can fix the cause, the model cannot.
fn without_a_directory_the_option_is_named(project: &Path) {
    let mut call = command(servlet(), project);
    call.args(["call", "built/reader.wasm", "read", "path=/data/note.txt"]);
    let output = call.output().expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let messages = String::from_utf8_lossy(&output.stderr);
    let help = "  help: let the servlet open the directory: `--allow-path DIR`, or `allow.paths` in a configuration\n";
    assert!(messages.ends_with(help), "{messages}");
}

/// Standard output is the stream of MCP, so nothing else may write to it.
fn what_it_prints_goes_to_the_log(project: &Path) {
    let mut serve = command(servlet(), project);
    serve.args(["serve", "built/reader.wasm", "-v"]);
    let wire = Process::start(serve);
    assert_eq!(wire.call("mutter", &json!({})), "said");
    wire.says("on standard output");
    wire.says("on standard error");
    wire.end(wire.begin_call("read", &json!({ "path": "/data/note.txt" })));
    wire.says("WARN call{servlet=\"reader\" tool=\"read\" session=\"");
    wire.says(" outcome=\"tool_error\" ");
    wire.says("the servlet could not open a file help=\"let the servlet open the directory: `--allow-path DIR`");
    // `finish` checks that every line on standard output was an answer.
    assert!(wire.finish().success());
}

/// Crates that need lines from the guide: the error names the lines.
#[test]
fn crates_without_randomness_or_with_code_for_browsers_get_the_lines_to_add() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "lacking", &[]);
    let (manifest, source) = (project.join("Cargo.toml"), project.join("src/lib.rs"));
    let [plain, code] = [&manifest, &source].map(|path| fs::read_to_string(path).expect("a file"));
    let feature =
        "mcp-servlet = { …, features = [\"global-allocator\", \"getrandom\"] }".to_owned();
    let uuid = "uuid = { version = \"1\", features = [\"v4\"] }".to_owned();
    for (dependency, expression, lines) in [
        (
            uuid,
            "uuid::Uuid::new_v4()",
            vec![documented("uuid"), feature.clone()],
        ),
        (documented("rand"), "rand::random::<u32>()", vec![feature]),
        (
            "chrono = \"0.4\"".to_owned(),
            "chrono::Utc::now()",
            vec![documented("chrono")],
        ),
    ] {
        let dependencies = format!("[dependencies]\n{dependency}");
        fs::write(&manifest, plain.replace("[dependencies]", &dependencies)).expect("a file");
        let greeting = "format!(\"{} ";
        assert!(code.contains("format!(\""), "{code}");
        let used = code.replacen("format!(\"", greeting, 1);
        let used = used.replacen("{name}!\")", &format!("{{name}}!\", {expression})"), 1);
        assert!(used.contains(expression), "{used}");
        fs::write(&source, used).expect("a file");
        let messages = failure(&project, &["build"]);
        for line in lines {
            let helps = messages
                .lines()
                .any(|message| message.trim().ends_with(&line));
            assert!(helps, "{dependency}: `{line}` is missing:\n{messages}");
        }
    }
}

#[test]
fn a_crate_has_one_export() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "several", &[]);
    let source = project.join("src/lib.rs");
    let one = fs::read_to_string(&source).expect("a file");
    let without = one.replace(
        "mcp_servlet::export!",
        "#[cfg(any())]\nmcp_servlet::export!",
    );
    fs::write(&source, format!("#![allow(dead_code)]\n{without}")).expect("a file");
    let messages = failure(&project, &["build"]);
    assert!(
        messages.contains("exports no function that a host could call"),
        "{messages}"
    );
    assert!(
        messages.contains("mcp_servlet::export!(pub static SERVLET"),
        "{messages}"
    );

    let second =
        "mod other {\n    mcp_servlet::export!(static SERVLET = { tools: [super::greet] });\n}";
    fs::write(&source, format!("{one}\n{second}\n")).expect("a file");
    let messages = failure(&project, &["build"]);
    assert!(
        messages.contains("list all functions in one `export!`"),
        "{messages}"
    );
}
