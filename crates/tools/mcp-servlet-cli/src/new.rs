//! `servlet new`: creates a project that builds, tests and runs without changes.

mod schema;
mod sdk;

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use cargo_metadata::MetadataCommand;
use clap::Args;
use serde_json::json;
use xtp_bundle::{Bundle, Config};

use crate::{
    failure::{Failure, Kind, chain},
    generate::Reading,
    steps::Elapsed,
    terminal::{self, note, shell_word},
    xtp::project::{self, Manifest, Template},
};
use sdk::Sdk;

#[derive(Args, Debug)]
pub(crate) struct New {
    /// The folder to create; its last part is the name of the project
    #[arg(value_name = "NAME")]
    folder: PathBuf,

    /// A sentence that describes the servlet
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// The XTP schema to implement, instead of the interface of MCP servlets
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// A bundle of `xtp plugin init` to start from: a folder or a zip file
    #[arg(long, value_name = "DIR|ZIP")]
    template: Option<PathBuf>,

    /// Enable a feature of the template; may be repeated
    #[arg(long, value_name = "NAME")]
    feature: Vec<String>,

    /// Build for WASI: std has a clock, randomness and the directories of `--allow-path`
    ///
    /// The same as `--feature wasi`.
    #[arg(long)]
    wasi: bool,

    /// The SDK of the new project: by default, the version of this command or, inside of a checkout, the checkout
    #[arg(long, value_name = "VERSION|GIT|PATH")]
    sdk: Option<String>,

    /// Do not run the template's scripts
    #[arg(long)]
    no_scripts: bool,

    #[command(flatten, next_help_heading = "With --schema, as for `servlet gen`")]
    reading: Reading,
}

impl New {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let start = Instant::now();
        let name = self.name()?;
        project::check_vacant(&self.folder)?;
        let sdk = self.sdk()?;
        let check = self.template.is_none();
        let (schema, source) = schema::read(self.schema.as_deref(), &self.reading, check)?;
        let template = self.template()?;
        let mut context = json!({
            "project": {
                "name": name,
                "description": self.description.as_deref().unwrap_or_default(),
                "appId": "",
                "extensionPointId": "",
            },
            "schema": schema,
            "featureFlags": self.features(&template.config)?,
        });
        if let Some(sdk) = &sdk {
            context["sdk"] = json!(sdk);
        }
        if let Some(source) = source {
            context["source"] = source;
        }
        let entries = template.render(&context)?;
        project::write(&entries, &self.folder)?;
        if let Some(sdk) = &sdk {
            note(format_args!("the project uses the SDK {sdk}"));
        }
        note_renamed(&name, &self.folder);
        if !self.no_scripts {
            run_scripts(&self.folder)?;
        }
        start_repository(&self.folder);
        note(format_args!(
            "created `{}` in {}",
            self.folder.display(),
            Elapsed::since(start)
        ));
        if self.sdk.is_none() && matches!(sdk, Some(Sdk::Version(_))) {
            note(format_args!(
                "warning: this version is not published yet, so cargo cannot download it\n  help: clone the repository of the SDK, and \
                 name the folder with `--sdk PATH`"
            ));
        }
        self.print_next_steps(&name, xtp_codegen::is_servlet_schema(&context["schema"]))
    }

    fn name(&self) -> Result<String, Failure> {
        self.folder
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| !name.starts_with('-'))
            .map(str::to_owned)
            .ok_or_else(|| {
                let message = format!("invalid project name `{}`", self.folder.display());
                Failure::with_help(Kind::Usage, message, "use a name such as `hello`")
            })
    }

    /// The SDK, if it is known. Templates other than ours may name their own.
    fn sdk(&self) -> Result<Option<Sdk>, Failure> {
        if let Some(text) = &self.sdk {
            return Sdk::parse(text).map(Some);
        }
        let checkout = env::current_dir()
            .ok()
            .and_then(|folder| Sdk::of_checkout(&folder));
        let is_ours = self.template.is_none();
        Ok(checkout.or_else(|| is_ours.then(Sdk::of_this_version)))
    }

    fn template(&self) -> Result<Template, Failure> {
        let template = match &self.template {
            Some(path) => Template::of_bundle(Bundle::open(path)?),
            None => Template::ours()?,
        };
        for program in &template.config.dependencies {
            if !is_installed(program) {
                note(format_args!(
                    "warning: the template needs `{program}`, which is not installed"
                ));
            }
        }
        Ok(template)
    }

    /// The template's flags for `--feature` and `--wasi`. Fails if it lacks one.
    fn features(&self, config: &Config) -> Result<Vec<&str>, Failure> {
        let wanted: Vec<_> = self
            .feature
            .iter()
            .map(String::as_str)
            .chain(self.wasi.then_some("wasi"))
            .filter(|name| *name != "none")
            .collect();
        for name in &wanted {
            if !config.feature_flags.iter().any(|flag| flag.name == *name) {
                let message = format!("the template has no feature `{name}`");
                return Err(Failure::with_help(Kind::Usage, message, offered(config)));
            }
        }
        Ok(wanted)
    }

    fn print_next_steps(&self, name: &str, is_servlet: bool) -> Result<(), Failure> {
        let folder = self.folder.display();
        let word = shell_word(&self.folder);
        let mut out = terminal::out();
        writeln!(
            out,
            "{folder} is ready\n\nnext:\n  cd {word}\n  cargo test\n  servlet build\n  servlet test"
        )?;
        if is_servlet && let Some(wasm) = wasm(&self.folder)? {
            let wasm = wasm.to_string_lossy();
            let entry = json!({ name: { "command": "servlet", "args": ["serve", wasm] } });
            writeln!(
                out,
                "\nto use it, put this into the configuration of an MCP client:"
            )?;
            // Not wrapped, because it is copied.
            writeln!(terminal::json(), "  {}", json!({ "mcpServers": entry }))?;
        }
        Ok(())
    }
}

