//! `servlet new`: its projects build, pass their tests and run without edits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::{cargo, root, servlet, target};
use serde_json::{Value, json};
use xtp_bundle::Bundle;

/// A command in a folder that reuses existing build artifacts.
pub(crate) fn command(program: impl AsRef<Path>, folder: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true")
        // With this variable, the output of the tests would not name those that passed.
        .env_remove("CARGO_TERM_QUIET");
    command
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the command starts");
    let messages = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{command:?}\n{printed}\n{messages}"
    );
    output
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `servlet new` with the SDK of this workspace.
fn new(folder: &Path, name: &str) -> Command {
    let mut new = command(servlet(), folder);
    new.args(["new", name, "--sdk"]).arg(root());
    new
}

/// Starts a project, with the versions of dependencies that this workspace has.
pub(crate) fn start(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let messages = run(new(folder, name).args(options));
    assert!(stdout(&messages).contains(&format!("{name} is ready\n")));
    let project = folder.join(name);
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    project
}

/// Turns on features of `mcp-servlet` in a project of [`start`].
pub(crate) fn add_features(project: &Path, features: &[&str]) {
    let manifest = project.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let more = features.iter().map(|feature| format!(", {feature:?}"));
    let all = format!("[\"global-allocator\"{}", more.collect::<String>());
    let changed = text.replace("[\"global-allocator\"", &all);
    assert_ne!(text, changed);
    fs::write(manifest, changed).expect("a manifest");
}

#[test]
fn a_new_project_works_as_it_is_in_a_workspace_and_outside() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("workspace");
    fs::create_dir(&inside).expect("a folder");
    fs::write(
        inside.join("Cargo.toml"),
        "[workspace]\nmembers = [\"*\"]\n",
    )
    .expect("a file");
    for parent in [folder.path(), &inside] {
        let project = start(parent, "hello", &[]);
        run(command("cargo", &project).args(["fmt", "--check"]));
        let tests = stdout(&run(command("cargo", &project).arg("test")));
        assert!(tests.contains("greets_by_name ... ok"), "{tests}");
        let options = ["-o", "built", "--format", "json"];
        let built = run(command(servlet(), &project).arg("build").args(options));
        let built: Value = serde_json::from_slice(&built.stdout).expect("a list");
        let wasm = built[0]["path"].as_str().expect("a path");
        assert!(wasm.ends_with("/built/hello.wasm"), "{wasm}");
        fs::create_dir(project.join("built/folder.wasm")).expect("a folder");
        for output in ["built/named.wasm", "built/folder.wasm"] {
            run(command(servlet(), &project).args(["build", "-o", output]));
        }
        let [named, inside, built] = ["built/named.wasm", "built/folder.wasm/hello.wasm", wasm]
            .map(|file| fs::read(project.join(file)).expect("a file"));
        assert_eq!(named, built);
        assert_eq!(inside, built);
        let tested = run(command(servlet(), &project).arg("test"));
        let messages = String::from_utf8_lossy(&tested.stderr);
        assert!(
            messages.contains("2 clients tested the wasm of hello"),
            "{messages}"
        );
        let called = run(command(servlet(), &project).args([
            "call",
            "built/hello.wasm",
            "greet",
            "name=world",
        ]));
        assert_eq!(stdout(&called), "Hello, world!\n");
    }
    let again = command(servlet(), folder.path())
        .args(["new", "hello"])
        .output();
    let again = again.expect("the command starts");
    assert_eq!(again.status.code(), Some(2));
    let messages = String::from_utf8_lossy(&again.stderr);
    assert!(
        messages.starts_with("error: `hello` exists already"),
        "{messages}"
    );
}

