//! `servlet pack`: a servlet as a package that people install.

mod launcher;
mod mcpb;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args};
use mcp_servlet_common::quoted;
use mcp_servlet_host::{Servlet, Tool};
use mcp_servlet_runtime::{Abi, ConfigKey, Fetched, LoadOptions, Module, Source, config_variable};
use serde_json::Value;

use crate::{
    clients,
    failure::{Failure, Kind, cannot_write},
    terminal::{self, note, one_line},
    variable::Variable,
};

/// How well packages are compressed, from 1 to 9.
const COMPRESSION_LEVEL: u32 = 9;

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("format").required(true))]
pub(crate) struct Pack {
    /// The servlet: a `.wasm` file, a URL or an `oci://` reference
    servlet: String,

    /// Write an MCP bundle, which Claude Desktop installs with a double click
    ///
    /// Claude Desktop asks the user for the configuration and the directories that the servlet declares. The servlet may send
    /// requests to the hosts that it declares.
    #[arg(long, group = "format")]
    mcpb: bool,

    /// Write a package of npm with this name, such as `@ada/weather`, which `npx` runs
    ///
    /// Environment variables have the configuration that the servlet declares. The servlet may send requests to the hosts that it
    /// declares.
    #[arg(long, group = "format", value_name = "NAME")]
    npm: Option<String>,

    /// Write a wheel with this name, such as `ada-weather`, which `uvx` runs
    ///
    /// The settings are those of `--npm`.
    #[arg(long, group = "format", value_name = "NAME")]
    wheel: Option<String>,

    /// The publisher of the package, as users see it
    ///
    /// [default: the authors in the contract, which are those of Cargo.toml]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,

    /// A PNG file that clients show for the bundle
    #[arg(long, value_name = "FILE", conflicts_with_all = ["npm", "wheel"])]
    icon: Option<PathBuf>,

    /// The name in the MCP registry, written into the package so that the registry can check it
    ///
    /// [default: from the repository of the package, if it is on GitHub]
    #[arg(long, value_name = "NAME", conflicts_with = "mcpb")]
    name: Option<String>,

    /// The `servlet` program to put into the bundle, built for the platform of its users; with `none`, they need it in their
    /// PATH
    ///
    /// [default: this command]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["npm", "wheel"])]
    bin: Option<PathBuf>,

    /// The file to write, or an existing folder for it; a file that is there is replaced
    ///
    /// [default: a name with the version, in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A servlet with what a package says about it.
pub(crate) struct Packed {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) servlet: Servlet,
    pub(crate) wasm: Vec<u8>,
}

/// The command that a package brings.
struct Program {
    platform: Platform,
    bytes: Vec<u8>,
}

/// A platform, as packages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl Pack {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut options = LoadOptions::default();
        options.from_contract = true;
        let packed = Packed::load(Source::parse(&self.servlet), &options)?;
        let author = self.author.clone().or_else(|| authors(&packed.servlet));
        let author = author.as_deref();
        let (name, bytes, platform) = if let Some(name) = &self.npm {
            let (name, bytes) = launcher::npm(&packed, name, author, self.name.as_deref())?;
            (name, bytes, "every platform")
        } else if let Some(name) = &self.wheel {
            let (name, bytes) = launcher::wheel(&packed, name, author, self.name.as_deref())?;
            (name, bytes, "every platform")
        } else {
            let author = author.ok_or_else(no_author)?;
            let program = self.program()?;
            let icon = self.icon.as_deref().map(icon).transpose()?;
            let bytes = mcpb::bundle(&packed, program.as_ref(), author, icon)?;
            let platform = program.map_or("the command `servlet` of the user", |program| {
                program.platform.name()
            });
            (packed.file_name("mcpb"), bytes, platform)
        };
        let output = match self.output {
            Some(folder) if folder.is_dir() => folder.join(name),
            Some(file) => file,
            None => name.into(),
        };
        fs::write(&output, bytes).map_err(|error| cannot_write(&output, &error))?;
        Ok(writeln!(
            terminal::out(),
            "{}: written, for {platform}",
            output.display()
        )?)
    }

    fn program(&self) -> Result<Option<Program>, Failure> {
        let path = match &self.bin {
            Some(path) if path == Path::new("none") => return Ok(None),
            Some(path) => path.clone(),
            None => std::env::current_exe()?,
        };
        let cannot = |problem: String| {
            let message = format!("cannot pack `{}`: {problem}", path.display());
            Failure::with_help(
                Kind::Usage,
                message,
                "`--bin` takes the `servlet` program, or `none`",
            )
        };
        let bytes = fs::read(&path).map_err(|error| cannot(error.to_string()))?;
        let platform = Platform::of(&bytes)
            .ok_or_else(|| cannot("it is not a program for Linux, macOS or Windows".to_owned()))?;
        Ok(Some(Program { platform, bytes }))
    }
}