/// Tells the name of the package, if the name of the project is not valid there.
fn note_renamed(name: &str, folder: &Path) {
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml"))
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    let package = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    if let Some(package) = package.and_then(toml::Value::as_str)
        && package != name
    {
        let why = if name.to_lowercase().replace('_', "-") == package {
            "names of packages are in kebab case".to_owned()
        } else {
            format!("`{name}` is not a valid name of a crate")
        };
        note(format_args!(
            "the package is called `{package}`, because {why}"
        ));
    }
}

/// Runs `git init`, as `cargo new` does, unless the project is in a repository already or git is not installed.
fn start_repository(folder: &Path) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder).args(arguments);
        let output = git.stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    };
    if git(&["--version"]) && !git(&["rev-parse", "--is-inside-work-tree"]) {
        git(&["init", "--quiet"]);
    }
}

/// Runs the scripts `prepare` and `format`. If one of them fails, the project is kept.
fn run_scripts(folder: &Path) -> Result<(), Failure> {
    let manifest = Manifest::read(folder)?;
    for name in ["prepare", "format"] {
        let Some(line) = manifest.scripts.get(name) else {
            continue;
        };
        note(format_args!("running `{line}`…"));
        if let Err(problem) = project::run_script(line, folder) {
            note(format_args!(
                "warning: the script `{name}` of xtp.toml failed: {problem}"
            ));
        }
    }
    Ok(())
}

/// The path of the project's wasm according to its `xtp.toml`.
fn wasm(folder: &Path) -> Result<Option<PathBuf>, Failure> {
    let Some(bin) = Manifest::read(folder)?.bin else {
        return Ok(None);
    };
    let path = match Path::new(&bin).strip_prefix("target") {
        Ok(inner) => target(folder).join(inner),
        Err(_) => folder.join(&bin),
    };
    Ok(std::path::absolute(path).ok())
}

/// The folder into which cargo builds the project. Variables and configuration files of cargo can name another one.
fn target(folder: &Path) -> PathBuf {
    let metadata = MetadataCommand::new().current_dir(folder).no_deps().exec();
    metadata.map_or_else(
        |_| folder.join("target"),
        |metadata| metadata.target_directory.into(),
    )
}

fn offered(config: &Config) -> String {
    let rows = config
        .feature_flags
        .iter()
        .map(|flag| format!("{}: {}", flag.name, flag.description));
    match rows.collect::<Vec<_>>() {
        none if none.is_empty() => "the template has no features".to_owned(),
        some => format!("its features are:\n{}", some.join("\n")),
    }
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path).any(|folder| folder.join(&file).is_file())
}

impl From<project::Error> for Failure {
    fn from(error: project::Error) -> Self {
        let kind = match &error {
            project::Error::Render { .. } | project::Error::Load(_) => Kind::Servlet,
            project::Error::Write { .. } => Kind::Output,
            _ => Kind::Usage,
        };
        let message = chain(&error);
        match error {
            project::Error::Exists { .. } => Self::with_help(kind, message, "choose another name"),
            _ => Self::new(kind, message),
        }
    }
}

impl From<xtp_bundle::Error> for Failure {
    fn from(error: xtp_bundle::Error) -> Self {
        Self::new(Kind::Usage, chain(&error))
    }
}
