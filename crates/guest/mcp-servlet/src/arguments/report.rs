//! The error for invalid arguments, for the model: JSON pointer, expected schema, value found.
//!
//! The expected schema is read back from its text in the servlet's description, which is its only copy.
//! So a report costs nothing before a call goes wrong. The code is kept small, since it is in every servlet.

use mcp_servlet_json::{Error, ErrorKind, write_pointer_step, write_raw, write_u64};

use crate::arguments::{Arguments, Failure};
use crate::const_text::begins;
use crate::json::{Children, member};

/// The number of bytes that are shown of a wrong value or an unknown name.
const MAX_SHOWN_BYTES: usize = 60;

/// The number of bytes that are shown of a schema.
const MAX_SHOWN_SCHEMA_BYTES: usize = 1000;

/// What a report needs from the whole servlet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportHints {
    /// Example arguments of each tool: a JSON array.
    pub(crate) examples: &'static str,
    choose: Choose,
    explain: Explain,
}

/// Explains what the schema does not say about a number; empty for nothing. The flag says that it is out of range.
type Explain = fn(&str, &str, bool) -> &'static str;

/// Picks the variant of a schema that a value is nearest to.
type Choose = for<'a> fn(&'a str, &str) -> &'a str;

impl ReportHints {
    /// Without a schema with variants, or without numbers, the code for them is not linked.
    pub(crate) const fn new(description: &[u8], examples: &'static [u8]) -> Self {
        let (has_variants, has_numbers) = kinds(description);
        Self {
            examples: match std::str::from_utf8(examples) {
                Ok(examples) => examples,
                Err(_) => "",
            },
            choose: if has_variants { choice } else { no_choice },
            explain: if has_numbers { explain } else { no_explanation },
        }
    }

    /// The same hints for schemas that are not in the description yet.
    #[cfg(feature = "schemars")]
    pub(crate) const fn of_any_schema(self) -> Self {
        Self {
            choose: choice,
            explain,
            ..self
        }
    }
}

/// Whether schemas have variants, and numbers. Kept cheap, as a description may be long and the
/// compiler counts steps.
const fn kinds(description: &[u8]) -> (bool, bool) {
    let (mut variants, mut numbers) = (false, false);
    let mut rest = description;
    while let [byte, after @ ..] = rest {
        if *byte == b'"' {
            variants = variants || begins(rest, b"\"anyOf\":[");
            numbers = numbers || begins(rest, b"\"integer\"") || begins(rest, b"\"number\"");
        }
        rest = after;
    }
    (variants, numbers)
}

/// A position in the arguments: its pointer, the schema there, and the value there.
pub(crate) struct Report<'a> {
    out: String,
    pointer: String,
    schema: &'a str,
    value: &'a str,
    hints: ReportHints,
}

impl<'a> Report<'a> {
    /// The error for the model about a call of tool `index` of the servlet with this description.
    pub(crate) fn on(
        description: &'a str,
        hints: ReportHints,
        index: usize,
        failure: &Failure<'a>,
    ) -> String {
        let tool = element(member(description, "tools"), index);
        Self::for_schema(member(tool, "inputSchema"), hints, index, failure)
    }

