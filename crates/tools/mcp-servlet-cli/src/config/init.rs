//! `servlet config init`: writes a configuration with everything that the servlets declare as needed.

use std::{
    fmt::Write as _,
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_servlet_host::LoadError;
use mcp_servlet_runtime::{ConfigKey, Needs, Source};
use serde_json::Value;

use crate::{
    clients,
    failure::{Failure, Kind, cannot_write},
    terminal::{self, one_line, visible_json},
};

#[derive(Args, Debug)]
pub(super) struct Init {
    /// The servlets: `.wasm` files, directories of them, URLs or `oci://` references
    #[arg(required = true)]
    files: Vec<String>,

    /// The file to write; `-` prints the configuration
    #[arg(short, long, default_value = "servlet.toml")]
    output: PathBuf,

    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

/// A servlet of the new configuration.
struct ServletSection {
    name: String,
    source: String,
    sha256: Option<String>,
    needs: Needs,
}

impl Init {
    pub(super) fn run(self) -> Result<(), Failure> {
        let folder = self.output.parent().unwrap_or(Path::new(""));
        let (mut sections, mut hidden) = (Vec::<ServletSection>::new(), Vec::new());
        for file in &self.files {
            for source in Source::parse(file).expand()? {
                let section = ServletSection::of(&source, folder)?;
                if sections.iter().any(|one| one.name == section.name) {
                    let message = format!("two servlets are called `{}`", section.name);
                    let help = "write a configuration for one of them, and add the other under another name";
                    return Err(Failure::with_help(Kind::Usage, message, help));
                }
                sections.push(section);
                hidden.extend(clients::hidden_url(&source));
            }
        }
        let text = configuration(&sections);
        if self.output == Path::new("-") {
            terminal::document().write_all(text.as_bytes())?;
            clients::note_hidden_values(hidden.into_iter());
            return Ok(());
        }
        self.write(&text)?;
        let mut out = terminal::out();
        writeln!(out, "{}: written", self.output.display())?;
        clients::note_hidden_values(hidden.into_iter());
        for (section, key) in keys(&sections).filter(|(_, key)| key.required) {
            let variable = key.variable(&section.name);
            writeln!(out, "  set the environment variable {variable}")?;
        }
        Ok(())
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let mut options = OpenOptions::new();
        options.write(true);
        if self.force {
            options.create(true).truncate(true)
        } else {
            options.create_new(true)
        };
        let written = options
            .open(&self.output)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::with_help(
                Kind::Usage,
                format!("cannot write `{}`: {error}", self.output.display()),
                "`--force` overwrites it, `-o FILE` writes another file",
            ),
            _ => cannot_write(&self.output, &error),
        })
    }
}

impl ServletSection {
    fn of(source: &Source, folder: &Path) -> Result<Self, LoadError> {
        let module = source.module()?;
        let text = match source {
            // Paths in a configuration are relative to the folder of its file.
            Source::File(path) if folder != Path::new("") => {
                clients::absolute(path).unwrap_or_else(|_| path.display().to_string())
            }
            source => source.to_string(),
        };
        Ok(Self {
            name: source.name(),
            source: text,
            sha256: match source {
                Source::Pinned { sha256, .. } => Some(sha256.clone()),
                _ => None,
            },
            needs: module.needs().clone(),
        })
    }

    fn write(&self, text: &mut String) {
        let name = key(&self.name);
        line(text, &format!("\n[servlet.{name}]"));
        line(text, &format!("source = {}", quoted(&self.source)));
        if let Some(sha256) = &self.sha256 {
            line(text, &format!("sha256 = {}", quoted(sha256)));
        }
        if !self.needs.config.is_empty() {
            line(text, &format!("\n[servlet.{name}.config]"));
        }
        for key in &self.needs.config {
            self.write_key(text, key);
        }
        self.write_allow(text, &name);
    }

