//! What a servlet needs from its operator: configuration, hosts, directories, and tools and resources of other servers.
//!
//! `export!` writes it to a custom section of the wasm, which a host can read without running the wasm.

use serde::de::DeserializeOwned;

use crate::const_text::{refuse, same};
use crate::schema::{Kind, Node, Schema};

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

/// The schema of a type that [`Context::config`](crate::Context::config) reads. Stops the build if it is not a
/// struct or has limits.
pub const fn config_node<T: Schema + DeserializeOwned>() -> &'static Node {
    assert!(
        matches!(T::NODE.kind, Kind::Object(_)),
        "a configuration is a struct with a field for each key"
    );
    assert!(
        !T::NODE.is_limited(),
        "a configuration cannot have limits such as `max` and `max_length`: check the value in the function"
    );
    T::NODE
}

/// The entry `config.KEY` of `hosts`. Stops the build if the configuration has no such key.
#[track_caller]
pub const fn config_host<T: Schema + DeserializeOwned>(
    entry: &'static str,
    key: &str,
) -> &'static str {
    if !has_property(config_node::<T>(), key) {
        refuse(&[
            "the configuration has no key `",
            key,
            "`, whose value would be a host\nhelp: a field has another key if serde renames it; then write `\"config.KEY\"`",
        ]);
    }
    entry
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

impl Needs {
    /// Checks each entry; an invalid one stops the build.
    #[must_use]
    // Inlined functions are not compiled in this crate, so a servlet without other sections stays the same.
    #[inline]
    pub const fn checked(self) -> Self {
        let mut at = 0;
        while at < self.hosts.len() {
            assert!(
                is_host(self.hosts[at]),
                "an entry of `hosts` is a host without scheme, port and path, such as `api.example` or `*.example`"
            );
            at += 1;
        }
        at = 0;
        while at < self.paths.len() {
            assert!(
                !self.paths[at].is_empty(),
                "an entry of `paths` is the directory that the servlet opens, such as `/data`"
            );
            at += 1;
        }
        check_members(
            "calls",
            "`MEMBER:TOOL`, such as `weather:get_weather` or `air:*`",
            self.calls,
        );
        check_members(
            "reads",
            "`MEMBER:URI`, such as `docs:file:///*`",
            self.reads,
        );
        self
    }
}

/// Stops the build if an entry is not of the form `MEMBER:PATTERN`.
const fn check_members(section: &str, form: &str, entries: &[&str]) {
    let mut at = 0;
    while at < entries.len() {
        if !has_member(entries[at]) {
            refuse(&[
                "`",
                entries[at],
                "` in `",
                section,
                "` is not ",
                form,
                "\nhelp: a member has a name without `*`, and what follows it is not empty",
            ]);
        }
        at += 1;
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
