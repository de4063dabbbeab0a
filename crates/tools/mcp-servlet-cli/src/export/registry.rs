//! `server.json`: what the MCP registry lists about a server.

use std::{fs, path::PathBuf, str::FromStr};

use clap::Args;
use mcp_servlet_check::check_server_json;
use mcp_servlet_host::Servlet;
use mcp_servlet_oci::Digest;
use mcp_servlet_runtime::{ConfigKey, LoadOptions, Source};
use serde_json::{Value, json};

use crate::{
    catalog::print,
    check, clients,
    failure::{Failure, Kind},
    pack::{self, Packed},
    terminal::{self, note, shell_word},
};

/// The newest version of the format.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Prints a `server.json`.
#[derive(Args, Debug)]
pub(super) struct ServerJson {
    /// The servlet: a `.wasm` file, a URL or an `oci://` reference
    servlet: String,

    /// The name in the registry, such as `io.github.ada/weather`
    ///
    /// [default: from the repository of the package, if it is on GitHub]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// A description of at most 100 characters
    ///
    /// [default: the servlet's, or that of its package]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// A package that users install: `npm:NAME`, `pypi:NAME`, or `mcpb:URL,FILE` with the bundle that is at the URL; may be
    /// repeated
    #[arg(long, value_name = "PACKAGE")]
    package: Vec<Package>,

    /// The URL of a public server with the servlet; may be repeated
    #[arg(long, value_name = "URL")]
    remote: Vec<String>,

    /// Write the document to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A package that users install.
#[derive(Clone, Debug)]
enum Package {
    Npm(String),
    Pypi(String),
    Mcpb { url: String, file: PathBuf },
}

impl FromStr for Package {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("npm", name)) => Ok(Self::Npm(name.to_owned())),
            Some(("pypi", name)) => Ok(Self::Pypi(name.to_owned())),
            Some(("mcpb", rest)) => {
                let (url, file) = rest.rsplit_once(',').ok_or("expected `mcpb:URL,FILE`")?;
                Ok(Self::Mcpb {
                    url: url.to_owned(),
                    file: file.into(),
                })
            }
            _ => Err("expected `npm:NAME`, `pypi:NAME` or `mcpb:URL,FILE`".to_owned()),
        }
    }
}

impl ServerJson {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut options = LoadOptions::default();
        options.from_contract = true;
        let packed = Packed::load(Source::parse(&self.servlet), &options)?;
        let mut document = document(&packed.servlet);
        if let Some(name) = self.name {
            document["name"] = name.into();
        } else if document["name"].is_null() {
            let message = "the servlet does not say its name in the registry";
            let help = "write `--name io.github.OWNER/NAME`, or `repository` in Cargo.toml";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        if let Some(description) = self.description {
            document["description"] = description.into();
        }
        let packages = self
            .package
            .iter()
            .map(|package| package.entry(&packed))
            .collect::<Result<Vec<_>, _>>()?;
        let remotes: Vec<_> = self
            .remote
            .iter()
            .map(|url| json!({ "type": "streamable-http", "url": url }))
            .collect();
        for (member, entries) in [("packages", packages), ("remotes", remotes)] {
            if !entries.is_empty() {
                document[member] = entries.into();
            }
        }
        let mut meta = json!({
            "tool": concat!("servlet ", env!("CARGO_PKG_VERSION")),
            "module": Digest::of(&packed.wasm).to_string(),
        });
        if let Some(contract) = packed.servlet.contract_digest() {
            meta["contract"] = Digest::from(contract).to_string().into();
        }
        document["_meta"] = json!({ "io.modelcontextprotocol.registry/publisher-provided": meta });
        let findings = check_server_json(&document);
        if !findings.is_empty() {
            check::write_findings(&mut terminal::err(), &findings)?;
            return Err(Failure::CheckFailed);
        }
        print(&document, self.output.as_deref())?;
        if let Some(path) = self.output {
            note(format_args!(
                "publish it: mcp-publisher publish {}",
                shell_word(&path)
            ));
        }
        Ok(())
    }
}

