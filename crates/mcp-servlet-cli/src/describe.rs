//! `servlet describe`: what a servlet says about itself.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use mcp_servlet_host::{JsonObject, Listed, Servlet, Tool, schema_type};
use serde_json::Value;

use crate::{cli::Format, failure::Failure, limits::Limits};

/// Show what a servlet offers: tools and their arguments, resources, templates and prompts
#[derive(Args, Debug)]
pub(crate) struct Describe {
    /// The servlet's `.wasm` file
    file: PathBuf,

    /// `json` prints exactly what the servlet says
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Describe {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(&self.file, &self.limits.options())?;
        let mut out = io::stdout().lock();
        match self.format {
            Format::Json => writeln!(out, "{}", servlet.description())?,
            Format::Human => write_servlet(&mut out, &servlet)?,
        }
        Ok(())
    }
}

fn write_servlet(out: &mut impl Write, servlet: &Servlet) -> io::Result<()> {
    let info = servlet.server_info();
    let text = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str);
    let name = text("title")
        .or_else(|| text("name"))
        .unwrap_or(servlet.name());
    match text("version") {
        Some(version) => writeln!(out, "{name} {version}")?,
        None => writeln!(out, "{name}")?,
    }
    for line in servlet.instructions().unwrap_or_default().lines() {
        writeln!(out, "{line}")?;
    }
    if servlet.tools().is_empty() {
        writeln!(out, "\nno tools")?;
    }
    for tool in servlet.tools() {
        writeln!(out)?;
        write_tool(out, tool)?;
    }
    write_entries(out, "resources", servlet.resources())?;
    write_entries(out, "resource templates", servlet.resource_templates())?;
    write_entries(out, "prompts", servlet.prompts())
}

/// What a servlet has beside tools, each kind under its own heading.
fn write_entries(out: &mut impl Write, kind: &str, entries: &[Listed]) -> io::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{kind}")?;
    for entry in entries {
        writeln!(out, "  {}", entry.key())?;
        for line in entry.description().unwrap_or_default().lines() {
            writeln!(out, "    {line}")?;
        }
        for (argument, needed) in prompt_arguments(entry) {
            writeln!(out, "      {argument}  {needed}")?;
        }
    }
    Ok(())
}

/// The arguments of a prompt, and whether each is required; nothing else has any.
fn prompt_arguments(entry: &Listed) -> impl Iterator<Item = (&str, &'static str)> {
    let arguments = entry.json().get("arguments").and_then(Value::as_array);
    arguments.into_iter().flatten().filter_map(|argument| {
        let needed = match argument["required"] {
            Value::Bool(true) => "required",
            _ => "optional",
        };
        Some((argument["name"].as_str()?, needed))
    })
}

fn write_tool(out: &mut impl Write, tool: &Tool) -> io::Result<()> {
    match tool.title() {
        Some(title) => writeln!(out, "{} ({title})", tool.name())?,
        None => writeln!(out, "{}", tool.name())?,
    }
    for line in tool.description().unwrap_or_default().lines() {
        writeln!(out, "  {line}")?;
    }
    let rows = arguments(tool.input_schema());
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (names, types) = (width(0), width(1));
    for [name, ty, needed, description] in &rows {
        let start = format!("    {name:names$}  {ty:types$}  {needed}  ");
        let mut lines = description.lines();
        let line = start.clone() + lines.next().unwrap_or_default();
        writeln!(out, "{}", line.trim_end())?;
        for line in lines {
            writeln!(out, "{:width$}{line}", "", width = start.chars().count())?;
        }
    }
    Ok(())
}

/// Name, type, whether it is required, and description of each argument.
fn arguments(schema: &JsonObject) -> Vec<[String; 4]> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let row = |(name, property): (&String, &Value)| {
        let description = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        [
            name.clone(),
            type_in_words(schema, property),
            if is_required(name) {
                "required"
            } else {
                "optional"
            }
            .to_owned(),
            description.to_owned(),
        ]
    };
    properties.into_iter().flatten().map(row).collect()
}

/// "integer", "array of string", "loud or soft".
fn type_in_words(schema: &JsonObject, property: &Value) -> String {
    let own = schema_type(schema, property).to_string();
    match property.get("items") {
        Some(items) if own.starts_with("array") => own.replacen(
            "array",
            &format!("array of {}", schema_type(schema, items)),
            1,
        ),
        _ => own,
    }
}
