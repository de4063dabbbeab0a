//! The fields of a schema as a table.

use std::io::{self, Write};

use mcp_servlet_call::JsonObject;
use mcp_servlet_schema::{SchemaField, schema_fields, schema_in_words};
use serde_json::Value;

use crate::terminal::one_line;

/// One row: columns of equal width, then text that may have several lines.
pub(crate) struct Row {
    pub(crate) columns: Vec<String>,
    pub(crate) text: String,
}

/// The type that a whole schema describes.
pub(crate) fn in_words(schema: &JsonObject) -> String {
    schema_in_words(schema, &Value::Object(schema.clone()))
}

/// Prints name, type, required or optional, and description of each field.
pub(crate) fn write_fields(out: &mut impl Write, schema: &JsonObject) -> io::Result<()> {
    let rows: Vec<_> = schema_fields(schema).into_iter().map(row).collect();
    write_rows(out, &rows)
}

fn row(field: SchemaField) -> Row {
    let mut text = field.schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let mut add = |name: &str, value: &Value| {
        if !text.is_empty() {
            text.push('\n');
        }
        text.extend([name, ": ", &value.to_string()]);
    };
    if let Some(default) = field.schema.get("default") {
        add("default", default);
    }
    for example in field.schema["examples"].as_array().into_iter().flatten() {
        add("example", example);
    }
    Row {
        columns: vec![
            one_line(&field.path).into_owned(),
            one_line(&field.type_in_words).into_owned(),
            needed(field.required).to_owned(),
        ],
        text,
    }
}

pub(crate) fn needed(required: bool) -> &'static str {
    if required { "required" } else { "optional" }
}

pub(crate) fn write_rows(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.columns.len().max(widths.len()), 0);
        for (width, column) in widths.iter_mut().zip(&row.columns) {
            *width = column.chars().count().max(*width);
        }
    }
    for row in rows {
        let mut start = String::from("    ");
        for (width, column) in widths.iter().zip(&row.columns) {
            start.extend([format!("{column:width$}  ")]);
        }
        let mut lines = row.text.lines();
        let line = start.clone() + lines.next().unwrap_or_default();
        writeln!(out, "{}", line.trim_end())?;
        for line in lines {
            writeln!(out, "{:width$}{line}", "", width = start.chars().count())?;
        }
    }
    Ok(())
}
