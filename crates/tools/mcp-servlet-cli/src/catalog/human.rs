//! A catalog for people.

use std::io::{self, Write};

use mcp_catalog::{Catalog, Detail, Diagnostic, Item, ItemKind, Schema, Severity, Ui};
use serde_json::Value;

use crate::{
    describe::schema,
    terminal::{Style, Visible, one_line},
};

/// Each kind with its heading, in the order in which they are shown.
const HEADINGS: [(ItemKind, &str); 4] = [
    (ItemKind::Tool, "tools"),
    (ItemKind::Resource, "resources"),
    (ItemKind::ResourceTemplate, "resource templates"),
    (ItemKind::Prompt, "prompts"),
];

/// Shows a whole catalog.
pub(super) fn write<W: Write>(out: &mut Visible<W>, catalog: &Catalog) -> io::Result<()> {
    let text = |key: &str| catalog.server.info.get(key).and_then(Value::as_str);
    let name = text("title").or(text("name")).unwrap_or("unnamed server");
    out.styled(Style::Name, name)?;
    if let Some(version) = text("version") {
        write!(out, " {}", one_line(version))?;
    }
    out.styled(Style::Faint, &format!(", protocol {}", catalog.protocol))?;
    writeln!(out)?;
    let instructions = catalog.server.instructions.as_deref();
    write_lines(out, "  ", instructions.unwrap_or_default())?;
    if catalog.items.is_empty() {
        writeln!(out, "\nno tools, resources and prompts")?;
    }
    for (kind, heading) in HEADINGS {
        write_items(out, catalog, kind, heading)?;
    }
    write_problems(out, &catalog.diagnostics)
}

/// Shows the tools that have a user interface, one per line.
pub(super) fn write_ui<W: Write>(out: &mut Visible<W>, catalog: &Catalog) -> io::Result<()> {
    let mut has_some = false;
    for item in &catalog.items {
        let Detail::Tool(tool) = &item.detail else {
            continue;
        };
        let ui = tool.ui.as_ref();
        if let Some(uri) = ui.and_then(|ui| ui.resource_uri.as_deref()) {
            has_some = true;
            out.styled(Style::Name, &item.name)?;
            writeln!(out, " → {}{}", one_line(uri), visibility(ui))?;
        }
    }
    if !has_some {
        writeln!(out, "no tool has a user interface")?;
    }
    Ok(())
}

fn visibility(ui: Option<&Ui>) -> String {
    let visibility = ui
        .and_then(|ui| ui.visibility.as_deref())
        .map(|who| format!(" (for {})", who.join(" and ")));
    one_line(&visibility.unwrap_or_default()).into_owned()
}

fn write_items<W: Write>(
    out: &mut Visible<W>,
    catalog: &Catalog,
    kind: ItemKind,
    heading: &str,
) -> io::Result<()> {
    let mut items = catalog
        .items
        .iter()
        .filter(|item| item.kind() == kind)
        .peekable();
    if items.peek().is_some() {
        writeln!(out)?;
        out.styled(Style::Faint, heading)?;
        writeln!(out)?;
    }
    items.try_for_each(|item| write_item(out, item))
}

fn write_item<W: Write>(out: &mut Visible<W>, item: &Item) -> io::Result<()> {
    write!(out, "  ")?;
    match item.key() {
        "" => out.styled(Style::Problem, "(no name)")?,
        key => out.styled(Style::Name, key)?,
    }
    let about = about(item);
    if !about.is_empty() {
        write!(out, " ({})", one_line(&about.join(", ")))?;
    }
    writeln!(out)?;
    write_lines(out, "    ", item.description.as_deref().unwrap_or_default())?;
    match &item.detail {
        Detail::Tool(tool) => {
            write_schema(out, &tool.input)?;
            if let Some(output) = &tool.output {
                let kind = output.json.as_object().map(schema::in_words);
                writeln!(out, "    returns {}", one_line(&kind.unwrap_or_default()))?;
                write_schema(out, output)?;
            }
            Ok(())
        }
        Detail::Prompt(prompt) => write_schema(out, &prompt.input),
        Detail::Resource(_) | Detail::ResourceTemplate(_) => Ok(()),
    }
}

/// Title, type, size and hints.
fn about(item: &Item) -> Vec<String> {
    let mut about: Vec<String> = item.title.iter().cloned().collect();
    let mime_type = match &item.detail {
        Detail::Resource(resource) => resource.mime_type.clone(),
        Detail::ResourceTemplate(template) => template.mime_type.clone(),
        Detail::Tool(_) | Detail::Prompt(_) => None,
    };
    about.extend(mime_type);
    if let Detail::Resource(resource) = &item.detail {
        about.extend(resource.size.map(|size| format!("{size} bytes")));
    }
    let annotations = item.meta.annotations.iter().flatten();
    about.extend(annotations.filter_map(|(name, value)| match value {
        Value::Bool(true) => Some(name.clone()),
        Value::Bool(false) => Some(format!("not {name}")),
        _ => None,
    }));
    about
}

fn write_schema<W: Write>(out: &mut Visible<W>, schema: &Schema) -> io::Result<()> {
    if schema.error.is_some() {
        write!(out, "    ")?;
        out.styled(Style::Problem, "the schema cannot be used; see diagnostics")?;
        return writeln!(out);
    }
    match schema.json.as_object() {
        Some(json) => schema::write_fields(out, json),
        None => Ok(()),
    }
}

fn write_problems<W: Write>(out: &mut Visible<W>, problems: &[Diagnostic]) -> io::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    out.styled(Style::Faint, "diagnostics")?;
    writeln!(out)?;
    for problem in problems {
        write!(out, "  ")?;
        write_problem(out, problem)?;
        if let Some(help) = &problem.help {
            writeln!(out, "    help: {}", one_line(help))?;
        }
    }
    Ok(())
}

/// Shows a diagnostic on one line.
pub(crate) fn write_problem<W: Write>(
    out: &mut Visible<W>,
    problem: &Diagnostic,
) -> io::Result<()> {
    let severity = match problem.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    out.styled(Style::Problem, &format!("{severity}[{}]", problem.code))?;
    writeln!(out, ": {}", one_line(&sentence(problem)))
}

/// ``tool `forecast` at /inputSchema: is missing``.
fn sentence(problem: &Diagnostic) -> String {
    let item = problem.item.as_ref().map(|item| match &*item.key {
        "" => format!("{} without a {}", item.kind.label(), key_label(item.kind)),
        key => format!("{} `{key}`", item.kind.label()),
    });
    let place = match (item, &*problem.pointer) {
        (Some(item), "") => item,
        (Some(item), at) => format!("{item} at {at}"),
        (None, at) => at.to_owned(),
    };
    format!("{place}: {}", problem.message)
}

/// What requests call items of this kind by.
fn key_label(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Tool | ItemKind::Prompt => "name",
        ItemKind::Resource => "URI",
        ItemKind::ResourceTemplate => "URI template",
    }
}

/// Writes text with a margin before each of its lines.
fn write_lines(out: &mut impl Write, margin: &str, text: &str) -> io::Result<()> {
    let mut lines = text.lines();
    lines.try_for_each(|line| writeln!(out, "{}", format!("{margin}{line}").trim_end()))
}
