//! Writes objects whose members are known one by one.

use std::mem;

use crate::write::{write_raw, write_string};

/// Writes a JSON object, member by member. It does not look for names that are used twice.
///
/// ```
/// use mcp_servlet_json::{ObjectWriter, write_u64};
///
/// let mut person = ObjectWriter::new();
/// person.string("name", "Ada");
/// person.object("home", |home| home.string("city", "London"));
/// person.json("languages", "[]");
/// write_u64(person.key("age"), 36);
/// let json = r#"{"name":"Ada","home":{"city":"London"},"languages":[],"age":36}"#;
/// assert_eq!(person.finish(), json);
/// assert_eq!(ObjectWriter::new().finish(), "{}");
/// ```
#[derive(Debug)]
pub struct ObjectWriter(String);

impl Default for ObjectWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl ObjectWriter {
    /// An object without members.
    pub fn new() -> Self {
        Self(String::from("{"))
    }

    /// Adds members to an object of which the closing brace is missing.
    ///
    /// ```
    /// let mut error = mcp_servlet_json::ObjectWriter::resume(String::from(r#"{"code":7"#));
    /// error.string("message", "no such note");
    /// assert_eq!(error.finish(), r#"{"code":7,"message":"no such note"}"#);
    /// ```
    pub fn resume(json: String) -> Self {
        Self(json)
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        // No value ends with an opening brace.
        self.0.as_bytes().last() == Some(&b'{')
    }

    /// Begins a member. The caller appends its value.
    #[inline(never)]
    pub fn key(&mut self, name: &str) -> &mut String {
        if !self.is_empty() {
            write_raw(&mut self.0, ",");
        }
        write_string(&mut self.0, name);
        write_raw(&mut self.0, ":");
        &mut self.0
    }

    /// Adds a member that is a string.
    pub fn string(&mut self, name: &str, text: &str) {
        write_string(self.key(name), text);
    }

    /// Adds a member whose value is JSON.
    pub fn json(&mut self, name: &str, json: &str) {
        write_raw(self.key(name), json);
    }

    /// Adds a member that is an object, which `fill` writes.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        write_raw(self.key(name), "{");
        fill(self);
        write_raw(&mut self.0, "}");
    }

    /// The object.
    pub fn finish(mut self) -> String {
        write_raw(&mut self.0, "}");
        self.0
    }
}

/// Appends an object, whose members `fill` writes.
///
/// ```
/// use mcp_servlet_json::write_object;
///
/// let mut list = String::from("[");
/// write_object(&mut list, |person| person.string("name", "Ada"));
/// assert_eq!(list, r#"[{"name":"Ada"}"#);
/// ```
pub fn write_object(out: &mut String, fill: impl FnOnce(&mut ObjectWriter)) {
    write_raw(out, "{");
    let mut object = ObjectWriter::resume(mem::take(out));
    fill(&mut object);
    *out = object.finish();
}
