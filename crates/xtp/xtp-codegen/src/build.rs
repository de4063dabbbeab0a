//! Generates a file in `OUT_DIR` from a schema file, for build scripts. Only this module and `client::build` do IO.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::names::snake;
use crate::options::Options;
use crate::rules::Mode;
use crate::schema::{Input, Schema};

/// Generates a plugin in a build script.
///
/// ```no_run
/// // The whole `main` of build.rs.
/// xtp_codegen::Build::new("shop.yaml").generate();
/// ```
///
/// The file is named after the schema: `mcp_servlet::xtp::plugin!(mod shop);` in `src/lib.rs`
/// makes a module of it. Cargo runs the script again when the schema changes, and only then.
#[derive(Clone, Debug)]
pub struct Build {
    schema: PathBuf,
    module: String,
    mode: Mode,
    one_of: bool,
    options: Options,
}

/// Why a build script generated nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The schema could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The path as the build script wrote it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The schema has errors.
    #[error(transparent)]
    Schema(#[from] Diagnostics),
    /// The generated file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no folder to write to.
    #[error("`OUT_DIR` is not set: `generate` is for build scripts, `write_to` for other programs")]
    NoOutDir,
}

impl Build {
    /// A plugin of this schema. The path is relative to the package.
    ///
    /// It is generated with [`Options::for_plugin`]; [`options`](Self::options) changes them.
    pub fn new(schema: impl Into<PathBuf>) -> Self {
        let schema = schema.into();
        let stem = schema.file_stem().unwrap_or_default().to_string_lossy();
        let header = format!(
            "@generated from {} by xtp-codegen. Do not edit.",
            name(&schema)
        );
        Self {
            module: snake(&stem),
            mode: Mode::default(),
            one_of: false,
            options: Options::for_plugin().header(header),
            schema,
        }
    }

    /// Changes how Rust is generated: `.options(|options| options.dates(Dates::Chrono))`.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(Options) -> Options) -> Self {
        self.options = change(self.options);
        self
    }

    /// Chooses how strictly the schema is judged.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Chooses whether the schema may use `oneOf`; see [`Input::one_of`].
    #[must_use]
    pub fn one_of(mut self, wanted: bool) -> Self {
        self.one_of = wanted;
        self
    }

    /// Names the module. By default it has the name of the schema.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.module = name.into();
        self
    }

    /// Generates into `OUT_DIR`. If the schema has errors, it prints each with its position and
    /// exits the process, so call it only from a build script.
    #[expect(clippy::print_stdout, reason = "so build scripts talk to cargo")]
    #[expect(clippy::print_stderr, reason = "and so to people")]
    pub fn generate(&self) {
        println!("cargo::rerun-if-changed={}", self.schema.display());
        let folder = env::var_os("OUT_DIR").ok_or(BuildError::NoOutDir);
        match folder.and_then(|folder| self.write_to(Path::new(&folder))) {
            Ok((_, warnings)) => {
                let warnings = warnings.without(|warning| self.is_suppressed(warning));
                for line in warnings.to_string().lines() {
                    println!("cargo::warning={line}");
                }
            }
            Err(problem) => {
                eprintln!("{problem}");
                std::process::exit(1);
            }
        }
    }

    /// Whether a warning is only that another tool would refuse what this one understands. Such warnings would repeat
    /// in each build; `servlet gen --check` and `Strict` show them.
    fn is_suppressed(&self, warning: &Diagnostic) -> bool {
        let is_beyond = matches!(warning.code, Code::BeyondPublished | Code::BeyondLibrary);
        is_beyond && self.mode == Mode::Lenient
    }

    /// Generates into a folder. Returns the file's path and the warnings about what other tools refuse.
    ///
    /// # Errors
    /// If a file cannot be read or written, or the schema has errors.
    pub fn write_to(&self, folder: &Path) -> Result<(PathBuf, Diagnostics), BuildError> {
        let text = read(&self.schema)?;
        let name = name(&self.schema);
        let input = Input::new(&name, &text).mode(self.mode).one_of(self.one_of);
        let schema = Schema::parse(&input)?;
        let rust = schema.to_plugin(&self.options)?;
        let path = folder.join(format!("{}.rs", self.module));
        match fs::write(&path, rust) {
            Ok(()) => Ok((path, schema.warnings().clone())),
            Err(source) => Err(BuildError::Write { path, source }),
        }
    }
}

fn read(path: &Path) -> Result<String, BuildError> {
    fs::read_to_string(path).map_err(|source| BuildError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The name of a file in messages: with the same slashes on every system.
fn name(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
