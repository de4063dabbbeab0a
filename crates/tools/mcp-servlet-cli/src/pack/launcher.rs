//! Packages of npm and wheels: the servlet, and a script that serves it with the command of the package `mcp-servlet`.

use std::fmt::Write as _;

use mcp_servlet_package::{
    File, npm,
    wheel::{Wheel, normalized},
};
use serde_json::{Value, json};

use super::{COMPRESSION_LEVEL, Packed, package_text, variables};
use crate::{
    export::registry::document,
    failure::{Failure, Kind},
    terminal::one_line,
};

/// The version of the package `mcp-servlet` that has this command.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The time that npm itself gives to files, in seconds since 1970.
const NPM_FILE_TIME: u64 = 499_162_500;

/// What both scripts have, in the language that Python and JavaScript share with JSON.
struct Script {
    /// The environment variables of the settings. An empty one counts as not set.
    variables: Value,
    module: Value,
    options: Value,
}

impl Script {
    fn of(packed: &Packed) -> Self {
        let variables = variables(&packed.servlet.module().needs().config);
        let names: Vec<_> = variables.iter().map(|variable| &variable.name).collect();
        Self {
            variables: json!(names),
            module: json!(module(packed)),
            options: json!(packed.options()),
        }
    }

    fn javascript(&self) -> String {
        let Self {
            variables,
            module,
            options,
        } = self;
        format!(
            r#"#!/usr/bin/env node
// Serves the servlet of this package, with the command of the package mcp-servlet.
"use strict";

const path = require("node:path");

for (const name of {variables}) process.env[name] ??= "";
process.argv.splice(2, 0, "serve", path.join(__dirname, {module}), ...{options});
require("mcp-servlet/servlet.js");
"#
        )
    }

    fn python(&self) -> String {
        let Self {
            variables,
            module,
            options,
        } = self;
        format!(
            r#""""Serves the servlet of this package, with the command of the package mcp-servlet."""

import os
import sys

import mcp_servlet


def main():
    for name in {variables}:
        os.environ.setdefault(name, "")
    module = os.path.join(os.path.dirname(os.path.abspath(__file__)), {module})
    sys.argv[1:1] = ["serve", module, *{options}]
    mcp_servlet.main()
"#
        )
    }
}

/// A package of npm, with its file name.
pub(super) fn npm(
    packed: &Packed,
    name: &str,
    author: Option<&str>,
    listed: Option<&str>,
) -> Result<(String, Vec<u8>), Failure> {
    let command = name.rsplit('/').next().unwrap_or_default();
    let scope = name.strip_suffix(command).unwrap_or_default();
    let is_scope = scope.is_empty()
        || scope
            .strip_prefix('@')
            .and_then(|scope| scope.strip_suffix('/'))
            .is_some_and(is_name);
    if !is_scope || !is_name(command) {
        return Err(no_name(name, "`@ada/weather`"));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-".contains(c);
    if !packed.version.chars().all(is_plain) {
        return Err(no_version(
            packed,
            "npm",
            "letters, digits, `.`, `+` and `-`",
        ));
    }
    let mut manifest = json!({
        "name": name,
        "version": packed.version,
        "description": packed.description(),
        "bin": { command: "serve.js" },
        "engines": { "node": ">=18" },
        "dependencies": { "mcp-servlet": VERSION },
    });
    let listed = listed_as(packed, listed);
    let texts = [
        ("mcpName", listed.as_deref()),
        ("license", package_text(&packed.servlet, "license")),
        ("repository", package_text(&packed.servlet, "repository")),
        ("author", author),
    ];
    for (member, text) in texts {
        if let Some(text) = text {
            manifest[member] = text.into();
        }
    }
    let files = [
        File::text("serve.js", &Script::of(packed).javascript()),
        File::new(&module(packed), &*packed.wasm),
        File::text(
            "README.md",
            &readme(packed, &format!("npx -y {name}"), None),
        ),
    ];
    Ok(npm::pack(
        &manifest,
        &files,
        NPM_FILE_TIME,
        COMPRESSION_LEVEL,
    )?)
}

/// A wheel, with its file name.
pub(super) fn wheel(
    packed: &Packed,
    name: &str,
    author: Option<&str>,
    listed: Option<&str>,
) -> Result<(String, Vec<u8>), Failure> {
    if !is_name(name) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(no_name(name, "`ada-weather`"));
    }
    let version = &packed.version;
    if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(no_version(packed, "pip", "numbers and dots"));
    }
    let description = packed.description();
    let mut metadata = format!("Summary: {}\n", one_line(&description));
    let license = package_text(&packed.servlet, "license");
    for (key, text) in [("License-Expression", license), ("Author", author)] {
        if let Some(text) = text {
            let _ = writeln!(metadata, "{key}: {}", one_line(text));
        }
    }
    let _ = writeln!(metadata, "Requires-Dist: mcp-servlet=={VERSION}");
    let listed = listed_as(packed, listed);
    // The name alone may be a module of Python itself, such as `calendar`, or a keyword.
    let folder = normalized(name) + "_servlet";
    let wheel = Wheel {
        name,
        module: &folder,
        version,
        metadata: &metadata,
        description: &readme(packed, &format!("uvx {name}"), listed.as_deref()),
        platforms: &[],
    };
    let files = [
        File::text(
            &format!("{folder}/__init__.py"),
            &Script::of(packed).python(),
        ),
        File::new(&format!("{folder}/{}", module(packed)), &*packed.wasm),
    ];
    Ok(wheel.pack(&files, &[], COMPRESSION_LEVEL)?)
}

