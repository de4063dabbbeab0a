//! Names in JSON pointers.

/// A name as a part of a JSON pointer.
pub fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a part of a JSON pointer is.
pub fn unescape_pointer(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
