//! `servlet gen`: generates Rust from an XTP schema, and reports problems in it.

mod client;

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use xtp_codegen::{Dates, Diagnostics, Input, Mode, Options, Schema};

use crate::{
    failure::{Failure, Kind, cannot_write},
    format::Format,
    terminal::{self, note},
    text_file::read_text,
};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Generate {
    #[command(subcommand)]
    action: Option<GenerateAction>,

    /// The schema, YAML or JSON
    #[arg(required = true)]
    schema: Option<PathBuf>,

    /// The file to write; by default standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write nothing; fail if the schema has problems or `--output` is out of date
    #[arg(long)]
    check: bool,

    /// Generate only the types, without the exports and the functions of the host. The types need `serde` and
    /// `serde_json`, and for bytes `mcp-servlet` with its feature `xtp`
    #[arg(long)]
    types: bool,

    #[command(flatten)]
    reading: Reading,

    /// `json` prints all problems as a list, for editors
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum GenerateAction {
    /// Generate a typed client of an MCP server from its catalog
    Client(client::GenerateClient),
}

// How a schema is read, and what is made of it.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
#[group(id = "reading", multiple = true, requires = "schema")]
pub(crate) struct Reading {
    /// The rules that decide what is an error
    #[arg(long, value_enum, default_value_t)]
    mode: Rules,

    /// Accept `oneOf`, which is a proposal and not part of XTP
    #[arg(long)]
    one_of: bool,

    /// The type of dates
    #[arg(long, value_enum, default_value_t)]
    dates: DateType,

    /// Distinguish null from a missing key where the schema allows both
    #[arg(long)]
    keep_null: bool,

    /// Let enums accept values that the schema does not list
    #[arg(long)]
    catch_all: bool,
}

/// The rules that decide what is an error.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Rules {
    /// Everything that can become Rust, with warnings for what other tools refuse
    #[default]
    Lenient,
    /// The published JSON Schema of the language
    Strict,
    /// The library of the official generators
    Compat,
}

impl From<Rules> for Mode {
    fn from(rules: Rules) -> Self {
        match rules {
            Rules::Lenient => Self::Lenient,
            Rules::Strict => Self::Strict,
            Rules::Compat => Self::Compat,
        }
    }
}

/// A type for `date-time`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum DateType {
    /// `String`, unchanged
    #[default]
    Text,
    /// `chrono::DateTime<FixedOffset>`
    Chrono,
    /// `jiff::Timestamp`
    Jiff,
}

impl From<DateType> for Dates {
    fn from(ty: DateType) -> Self {
        match ty {
            DateType::Text => Self::Text,
            DateType::Chrono => Self::Chrono,
            DateType::Jiff => Self::Jiff,
        }
    }
}

/// A schema, with the name that messages use for it.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        match read_text(path) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let message = format!("cannot read `{name}`: {error}");
                Err(Failure::new(Kind::Usage, message))
            }
        }
    }
}

impl Reading {
    pub(crate) fn parse(&self, source: &Source) -> Result<Schema, Diagnostics> {
        let input = Input::new(&source.name, &source.text)
            .mode(self.mode.into())
            .one_of(self.one_of);
        Schema::parse(&input)
    }

    fn adjusted(&self, options: Options) -> Options {
        options
            .dates(self.dates.into())
            .keep_null(self.keep_null)
            .catch_all(self.catch_all)
    }

    /// The options as JSON, with their names from the command line.
    pub(crate) fn to_json(&self) -> Value {
        let (mode, dates) = (name(self.mode), name(self.dates));
        let mut arguments = Vec::new();
        if !matches!(self.mode, Rules::Lenient) {
            arguments.extend(["--mode", &mode]);
        }
        if !matches!(self.dates, DateType::Text) {
            arguments.extend(["--dates", &dates]);
        }
        let flags = [
            ("--one-of", self.one_of),
            ("--keep-null", self.keep_null),
            ("--catch-all", self.catch_all),
        ];
        arguments.extend(flags.iter().filter(|(_, on)| *on).map(|(flag, _)| *flag));
        json!({
            "mode": mode,
            "dates": dates,
            "oneOf": self.one_of,
            "keepNull": self.keep_null,
            "catchAll": self.catch_all,
            "arguments": arguments.join(" "),
        })
    }
}

