//! `codegen`: writes what is generated from the schemas, or checks that it is up to date.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use xtp_codegen::{Input, Options, generate};

use crate::shell::root;

/// One generated file and what it is made of.
struct Target {
    schema: &'static str,
    overlay: &'static str,
    output: &'static str,
}

const TARGETS: [Target; 1] = [Target {
    schema: "schema.yaml",
    overlay: "schema.overlay.yaml",
    output: "crates/mcp-servlet-types/src/generated.rs",
}];

/// Generates every file, or with `check` fails if one of them is out of date.
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
    let overlay = read(&root.join(target.overlay))?;
    let header = format!(
        "@generated from {} by xtp-codegen. Do not edit: run \"./x codegen\".",
        target.schema
    );
    let options = Options::new()
        .header(header)
        .free_form("::mcp_servlet_json::RawJson")
        .any_json("::mcp_servlet_json::RawJson")
        .conversions(false);
    let input = Input::new(target.schema, &schema).overlay(target.overlay, &overlay);
    Ok(generate(&input, &options)?)
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
