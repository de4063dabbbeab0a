//! `servlet gen`: Rust from an XTP schema, and what is wrong with the schema.

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use xtp_codegen::{Dates, Diagnostics, Input, Mode, Options, Schema};

use crate::{
    cli::Format,
    failure::{Failure, Kind},
};

/// Generate Rust from an XTP schema, or check that it is up to date
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Generate {
    /// The schema, YAML or JSON
    schema: PathBuf,

    /// Where to write; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write nothing; fail if the schema has problems, or --output is not what it generates
    #[arg(long)]
    check: bool,

    /// Types alone, which need `serde` and `serde_json`, and for bytes `mcp-servlet` with its feature `xtp`; without it, a plugin:
    /// types, exports and the host's functions
    #[arg(long)]
    types: bool,

    /// A file that says what XTP cannot say
    #[arg(long, value_name = "FILE")]
    overlay: Option<PathBuf>,

    /// Whose rules decide what is an error
    #[arg(long, value_enum, default_value_t)]
    mode: Rules,

    /// Take `oneOf`, which is a proposal and not part of XTP
    #[arg(long)]
    one_of: bool,

    /// The type of dates
    #[arg(long, value_enum, default_value_t)]
    dates: DateType,

    /// Keep null apart from a missing key where the schema allows both
    #[arg(long)]
    keep_null: bool,

    /// Let enums take values that the schema does not list
    #[arg(long)]
    catch_all: bool,

    /// `json` prints all problems as a list, for editors
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Whose rules decide what is an error.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Rules {
    /// Whatever Rust can be made of; warnings say who else refuses it
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
    /// `String`, as it is written
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

impl Generate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let (name, text) = (self.schema.display().to_string(), read(&self.schema)?);
        let overlay = self.overlay.as_deref().map(read).transpose()?;
        let overlay_name = self
            .overlay
            .as_deref()
            .map(|path| path.display().to_string());
        let mut input = Input::new(&name, &text)
            .mode(self.mode.into())
            .one_of(self.one_of);
        if let (Some(name), Some(text)) = (&overlay_name, &overlay) {
            input = input.overlay(name, text);
        }
        let rust = Schema::parse(&input).and_then(|schema| Ok((self.rust(&schema)?, schema)));
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
            Some(path) => fs::write(path, rust).map_err(|error| {
                let message = format!("cannot write `{}`: {error}", path.display());
                Failure::new(Kind::Usage, message)
            }),
            None if self.check || self.format == Format::Json => Ok(()),
            None => Ok(io::stdout().lock().write_all(rust.as_bytes())?),
        }
    }

    fn rust(&self, schema: &Schema) -> Result<String, Diagnostics> {
        let name = self
            .schema
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let options = if self.types {
            Options::new()
        } else {
            Options::for_plugin()
        };
        let options = options
            .own_file(true)
            .header(format!(
                "@generated from {name} by xtp-codegen. Do not edit: run `servlet gen`."
            ))
            .dates(self.dates.into())
            .keep_null(self.keep_null)
            .catch_all(self.catch_all);
        if self.types {
            return schema.to_rust(&options);
        }
        schema.to_plugin(&options)
    }

    /// For people to standard error, so that standard output can be a file; for editors to standard output.
    fn show(&self, found: &Diagnostics) -> Result<(), Failure> {
        match self.format {
            Format::Json => writeln!(io::stdout().lock(), "{}", found.to_json())?,
            Format::Human => show(found),
        }
        Ok(())
    }
}

/// Shows what keeps a schema from becoming a plugin.
pub(crate) fn check(name: &str, text: &str) -> Result<(), Failure> {
    let schema = Schema::parse(&Input::new(name, text));
    let plugin = schema.and_then(|schema| schema.to_plugin(&Options::new()));
    plugin.map(drop).map_err(|problems| {
        show(&problems);
        Failure::Shown(Kind::Usage)
    })
}

/// Reads a schema.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(Kind::Usage, message)
    })
}

/// Shows problems to a person, underlined in the schema.
fn show(found: &Diagnostics) {
    if !found.is_empty() {
        let stderr = io::stderr();
        let colors = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        eprint!("{}", found.to_picture(colors));
    }
}

/// Says whether a file is what the schema generates.
fn compare(path: &Path, rust: &str) -> Result<(), Failure> {
    let shown = path.display();
    let problem = match fs::read(path) {
        Ok(found) if found == rust.as_bytes() => return Ok(()),
        Ok(_) => format!("`{shown}` is not what the schema generates"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("`{shown}` has not been generated")
        }
        Err(error) => {
            let message = format!("cannot read `{shown}`: {error}");
            return Err(Failure::new(Kind::Usage, message));
        }
    };
    eprintln!("error: {problem}\n  help: run the command without --check");
    Err(Failure::CheckFailed)
}
