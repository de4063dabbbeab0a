//! `servlet catalog`: lists everything that a server offers.

pub(crate) mod changes;
mod human;
mod impact;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use mcp_catalog::{Catalog, Lists};
use serde::Serialize;

pub(crate) use self::human::write_problem;
use self::{changes::Change, impact::Impact};
use crate::{
    failure::{Failure, Kind, cannot_write},
    format::Format,
    session::{ServerOptions, Target},
    terminal::{self, visible_json},
    text_file::read_text,
};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CatalogCommand {
    #[command(subcommand)]
    action: Option<CatalogAction>,

    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, the name of a server in the configuration of an MCP client, or a
    /// `.json` file with a catalog
    target: Option<String>,

    /// [default: human, or json with --output]
    #[arg(long, value_enum)]
    format: Option<CatalogFormat>,

    /// Write JSON to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show only which tools have which user interface (MCP Apps)
    #[arg(long, conflicts_with_all = ["format", "output"])]
    ui: bool,

    /// Fail if there are diagnostics, with exit code 1
    #[arg(long, value_enum)]
    deny: Option<CatalogDeny>,

    #[command(flatten)]
    server: ServerOptions,
}

#[derive(Debug, Subcommand)]
enum CatalogAction {
    /// Compare two catalogs; the exit code is 1 if something has changed that clients rely on
    Diff(Box<Diff>),
}

/// Compares two catalogs.
#[derive(Args, Debug)]
struct Diff {
    /// The old catalog: a `.json` file, or any other target
    old: String,

    /// The new catalog, in the same way
    new: Option<String>,

    /// `json` prints a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Which changes end the command with exit code 1
    #[arg(long, value_enum, default_value_t)]
    deny: DenyChange,

    #[command(flatten)]
    server: ServerOptions,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CatalogFormat {
    /// For people
    Human,
    /// The catalog, for programs
    Json,
    /// The lists as the server wrote them
    Raw,
}

/// What is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CatalogDeny {
    /// Any diagnostic
    Diagnostics,
}

/// Which changes are a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DenyChange {
    /// What clients rely on: removed items, and incompatible schemas and hints
    #[default]
    Breaking,
    /// These, and what models and people read, such as descriptions
    Text,
    /// Every change
    Any,
}

impl DenyChange {
    fn has(self, impact: Impact) -> bool {
        match self {
            Self::Breaking => impact == Impact::Breaking,
            Self::Text => matches!(impact, Impact::Breaking | Impact::Text),
            Self::Any => true,
        }
    }
}

impl CatalogCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if let Some(CatalogAction::Diff(diff)) = self.action {
            return diff.run();
        }
        let target = self.server.only_target(self.target.as_ref())?;
        let format = self.format();
        if format == CatalogFormat::Human && self.output.is_some() {
            let message = "`--output` writes JSON, which `--format human` is not";
            return Err(Failure::with_help(
                Kind::Usage,
                message,
                "leave `--format` out",
            ));
        }
        if format == CatalogFormat::Raw {
            if self.deny.is_some() {
                let message =
                    "`--format raw` has no diagnostics, so `--deny` cannot be combined with it";
                return Err(Failure::new(Kind::Usage, message));
            }
            let lists = lists(&self.server, &target, Format::Json)?;
            return print(&lists, self.output.as_deref());
        }
        let errors = match format {
            CatalogFormat::Human => Format::Human,
            _ => Format::Json,
        };
        let catalog = catalog(&self.server, &target, errors)?;
        match format {
            CatalogFormat::Human if self.ui => human::write_ui(&mut terminal::out(), &catalog)?,
            CatalogFormat::Human => human::write(&mut terminal::out(), &catalog)?,
            _ => print(&catalog, self.output.as_deref())?,
        }
        match self.deny {
            Some(CatalogDeny::Diagnostics) if !catalog.diagnostics.is_empty() => {
                Err(Failure::CheckFailed)
            }
            _ => Ok(()),
        }
    }

    fn format(&self) -> CatalogFormat {
        self.format.unwrap_or(match self.output {
            Some(_) => CatalogFormat::Json,
            None => CatalogFormat::Human,
        })
    }
}

impl Diff {
    fn run(self) -> Result<(), Failure> {
        let (old, new) = self.server.two_targets(&self.old, self.new.as_ref())?;
        let old = catalog(&self.server, &old, self.format)?;
        let new = catalog(&self.server, &new, self.format)?;
        let changes = changes::between(&old, &new);
        match self.format {
            Format::Human => changes::write(&mut terminal::out(), &changes)?,
            Format::Json => writeln!(terminal::json(), "{}", changes::to_json(&changes))?,
        }
        let mut impacts = changes.iter().map(Change::impact);
        if impacts.any(|impact| self.deny.has(impact)) {
            return Err(Failure::CheckFailed);
        }
        Ok(())
    }
}

/// The lists of a server.
fn lists(server: &ServerOptions, target: &Target, errors: Format) -> Result<Lists, Failure> {
    if let Target::Catalog(path) = target {
        return Err(Failure::new(
            Kind::Usage,
            format!("`{}` is a catalog, which has no lists", path.display()),
        ));
    }
    server.with_lists(target, errors, async |session| Ok(session.lists().await?))
}

/// The catalog of a server, or the one in a file.
pub(crate) fn catalog(
    server: &ServerOptions,
    target: &Target,
    errors: Format,
) -> Result<Catalog, Failure> {
    if let Target::Catalog(path) = target {
        return read(path);
    }
    Ok(complete(&lists(server, target, errors)?))
}

/// A catalog with diagnostics of its schemas.
fn complete(lists: &Lists) -> Catalog {
    let mut catalog = Catalog::from(lists);
    catalog.check_schemas();
    catalog
}

/// Reads a catalog that this command has written, in one of its formats.
pub(crate) fn read(path: &Path) -> Result<Catalog, Failure> {
    let wrong = |problem: String| {
        let message = format!("cannot read `{}`: {problem}", path.display());
        Failure::new(Kind::Usage, message)
    };
    let text = read_text(path).map_err(wrong)?;
    let catalog = serde_json::from_str(&text);
    catalog.or_else(|error: serde_json::Error| {
        let lists: Result<Lists, _> = serde_json::from_str(&text);
        match lists {
            Ok(lists) => Ok(complete(&lists)),
            Err(_) => Err(wrong(format!("it is not a catalog: {error}"))),
        }
    })
}

/// Prints a value as JSON, or writes it to a file.
pub(crate) fn print(value: &impl Serialize, output: Option<&Path>) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value).map_err(|error| {
        let message = format!("cannot write JSON: {error}");
        Failure::new(Kind::Servlet, message)
    })?;
    let Some(path) = output else {
        return Ok(writeln!(terminal::json(), "{json}")?);
    };
    let text = visible_json(&json).into_owned() + "\n";
    fs::write(path, text).map_err(|error| cannot_write(path, &error))
}
