//! Reads a `tools/call` request: the tool, and its arguments split by parameter.

use std::borrow::Cow;

use mcp_servlet_json::{Error, ErrorKind, Kind, Reader, write_raw, write_u64};

use crate::answer::error::Fault;
use crate::arguments::{Arguments, Failure};
use crate::describe::tool::ToolEntry;
use crate::wire::{NO_NAME, PARAMS};

/// The state of reading a request, and its outcome.
pub(crate) struct Request<'a> {
    tools: &'static [ToolEntry],
    name: Option<Cow<'a, str>>,
    /// The tool's index in the servlet.
    tool: Option<usize>,
    /// The arguments, if they came before the tool's name.
    early: Option<&'a str>,
    arguments: Option<Arguments<'a>>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(tools: &'static [ToolEntry]) -> Self {
        Self {
            tools,
            name: None,
            tool: None,
            early: None,
            arguments: None,
        }
    }

    /// The index of the requested tool, 0 if it is unknown.
    pub(crate) fn tool(&self) -> usize {
        self.tool.unwrap_or(0)
    }

    /// Reads the JSON of a request: the tool, and its arguments.
    pub(crate) fn read(
        &mut self,
        request: Option<&'a str>,
    ) -> Result<(&'static ToolEntry, Arguments<'a>), Failure<'a>> {
        let Some(request) = request else {
            return Err(fault(Fault::PARSE_ERROR, "the request is not UTF-8 text"));
        };
        let mut reader = Reader::from(request);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                PARAMS => self.params(&mut reader)?,
                _ => drop(reader.skip()?),
            }
        }
        reader.finish()?;
        self.complete()
    }

    fn params(&mut self, reader: &mut Reader<'a>) -> Result<(), Failure<'a>> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                "name" if self.name.is_some() => {
                    return Err(fault(Fault::INVALID_PARAMS, "the request names two tools"));
                }
                "name" => {
                    let name = reader.string()?;
                    self.tool = self.tools.iter().position(|tool| tool.name == name);
                    self.name = Some(name);
                }
                "arguments" if reader.peek_kind()? != Kind::Null => match self.entry() {
                    Some(entry) => self.arguments = Some(entry.take(reader)?),
                    None => self.early = Some(reader.skip()?),
                },
                _ => drop(reader.skip()?),
            }
        }
        Ok(())
    }

    fn entry(&self) -> Option<&'static ToolEntry> {
        self.tools.get(self.tool?)
    }

    fn complete(&mut self) -> Result<(&'static ToolEntry, Arguments<'a>), Failure<'a>> {
        let Some(name) = &self.name else {
            return Err(fault(Fault::INVALID_PARAMS, NO_NAME));
        };
        let Some(entry) = self.entry() else {
            return Err(unknown_tool(name, self.tools));
        };
        let arguments = match self.arguments.take() {
            Some(arguments) => arguments,
            None => entry.take(&mut Reader::from(self.early.unwrap_or("{}")))?,
        };
        Ok((entry, arguments))
    }
}

impl ToolEntry {
    /// Splits the arguments at the reader for the tool's parameters. Called twice, so not inlined.
    #[inline(never)]
    fn take<'a>(&self, reader: &mut Reader<'a>) -> Result<Arguments<'a>, Failure<'a>> {
        if reader.peek_kind()? != Kind::Object {
            let (text, error) = (reader.skip()?, Error::new(ErrorKind::WrongType, 0));
            return Err(Failure::Argument {
                name: "",
                text,
                error,
            });
        }
        (self.parameters.take)(reader, self.parameters.table)
    }
}

/// The fault of a request that is not JSON, or not a request.
///
/// It only gives the offset. Hosts write the request, so the fault is rare, and a message for every mistake
/// would be in every servlet.
#[cold]
pub(crate) fn malformed(error: &Error) -> Fault {
    let (code, what) = match error.kind() {
        ErrorKind::WrongType => (
            Fault::INVALID_PARAMS,
            "the request has a value of the wrong type at byte ",
        ),
        _ => (Fault::PARSE_ERROR, "the request is not valid JSON at byte "),
    };
    let mut message = String::new();
    write_raw(&mut message, what);
    write_u64(&mut message, error.offset() as u64);
    Fault::new(code, message)
}

#[cold]
fn unknown_tool<'a>(name: &str, tools: &[ToolEntry]) -> Failure<'a> {
    let mut message = String::new();
    write_raw(&mut message, "unknown tool `");
    write_raw(&mut message, name);
    let mut separator = "`; this servlet has `";
    for tool in tools {
        write_raw(&mut message, separator);
        write_raw(&mut message, tool.name);
        separator = "`, `";
    }
    write_raw(&mut message, "`");
    Failure::Fault(Fault::invalid_params(message))
}

/// The JSON of these parameters of a request; `None` for absent ones and for `null`.
pub(crate) fn params<'a, const N: usize>(
    request: Option<&'a str>,
    names: [&str; N],
) -> Result<[Option<&'a str>; N], Failure<'a>> {
    let Some(text) = request else {
        return Err(fault(Fault::PARSE_ERROR, "the request is not UTF-8 text"));
    };
    let mut reader = Reader::from(text);
    let [params] = members(&mut reader, [PARAMS])?;
    reader.finish()?;
    match params {
        Some(params) => members(&mut Reader::from(params), names),
        None => Ok([None; N]),
    }
}

/// The JSON of these members of the object at the reader; `None` for absent ones and for `null`.
pub(crate) fn members<'a, const N: usize>(
    reader: &mut Reader<'a>,
    names: [&str; N],
) -> Result<[Option<&'a str>; N], Failure<'a>> {
    let mut found = [None; N];
    collect(reader, &names, &mut found)?;
    Ok(found)
}

/// [`members`] for any number of names.
fn collect<'a>(
    reader: &mut Reader<'a>,
    names: &[&str],
    found: &mut [Option<&'a str>],
) -> Result<(), Failure<'a>> {
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        let value = reader.skip()?;
        if let Some(at) = names.iter().position(|name| *name == key) {
            found[at] = (value != "null").then_some(value);
        }
    }
    Ok(())
}

#[cold]
fn fault<'a>(code: i64, message: &str) -> Failure<'a> {
    Failure::Fault(Fault::new(code, message))
}