impl Package {
    /// The entry of `packages`.
    fn entry(&self, packed: &Packed) -> Result<Value, Failure> {
        let (kind, name) = match self {
            Self::Npm(name) => ("npm", name),
            Self::Pypi(name) => ("pypi", name),
            Self::Mcpb { url, file } => {
                let bytes = fs::read(file).map_err(|error| {
                    let message = format!("cannot read `{}`: {error}", file.display());
                    Failure::new(Kind::Usage, message)
                })?;
                // The bundle itself says which settings it needs.
                return Ok(json!({
                    "registryType": "mcpb",
                    "identifier": url,
                    "fileSha256": Digest::of(&bytes).hex(),
                    "transport": { "type": "stdio" },
                }));
            }
        };
        let mut entry = json!({
            "registryType": kind,
            "identifier": name,
            "version": packed.version,
            "transport": { "type": "stdio" },
        });
        let needs = packed.servlet.module().needs();
        let variables = pack::variables(&needs.config);
        let variables: Vec<_> = needs
            .config
            .iter()
            .zip(variables)
            .map(|(key, variable)| setting(key, &variable.name))
            .collect();
        let paths: Vec<_> = needs.paths.iter().map(|path| directory(path)).collect();
        for (member, entries) in [
            ("environmentVariables", variables),
            ("packageArguments", paths),
        ] {
            if !entries.is_empty() {
                entry[member] = entries.into();
            }
        }
        Ok(entry)
    }
}

/// A value of the configuration as an environment variable.
fn setting(key: &ConfigKey, variable: &str) -> Value {
    let mut setting = json!({
        "name": variable,
        "description": key.description().unwrap_or(&key.name),
        "isRequired": key.required,
        "isSecret": key.secret,
        "format": match key.schema["type"].as_str() {
            Some("integer" | "number") => "number",
            Some("boolean") => "boolean",
            _ => "string",
        },
    });
    match &key.schema["default"] {
        Value::String(default) => setting["default"] = default.clone().into(),
        default @ (Value::Number(_) | Value::Bool(_)) => {
            setting["default"] = default.to_string().into();
        }
        _ => {}
    }
    let choices = key.schema["enum"].as_array();
    if choices.is_some_and(|choices| choices.iter().all(Value::is_string)) {
        setting["choices"] = key.schema["enum"].clone();
    }
    setting
}

/// A directory that the user chooses, as an option of the command.
fn directory(path: &str) -> Value {
    json!({
        "type": "named",
        "name": "--allow-path",
        "value": format!("{{directory}}:{path}"),
        "variables": { "directory": {
            "description": format!("The servlet reads and writes it as `{path}`."),
            "format": "filepath",
            "isRequired": true,
        } },
    })
}

/// What a servlet says about itself. Its `name` is null if its package is not on GitHub.
pub(crate) fn document(servlet: &Servlet) -> Value {
    let repository = pack::package_text(servlet, "repository").and_then(Repository::parse);
    let mut document = json!({
        "$schema": SCHEMA,
        "name": null,
        "description": pack::describe(servlet),
        "version": servlet.server_text("version").unwrap_or_default(),
    });
    if let Some(title) = servlet.server_text("title") {
        document["title"] = title.into();
    }
    if let Some(Repository { owner, source, url }) = repository {
        if source == "github" {
            let name = clients::key(servlet.server_text("name").unwrap_or_default());
            document["name"] = format!("io.github.{owner}/{name}").into();
        }
        document["repository"] = json!({ "url": url, "source": source });
    }
    document
}

/// A repository that the registry knows how to read.
struct Repository<'a> {
    owner: &'a str,
    source: &'static str,
    url: &'a str,
}

impl<'a> Repository<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (source, path) = if let Some(path) = url.strip_prefix("https://github.com/") {
            ("github", path)
        } else {
            ("gitlab", url.strip_prefix("https://gitlab.com/")?)
        };
        let parts: Vec<_> = path.trim_end_matches('/').split('/').collect();
        let is_plain = |part: &&str| {
            let letter = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !part.is_empty() && part.chars().all(letter)
        };
        let fits = if source == "github" {
            parts.len() == 2
        } else {
            parts.len() >= 2
        };
        (fits && parts.iter().all(is_plain)).then(|| Self {
            owner: parts[0],
            source,
            url,
        })
    }
}
