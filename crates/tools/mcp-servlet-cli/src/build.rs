//! `servlet build`: builds a crate into a `.wasm` file and checks that hosts can load it.

mod abi;
mod browser;
pub(crate) mod cargo;
mod dependencies;
mod explain;
mod packages;
mod profile;
mod project;
mod remedy;
mod size_report;
mod target;

use std::{
    error::Error,
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use cargo_metadata::{
    Metadata, Package,
    camino::{Utf8Path, Utf8PathBuf},
};
use clap::Args;
use mcp_servlet_call::JsonObject;
use mcp_servlet_common::quoted;
use mcp_servlet_runtime::{Contract, Import, Module, with_section};
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Kind, cannot_write, chain},
    format::Format,
    replace::replace,
    stamp, steps,
    terminal::{self, Style, Visible, note, shell_word},
};
pub(crate) use abi::Abi;
use explain::SizeReport;
use profile::Profile;
pub(crate) use project::Project;
pub(crate) use target::WasmTarget;

#[derive(Args, Debug)]
pub(crate) struct Build {
    /// A crate or a workspace
    #[arg(default_value = ".")]
    path: PathBuf,

    /// Build with the profile `release` instead of `servlet`, which builds for size
    #[arg(long, conflicts_with = "profile")]
    release: bool,

    /// Build with this profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Build for this target instead of the one in `package.metadata.mcp-servlet`, or `wasm32-unknown-unknown`
    #[arg(long, value_enum, value_name = "TRIPLE")]
    target: Option<WasmTarget>,

    /// The ABI of the wasm, which decides which hosts can load it
    ///
    /// The source is the same for all. Builds for an ABI other than `servlet` go to a folder of its name in cargo's target folder.
    #[arg(long, value_enum, value_name = "NAME", default_value_t)]
    abi: Abi,

    /// Copy the `.wasm` files to this folder, or the only one to this file, whose name ends with `.wasm`
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,

    /// Report what takes space, by theme and crate, and how to reduce it
    ///
    /// Builds a second time, with function names, in a separate folder.
    #[arg(long)]
    explain: bool,

    /// Do not add a contract, the copy of what the servlet describes
    #[arg(long)]
    no_contract: bool,

    /// `json` prints what was built as a list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A servlet that was built.
struct Built {
    package: String,
    path: PathBuf,
    module: Module,
    size_report: Option<SizeReport>,
}

impl Build {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = folder(&self.path);
        let metadata = packages::read(path, self.target.unwrap_or_default())?;
        let packages = packages::servlets(&metadata, path)?;
        let output = self
            .output
            .as_deref()
            .map(|path| Output::new(path, &packages))
            .transpose()?;
        cargo::check_targets(path, &packages, self.target)?;
        let profile = Profile::choose(self.release, self.profile.as_deref(), &metadata);
        let folder = self.abi.folder(&metadata);
        let mut all = Vec::new();
        for package in packages {
            let _lock = lock(&folder)?;
            let target = WasmTarget::of(package, self.target)?;
            let options = profile.options();
            let (built, module) = build(package, target, options, self.abi, folder.clone())?;
            check_imports(&module, package, &metadata)?;
            check_exports(&module, package)?;
            let module = finish(&built, &module, package, &metadata, !self.no_contract)?;
            let path = built.path;
            let path = match output {
                Some(output) => output.put(&path)?,
                None => path,
            };
            let size_report = if self.explain {
                Some(self.size_report(package, &profile, &metadata)?)
            } else {
                None
            };
            all.push(Built {
                package: package.name.to_string(),
                path,
                module,
                size_report,
            });
        }
        write(&all, self.format)
    }

    /// The size report of a package. Builds it again, with function names.
    fn size_report(
        &self,
        package: &Package,
        profile: &Profile,
        metadata: &Metadata,
    ) -> Result<SizeReport, Failure> {
        let folder = self.abi.folder(metadata).join("explain");
        note(format_args!(
            "building `{}` again with the names of functions, to measure them",
            package.name
        ));
        let target = WasmTarget::of(package, self.target)?;
        let (cargo::Built { path, .. }, module) = build(
            package,
            target,
            profile.options_with_names(),
            self.abi,
            folder,
        )?;
        let functions = read(&path, size_report::functions)?;
        let data = module
            .sections
            .iter()
            .filter(|section| section.name == "data");
        Ok(SizeReport::new(
            functions,
            data.map(|section| section.size).sum(),
        ))
    }
}

