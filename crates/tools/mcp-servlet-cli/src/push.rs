//! `servlet push`: writes a module to an OCI registry.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _, path::PathBuf};

use clap::Args;
use mcp_servlet_host::{Servlet, Tool};
use mcp_servlet_oci::{
    Artifact, Client, Digest, HYPER_MCP_V2, Pushed, Reference, SERVLET, Settings,
};
use mcp_servlet_runtime::{Abi, Fetched, Grant, LoadOptions, Needs, Source, block_on};
use serde_json::Value;

use crate::{
    failure::{Failure, Kind},
    limits::key_value,
    sign::private_key,
    terminal::{self, one_line},
};

const TITLE: &str = "org.opencontainers.image.title";
const VERSION: &str = "org.opencontainers.image.version";
const DESCRIPTION: &str = "org.opencontainers.image.description";
const LICENSES: &str = "org.opencontainers.image.licenses";
const SOURCE: &str = "org.opencontainers.image.source";
const URL: &str = "org.opencontainers.image.url";
const DOCUMENTATION: &str = "org.opencontainers.image.documentation";
const AUTHORS: &str = "org.opencontainers.image.authors";
const CONTRACT: &str = "io.mcp-servlet.contract";
const TOOLS: &str = "io.mcp-servlet.tools";
const NEEDS: &str = "io.mcp-servlet.needs";

/// The limit for the names of tools in an annotation, in bytes.
const MAX_TOOLS: usize = 1 << 10;

#[derive(Args, Debug)]
pub(crate) struct Push {
    /// The `.wasm` file
    file: PathBuf,

    /// The image to write, such as `oci://ghcr.io/ada/mine:1.2.0`
    ///
    /// If there is no tag here and no `--tag`, the tag is the version of the servlet.
    reference: String,

    /// Another tag for the image; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// An annotation of the image, instead of the one from the servlet; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    annotation: Vec<(String, String)>,

    /// Move a tag that names another image
    #[arg(long)]
    force: bool,

    /// Sign the image with the private key in this file, or in the environment variable of `env:NAME`
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sign: Option<String>,

    /// Push any WebAssembly module, without loading it as a servlet
    #[arg(long)]
    unchecked: bool,
}

/// What the module says about itself.
struct Described {
    artifact_type: &'static str,
    annotations: BTreeMap<String, String>,
    /// The tag if none is given.
    tag: Option<String>,
}

impl Push {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.file.to_str().is_some_and(Reference::is_one) {
            let message = format!("`{}` is a reference, not a file", self.file.display());
            let help = "the file is the first argument, the reference the second: `servlet push FILE REFERENCE`";
            return Err(Failure::with_help(Kind::Usage, message, help));
        }
        let reference = Reference::parse(&self.reference)?;
        if reference.digest().is_some() {
            let message = format!("`{reference}` has a digest, which follows from the module");
            return Err(Failure::new(Kind::Usage, message));
        }
        let key = self.sign.as_deref().map(private_key).transpose()?;
        let Fetched { name, wasm, .. } = Source::File(self.file.clone()).fetch()?;
        let module = Source::Bytes {
            name,
            wasm: wasm.clone(),
        };
        let described = if self.unchecked {
            module.module()?;
            Described::unknown()
        } else {
            Described::of(&Servlet::load(module, &LoadOptions::default())?)
        };
        let tags = self.tags(&reference, &described)?;
        let mut annotations = described.annotations;
        annotations.extend(self.annotation);
        let artifact = Artifact {
            wasm,
            artifact_type: described.artifact_type,
            annotations,
        };
        let client = Client::new(Settings::default())?;
        let pushed = client.push(&reference, &tags, &artifact, self.force, key.as_ref());
        let pushed = block_on(pushed)?;
        report(&reference, &pushed)?;
        if let Some(key) = key {
            let key = key.public().fingerprint();
            writeln!(terminal::out(), "  signed with the key {key}")?;
        }
        Ok(())
    }

    fn tags(&self, reference: &Reference, described: &Described) -> Result<Vec<String>, Failure> {
        let named = reference.tag().map(str::to_owned);
        let mut tags: Vec<_> = named.into_iter().chain(self.tag.iter().cloned()).collect();
        if tags.is_empty() {
            tags.extend(described.tag.clone());
        }
        if tags.is_empty() {
            return Err(Failure::with_help(
                Kind::Usage,
                "there is no tag, and the servlet has no version",
                format!("write a tag, such as `{reference}:1.0.0`"),
            ));
        }
        Ok(tags)
    }
}

