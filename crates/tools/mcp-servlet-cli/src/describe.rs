//! `servlet describe`: shows everything that a servlet offers and needs.

pub(crate) mod schema;

use std::io::{self, Write};

use clap::Args;
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{Listed, Servlet, Tool};
use serde_json::{Value, json};

use crate::{
    failure::Failure,
    format::Format,
    limits::Limits,
    needs,
    terminal::{self, Style, Visible, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Describe {
    /// The servlet: a `.wasm` file, a URL or an `oci://` reference
    file: String,

    /// `json` prints one object with all lists
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Describe {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(self.limits.source(&self.file)?, &self.limits.options()?)?;
        match self.format {
            Format::Json => writeln!(terminal::json(), "{}", json_of(&servlet))?,
            Format::Human => write_servlet(&mut terminal::out(), &servlet)?,
        }
        Ok(())
    }
}

/// The lists of a servlet as JSON, as clients get them.
fn json_of(servlet: &Servlet) -> Value {
    let listed = |entries: &[Listed]| {
        entries
            .iter()
            .map(|entry| json!(entry.json()))
            .collect::<Value>()
    };
    let tools = servlet.tools().iter();
    json!({
        "serverInfo": servlet.server_info(),
        "instructions": servlet.instructions(),
        "tools": tools.map(|tool| json!(tool.json())).collect::<Value>(),
        "resources": listed(servlet.resources()),
        "resourceTemplates": listed(servlet.resource_templates()),
        "prompts": listed(servlet.prompts()),
        "completes": servlet.completes(),
        "needs": servlet.module().needs(),
        "inputRequests": servlet.module().input_requests.iter().map(|kind| kind.capability()).collect::<Value>(),
    })
}

fn write_servlet<W: Write>(out: &mut Visible<W>, servlet: &Servlet) -> io::Result<()> {
    let info = servlet.server_info();
    let text = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str);
    let name = text("title")
        .or_else(|| text("name"))
        .unwrap_or(servlet.name());
    out.styled(Style::Name, name)?;
    match text("version") {
        Some(version) => writeln!(out, " {}", one_line(version))?,
        None => writeln!(out)?,
    }
    for line in servlet.instructions().unwrap_or_default().lines() {
        writeln!(out, "  {line}")?;
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
    write_entries(out, "prompts", servlet.prompts())?;
    if servlet.completes() {
        writeln!(
            out,
            "\ncompletes arguments of prompts and resource templates"
        )?;
    }
    write_needs(out, servlet)
}

fn write_tool<W: Write>(out: &mut Visible<W>, tool: &Tool) -> io::Result<()> {
    out.styled(Style::Name, tool.name())?;
    match tool.title() {
        Some(title) => writeln!(out, " ({})", one_line(title))?,
        None => writeln!(out)?,
    }
    for line in tool.description().unwrap_or_default().lines() {
        writeln!(out, "  {line}")?;
    }
    let hints = hints(tool);
    if !hints.is_empty() {
        writeln!(out, "  hints: {}", one_line(&hints.join(", ")))?;
    }
    schema::write_fields(out, tool.input_schema())?;
    if let Some(output) = tool.json().get("outputSchema").and_then(Value::as_object) {
        writeln!(out, "  returns {}", one_line(&schema::in_words(output)))?;
        schema::write_fields(out, output)?;
    }
    Ok(())
}

/// The tool annotations such as `readOnlyHint`, with `not` before those that are false.
fn hints(tool: &Tool) -> Vec<String> {
    let annotations = tool.json().get("annotations").and_then(Value::as_object);
    annotations
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| match value {
            Value::Bool(true) => Some(name.clone()),
            Value::Bool(false) => Some(format!("not {name}")),
            _ => None,
        })
        .collect()
}

/// Prints resources, prompts and templates, each kind under its own heading.
fn write_entries<W: Write>(out: &mut Visible<W>, kind: &str, entries: &[Listed]) -> io::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    write_heading(out, kind)?;
    for entry in entries {
        let text = |key| entry.json().get(key).and_then(Value::as_str);
        let about: Vec<_> = [text("title"), text("mimeType")]
            .into_iter()
            .flatten()
            .collect();
        write!(out, "  ")?;
        out.styled(Style::Name, entry.key())?;
        match &*about {
            [] => writeln!(out)?,
            about => writeln!(out, " ({})", one_line(&about.join(", ")))?,
        }
        for line in entry.description().unwrap_or_default().lines() {
            writeln!(out, "    {line}")?;
        }
        schema::write_rows(out, &prompt_arguments(entry.json()))?;
    }
    Ok(())
}

/// The arguments of a prompt. Other entries have none.
fn prompt_arguments(entry: &JsonObject) -> Vec<schema::Row> {
    let arguments = entry.get("arguments").and_then(Value::as_array);
    let row = |argument: &Value| {
        let name = argument["name"].as_str()?;
        Some(schema::Row {
            columns: vec![
                one_line(name).into_owned(),
                schema::needed(argument["required"] == true).to_owned(),
            ],
            text: argument["description"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        })
    };
    arguments.into_iter().flatten().filter_map(row).collect()
}

fn write_heading<W: Write>(out: &mut Visible<W>, heading: &str) -> io::Result<()> {
    writeln!(out)?;
    out.styled(Style::Faint, heading)?;
    writeln!(out)
}

fn write_needs<W: Write>(out: &mut Visible<W>, servlet: &Servlet) -> io::Result<()> {
    let module = servlet.module();
    let functions: Vec<_> = module
        .imports
        .iter()
        .filter(|import| !import.is_common())
        .collect();
    let requests = &module.input_requests;
    if module.needs().is_empty() && functions.is_empty() && requests.is_empty() {
        return Ok(());
    }
    write_heading(out, "needs")?;
    for line in needs::lines(module.needs()) {
        writeln!(out, "  {line}")?;
    }
    for import in functions {
        writeln!(out, "  function  {}", one_line(&import.name))?;
    }
    for request in requests {
        writeln!(out, "  client    {}", request.capability())?;
    }
    Ok(())
}