/// Waits until no other `servlet build` works in a target folder: each replaces what cargo has built there.
fn lock(folder: &Utf8Path) -> Result<File, Failure> {
    let path = folder.join(".servlet-build-lock");
    let locked = fs::create_dir_all(folder)
        .and_then(|()| File::create(&path))
        .and_then(|file| {
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && terminal::is_watched() {
                note(format_args!(
                    "waiting for another `servlet build` in `{folder}`"
                ));
            }
            file.lock()?;
            Ok(file)
        });
    locked.map_err(|error| Failure::new(Kind::Build, format!("cannot lock `{path}`: {error}")))
}

/// Builds a package into a target folder.
fn build(
    package: &Package,
    target: WasmTarget,
    mut options: Vec<String>,
    abi: Abi,
    folder: Utf8PathBuf,
) -> Result<(cargo::Built, Module), Failure> {
    options.extend(["--target-dir".to_owned(), folder.into_string()]);
    let built = steps::build(format_args!("`{}`", package.name), || {
        cargo::build(package, target, abi, &options)
    })?;
    let module = read(&built.path, Module::read)?;
    abi.check(&module, package)?;
    Ok((built, module))
}

/// Adds to a module which crates it links and, if wanted, its contract. Returns the new module.
fn finish(
    built: &cargo::Built,
    module: &Module,
    package: &Package,
    metadata: &Metadata,
    has_contract: bool,
) -> Result<Module, Failure> {
    let crates = dependencies::section(metadata, package, &built.linked)?;
    let mut wasm = read(&built.path, |wasm| {
        let wasm = Contract::strip(wasm)?;
        with_section(&wasm, dependencies::SECTION, &crates)
    })?;
    if module.abi().is_some() && has_contract {
        wasm = with_contract(wasm, package);
    }
    write_module(&built.path, &wasm)
}

/// Writes a module to a file, and reads it again.
fn write_module(path: &Path, wasm: &[u8]) -> Result<Module, Failure> {
    replace(path, wasm).map_err(|error| cannot_write(path, &error))?;
    read(path, Module::read)
}

/// Adds a contract to a module. If the servlet does not load, prints a warning and returns the module unchanged.
fn with_contract(wasm: Vec<u8>, package: &Package) -> Vec<u8> {
    let name = &package.name;
    match stamp::stamped(name.to_string(), &wasm, members(package)) {
        Ok(stamped) => stamped,
        Err(error) => {
            let error = chain(&error);
            note(format_args!(
                "warning: `{name}` has no contract, because it cannot be loaded: {error}"
            ));
            wasm
        }
    }
}

/// What the contract says about the package.
fn members(package: &Package) -> JsonObject {
    let members = json!({
        "name": package.name,
        "version": package.version,
        "description": package.description,
        "license": package.license.as_deref().map(license),
        "repository": package.repository,
        "homepage": package.homepage,
        "documentation": package.documentation,
        "authors": (!package.authors.is_empty()).then_some(&package.authors),
    });
    let Value::Object(mut members) = members else {
        return JsonObject::new();
    };
    members.retain(|_, value| !value.is_null());
    members
}

/// A license as an SPDX expression. Old packages have `/` instead of `OR`, which package registries refuse.
fn license(text: &str) -> String {
    let parts: Vec<_> = text.split('/').map(str::trim).collect();
    parts.join(" OR ")
}

/// Where the built files are copied to.
#[derive(Clone, Copy)]
enum Output<'a> {
    Folder(&'a Path),
    File(&'a Path),
}

impl<'a> Output<'a> {
    /// A path that ends with `.wasm` is a file, unless a folder has this name. Fails if several servlets would go into one file.
    fn new(path: &'a Path, packages: &[&Package]) -> Result<Self, Failure> {
        let extension = path.extension().unwrap_or_default();
        if !extension.eq_ignore_ascii_case("wasm") || path.is_dir() {
            return Ok(Self::Folder(path));
        }
        if let [_] = packages {
            return Ok(Self::File(path));
        }
        let names: Vec<_> = packages.iter().map(|package| &package.name).collect();
        let message = format!(
            "`{}` is the name of one file, and this builds {}",
            path.display(),
            quoted(&names)
        );
        let help = "name a folder, or give the path of one crate";
        Err(Failure::with_help(Kind::Usage, message, help))
    }

    /// Copies a file and returns its new path. A host may watch the folder.
    fn put(self, file: &Path) -> Result<PathBuf, Failure> {
        let path = match self {
            Self::Folder(folder) => folder.join(file.file_name().unwrap_or_default()),
            Self::File(path) => path.to_owned(),
        };
        let path = std::path::absolute(path)?;
        fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| fs::read(file))
            .and_then(|wasm| replace(&path, &wasm))
            .map_err(|error| cannot_write(&path, &error))?;
        Ok(path)
    }
}

