//! `servlet read`: shows the contents of a resource.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use clap::Args;
use mcp_servlet_call::RequestMeta;
use mcp_servlet_client::CallOptions;
use mcp_servlet_host::{ReadResourceResult, ResourceContents, ResourceData, Servlet};
use mcp_servlet_runtime::{Source, block_on};

use crate::{
    call::{members, print, request_meta},
    content::{write_resource, write_text},
    failure::{Failure, Kind, cannot_write},
    format::Format,
    session::{ServerOptions, missing},
    terminal,
};

#[derive(Args, Debug)]
pub(crate) struct Read {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// The URI of the resource
    uri: Option<String>,

    /// A member of `_meta` of the request, `KEY:=JSON` for any JSON; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,

    /// Write the contents to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "format")]
    output: Option<PathBuf>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

impl Read {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let words = [&self.target, &self.uri].into_iter().flatten();
        let (target, words) = self.server.target(words.cloned().collect())?;
        let [uri] = &words[..] else {
            return Err(missing("the URI of a resource"));
        };
        match self.server.module(&target) {
            Some(source) => self.run_in_process(source, uri),
            None => self
                .server
                .with_session(&target, self.format, async |session| {
                    let options = CallOptions::new().meta(request_meta(&self.meta)?);
                    let result = session.read_with(uri, &options).await?;
                    if self.format == Format::Json {
                        return Ok(writeln!(terminal::json(), "{}", result.raw.get())?);
                    }
                    self.show(uri, &ReadResourceResult::new(members(&result.raw)?))
                }),
        }
    }

    fn run_in_process(&self, source: Source, uri: &str) -> Result<(), Failure> {
        let servlet = Servlet::load(source, &self.server.limits.options()?)?;
        let mut request = RequestMeta::default();
        request.meta = Some(request_meta(&self.meta)?).filter(|meta| !meta.is_empty());
        let result = block_on(servlet.read_resource_with(uri, &request));
        if self.format == Format::Json {
            return print(result.map(ReadResourceResult::into_json));
        }
        self.show(uri, &result?)
    }

    fn show(&self, uri: &str, result: &ReadResourceResult) -> Result<(), Failure> {
        let contents: Vec<_> = result.contents().collect();
        match (&self.output, contents.as_slice()) {
            (Some(path), [only]) => save(path, only.data),
            (Some(_), many) => Err(Failure::with_help(
                Kind::Usage,
                format!(
                    "`{uri}` has {} contents, but only one can be written to a file",
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
    let mut out = terminal::document();
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
    fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}
