//! `servlet build`: from a crate to a `.wasm` file that is known to load.

mod browser;
mod cargo;
mod packages;
mod profile;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
use mcp_servlet_host::{Import, Module};
use serde_json::{Value, json};

use crate::{
    cli::Format,
    failure::{Failure, Kind, chain},
};
use profile::Profile;

/// What servlets are built for.
const TARGET: &str = "wasm32-unknown-unknown";

/// Build the servlets at a path into `.wasm` files
#[derive(Args, Debug)]
pub(crate) struct Build {
    /// A crate or a workspace
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Build with the profile `release` instead of `servlet`, the smallest
    #[arg(long, conflicts_with = "profile")]
    release: bool,

    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// `json` prints what was built as a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// One finished servlet.
struct Built {
    package: String,
    path: PathBuf,
    module: Module,
}

impl Build {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = if self.path.ends_with("Cargo.toml") {
            self.path.parent()
        } else {
            None
        };
        let path = path.unwrap_or(&self.path);
        let metadata = packages::read(path)?;
        let packages = packages::servlets(&metadata, path)?;
        cargo::check_target(path)?;
        let profile = Profile::choose(self.release, self.profile.as_deref(), &metadata);
        let mut all = Vec::new();
        for package in packages {
            let path = cargo::build(package, &profile)?;
            let wasm = std::fs::read(&path).map_err(|error| {
                Failure::new(
                    Kind::Build,
                    format!("cannot read `{}`: {error}", path.display()),
                )
            })?;
            let module = Module::read(&wasm).map_err(|error| {
                Failure::new(
                    Kind::Build,
                    format!("`{}`: {}", path.display(), chain(&error)),
                )
            })?;
            check_imports(&module, package, &metadata)?;
            all.push(Built {
                package: package.name.to_string(),
                path,
                module,
            });
        }
        write(&all, self.format)
    }
}

fn check_imports(
    module: &Module,
    package: &cargo_metadata::Package,
    metadata: &cargo_metadata::Metadata,
) -> Result<(), Failure> {
    let unknown = module.unknown_imports();
    if unknown.iter().any(Import::is_wasm_bindgen) {
        return Err(browser::explain(package, metadata));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = unknown.iter().map(|import| format!("`{import}`")).collect();
    let message = format!(
        "`{}` imports what no host provides: {}",
        package.name,
        names.join(", ")
    );
    Err(Failure::new(Kind::Build, message))
}

fn write(all: &[Built], format: Format) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{}", all.iter().map(Built::json).collect::<Value>())?,
        Format::Human => {
            all.iter().try_for_each(|built| built.write(&mut out))?;
            writeln!(out, "\nnext: servlet {}", next(all))?;
        }
    }
    Ok(())
}

/// What someone who built this is likely to want: to see one servlet, to use several.
fn next(all: &[Built]) -> String {
    let paths: Vec<_> = all.iter().map(Built::shown_path).collect();
    match &*paths {
        [only] => format!("describe {only}"),
        several => format!("serve {}", several.join(" ")),
    }
}

impl Built {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let size = grouped(self.module.size);
        writeln!(out, "{}  {size} bytes", self.shown_path())?;
        let exports: Vec<_> = self.functions().collect();
        writeln!(out, "  exports  {}", exports.join(" "))?;
        let mut imports = self.module.imports.clone();
        imports.sort();
        for of_module in imports.chunk_by(|left, right| left.module == right.module) {
            let names: Vec<_> = of_module
                .iter()
                .map(|import| import.name.as_str())
                .collect();
            writeln!(
                out,
                "  imports  {}  {}",
                of_module[0].module,
                names.join(" ")
            )?;
        }
        Ok(())
    }

    /// As short as it can be from here.
    fn shown_path(&self) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let path = self.path.strip_prefix(&here).unwrap_or(&self.path);
        path.display().to_string()
    }

    fn json(&self) -> Value {
        let import = |import: &Import| json!({"module": import.module, "name": import.name});
        json!({
            "package": self.package,
            "path": self.path,
            "size": self.module.size,
            "exports": self.functions().collect::<Value>(),
            "imports": self.module.imports.iter().map(import).collect::<Value>(),
        })
    }

    fn functions(&self) -> impl Iterator<Item = &str> {
        let functions = self.module.exports.iter().filter(|export| export.function);
        functions.map(|export| export.name.as_str())
    }
}

/// With a comma between thousands.
fn grouped(number: usize) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [7, 1000, 37_677, 1_002_003].map(super::grouped);
        assert_eq!(numbers, ["7", "1,000", "37,677", "1,002,003"]);
    }
}
