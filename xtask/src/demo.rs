//! The demo: from a source file to an MCP client.

use std::process::Command;

use crate::serve::servlet;
use crate::shell::{cargo, program, root, run, show_first_build, target};

/// Builds `examples/greet`, describes it, and calls it from an MCP client over stdio.
pub(crate) fn demo() -> anyhow::Result<()> {
    step("a servlet", "examples/greet/src/lib.rs");
    print!("{}", source()?);

    run(show_first_build(&mut cargo(&["programs"])))?;

    step("built for every host", "servlet build examples/greet");
    run(servlet().args(["build", "examples/greet"]))?;

    let wasm = &wasm();
    step("described", &format!("servlet describe {wasm}"));
    run(servlet().args(["describe", wasm]))?;

    step(
        "called by an MCP client over stdio",
        &format!("servlet serve {wasm}"),
    );
    let mut client = Command::new(program("mcp-client"));
    let arguments = ["greet", r#"{"name":"world"}"#, "--"];
    run(client
        .current_dir(root())
        .args(arguments)
        .arg(program("servlet"))
        .args(["serve", wasm]))?;
    println!("\nnext: docs/quick-start.md");
    Ok(())
}

/// The output of `servlet build`.
pub(crate) fn wasm() -> String {
    let path = target().join("wasm32-unknown-unknown/servlet/greet.wasm");
    let shown = path.strip_prefix(root()).unwrap_or(&path);
    shown.display().to_string()
}

fn step(what: &str, how: &str) {
    println!("\n--- {what}: {how}");
}

/// The servlet's source without its tests.
fn source() -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root().join("examples/greet/src/lib.rs"))?;
    let end = text.find("\n#[cfg(test)]").unwrap_or(text.len());
    Ok(text[..end].to_owned())
}
