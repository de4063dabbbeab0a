//! Arguments that arrive as strings: those of prompts and the variables of templates.
//!
//! They become the JSON that a tool would get: a text field gets a string, any other field the JSON in the
//! string. So prompts, templates and tools share one reader of arguments.

use mcp_servlet_json::{Kind, ObjectWriter, Reader};

use crate::arguments::{Failure, Field};

/// An arguments object under construction.
#[derive(Default)]
pub(super) struct StringArguments(ObjectWriter);

impl StringArguments {
    /// Adds `value` as the JSON for a field.
    pub(super) fn push(&mut self, field: &Field, value: &str) {
        if field.text || !is_json(value) {
            self.0.string(field.name, value);
        } else {
            self.0.json(field.name, value);
        }
    }

    pub(super) fn finish(self) -> String {
        self.0.finish()
    }
}

/// What happens to members that match no field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Keeps them, so that reading the arguments rejects them.
    Keep,
    /// Drops them.
    Drop,
}

/// Reads an object of strings. A value that is not a string is left unchanged.
pub(super) fn to_json_arguments<'a>(
    object: Option<&'a str>,
    fields: &[Field],
    unknown: Unknown,
) -> Result<StringArguments, Failure<'a>> {
    let mut arguments = StringArguments::default();
    let mut reader = Reader::from(object.unwrap_or("{}"));
    reader.begin_object()?;
    while let Some(name) = reader.next_key()? {
        let is_string = reader.peek_kind()? == Kind::String;
        match fields.iter().find(|field| field.name == name) {
            Some(field) if is_string => arguments.push(field, &reader.string()?),
            Some(field) if field.text && reader.peek_kind()? != Kind::Null => {
                arguments.push(field, reader.skip()?);
            }
            None if unknown == Unknown::Drop => drop(reader.skip()?),
            _ => arguments.0.json(&name, reader.skip()?),
        }
    }
    Ok(arguments)
}

/// Whether a text is one JSON value.
fn is_json(text: &str) -> bool {
    let mut reader = Reader::from(text);
    reader.skip().is_ok() && reader.finish().is_ok()
}