    /// The error for arguments that do not match a schema. Example number `index` matches it.
    pub(crate) fn for_schema(
        schema: &'a str,
        hints: ReportHints,
        index: usize,
        failure: &Failure<'a>,
    ) -> String {
        let mut report = Self {
            out: String::new(),
            pointer: String::new(),
            schema,
            value: "",
            hints,
        };
        report.say("invalid arguments: ");
        match failure {
            Failure::Argument { name, text, error } => report.argument(name, text, error),
            Failure::Missing(arguments) => report.missing(arguments),
            Failure::Unknown(name) => report.unknown(name),
            // These are not about the arguments and never reach this function.
            Failure::Malformed(_) | Failure::Fault(_) | Failure::Tool(_) => {}
        }
        report.example(element(hints.examples, index));
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
                self.here(" appears twice");
            }
            kind => {
                self.here(if self.schema.is_empty() {
                    " is wrong"
                } else {
                    " must match "
                });
                self.schema = self.variant();
                self.say_schema();
                self.say(", got ");
                self.say(shown(self.value));
                if let ErrorKind::Custom(reason) = kind {
                    self.say(": ");
                    self.say(reason);
                } else {
                    let out_of_range = matches!(kind, ErrorKind::NumberOutOfRange);
                    self.say((self.hints.explain)(self.schema, self.value, out_of_range));
                }
            }
        }
    }

    fn example(&mut self, example: &str) {
        if example.starts_with('{') {
            self.say("\nvalid arguments: ");
            self.say(example);
        }
    }

    /// Appends the schema to match. For a schema that is too long, the model has the tool's description.
    fn say_schema(&mut self) {
        self.say(if self.schema.len() > MAX_SHOWN_SCHEMA_BYTES {
            "its schema"
        } else {
            self.schema
        });
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
            self.say_schema();
        }
    }

    /// Reports an unknown member, and lists the known ones.
    fn unknown(&mut self, name: &str) {
        let properties = member(self.variant(), "properties");
        self.enter(
            if name.len() > MAX_SHOWN_BYTES {
                "…"
            } else {
                name
            },
            "",
        );
        self.here(" is unknown");
        let mut separator = "; known are `";
        for (name, _) in Children::new(properties) {
            self.say(separator);
            self.say(&name);
            self.say("`");
            separator = ", `";
        }
    }

    /// Steps into the innermost value that holds the byte at `offset` of this one.
    fn descend(&mut self, mut offset: usize) {
        while offset > 0 {
            let mut children = Children::new(self.value);
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

    /// Steps into the child with the key or index `token`.
    fn enter(&mut self, token: &str, value: &'a str) {
        write_pointer_step(&mut self.pointer, token);
        let schema = self.variant();
        let places = [
            member(member(schema, "properties"), token),
            member(schema, "items"),
        ];
        let place = places.into_iter().find(|schema| !schema.is_empty());
        self.schema = place.unwrap_or_else(|| member(schema, "additionalProperties"));
        self.value = value;
    }

    /// The schema here; if it has variants, the nearest one.
    fn variant(&self) -> &'a str {
        (self.hints.choose)(self.schema, self.value)
    }

    /// Appends the current position, and `what` about it.
    #[inline(never)]
    fn here(&mut self, what: &str) {
        if self.pointer.is_empty() {
            self.say("the object");
        } else {
            for part in ["`", &*self.pointer, "`"] {
                write_raw(&mut self.out, part);
            }
        }
        self.say(what);
    }

    fn say(&mut self, words: &str) {
        write_raw(&mut self.out, words);
    }
}

/// The element `index` of a JSON array, empty if there is none.
fn element(json: &str, index: usize) -> &str {
    let mut name = String::new();
    write_u64(&mut name, index as u64);
    member(json, &name)
}

/// A value, or its kind if it is long.
fn shown(value: &str) -> &str {
    match value.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') if value.len() > MAX_SHOWN_BYTES => "a long string",
        Some(_) if value.len() > MAX_SHOWN_BYTES => "a long number",
        _ => value,
    }
}

/// The schema; if it has variants under `anyOf`, the one that a value is nearest to.
fn choice<'a>(schema: &'a str, value: &str) -> &'a str {
    let mut variants = Children::new(member(schema, "anyOf")).map(|(_, variant)| variant);
    variants
        .find(|variant| is_meant(variant, value))
        .unwrap_or(schema)
}

fn explain(schema: &str, value: &str, out_of_range: bool) -> &'static str {
    let is_number = matches!(value.as_bytes().first(), Some(b'-' | b'0'..=b'9'));
    let ty = member(schema, "type");
    // The schema of an item that may be null has a list of types.
    let ty = if ty.starts_with('[') {
        element(ty, 0)
    } else {
        ty
    };
    match ty {
        "\"integer\"" | "\"number\"" if is_number && out_of_range => ": out of range",
        // JSON Schema accepts 1.0 as an integer, and so do we.
        "\"integer\"" if is_number => ": an integer has no fraction",
        _ => "",
    }
}

fn no_explanation(_: &str, _: &str, _: bool) -> &'static str {
    ""
}

fn no_choice<'a>(schema: &'a str, _: &str) -> &'a str {
    schema
}

/// Whether a value has the shape of a schema: its type is the same, and an object has all required members, with the
/// tag that serde expects.
pub(crate) fn is_meant(schema: &str, value: &str) -> bool {
    let ty = match value.as_bytes().first() {
        Some(b'{') => "\"object\"",
        Some(b'[') => "\"array\"",
        Some(b'"') => "\"string\"",
        _ => return false,
    };
    if member(schema, "type") != ty {
        return false;
    }
    let properties = member(schema, "properties");
    let mut required = Children::new(member(schema, "required"));
    required.all(|(_, name)| {
        let name = name.get(1..name.len() - 1).unwrap_or_default();
        let (found, only) = (
            member(value, name),
            member(member(properties, name), "enum"),
        );
        !found.is_empty() && (only.is_empty() || Children::new(only).any(|(_, tag)| tag == found))
    })
}