/// The folder of a crate, for a path to the folder or to its manifest.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if path.ends_with("Cargo.toml") && folder.as_os_str().is_empty() => {
            Path::new(".")
        }
        Some(folder) if path.ends_with("Cargo.toml") => folder,
        _ => path,
    }
}

/// Reads a file and parses it as a module, or a part of it.
fn read<T, E: Error>(path: &Path, parse: impl Fn(&[u8]) -> Result<T, E>) -> Result<T, Failure> {
    let wasm = fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure::new(Kind::Build, message)
    })?;
    parse(&wasm).map_err(|error| {
        let message = format!("`{}`: {}", path.display(), chain(&error));
        Failure::new(Kind::Build, message)
    })
}

fn check_imports(module: &Module, package: &Package, metadata: &Metadata) -> Result<(), Failure> {
    let mut unknown = module.unknown_imports();
    if module.abi().is_none() {
        // An XTP plugin imports these from its own host, as its schema declares.
        unknown.retain(|import| import.module != "extism:host/user");
    }
    if unknown.iter().any(Import::is_wasm_bindgen) {
        return Err(browser::explain(package, metadata));
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!(
        "`{}` imports functions that no host provides: {}",
        package.name,
        quoted(&unknown)
    );
    Err(Failure::new(Kind::Build, message))
}

/// Refuses a module that no host can call, which is what a crate without `export!` builds to.
fn check_exports(module: &Module, package: &Package) -> Result<(), Failure> {
    // Names such as `_initialize` come from the linker and WASI.
    let of_linker = |name: &str| name.starts_with('_');
    let mut functions = module.exports.iter().filter(|export| export.function);
    if functions.any(|export| !of_linker(&export.name)) {
        return Ok(());
    }
    Err(Failure::with_help(
        Kind::Build,
        format!(
            "`{}` exports no function that a host could call",
            package.name
        ),
        "list its tools at the root of the crate:\nmcp_servlet::export!(pub static SERVLET = { tools: [greet] });",
    ))
}

fn write(all: &[Built], format: Format) -> Result<(), Failure> {
    let mut out = terminal::out();
    match format {
        Format::Json => writeln!(
            terminal::json(),
            "{}",
            all.iter().map(Built::json).collect::<Value>()
        )?,
        Format::Human => {
            all.iter().try_for_each(|built| built.write(&mut out))?;
            if let Some(next) = next(all) {
                writeln!(out, "\nnext: servlet {next}")?;
            }
        }
    }
    Ok(())
}

/// The command to run next: `describe` for one servlet, `serve` for several.
fn next(all: &[Built]) -> Option<String> {
    let servlets = all.iter().filter(|built| built.module.abi().is_some());
    let paths: Vec<_> = servlets
        .map(|built| shell_word(built.shown_path()))
        .collect();
    match &*paths {
        [] => None,
        [only] => Some(format!("describe {only}")),
        several => Some(format!("serve {}", several.join(" "))),
    }
}

impl Built {
    fn write<W: Write>(&self, out: &mut Visible<W>) -> io::Result<()> {
        let size = grouped(self.module.size as u64);
        out.styled(Style::Name, &self.shown_path().display().to_string())?;
        writeln!(out, "  {size} bytes")?;
        // Libraries export names with `__` for their own use, such as `__getrandom_v03_custom`.
        let exports: Vec<_> = self
            .functions()
            .filter(|name| !name.starts_with("__"))
            .collect();
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
        match &self.size_report {
            Some(report) => report.write(out),
            None => Ok(()),
        }
    }

    /// The shortest path from the current directory.
    fn shown_path(&self) -> &Path {
        let here = std::env::current_dir().unwrap_or_default();
        self.path.strip_prefix(&here).unwrap_or(&self.path)
    }

    fn json(&self) -> Value {
        let import = |import: &Import| json!({"module": import.module, "name": import.name});
        json!({
            "package": self.package,
            "path": self.path.to_string_lossy(),
            "size": self.module.size,
            "exports": self.functions().collect::<Value>(),
            "imports": self.module.imports.iter().map(import).collect::<Value>(),
            "size_report": self.size_report.as_ref().map(SizeReport::json),
        })
    }

    fn functions(&self) -> impl Iterator<Item = &str> {
        let functions = self.module.exports.iter().filter(|export| export.function);
        functions.map(|export| export.name.as_str())
    }
}

/// Formats a number with commas between thousands.
fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_license_is_one_of_spdx() {
        for old in ["MIT/Apache-2.0", "MIT / Apache-2.0", "MIT OR Apache-2.0"] {
            assert_eq!(super::license(old), "MIT OR Apache-2.0");
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let numbers = [7, 1000, 37_677, 1_002_003].map(super::grouped);
        assert_eq!(numbers, ["7", "1,000", "37,677", "1,002,003"]);
    }
}