/// The name of a value on the command line.
fn name(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Generate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(GenerateAction::Client(client)) = self.action {
            return client.run();
        }
        let path = self.schema.as_deref().expect("clap requires it");
        let source = Source::read(path)?;
        let rust = self
            .reading
            .parse(&source)
            .and_then(|schema| Ok((self.rust(path, &schema)?, schema)));
        let (rust, found) = match &rust {
            Ok((rust, schema)) => (Some(rust), schema.warnings()),
            Err(problems) => (None, problems),
        };
        self.show(found)?;
        let rust = rust.ok_or(if self.check {
            Failure::CheckFailed
        } else {
            Failure::Shown(Kind::Build)
        })?;
        match &self.output {
            Some(path) if self.check => compare(path, rust),
            Some(path) => write(path, rust),
            None if self.check || self.format == Format::Json => Ok(()),
            None => Ok(terminal::document().write_all(rust.as_bytes())?),
        }
    }

    fn rust(&self, path: &Path, schema: &Schema) -> Result<String, Diagnostics> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let options = if self.types {
            Options::new()
        } else {
            Options::for_plugin()
        };
        let options = options.own_file(true).header(format!(
            "@generated from {name} by xtp-codegen. Do not edit: run `servlet gen`."
        ));
        let options = self.reading.adjusted(options);
        if self.types {
            return schema.to_rust(&options);
        }
        schema.to_plugin(&options)
    }

    /// Prints problems to standard error for people, so that standard output can be a file. JSON
    /// goes to standard output.
    fn show(&self, found: &Diagnostics) -> Result<(), Failure> {
        match self.format {
            Format::Json => writeln!(terminal::json(), "{}", found.to_json())?,
            Format::Human => show(found),
        }
        Ok(())
    }
}

/// Prints the problems of a schema. Fails if no plugin can be generated from it.
pub(crate) fn check_schema(source: &Source, reading: &Reading) -> Result<(), Failure> {
    let options = reading.adjusted(Options::for_plugin());
    let schema = reading.parse(source);
    match schema.and_then(|schema| schema.to_plugin(&options).map(|_| schema)) {
        Ok(schema) => {
            show(schema.warnings());
            Ok(())
        }
        Err(problems) => {
            show(&problems);
            Err(Failure::Shown(Kind::Build))
        }
    }
}

/// Prints problems with the lines of the schema that they are in.
pub(crate) fn show(found: &Diagnostics) {
    if !found.is_empty() {
        terminal::picture(|colors| found.to_picture(colors));
    }
}

fn write(path: &Path, rust: &str) -> Result<(), Failure> {
    fs::write(path, rust).map_err(|error| cannot_write(path, &error))
}

/// Checks that a file is what is generated.
fn compare(path: &Path, rust: &str) -> Result<(), Failure> {
    let shown = path.display();
    let problem = match fs::read(path) {
        Ok(found) => {
            // On Windows, git may give a file other line ends.
            let found = String::from_utf8_lossy(&found).replace("\r\n", "\n");
            if found == rust {
                return Ok(());
            }
            let same = found
                .lines()
                .zip(rust.lines())
                .take_while(|(one, other)| one == other);
            format!("`{shown}` is out of date at line {}", same.count() + 1)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("`{shown}` does not exist")
        }
        Err(error) => {
            let message = format!("cannot read `{shown}`: {error}");
            return Err(Failure::new(Kind::Usage, message));
        }
    };
    note(format_args!(
        "error: {problem}\n  help: run the command without `--check`"
    ));
    Err(Failure::CheckFailed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_other_line_ends_is_up_to_date() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pdk.rs");
        fs::write(&path, "a\r\nb\r\n").expect("a file");
        assert!(compare(&path, "a\nb\n").is_ok());
        assert!(compare(&path, "a\nc\n").is_err());
    }
}