fn report(reference: &Reference, pushed: &Pushed) -> Result<(), Failure> {
    let mut out = terminal::out();
    writeln!(out, "{}", reference.with_digest(pushed.digest.clone()))?;
    for tag in &pushed.tags {
        let done = if tag.present {
            "already there"
        } else {
            "pushed"
        };
        writeln!(out, "  {}: {done}", tag.reference.tag().unwrap_or_default())?;
    }
    Ok(())
}

impl Described {
    /// A module that is not loaded.
    fn unknown() -> Self {
        Self {
            artifact_type: SERVLET,
            annotations: BTreeMap::new(),
            tag: None,
        }
    }

    fn of(servlet: &Servlet) -> Self {
        let text = |key: &str| servlet.server_text(key).map(str::to_owned);
        let version = text("version");
        let package = servlet
            .module()
            .contract()
            .map(|contract| &contract.package);
        let of_package = |key: &str| match package?.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(texts) => {
                let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
                Some(texts.join(", "))
            }
            _ => None,
        };
        let known = [
            (TITLE, text("title").or_else(|| text("name"))),
            (VERSION, version.clone()),
            (
                DESCRIPTION,
                text("description").or_else(|| of_package("description")),
            ),
            (LICENSES, of_package("license")),
            (SOURCE, of_package("repository")),
            (URL, of_package("homepage")),
            (DOCUMENTATION, of_package("documentation")),
            (AUTHORS, of_package("authors")),
            (
                CONTRACT,
                servlet
                    .contract_digest()
                    .map(|digest| Digest::from(digest).to_string()),
            ),
            (TOOLS, tools(servlet.tools().iter().map(Tool::name))),
            (NEEDS, needs(servlet.module().needs())),
        ];
        let annotations = known
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        // An index with an image for each ABI would not be read by hyper-mcp.
        let (artifact_type, suffix) = match servlet.abi() {
            Abi::HyperMcpV2 => (HYPER_MCP_V2, "-hyper-mcp-v2"),
            Abi::Servlet => (SERVLET, ""),
        };
        Self {
            artifact_type,
            annotations: annotations.collect(),
            tag: version.map(|version| default_tag(&version, suffix)),
        }
    }
}

/// The tag for a version. A tag has no `+`, so it is `_`, as in Helm.
fn default_tag(version: &str, suffix: &str) -> String {
    format!("{}{suffix}", version.replace('+', "_"))
}

/// The names of tools, up to a limit.
fn tools<'a>(tools: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut names = String::new();
    for name in tools {
        let separator = if names.is_empty() { "" } else { "," };
        if names.len() + separator.len() + name.len() > MAX_TOOLS {
            names.push('…');
            break;
        }
        names.extend([separator, name]);
    }
    (!names.is_empty()).then_some(names)
}

/// What the servlet needs, such as `hosts=api.x;config=key!,region;paths=/data`. `!` follows a required key.
fn needs(needs: &Needs) -> Option<String> {
    let keys = needs.config.iter().map(|key| {
        let required = if key.required { "!" } else { "" };
        format!("{}{required}", key.name)
    });
    let texts = |grants: &[Grant]| grants.iter().map(Grant::to_string).collect();
    let parts = [
        ("hosts", needs.hosts.clone()),
        ("config", keys.collect()),
        ("paths", needs.paths.clone()),
        ("calls", texts(&needs.calls)),
        ("reads", texts(&needs.reads)),
    ];
    let mut text = String::new();
    for (kind, names) in parts.iter().filter(|(_, names)| !names.is_empty()) {
        let separator = if text.is_empty() { "" } else { ";" };
        let _ = write!(text, "{separator}{kind}={}", one_line(&names.join(",")));
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_with_metadata_is_a_tag() {
        assert_eq!(default_tag("1.2.0+2026.11", "-x"), "1.2.0_2026.11-x");
    }

    #[test]
    fn a_long_list_of_tools_is_cut_at_a_name() {
        // Each name and its comma have 8 bytes.
        let names = |count| std::iter::repeat_n("convert", count);
        let most = vec!["convert"; 128].join(",");
        assert_eq!(tools(names(128)), Some(most.clone()));
        assert_eq!(tools(names(129)), Some(most + "…"));
        assert_eq!(tools(names(0)), None);
    }

    #[test]
    fn an_annotation_has_what_the_servlet_declares() {
        let grant = |text: &str| text.parse::<Grant>().expect("a grant");
        let declared = Needs {
            hosts: vec!["a.example".to_owned()],
            calls: vec![grant("weather:get_*"), grant("air:search")],
            reads: vec![grant("docs:file:///*")],
            ..Needs::default()
        };
        assert_eq!(
            needs(&declared).as_deref(),
            Some("hosts=a.example;calls=weather:get_*,air:search;reads=docs:file:///*")
        );
        assert_eq!(needs(&Needs::default()), None);
    }
}
