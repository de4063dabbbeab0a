//! `servlet pack`: a servlet and this command as one package for an MCP client.

mod mcpb;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::Args;
use mcp_servlet_host::{Servlet, Tool};
use mcp_servlet_runtime::{Abi, ConfigKey, Fetched, LoadOptions, Source, config_variable};

use crate::{
    clients,
    failure::{Failure, Kind},
    terminal,
    variable::Variable,
};

#[derive(Args, Debug)]
pub(crate) struct Pack {
    /// The servlet: a `.wasm` file, a URL or an `oci://` reference
    servlet: String,

    /// Write an MCP bundle, which Claude Desktop installs with a double click
    ///
    /// Claude Desktop asks the user for the configuration and the directories that the servlet declares. The servlet may send
    /// requests to the hosts that it declares.
    #[arg(long, required = true)]
    mcpb: bool,

    /// The publisher of the package, as users see it
    #[arg(long, value_name = "NAME")]
    author: String,

    /// The `servlet` program to put into the package, built for the platform of its users; with `none`, they need it in their
    /// PATH
    ///
    /// [default: this command]
    #[arg(long, value_name = "FILE")]
    bin: Option<PathBuf>,

    /// The file to write
    ///
    /// [default: NAME-VERSION.mcpb]
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
        let packed = Packed::load(Source::parse(&self.servlet), &LoadOptions::default())?;
        let program = self.program()?;
        let output = self.output.clone().unwrap_or_else(|| {
            let Packed { name, version, .. } = &packed;
            // The servlet has written both.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || ".+-_".contains(c);
            PathBuf::from(format!("{name}-{version}.mcpb").replace(|c: char| !is_plain(c), "-"))
        });
        let bundle = mcpb::bundle(&packed, program.as_ref(), &self.author);
        let written = bundle.and_then(|bytes| fs::write(&output, bytes));
        written.map_err(|error| {
            let message = format!("cannot write `{}`: {error}", output.display());
            Failure::new(Kind::Usage, message)
        })?;
        let platform = program.map_or("the command `servlet` of the user", |program| {
            program.platform.name()
        });
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
        let platform = Platform::of(&bytes);
        let platform = platform
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

/// The description of a servlet that has none.
pub(crate) fn tools_of(servlet: &Servlet) -> String {
    let names: Vec<_> = servlet.tools().iter().map(Tool::name).collect();
    format!("Tools: {}", names.join(", "))
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
