//! MCP clients that are no part of this project, on every tool of every example.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::npm::Packages;
use crate::serve::{Server, build, servlet};
use crate::shell::{root, run, show, target};

const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
const PYTHON: &str = "mcp==2.3.0";

/// Arguments of the tools that need some; `PAGE` stands for the address of a page.
const CALLS: &str = "tests/clients/calls.json";

/// What the servlets may reach: that page.
const ALLOW: [&str; 2] = ["--allow-host", "127.0.0.1"];

/// These do not succeed, whatever they are asked.
const FAIL: &str = "test_error_handling";

/// Lists and calls every tool with the official Python client and the Inspector, over both transports, in both eras.
pub(crate) fn check() -> anyhow::Result<()> {
    let files = build(&examples()?)?;
    let server = Server::start(&files, &ALLOW)?;
    let mut stdio = vec![servlet().get_program().into(), PathBuf::from("serve")];
    stdio.extend(ALLOW.map(PathBuf::from));
    stdio.extend(files);
    let calls = calls()?;
    let python = python()?;
    for mode in ["legacy", "2026-07-28"] {
        for target in [&[PathBuf::from(&server.url)][..], &stdio] {
            let mut client = Command::new(&python);
            client
                .current_dir(root())
                .arg("tests/clients/every_tool.py");
            run(client.arg(mode).arg(&calls).args(target))?;
        }
    }
    inspect(&server.url, &calls)
}

/// Arguments by tool, in a file, with a page for those that fetch one.
fn calls() -> anyhow::Result<PathBuf> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let page = format!("http://{}/", listener.local_addr()?);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Whoever goes away without an answer does not want one.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
            );
        }
    });
    let calls = fs::read_to_string(root().join(CALLS))?.replace("PAGE", &page);
    let path = target().join("calls.json");
    fs::write(&path, calls)?;
    Ok(path)
}

/// The folders in `examples`, but for plugins of other interfaces, which have a build script.
fn examples() -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("examples"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() && !path.join("build.rs").exists() {
            let name = path.file_name().context("a folder has a name")?;
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A Python that has the client.
fn python() -> anyhow::Result<PathBuf> {
    let folder = target().join("python");
    let python = folder.join("bin/python");
    let marker = folder.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == PYTHON) {
        return Ok(python);
    }
    eprintln!("x: installing {PYTHON} from PyPI");
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PYTHON]))?;
    fs::write(marker, PYTHON)?;
    Ok(python)
}

/// Lists with the Inspector's command line, and calls what does not wait for a person.
fn inspect(url: &str, calls: &Path) -> anyhow::Result<()> {
    let packages = Packages::install("inspector", &[INSPECTOR])?;
    let arguments = fs::read_to_string(calls)?;
    let arguments: BTreeMap<String, Value> = serde_json::from_str(&arguments)?;
    for era in ["legacy", "modern"] {
        let ask = |more: &[&str]| {
            let mut inspector = packages.program("mcp-inspector")?;
            inspector
                .args(["--cli", url, "--transport", "http", "--protocol-era", era])
                .args(["--format", "json", "-q", "--method"])
                .args(more);
            output(&mut inspector)
        };
        let listed: Value = serde_json::from_str(&ask(&["tools/list"])?)?;
        let tools = listed["result"]["tools"]
            .as_array()
            .context("there is no list of tools")?;
        let mut called = 0;
        for tool in tools {
            let name = tool["name"].as_str().unwrap_or_default();
            if name == FAIL || asks(tool) {
                continue;
            }
            let arguments = arguments
                .get(name)
                .map_or_else(|| "{}".into(), Value::to_string);
            ask(&[
                "tools/call",
                "--tool-name",
                name,
                "--tool-args-json",
                &arguments,
            ])?;
            called += 1;
        }
        println!("{era}: {} tools, {called} called", tools.len());
    }
    Ok(())
}

/// Whether a tool waits for somebody at the client, which this one does not have.
fn asks(tool: &Value) -> bool {
    let meta = &tool["_meta"]["mcp-servlet/asks"];
    meta.as_bool().unwrap_or_default()
}

fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed with {}\n{said}", show(command), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}