/// serde's derives name the crate `serde`, which the prelude alone does not bring.
#[test]
fn the_error_of_a_derive_without_serde_has_help() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "lacking", &[]);
    let manifest = project.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let serde = "serde = { version = \"1\", features = [\"derive\"] }";
    assert!(text.contains(serde), "{text}");
    fs::write(&manifest, text.replace(serde, "")).expect("a manifest");
    let library = project.join("src/lib.rs");
    let text = fs::read_to_string(&library).expect("a library");
    let text = text + "#[derive(Deserialize, Schema)]\nstruct Name(String);\n";
    fs::write(&library, text).expect("a library");
    let output = command(servlet(), &project).arg("build").output();
    let messages = stderr(&output.expect("the command starts"));
    let help =
        "help: the derives of `Deserialize` and `Serialize` need a dependency in Cargo.toml:";
    for part in ["error[E0463]: can't find crate for `serde`", help, serde] {
        assert!(messages.contains(part), "{messages}");
    }
}

#[test]
fn a_test_that_fails_against_the_wasm_fails_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "failing", &[]);
    let tests = project.join("tests/servlet.rs");
    let text = fs::read_to_string(&tests)
        .expect("tests")
        .replace("Hello, Ada!", "Bye, Ada!");
    fs::write(&tests, text).expect("a file");
    let output = command(servlet(), &project)
        .arg("test")
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    let printed = stdout(&output);
    assert!(printed.contains("greets_by_name ... FAILED"), "{printed}");
    assert!(
        printed.contains("tells_the_model_what_is_missing ... ok"),
        "{printed}"
    );
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_project_of_a_schema_builds_and_keeps_the_schema_and_its_warnings() {
    let folder = tempfile::tempdir().expect("a folder");
    let golden = root().join("crates/xtp/xtp-codegen/tests/golden/plugin/schema.yaml");
    let text = fs::read_to_string(golden).expect("a schema");
    // Parsing and rewriting the schema would lose these comments and spaces.
    let text = format!("# Fruit,  and what becomes of it.\n\n{text}\n\n# The end.\n");
    let schema = folder.path().join("fruit.yaml");
    fs::write(&schema, &text).expect("a file");
    let generate = ["gen", "fruit.yaml", "-o", "pdk.rs"];
    let warnings = stderr(&run(command(servlet(), folder.path()).args(generate)));
    assert!(
        warnings.contains("there is no format `uint32`"),
        "{warnings}"
    );

    let created = run(new(folder.path(), "orchard").args(["--schema", "fruit.yaml"]));
    let messages = stderr(&created);
    assert!(messages.starts_with(&warnings), "{messages}");
    for step in [
        "the project uses the SDK at `",
        "running `",
        "created `orchard` in ",
    ] {
        assert!(messages.contains(step), "{messages}");
    }
    let printed = stdout(&created);
    assert!(printed.starts_with("orchard is ready\n"), "{printed}");

    let project = folder.path().join("orchard");
    assert!(project.join(".git").is_dir());
    assert_eq!(
        fs::read_to_string(project.join("schema.yaml")).expect("the schema"),
        text
    );
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock")).expect("a copy");
    run(command("cargo", &project).args(["fmt", "--check"]));
    let built = run(command(servlet(), &project).args(["build", "--format", "json"]));
    let list: Value = serde_json::from_slice(&built.stdout).expect("a list");
    assert_eq!(list[0]["exports"], json!(["peel", "ripen"]));
    let messages = stderr(&built);
    assert!(messages.starts_with("building `orchard`…\n"), "{messages}");
    assert!(messages.contains("\nbuilt `orchard` in "), "{messages}");
}

#[test]
fn a_new_project_tells_how_its_package_is_called_and_stays_in_its_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    run(Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(folder.path()));
    let options = ["new", "fn", "--no-scripts"];
    let messages = stderr(&run(command(servlet(), folder.path()).args(options)));
    let renamed =
        "the package is called `fn-servlet`, because `fn` is not a valid name of a crate\n";
    assert!(messages.contains(renamed), "{messages}");
    let unpublished = "not published yet, so cargo cannot download it\n  help: ";
    assert!(messages.contains(unpublished), "{messages}");
    assert!(messages.contains("`--sdk PATH`"), "{messages}");
    assert!(!folder.path().join("fn/.git").exists());
    let options = ["new", "Foo-Bar", "--no-scripts"];
    let created = run(command(servlet(), folder.path())
        .args(options)
        .env("CARGO_TARGET_DIR", "out"));
    let messages = stderr(&created);
    let renamed = "the package is called `foo-bar`, because names of packages are in kebab case\n";
    assert!(messages.contains(renamed), "{messages}");
    // Where a build in the new folder puts it.
    let printed = stdout(&created);
    let wasm = "/Foo-Bar/out/wasm32-unknown-unknown/servlet/foo_bar.wasm";
    assert!(printed.contains(wasm), "{printed}");
}

