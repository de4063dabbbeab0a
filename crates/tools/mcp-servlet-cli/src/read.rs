//! `servlet read`: shows the contents of a resource.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::Args;
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::Source;
use serde_json::Value;

use crate::{
    call::print,
    content::{write_resource, write_text},
    failure::{Failure, Kind},
    format::Format,
    limits::Limits,
    terminal,
};

/// Read a resource and show its contents, or write them to a file
#[derive(Args, Debug)]
pub(crate) struct Read {
    /// The servlet: a `.wasm` file or a URL
    file: String,

    /// The URI of the resource
    uri: String,

    /// Write the contents to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "format")]
    output: Option<PathBuf>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Read {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(Source::parse(&self.file), &self.limits.options())?;
        let result = servlet.read_resource(&self.uri);
        if self.format == Format::Json {
            return print(result);
        }
        let result = result?;
        let contents = result["contents"].as_array();
        let contents = contents.map(Vec::as_slice).unwrap_or_default();
        match (&self.output, contents) {
            (Some(path), [only]) => save(path, only),
            (Some(_), many) => Err(Failure::with_help(
                Kind::Usage,
                format!(
                    "`{}` has {} contents, but only one can be written to a file",
                    self.uri,
                    many.len()
                ),
                "print all of them with `--format json`",
            )),
            (None, contents) => Ok(show(contents)?),
        }
    }
}

/// Prints a single text unchanged. Anything else is printed with its URI.
fn show(contents: &[Value]) -> io::Result<()> {
    let mut out = terminal::out();
    if let [only] = contents
        && let Some(text) = only["text"].as_str()
    {
        return write_text(&mut out, text);
    }
    for one in contents {
        write_resource(&mut out, one)?;
    }
    out.flush()
}

fn save(path: &Path, one: &Value) -> Result<(), Failure> {
    let bytes = match (one["text"].as_str(), one["blob"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, blob) => BASE64_STANDARD
            .decode(blob.unwrap_or_default())
            .map_err(|error| {
                Failure::new(Kind::Servlet, format!("the `blob` is not base64: {error}"))
            })?,
    };
    fs::write(path, bytes).map_err(|error| {
        Failure::new(
            Kind::Usage,
            format!("cannot write `{}`: {error}", path.display()),
        )
    })
}
