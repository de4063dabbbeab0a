//! A member of a lock, for people.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use mcp_servlet_config::{LockedItem, LockedKind, LockedMember, Rights};
use serde_json::Value;

use crate::{
    can,
    terminal::{Style, Visible, one_line},
};

/// Prints a member of a lock, similar to `servlet inspect`.
pub(super) fn write<W: Write>(
    out: &mut Visible<W>,
    name: &str,
    member: &LockedMember,
) -> io::Result<()> {
    out.styled(Style::Name, name)?;
    let kind = member.kind.name();
    writeln!(out, ": {kind} {}", one_line(&member.source))?;
    let mut line = |label: &str, text: &str| writeln!(out, "  {label:<8} {}", one_line(text));
    let digests = [
        ("image", &member.manifest),
        ("module", &member.module),
        ("contract", &member.contract),
        ("target", &member.target),
        ("protocol", &member.protocol),
    ];
    for (label, text) in digests {
        if let Some(text) = text {
            line(label, text)?;
        }
    }
    for key in &member.signed_with {
        line("signed", &format!("with the key {key}"))?;
    }
    for key in member.signers.difference(&member.signed_with) {
        line("signer", &format!("may also be the key {key}"))?;
    }
    let text = |key: &str| member.server.get(key).and_then(Value::as_str);
    let server: Vec<_> = [text("name"), text("version")]
        .into_iter()
        .flatten()
        .collect();
    if !server.is_empty() {
        line("server", &server.join(" "))?;
    }
    if member.kind == LockedKind::Servlet {
        let imports = member.permissions.imports.iter();
        line("can", &can::in_words(imports.map(String::as_str)))?;
        for (label, rights) in [
            ("needs", &member.permissions.needs),
            ("granted", &member.permissions.granted),
        ] {
            for right in rights_in_words(rights) {
                line(label, &right)?;
            }
        }
    }
    for (key, item) in &member.items {
        line("serves", &served(key, item))?;
    }
    Ok(())
}

/// A line for each right.
fn rights_in_words(rights: &Rights) -> impl Iterator<Item = String> {
    let of = |what: &'static str, names: &BTreeSet<String>| {
        let lines = names.iter().map(move |name| format!("{what:<9} {name}"));
        lines.collect::<Vec<_>>()
    };
    let all = [
        of("config", &rights.config),
        of("host", &rights.hosts),
        of("path", &rights.paths),
        of("tool", &rights.tools),
        of("resource", &rights.resources),
    ];
    all.into_iter().flatten()
}

/// An item, with the names that clients see if they are others.
fn served(key: &str, item: &LockedItem) -> String {
    let (kind, own) = key.split_once(' ').unwrap_or((key, ""));
    let mut line = format!("{kind:<8}  {own}");
    for (endpoint, name) in item.served.iter().filter(|(_, name)| *name != own) {
        if !endpoint.is_empty() {
            line.extend([", at ", endpoint]);
        }
        line.extend([", as ", name]);
    }
    line
}