/// Whether npm and pip accept a name, or a part of one.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(is_plain)
        && name.ends_with(is_plain)
        && name.chars().all(|c| is_plain(c) || "._-".contains(c))
}

fn no_name(name: &str, example: &str) -> Failure {
    let message = format!("`{}` is not the name of a package", one_line(name));
    let help = format!("write small letters, digits, `-`, `_` and `.`, such as {example}");
    Failure::with_help(Kind::Usage, message, help)
}

/// The version is also a part of the name of the file.
fn no_version(packed: &Packed, site: &str, expected: &str) -> Failure {
    let version = one_line(&packed.version);
    let message = format!("{site} does not accept the version `{version}` of the servlet");
    Failure::with_help(Kind::Usage, message, format!("expected {expected}"))
}

/// The name in the MCP registry, which the registry looks for in the package.
fn listed_as(packed: &Packed, listed: Option<&str>) -> Option<String> {
    let document = document(&packed.servlet);
    let listed = listed.or_else(|| document["name"].as_str());
    listed.map(str::to_owned)
}

fn module(packed: &Packed) -> String {
    format!("{}.wasm", packed.name)
}

/// What the sites of both show about a package.
fn readme(packed: &Packed, command: &str, listed: Option<&str>) -> String {
    let needs = packed.servlet.module().needs();
    let title = packed.servlet.server_text("title").unwrap_or(&packed.name);
    let mut text = format!(
        "# {}\n\n{}\n\nAn MCP server. Clients start it with `{command}`.\n",
        one_line(title),
        packed.description()
    );
    if !needs.config.is_empty() {
        text += "\n| environment variable | meaning |\n|---|---|\n";
    }
    for (key, variable) in needs.config.iter().zip(variables(&needs.config)) {
        let meaning = one_line(key.description().unwrap_or(&key.name)).replace('|', "\\|");
        let required = if key.required { " (required)" } else { "" };
        let _ = writeln!(text, "| `{}` | {meaning}{required} |", variable.name);
    }
    for path in &needs.paths {
        let _ = writeln!(text, "\nIt needs the option `--allow-path DIR:{path}`.");
    }
    if let Some(listed) = listed {
        let _ = writeln!(text, "\n<!-- mcp-name: {listed} -->");
    }
    text
}