    fn write_allow(&self, text: &mut String, name: &str) {
        let Needs {
            config: _,
            hosts,
            paths,
            calls,
            reads,
        } = &self.needs;
        if [hosts.len(), paths.len(), calls.len(), reads.len()] == [0; 4] {
            return;
        }
        line(text, &format!("\n[servlet.{name}.allow]"));
        if !hosts.is_empty() {
            comment(
                text,
                "The hosts that the servlet asks for. Delete those that it must not reach.",
            );
            list(text, "hosts", hosts);
        }
        if !paths.is_empty() {
            comment(
                text,
                "The directories that the servlet opens, as `guest`. Write yours as `host`.",
            );
            let paths: Vec<_> = paths
                .iter()
                .map(|path| {
                    format!(
                        "{{ host = \".\", guest = {}, read_only = true }}",
                        quoted(path)
                    )
                })
                .collect();
            line(text, &format!("# paths = [{}]", paths.join(", ")));
        }
        if !calls.is_empty() {
            comment(
                text,
                "The tools of other servlets and of remotes that the servlet asks for. Delete those that it must not call.",
            );
            list(text, "tools", calls);
        }
        if !reads.is_empty() {
            comment(
                text,
                "The resources of other servlets and of remotes that the servlet asks for. Delete those that it must not read.",
            );
            list(text, "resources", reads);
        }
    }

    fn write_key(&self, text: &mut String, declared: &ConfigKey) {
        if let Some(description) = declared.description() {
            comment(text, description);
        }
        let needed = if declared.required {
            "required"
        } else {
            "optional"
        };
        let secret = if declared.secret { ", secret" } else { "" };
        comment(
            text,
            &format!(
                "({}, {needed}{secret})",
                mcp_servlet_host::type_in_words(declared)
            ),
        );
        let variable = format!("${{{}}}", declared.variable(&self.name));
        let value = match declared
            .schema
            .get("default")
            .or_else(|| declared.schema["examples"].get(0))
        {
            Some(value) if !declared.required && !declared.secret => as_text(value),
            _ => variable,
        };
        let off = if declared.required { "" } else { "# " };
        let entry = format!("{off}{} = {}", key(&declared.name), quoted(&value));
        line(text, &entry);
    }
}

fn configuration(sections: &[ServletSection]) -> String {
    let mut text = String::new();
    comment(
        &mut text,
        "Serve it with `servlet serve servlet.toml`; `servlet config schema` lists all settings.",
    );
    comment(
        &mut text,
        "`${NAME}` is the value of an environment variable.",
    );
    for section in sections {
        section.write(&mut text);
    }
    text
}

fn keys(sections: &[ServletSection]) -> impl Iterator<Item = (&ServletSection, &ConfigKey)> {
    sections.iter().flat_map(|section| {
        let keys = section.needs.config.iter();
        keys.map(move |key| (section, key))
    })
}

/// A default value as configuration text: a string unchanged, any other value as JSON, with `$` escaped.
fn as_text(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    text.replace('$', "$$")
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn list(text: &mut String, key: &str, values: &[impl ToString]) {
    let values: Vec<_> = values.iter().map(|one| quoted(&one.to_string())).collect();
    line(text, &format!("{key} = [{}]", values.join(", ")));
}

/// Writes text of a servlet as a comment. Control characters cannot end the comment.
fn comment(text: &mut String, comment: &str) {
    for line in comment.lines() {
        let line = format!("# {}", one_line(line));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A TOML string. The escapes of JSON are valid in TOML; [`visible_json`] also escapes U+007F, as TOML requires.
fn quoted(text: &str) -> String {
    visible_json(&Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str, required: bool, secret: bool, schema: Value) -> ConfigKey {
        ConfigKey {
            name: name.to_owned(),
            required,
            secret,
            schema,
        }
    }

    #[test]
    fn a_servlet_cannot_write_settings_into_its_comments() {
        let hostile = "x\n[limits]\r\ntimeout = \"none\"\u{7f}\u{1b}[2J";
        let grant = format!("x:{hostile}");
        let section = ServletSection {
            name: hostile.to_owned(),
            source: hostile.to_owned(),
            sha256: None,
            needs: Needs {
                config: vec![key(
                    hostile,
                    true,
                    true,
                    json!({ "type": "string", "description": hostile }),
                )],
                hosts: vec![hostile.to_owned()],
                paths: vec![hostile.to_owned()],
                calls: vec![grant.parse().expect("a grant")],
                reads: vec![grant.parse().expect("a grant")],
            },
        };
        let text = configuration(&[section]);
        let table: toml::Table = toml::from_str(&text).expect("TOML");
        assert_eq!(table.keys().collect::<Vec<_>>(), ["servlet"], "{text}");
        let allow = &table["servlet"][hostile]["allow"];
        for (key, expected) in [("hosts", hostile), ("tools", &grant), ("resources", &grant)] {
            assert_eq!(allow[key][0].as_str(), Some(expected), "{key}");
        }
    }
}
