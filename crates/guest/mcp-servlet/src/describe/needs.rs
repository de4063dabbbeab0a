//! What a servlet needs from its operator: configuration, hosts, directories, and tools and resources of other servers.
//!
//! `export!` writes it to a custom section of the wasm, which a host can read without running the wasm.

use crate::const_text::{refuse, same};
use crate::schema::{Kind, Node};

/// The sections `config`, `hosts`, `paths`, `calls` and `reads` of `export!`.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// The schema of the configuration.
    pub config: Option<&'static Node>,
    /// Hosts that it sends HTTP requests to. `config.KEY` is the host of that configuration value.
    pub hosts: &'static [&'static str],
    /// Directories that it opens.
    pub paths: &'static [&'static str],
    /// Tools of other servers that it calls: `MEMBER:PATTERN`.
    pub calls: &'static [&'static str],
    /// Resources of other servers that it reads: `MEMBER:PATTERN`.
    pub reads: &'static [&'static str],
}

/// Stops the build if the configuration is not a struct or has limits.
#[track_caller]
pub const fn check_config(config: Option<&Node>) {
    let Some(node) = config else { return };
    if !matches!(node.kind, Kind::Object(_)) {
        refuse(&[
            "a configuration is a struct\nhelp: name a struct with a field for each key, which derives `Schema` and `Deserialize`",
        ]);
    }
    if node.is_limited() {
        refuse(&[
            "a configuration cannot have limits such as `max` and `max_length`\nhelp: check the value in the function",
        ]);
    }
}

/// Stops the build if the configuration has no key that `config.KEY` in `hosts` names.
#[track_caller]
pub const fn check_config_host(config: Option<&Node>, key: &str) {
    if let Some(node) = config {
        if matches!(node.kind, Kind::Object(_)) && !has_property(node, key) {
            refuse(&[
                "the configuration has no key `",
                key,
                "`, whose value would be a host\nhelp: a field has another key if serde renames it; then write `\"config.KEY\"`",
            ]);
        }
    }
}

const fn has_property(node: &Node, name: &str) -> bool {
    let Kind::Object(object) = &node.kind else {
        return false;
    };
    let mut at = 0;
    while at < object.properties.len() {
        if same(object.properties[at].name, name) {
            return true;
        }
        at += 1;
    }
    at = 0;
    while at < object.flattened.len() {
        if has_property(object.flattened[at], name) {
            return true;
        }
        at += 1;
    }
    false
}

/// Stops the build if an entry of `hosts` is not a host.
#[track_caller]
pub const fn check_host(entry: &str) {
    if !is_host(entry) {
        refuse(&[
            "`",
            entry,
            "` in `hosts` is not a host\nhelp: write it without scheme, port and path, such as `api.example` or `*.example`",
        ]);
    }
}

/// Stops the build if an entry of `paths` is not a directory.
#[track_caller]
pub const fn check_path(entry: &str) {
    if entry.is_empty() {
        refuse(&[
            "an entry of `paths` is empty\nhelp: name the directory that the servlet opens, such as `/data`",
        ]);
    }
}

/// Stops the build if an entry of `calls` names no tool of another server.
#[track_caller]
pub const fn check_call(entry: &str) {
    check_member(
        "calls",
        "`MEMBER:TOOL`, such as `weather:get_weather` or `air:*`",
        entry,
    );
}

/// Stops the build if an entry of `reads` names no resource of another server.
#[track_caller]
pub const fn check_read(entry: &str) {
    check_member("reads", "`MEMBER:URI`, such as `docs:file:///*`", entry);
}

/// Stops the build if an entry is not of the form `MEMBER:PATTERN`.
#[track_caller]
const fn check_member(section: &str, form: &str, entry: &str) {
    if !has_member(entry) {
        refuse(&[
            "`",
            entry,
            "` in `",
            section,
            "` is not ",
            form,
            "\nhelp: a member has a name without `*`, and what follows it is not empty",
        ]);
    }
}

/// Whether it is the name of a member, a colon, and a pattern.
const fn has_member(entry: &str) -> bool {
    let bytes = entry.as_bytes();
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b':' {
        if bytes[at] == b'*' || bytes[at].is_ascii_whitespace() {
            return false;
        }
        at += 1;
    }
    at > 0 && at + 1 < bytes.len()
}

/// A name, an IP address or a pattern; only IPv6 addresses have colons, in brackets.
const fn is_host(host: &str) -> bool {
    let bytes = host.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'/' || bytes[at].is_ascii_whitespace() {
            return false;
        }
        if bytes[at] == b':' && !matches!((bytes[0], bytes[bytes.len() - 1]), (b'[', b']')) {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty()
}