/// The bundle, packed twice.
fn packed(folder: &Path) -> PathBuf {
    let [first, second] = ["first.zip", "second.zip"].map(|name| folder.join(name));
    for path in [&first, &second] {
        run(cargo().args(["xtask", "bundle", "--output"]).arg(path));
    }
    assert_eq!(
        fs::read(&first).expect("a bundle"),
        fs::read(&second).expect("a bundle")
    );
    first
}

/// Paths of this machine would make the plugin differ from machine to machine.
fn assert_portable(plugin: &[u8]) {
    let home = std::env::home_dir().expect("a home");
    for path in [root(), home.join(".cargo")] {
        let path = path.display().to_string();
        let found = plugin
            .windows(path.len())
            .any(|window| window == path.as_bytes());
        assert!(!found, "the plugin says `{path}`");
    }
}

/// The bundle and the command have the same template.
fn assert_renders_like_the_command(bundle: &Path, folder: &Path) {
    let [rendered, expected] = [Some(bundle), None].map(|bundle| {
        let mut new = command(servlet(), folder);
        new.args(["new", "Alone", "--no-scripts"]);
        if let Some(bundle) = bundle {
            new.arg("--template").arg(bundle);
        }
        run(&mut new);
        let files = files(&folder.join("Alone"));
        fs::remove_dir_all(folder.join("Alone")).expect("the project");
        files
    });
    assert_eq!(rendered, expected);
    assert!(expected.len() > 5, "{expected:?}");
}

/// The paths and texts of all files in a folder, except those of git.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.ends_with(".git") {
        } else if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let text = fs::read_to_string(&path).expect("a text");
            files.insert(path, text);
        }
    }
    files
}

#[test]
fn a_new_project_depends_on_a_version_or_inside_of_a_checkout_on_the_checkout() {
    let folder = tempfile::tempdir().expect("a folder");
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let path = format!("path = {:?}", root().join("crates/guest/mcp-servlet"));
    for (name, from, dependency) in [
        ("outside", folder.path(), version),
        ("inside", &root().join("examples"), path),
    ] {
        let mut new = Command::new(servlet());
        new.current_dir(from).args(["new", "--no-scripts"]);
        run(new.arg(folder.path().join(name)));
        let manifest = folder.path().join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).expect("the project");
        let line = format!("mcp-servlet = {{ {dependency}, features = ");
        assert!(manifest.contains(&line), "{manifest}");
    }
}

/// The golden schemas of the generator, the schema of the example, and the schema of servlets.
fn schemas() -> Vec<(String, PathBuf)> {
    let goldens = root().join("crates/xtp/xtp-codegen/tests/golden");
    let folders = fs::read_dir(goldens).expect("goldens");
    let schemas = folders.map(|folder| {
        let folder = folder.expect("a golden").path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        (format!("case-{name}"), folder.join("schema.yaml"))
    });
    // Those of servlets have no generated code, and a crate exports one servlet at most.
    let is_servlet = |name: &str| matches!(name, "case-one-tool" | "case-several-tools");
    let mut schemas: Vec<_> = schemas.filter(|(name, _)| !is_servlet(name)).collect();
    schemas.push(("shop".to_owned(), root().join("examples/parcels/shop.yaml")));
    schemas.push(("servlet".to_owned(), root().join("schema.yaml")));
    schemas.sort();
    schemas
}

