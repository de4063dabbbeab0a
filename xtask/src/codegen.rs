//! `codegen`: generates code from the schemas, or checks that it is up to date.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use xtp_codegen::{Input, Options, Schema};

use crate::shell::root;

/// A generated file and its source.
struct Target {
    schema: &'static str,
    output: &'static str,
    kind: Kind,
}

/// The kind of code, and the type for JSON that the schema leaves open.
enum Kind {
    /// Types, for the crates that `mcp-servlet` depends on.
    Types,
    /// A plugin, which depends on `mcp-servlet`.
    Plugin,
}

const TARGETS: [Target; 2] = [
    Target {
        schema: "schema.yaml",
        output: "crates/guest/mcp-servlet-types/src/generated.rs",
        kind: Kind::Types,
    },
    Target {
        schema: "tests/fixtures/reflect.yaml",
        output: "tests/fixtures/examples/reflect/generated.rs",
        kind: Kind::Plugin,
    },
];

/// Generates every file, or with `check` fails if one is out of date.
///
/// # Errors
/// If a schema has problems, a file cannot be read or written, or one is out of date.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let root = root();
    for target in &TARGETS {
        let text = expected(target, &root)?;
        bring_up_to_date(&root.join(target.output), &text, check)?;
    }
    Ok(())
}

fn expected(target: &Target, root: &Path) -> anyhow::Result<String> {
    let schema = read(&root.join(target.schema))?;
    let header = format!(
        "@generated from {} by xtp-codegen. Do not edit: run \"./x codegen\".",
        target.schema
    );
    let schema = Schema::parse(&Input::new(target.schema, &schema))?;
    let (json, plugin) = ("::mcp_servlet_json::RawJson", Options::for_plugin());
    let adjusted = |options: Options| options.header(header).conversions(false);
    Ok(match target.kind {
        Kind::Types => {
            let types = adjusted(plugin.free_form(json).any_json(json));
            // XTP has only objects here, although MCP allows any JSON.
            schema.to_rust(&types.any_json_property("CallToolResult", "structuredContent"))?
        }
        Kind::Plugin => schema.to_plugin(&adjusted(plugin))?,
    })
}

fn bring_up_to_date(path: &Path, expected: &str, check: bool) -> anyhow::Result<()> {
    let found = fs::read_to_string(path).unwrap_or_default();
    if found == expected {
        return Ok(());
    }
    let shown = path.display();
    if check {
        bail!("{shown} is out of date: run `./x codegen`");
    }
    fs::write(path, expected).with_context(|| format!("cannot write {shown}"))
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_files_are_up_to_date() {
        run(true).unwrap();
    }

    #[test]
    fn an_outdated_file_is_reported_with_the_command_to_run() {
        let error = bring_up_to_date(Path::new("no/such.rs"), "text", true).unwrap_err();
        let message = error.to_string();
        assert_eq!(message, "no/such.rs is out of date: run `./x codegen`");
    }
}
