//! Differences from a lock, for people, programs, code scanners and workflows.

use std::{
    io::{self, Write},
    path::Path,
};

use mcp_servlet_config::Lock;
use serde_json::{Value, json};

use super::difference::Difference;
use crate::{
    can::explain_right,
    catalog::changes::shortened,
    terminal::{Style, Visible, one_line},
};

/// What differences mean.
pub(super) const RULES: [(&str, &str); 11] = [
    ("wider", "The servlet can or may do more than was approved."),
    (
        "narrower",
        "The servlet can or may do less than was approved.",
    ),
    (
        "signer",
        "The servlet may be signed by another key, or need not be signed any more.",
    ),
    (
        "origin",
        "The image, the module, the source, the URL, the command or the protocol version has changed.",
    ),
    ("text", "Models and people read something else."),
    ("breaking", "A client that worked may fail."),
    ("compatible", "Clients that worked still do."),
    ("note", "Icons, sizes, versions or `_meta` have changed."),
    ("name", "Clients see the item under another name."),
    ("new", "The servlet or remote is not in the lock."),
    (
        "gone",
        "The servlet or remote is no longer in the configuration.",
    ),
];

/// Prints differences, member by member.
pub(super) fn write_human<W: Write>(
    out: &mut Visible<W>,
    differences: &[Difference],
) -> io::Result<()> {
    for of_member in differences.chunk_by(|one, next| one.member == next.member) {
        let all: Vec<_> = of_member.iter().collect();
        write_member(out, &of_member[0].member, &all)?;
    }
    Ok(())
}

/// Prints the differences of one member.
pub(super) fn write_member<W: Write>(
    out: &mut Visible<W>,
    name: &str,
    differences: &[&Difference],
) -> io::Result<()> {
    out.styled(Style::Name, name)?;
    writeln!(out, ": differs from the lock")?;
    for one in differences {
        let style = if ["wider", "signer", "origin", "text", "breaking", "name"].contains(&one.rule)
        {
            Style::Problem
        } else {
            Style::Faint
        };
        write!(out, "  ")?;
        out.styled(style, &format!("{:<10}", one.rule))?;
        let place = match one.rule {
            "wider" | "narrower" => &explain_right(one.place.clone()),
            _ => &one.place,
        };
        writeln!(out, "  {}", one_line(place))?;
        for (sign, value) in [("-", &one.before), ("+", &one.after)] {
            if let Some(value) = value {
                writeln!(out, "    {sign} {}", one_line(&shortened(value)))?;
            }
        }
    }
    Ok(())
}

/// The differences for programs.
pub(super) fn to_json(differences: &[Difference]) -> Value {
    let one = |one: &Difference| {
        let mut json = json!({ "member": one.member, "rule": one.rule, "place": one.place });
        for (name, value) in [("before", &one.before), ("after", &one.after)] {
            if let Some(value) = value {
                json[name] = value.clone();
            }
        }
        json
    };
    differences.iter().map(one).collect()
}

/// The differences as SARIF 2.1.0.
pub(super) fn to_sarif(path: &Path, lock: &Lock, differences: &[Difference]) -> Value {
    let rules = RULES.map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } }));
    let text = lock.to_text();
    let results = differences.iter().map(|one| {
        json!({
            "ruleId": one.rule,
            "level": if one.is_harmless() { "note" } else { "error" },
            "message": { "text": one.message() },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": path.display().to_string().replace('\\', "/") },
                    "region": { "startLine": one.line(&text) },
                },
            }],
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "servlet lock verify",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// The differences as commands in the log of a workflow.
pub(super) fn write_github<W: Write>(
    out: &mut Visible<W>,
    path: &Path,
    lock: &Lock,
    differences: &[Difference],
) -> io::Result<()> {
    let text = lock.to_text();
    for one in differences {
        let command = if one.is_harmless() { "notice" } else { "error" };
        let file = property(&path.display().to_string());
        let (line, title) = (one.line(&text), property(one.rule));
        let message = data(&one.message());
        writeln!(
            out,
            "::{command} file={file},line={line},title={title}::{message}"
        )?;
    }
    Ok(())
}

/// The message of a command in a workflow.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command in a workflow.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

impl Difference {
    /// Whether neither models nor permissions depend on it.
    fn is_harmless(&self) -> bool {
        ["narrower", "compatible", "note", "gone"].contains(&self.rule)
    }

    /// The difference in one line.
    fn message(&self) -> String {
        let mut text = format!("{}: {} {}", self.member, self.rule, self.place);
        for (word, value) in [("was", &self.before), ("is", &self.after)] {
            if let Some(value) = value {
                text.extend([", ", word, " ", &shortened(value)]);
            }
        }
        text
    }

    /// The line of the member in the lock; the first one if it is not there.
    fn line(&self, lock: &str) -> usize {
        let member = format!("    {}: {{", Value::from(self.member.as_str()));
        let at = lock.lines().position(|line| line == member);
        at.map_or(1, |at| at + 1)
    }
}
