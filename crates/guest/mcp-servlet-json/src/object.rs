//! Writes objects whose members are known one by one.

use crate::write::{write_raw, write_string};

/// Writes a JSON object, member by member. It does not look for names that are used twice.
///
/// ```
/// use mcp_servlet_json::{ObjectWriter, write_u64};
///
/// let mut person = ObjectWriter::new();
/// person.string("name", "Ada");
/// person.json("languages", "[]");
/// write_u64(person.key("age"), 36);
/// assert_eq!(person.finish(), r#"{"name":"Ada","languages":[],"age":36}"#);
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

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
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

    /// The object.
    pub fn finish(mut self) -> String {
        write_raw(&mut self.0, "}");
        self.0
    }
}
