//! Tells the model what is wrong with its arguments: where, what was expected, what came.
//!
//! What was expected is read back from the schema text in the servlet's description, the one place
//! where it stands. So none of this costs anything before a call goes wrong, and it is kept small:
//! it is in every servlet.

use std::borrow::Cow;

use mcp_servlet_json::{Error, ErrorKind, Kind, Reader, write_u64};

use crate::error::Failure;

/// How much of a wrong value is shown, in bytes.
const SHOWN: usize = 60;

/// A value in the arguments, and what the schema says of it.
pub(crate) struct Report<'a> {
    out: String,
    pointer: String,
    schema: &'a str,
    value: &'a str,
}

impl<'a> Report<'a> {
    /// What the model should read about a call of tool `index` of the servlet with this description.
    pub(crate) fn on(description: &'a str, index: usize, failure: &Failure<'a>) -> String {
        let tools = member(description, "tools").unwrap_or_default();
        let tool = Children::of(tools).nth(index).map_or("", |(_, tool)| tool);
        let schema = member(tool, "inputSchema").unwrap_or_default();
        let out = String::from("invalid arguments: ");
        let mut report = Self { out, pointer: String::new(), schema, value: "" };
        match failure {
            Failure::Argument { name, text, error } => report.argument(name, text, error),
            Failure::Missing(names) => report.missing(names),
            Failure::Unknown(name) => report.unknown(name),
            Failure::Tool(error) => report.say(error.message()),
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
            ErrorKind::MissingField(field) => {
                self.enter(field, "");
                self.expected();
                self.say(", but it is missing");
            }
            ErrorKind::UnknownField(field) => self.unknown(field),
            kind => {
                self.expected();
                self.say(", got ");
                self.came();
                if let ErrorKind::Custom(reason) = kind {
                    self.say(": ");
                    self.say(reason);
                }
            }
        }
    }

    fn missing(&mut self, names: &[&str]) {
        let root = self.schema;
        let mut separator = "";
        for name in names {
            self.say(separator);
            self.pointer.clear();
            self.schema = root;
            self.enter(name, "");
            self.expected();
            self.say(", but it is missing");
            separator = "; ";
        }
    }

    /// Reports a member that the object here does not have, and those that it has.
    fn unknown(&mut self, name: &str) {
        let properties = member(self.schema, "properties").unwrap_or_default();
        self.enter(name, "");
        self.here();
        let mut separator = " is unknown; known are `";
        for (name, _) in Children::of(properties) {
            self.say(separator);
            self.say(&name);
            self.say("`");
            separator = ", `";
        }
        if separator.len() > 3 {
            self.say(" is unknown; there are no arguments here");
        }
    }

    /// Steps into the innermost value that holds the byte at `offset` of this one.
    fn descend(&mut self, mut offset: usize) {
        while offset > 0 {
            let mut children = Children::of(self.value);
            let inside = children.find_map(|(token, text)| {
                let start = text.as_ptr() as usize - self.value.as_ptr() as usize;
                (start..start + text.len()).contains(&offset).then_some((token, text, start))
            });
            let Some((token, text, start)) = inside else { return };
            self.enter(&token, text);
            offset -= start;
        }
    }

    /// Steps into the child called `token`.
    fn enter(&mut self, token: &str, value: &'a str) {
        self.pointer.push('/');
        for character in token.chars() {
            match character {
                '~' => self.pointer.push_str("~0"),
                '/' => self.pointer.push_str("~1"),
                _ => self.pointer.push(character),
            }
        }
        let named = member(self.schema, "properties").and_then(|some| member(some, token));
        let other = || member(self.schema, "items").or_else(|| member(self.schema, "additionalProperties"));
        self.schema = named.or_else(other).unwrap_or_default();
        self.value = value;
    }

    /// Appends words. Not inlined: there are many, and each would bring the code that makes room.
    #[inline(never)]
    fn say(&mut self, words: &str) {
        self.out.push_str(words);
    }

    /// Appends where we are.
    fn here(&mut self) {
        self.say("`");
        let pointer = std::mem::take(&mut self.pointer);
        self.say(if pointer.is_empty() { "/" } else { &pointer });
        self.pointer = pointer;
        self.say("`");
    }

    /// Appends where we are and what the schema asks for there.
    fn expected(&mut self) {
        self.here();
        self.say(" must be ");
        if let Some(values) = member(self.schema, "enum") {
            self.say("one of ");
            self.say(values);
            return;
        }
        self.say(match member(self.schema, "type").unwrap_or_default() {
            "\"string\"" => "a string",
            "\"integer\"" => "an integer",
            "\"number\"" => "a number",
            "\"boolean\"" => "true or false",
            "\"array\"" => "an array",
            "\"object\"" => "an object",
            "\"null\"" => "null",
            _ => "another value",
        });
        for (keyword, words) in [
            ("minimum", " of at least "),
            ("maximum", " of at most "),
            ("format", " in the format "),
            ("anyOf", " that matches any of "),
        ] {
            if let Some(value) = member(self.schema, keyword) {
                self.say(words);
                self.say(value);
            }
        }
    }

    /// Appends the value here, or its kind if it is long.
    fn came(&mut self) {
        let value = self.value;
        self.say(match value.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') if value.len() > SHOWN => "a long string",
            Some(_) if value.len() > SHOWN => "a long number",
            _ => value,
        });
    }
}

/// The children of a JSON array or object: name or index, and text. Of another value there are none.
///
/// The texts are our own or were read before, so there is no error to report.
struct Children<'a> {
    reader: Reader<'a>,
    /// Of the next element, in an array.
    index: Option<u64>,
}

impl<'a> Children<'a> {
    fn of(json: &'a str) -> Self {
        let mut reader = Reader::from(json);
        let index = match reader.peek_kind() {
            Ok(Kind::Array) => reader.begin_array().is_ok().then_some(0),
            // Of something else than an object, the first `next_key` fails.
            _ => reader.begin_object().err().map(|_| u64::MAX),
        };
        Self { reader, index }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let name = match &mut self.index {
            Some(u64::MAX) => return None,
            Some(index) => {
                let mut name = String::new();
                write_u64(&mut name, *index);
                *index += 1;
                self.reader.next_element().ok()?.then_some(Cow::Owned(name))?
            }
            None => self.reader.next_key().ok()??,
        };
        Some((name, self.reader.skip().ok()?))
    }
}

/// The member `name` of a JSON object.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    Children::of(json).find(|(key, _)| key == name).map(|(_, text)| text)
}
