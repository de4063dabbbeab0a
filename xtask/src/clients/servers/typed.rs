//! Generates typed clients of the servers, compiles them for this machine and as wasm, and compares their calls with calls without
//! types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::catalog_file;
use super::server::Server;
use crate::serve::servlet;
use crate::shell::{cargo, root, run, target};

/// The program that makes the calls.
const CALLS: &str = "tests/clients/typed_calls.rs";

const LIBRARY: &str = "//! Clients of published servers.\n#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]\n";

/// The entries of each client, by the name of its server.
const ENTRIES: &str = "/// All entries.\npub const ENTRIES: &[(&str, &[mcp_caller::Entry])]";

/// A manifest with the crates of this checkout.
fn manifest() -> String {
    let crates = root().join("crates/client");
    let crates = crates.display();
    format!(
        "[package]\nname = \"servers\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nmcp-caller = {{ path = '{crates}/mcp-caller' }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
         [target.'cfg(not(target_family = \"wasm\"))'.dependencies]\nanyhow = \"1\"\n\
         mcp-servlet-client = {{ path = '{crates}/mcp-servlet-client' }}\nserde_json = \"1\"\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n\n[workspace]\n"
    )
}

/// Generates a client of each catalog in this folder, and prints a table. Fails if a client does not compile, if there is a warning, if
/// a server does not have the entries of its client, or if a typed call has another result.
pub(super) fn check_typed_clients(folder: &Path, servers: &[Server]) -> anyhow::Result<()> {
    let project = folder.join("typed");
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("Cargo.toml"), manifest())?;
    fs::copy(root().join("Cargo.lock"), project.join("Cargo.lock"))?;
    fs::copy(root().join(CALLS), project.join("src/main.rs"))?;
    let (mut library, mut entries) = (LIBRARY.to_owned(), String::new());
    println!("\n{:<20} {:>8} {:>6}", "typed client", "methods", "lossy");
    for server in servers {
        let module = server.name.replace('-', "_");
        let file = project.join("src").join(&module).with_extension("rs");
        let catalog = catalog_file(folder, &server.name);
        let (methods, lossy) = generate(&catalog, &file).with_context(|| server.name.clone())?;
        println!("{:<20} {methods:>8} {lossy:>6}", server.name);
        library.extend(["/// A client.\npub mod ", &module, ";\n"]);
        entries.extend(["(\"", &server.name, "\", ", &module, "::ENTRIES), "]);
    }
    library.extend([ENTRIES, " = &[", &entries, "];\n"]);
    fs::write(project.join("src/lib.rs"), library)?;
    let wasm = ["--target", "wasm32-unknown-unknown"];
    for target in [&[][..], &wasm] {
        run(cargo_of(&project, "clippy").arg("--lib").args(target))?;
    }
    let commands: BTreeMap<_, _> = servers
        .iter()
        .map(|server| Ok((&server.name, server.install()?)))
        .collect::<anyhow::Result<_>>()?;
    let file = folder.join("commands.json");
    fs::write(&file, serde_json::to_vec(&commands)?)?;
    run(cargo_of(&project, "run").arg("--").arg(file))
}

/// Generates a client. Returns the number of its methods, and of the parts of schemas that have no Rust type.
fn generate(catalog: &Path, client: &Path) -> anyhow::Result<(usize, usize)> {
    let mut generate = servlet();
    generate.args(["gen", "client"]).arg(catalog);
    let output = generate.arg("-o").arg(client).output()?;
    let messages = String::from_utf8(output.stderr)?;
    ensure!(output.status.success(), messages);
    let methods = fs::read_to_string(client)?.matches("-> C::Answer<").count();
    Ok((methods, messages.matches("warning: ").count()))
}

/// Cargo in the project, with the target directory of this workspace.
fn cargo_of(project: &Path, subcommand: &str) -> Command {
    let mut cargo = cargo(&[subcommand, "--quiet", "--manifest-path"]);
    cargo.arg(project.join("Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", target());
    cargo
}