/// One crate with a module for each project: separate crates would take minutes.
#[test]
fn the_bundle_renders_projects_that_build_for_every_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let bundle = packed(folder.path());
    assert_portable(&Bundle::open(&bundle).expect("a bundle").plugin);
    assert_renders_like_the_command(&bundle, folder.path());
    let all = folder.path().join("all");
    let mut modules = String::from("//! All of them.\n#![deny(warnings)]\n");
    for (name, schema) in schemas() {
        let mut new = new(folder.path(), &name);
        new.args(["--no-scripts", "--feature", "stub-with-code-samples"]);
        new.arg("--schema")
            .arg(schema)
            .arg("--template")
            .arg(&bundle);
        run(&mut new);
        let project = folder.path().join(&name);
        let module = name.replace('-', "_");
        modules.extend(["pub mod ", &module, ";\n"]);
        let inner = all.join("src").join(&module);
        fs::create_dir_all(&inner).expect("a folder");
        fs::rename(project.join("src/lib.rs"), inner.join("mod.rs")).expect("the project");
        let pdk = project.join("src/pdk.rs");
        assert_eq!(pdk.exists(), name != "servlet", "{name}");
        if pdk.exists() {
            fs::rename(pdk, inner.join("pdk.rs")).expect("the project");
            for file in ["Cargo.toml", "clippy.toml"] {
                fs::copy(project.join(file), all.join(file)).expect("the project");
            }
        }
    }
    fs::write(all.join("src/lib.rs"), modules).expect("a file");
    fs::copy(root().join("Cargo.lock"), all.join("Cargo.lock")).expect("a copy");
    let target = ["--target", "wasm32-unknown-unknown"];
    run(command("cargo", &all)
        .args(["clippy", "--lib"])
        .args(target));
    hide_generated_code(&all);
    run(command("cargo", &all).args(["clippy", "--lib"]));
    refuses_what_servlets_do_not_have(&all);
}

/// Makes the modules with generated code private, so that the compiler sees what the projects leave unused.
fn hide_generated_code(all: &Path) {
    let mut count = 0;
    for (name, _) in schemas() {
        let library = all.join("src").join(name.replace('-', "_")).join("mod.rs");
        let text = fs::read_to_string(&library).expect("a library");
        count += text.matches("pub mod pdk;").count();
        fs::write(library, text.replace("pub mod pdk;", "mod pdk;")).expect("a file");
    }
    assert!(count > 20, "{count}");
}

/// Calls of each function that the template's clippy.toml bans.
const BANNED: &str = r#"#![allow(missing_docs, unused)]
use std::{env, fs, fs::File, fs::OpenOptions, io, net::TcpStream, process::Command, thread, time};

pub fn banned() -> io::Result<()> {
    (time::Instant::now(), time::SystemTime::now());
    (thread::spawn(|| ()), thread::Builder::new().spawn(|| ())?);
    thread::scope(|_| thread::sleep(time::Duration::ZERO));
    (env::var("A"), env::vars(), Command::new("a"), TcpStream::connect("a:1")?);
    (fs::read("a")?, fs::read_to_string("a")?, fs::read_dir("a")?, fs::write("a", "b")?);
    (File::open("a")?, File::create("a")?, OpenOptions::new().open("a")?);
    (fs::metadata("a")?, fs::copy("a", "b")?, fs::rename("a", "b")?, fs::remove_file("a")?);
    (fs::create_dir("a")?, fs::create_dir_all("a")?, fs::remove_dir("a")?, fs::remove_dir_all("a")?);
    print!("a");
    println!("a");
    eprint!("a");
    eprintln!("a");
    dbg!(Ok(()))
}
"#;

fn refuses_what_servlets_do_not_have(project: &Path) {
    fs::write(project.join("src/lib.rs"), BANNED).expect("a file");
    let mut clippy = command("cargo", project);
    clippy.args(["clippy", "--lib", "--target", "wasm32-unknown-unknown"]);
    let found = stderr(&run(&mut clippy));
    let rules = fs::read_to_string(project.join("clippy.toml")).expect("a file");
    let paths = rules.split("path = \"").skip(1);
    let paths: Vec<_> = paths.filter_map(|rest| rest.split('"').next()).collect();
    assert!(paths.len() > 25, "{rules}");
    for path in paths {
        let is_reported = found.contains(&format!("`{path}`"));
        assert!(is_reported, "{path} is not reported:\n{found}");
    }
}
