//! Tells the model what is wrong with its arguments: where, what the schema asks for, what came.
//!
//! What the schema asks for is read back from its text in the servlet's description, the one place
//! where it stands. So none of this costs anything before a call goes wrong, and it is kept small:
//! it is in every servlet.

use mcp_servlet_json::{Error, ErrorKind, write_raw};

use crate::arguments::Arguments;
use crate::error::Failure;
use crate::json::{Children, member};

/// How much of a wrong value is shown, in bytes.
const SHOWN: usize = 60;

/// A place in the arguments: its pointer, the schema there, and the value there.
pub(crate) struct Report<'a> {
    out: String,
    pointer: String,
    schema: &'a str,
    value: &'a str,
}

impl<'a> Report<'a> {
    /// What the model should read about a call of tool `index` of the servlet with this description.
    pub(crate) fn on(description: &'a str, index: usize, failure: &Failure<'a>) -> String {
        let tools = member(description, "tools");
        let tool = Children::of(tools).nth(index).map_or("", |(_, tool)| tool);
        let mut report = Self {
            out: String::new(),
            pointer: String::new(),
            schema: member(tool, "inputSchema"),
            value: "",
        };
        report.say("invalid arguments: ");
        match failure {
            Failure::Argument { name, text, error } => report.argument(name, text, error),
            Failure::Missing(arguments) => report.missing(arguments),
            Failure::Unknown(name) => report.unknown(name),
            // These are no matter of the arguments: they do not come here.
            Failure::Malformed(_) | Failure::Fault(_) | Failure::Tool(_) => {}
        }
        report.out
    }

    fn argument(&mut self, name: &str, text: &'a str, error: &Error) {
        self.value = text;
        if !name.is_empty() {
            self.enter(name, text);
        }
        self.descend(error.offset());
        match error.kind() {
            ErrorKind::MissingField(field) => self.missing_here(field),
            ErrorKind::UnknownField(field) => self.unknown(field),
            ErrorKind::DuplicateField(field) => {
                self.enter(field, "");
                self.here(" stands twice");
            }
            kind => {
                self.here(if self.schema.is_empty() {
                    " is wrong"
                } else {
                    " must match "
                });
                self.say(self.schema);
                self.say(", got ");
                self.say(shown(self.value));
                if let ErrorKind::Custom(reason) = kind {
                    self.say(": ");
                    self.say(reason);
                }
            }
        }
    }

    fn missing(&mut self, arguments: &Arguments<'_>) {
        let root = self.schema;
        let mut separator = "";
        for name in arguments.missing() {
            self.say(separator);
            self.pointer.clear();
            self.schema = root;
            self.missing_here(name);
            separator = "; ";
        }
    }

    /// Reports a member that the object here lacks.
    fn missing_here(&mut self, name: &str) {
        self.enter(name, "");
        self.here(" is missing");
        if !self.schema.is_empty() {
            self.say("; it must match ");
            self.say(self.schema);
        }
    }

    /// Reports a member that the object here does not have, and those that it has.
    fn unknown(&mut self, name: &str) {
        let properties = member(self.schema, "properties");
        self.enter(name, "");
        self.here(" is unknown");
        let mut separator = "; known are `";
        for (name, _) in Children::of(properties) {
            self.say(separator);
            self.say(&name);
            self.say("`");
            separator = ", `";
        }
    }

    /// Steps into the innermost value that holds the byte at `offset` of this one.
    fn descend(&mut self, mut offset: usize) {
        while offset > 0 {
            let mut children = Children::of(self.value);
            let inside = children.find_map(|(token, text)| {
                let start = text.as_ptr() as usize - self.value.as_ptr() as usize;
                (start..start + text.len())
                    .contains(&offset)
                    .then_some((token, text, start))
            });
            let Some((token, text, start)) = inside else {
                return;
            };
            self.enter(&token, text);
            offset -= start;
        }
    }

    /// Steps into the child called `token`.
    fn enter(&mut self, token: &str, value: &'a str) {
        write_raw(&mut self.pointer, "/");
        for character in token.chars() {
            let mut buffer = [0; 4];
            let escaped = match character {
                '~' => "~0",
                '/' => "~1",
                _ => character.encode_utf8(&mut buffer),
            };
            write_raw(&mut self.pointer, escaped);
        }
        let places = [
            member(member(self.schema, "properties"), token),
            member(self.schema, "items"),
        ];
        let place = places.into_iter().find(|schema| !schema.is_empty());
        self.schema = place.unwrap_or_else(|| member(self.schema, "additionalProperties"));
        self.value = value;
    }

    /// Appends where we are, and what of it.
    fn here(&mut self, what: &str) {
        if self.pointer.is_empty() {
            self.say("the object");
        } else {
            let pointer = std::mem::take(&mut self.pointer);
            for part in ["`", &pointer, "`"] {
                self.say(part);
            }
            self.pointer = pointer;
        }
        self.say(what);
    }

    fn say(&mut self, words: &str) {
        write_raw(&mut self.out, words);
    }
}

/// A value, or its kind if it is long.
fn shown(value: &str) -> &str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') if value.len() > SHOWN => "a long string",
        Some(_) if value.len() > SHOWN => "a long number",
        _ => value,
    }
}
