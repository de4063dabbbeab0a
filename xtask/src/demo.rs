//! The main job, from source to client.

use std::process::Command;

use crate::shell::{cargo, program, root, run};

const WASM: &str = "target/wasm32-unknown-unknown/servlet/greet.wasm";

/// Builds `examples/greet`, describes it, and calls it from an MCP client over stdio.
pub(crate) fn demo() -> anyhow::Result<()> {
    step("the servlet", "examples/greet/src/lib.rs");
    print!("{}", source()?);
    run(&mut cargo(&[
        "build",
        "--quiet",
        "--package",
        "mcp-servlet-cli",
        "--package",
        "e2e",
        "--bins",
    ]))?;
    step("built for every host", "servlet build examples/greet");
    run(servlet().args(["build", "examples/greet"]))?;
    step(
        "what it says of itself",
        &format!("servlet describe {WASM}"),
    );
    run(servlet().args(["describe", WASM]))?;
    step(
        "called by an MCP client over stdio",
        &format!("servlet serve {WASM}"),
    );
    let mut client = Command::new(program("mcp-client"));
    let arguments = ["greet", r#"{"name":"world"}"#, "--"];
    run(client
        .current_dir(root())
        .args(arguments)
        .arg(program("servlet"))
        .args(["serve", WASM]))
}

fn servlet() -> Command {
    let mut command = Command::new(program("servlet"));
    command.current_dir(root());
    command
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