impl Packed {
    pub(crate) fn load(source: Source, options: &LoadOptions) -> Result<Self, Failure> {
        let Fetched { name, wasm, .. } = source.fetch()?;
        let module = Source::Bytes {
            name: name.clone(),
            wasm: wasm.clone(),
        };
        let servlet = Servlet::load(module, options)?;
        if servlet.abi() != Abi::Servlet {
            let message =
                format!("`{name}` is built for hyper-mcp alone; build it without `--abi`");
            return Err(Failure::new(Kind::Usage, message));
        }
        for problem in unmet_in_package(servlet.module()) {
            let warning = format!("warning: `{name}` {problem}");
            note(format_args!("{}", one_line(&warning)));
        }
        let version = servlet.server_text("version").ok_or_else(|| {
            let message = format!("`{name}` does not say its version");
            Failure::with_help(
                Kind::Servlet,
                message,
                "servlets of this SDK have the version of their crate",
            )
        })?;
        Ok(Self {
            name: clients::key(servlet.server_text("name").unwrap_or(&name)),
            version: version.to_owned(),
            wasm,
            servlet,
        })
    }

    /// A name for a package. The servlet has written both of its parts.
    fn file_name(&self, extension: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
        let name = format!("{}-{}.{extension}", self.name, self.version);
        name.replace(|c: char| !is_plain(c), "-")
    }

    /// What people read before they install the package.
    pub(crate) fn description(&self) -> String {
        describe(&self.servlet)
    }

    /// The options of `serve` for what the servlet declares, except for directories, which the user chooses.
    fn options(&self) -> Vec<String> {
        let needs = self.servlet.module().needs();
        let hosts = needs
            .hosts
            .iter()
            .map(|host| format!("--allow-host={host}"));
        let variables = variables(&needs.config);
        variables
            .iter()
            .map(Variable::option)
            .chain(hosts)
            .collect()
    }
}

/// What a servlet does that its package does not allow. A package allows what the servlet declares.
fn unmet_in_package(module: &Module) -> Vec<String> {
    let needs = module.needs();
    let grants: Vec<_> = needs.calls.iter().chain(&needs.reads).collect();
    let mut problems = Vec::new();
    if !grants.is_empty() {
        let grants = quoted(&grants);
        problems.push(format!(
            "calls {grants}: a package serves no other servlet, so these calls are errors"
        ));
    }
    if needs.hosts.is_empty() && module.imports_extism("http_request") {
        problems.push(
            "sends HTTP requests but declares no hosts, so its package allows none; declare them in `export!`"
                .to_owned(),
        );
    }
    if needs.config.is_empty() && module.imports_extism("config_get") {
        problems.push(
            "reads configuration but declares none, so its package sets no value; declare it in `export!`"
                .to_owned(),
        );
    }
    problems
}

/// The environment variables from which packages take the values of configuration keys. A servlet must not choose one that other
/// programs read.
pub(crate) fn variables(keys: &[ConfigKey]) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    for key in keys {
        let mut name = config_variable("SERVLET_CONFIG", &key.name);
        while variables.iter().any(|known| known.name == name) {
            name.push('_');
        }
        let key = key.name.clone();
        variables.push(Variable { key, name });
    }
    variables
}

/// The description of a servlet or of its package, or else the names of the tools.
pub(crate) fn describe(servlet: &Servlet) -> String {
    let described = servlet
        .server_text("description")
        .or_else(|| package_text(servlet, "description"));
    described.map_or_else(
        || {
            let names: Vec<_> = servlet.tools().iter().map(Tool::name).collect();
            format!("Tools: {}", names.join(", "))
        },
        str::to_owned,
    )
}

/// The authors in the contract of a servlet, without their addresses.
fn authors(servlet: &Servlet) -> Option<String> {
    let authors = servlet.module().contract()?.package.get("authors")?;
    let names: Vec<_> = authors
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .map(|name| name.split(" <").next().unwrap_or(name))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn no_author() -> Failure {
    let message = "the bundle has no author";
    let help = "write `--author NAME`, or `authors` in Cargo.toml";
    Failure::with_help(Kind::Usage, message, help)
}

/// Reads an icon, which must be a PNG file.
fn icon(path: &Path) -> Result<Vec<u8>, Failure> {
    let cannot = |problem: String| {
        let message = format!("cannot use the icon `{}`: {problem}", path.display());
        Failure::new(Kind::Usage, message)
    };
    let bytes = fs::read(path).map_err(|error| cannot(error.to_string()))?;
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Ok(bytes)
    } else {
        Err(cannot("expected a PNG file".to_owned()))
    }
}

/// What the contract of a servlet says about its package.
pub(crate) fn package_text<'a>(servlet: &'a Servlet, key: &str) -> Option<&'a str> {
    servlet.module().contract()?.package.get(key)?.as_str()
}

impl Platform {
    /// The platform of a program, by its first bytes.
    fn of(program: &[u8]) -> Option<Self> {
        match program {
            [0x7f, b'E', b'L', b'F', ..] => Some(Self::Linux),
            [b'M', b'Z', ..] => Some(Self::Windows),
            // One architecture, and several.
            [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => Some(Self::MacOs),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::MacOs => "macOS",
            Self::Windows => "Windows",
        }
    }
}
