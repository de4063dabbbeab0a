//! Arguments that arrive as strings: those of prompts and the variables of templates.
//!
//! They become the JSON that a tool would get: a text field gets a string, any other field the JSON in the
//! string. So prompts, templates and tools share one reader of arguments.

use mcp_servlet_json::{Kind, Reader, write_raw, write_string};

use crate::arguments::{Failure, Field};

/// An arguments object under construction.
pub(super) struct Typed {
    json: String,
}

impl Typed {
    pub(super) fn new() -> Self {
        Self {
            json: String::from("{"),
        }
    }

    /// Adds `value` as the JSON for a field.
    pub(super) fn push(&mut self, field: &Field, value: &str) {
        self.key(field.name);
        if field.text || !is_json(value) {
            write_string(&mut self.json, value);
        } else {
            write_raw(&mut self.json, value);
        }
    }

    /// Adds a member whose value is already JSON.
    fn push_json(&mut self, name: &str, json: &str) {
        self.key(name);
        write_raw(&mut self.json, json);
    }

    fn key(&mut self, name: &str) {
        if self.json.len() > 1 {
            write_raw(&mut self.json, ",");
        }
        write_string(&mut self.json, name);
        write_raw(&mut self.json, ":");
    }

    pub(super) fn finish(mut self) -> String {
        write_raw(&mut self.json, "}");
        self.json
    }
}

/// What happens to members that match no field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Keeps them, so that reading the arguments rejects them.
    Keep,
    /// Drops them.
    Drop,
}

/// Reads an object of strings. A value that is not a string is left unchanged.
pub(super) fn typed<'a>(
    object: Option<&'a str>,
    fields: &[Field],
    others: Others,
) -> Result<Typed, Failure<'a>> {
    let mut typed = Typed::new();
    let mut reader = Reader::from(object.unwrap_or("{}"));
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        let is_string = reader.peek_kind()? == Kind::String;
        match fields.iter().find(|field| field.name == name) {
            Some(field) if is_string => typed.push(field, &reader.string()?),
            Some(field) if field.text && reader.peek_kind()? != Kind::Null => {
                typed.push(field, reader.skip()?);
            }
            None if others == Others::Drop => drop(reader.skip()?),
            _ => typed.push_json(&name, reader.skip()?),
        }
    }
    Ok(typed)
}

/// Whether a text is one JSON value.
fn is_json(text: &str) -> bool {
    let mut reader = Reader::from(text);
    reader.skip().is_ok() && reader.finish().is_ok()
}
