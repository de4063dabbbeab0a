//! `servlet read`: shows the contents of a resource.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::Args;
use mcp_servlet_host::{ReadResourceResult, ResourceContents, ResourceData, Servlet};
use mcp_servlet_runtime::Source;

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
        let servlet = Servlet::load(Source::parse(&self.file), &self.limits.options()?)?;
        let result = servlet.read_resource(&self.uri);
        if self.format == Format::Json {
            return print(result.map(ReadResourceResult::into_json));
        }
        let result = result?;
        let contents: Vec<_> = result.contents().collect();
        match (&self.output, contents.as_slice()) {
            (Some(path), [only]) => save(path, only.data),
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
fn show(contents: &[ResourceContents<'_>]) -> io::Result<()> {
    let mut out = terminal::out();
    if let [only] = contents
        && let Some(text) = only.text()
    {
        return write_text(&mut out, text);
    }
    for one in contents {
        write_resource(&mut out, one)?;
    }
    out.flush()
}

fn save(path: &Path, data: ResourceData<'_>) -> Result<(), Failure> {
    let bytes = match data {
        ResourceData::Text(text) => text.as_bytes().to_vec(),
        ResourceData::Blob(blob) => BASE64_STANDARD.decode(blob).map_err(|error| {
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
