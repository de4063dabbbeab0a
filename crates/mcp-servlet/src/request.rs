//! Reads a `tools/call` request: which tool, and its arguments cut for its parameters.

use std::borrow::Cow;

use mcp_servlet_json::{Error, ErrorKind, Kind, Reader};

use crate::arguments::{Arguments, Cut};
use crate::error::{Failure, Fault};
use crate::tool::Entry;

/// A request for a tool that exists.
pub(crate) struct Request<'a> {
    /// The tool's place in the servlet.
    pub(crate) index: usize,
    pub(crate) entry: &'static Entry,
    /// The arguments, or what the model should know of them.
    pub(crate) arguments: Result<Arguments<'a>, Failure<'a>>,
}

impl<'a> Request<'a> {
    /// Reads the JSON of a request.
    pub(crate) fn read(tools: &'static [Entry], request: &'a [u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(request)
            .map_err(|_| Fault::new(Fault::PARSE_ERROR, "the request is not UTF-8 text"))?;
        let mut envelope = Envelope { tools, name: None, found: None, arguments: Given::Absent };
        envelope.read(text).map_err(|error| malformed(&error))?;
        let Some(name) = envelope.name else {
            return Err(Fault::invalid_params("the request has no `params.name`"));
        };
        let Some((index, entry)) = envelope.found else {
            return Err(unknown_tool(&name, tools));
        };
        let arguments = envelope.arguments.cut(entry).map_err(|error| malformed(&error))?;
        Ok(Self { index, entry, arguments })
    }
}

/// What is known of a request while it is read.
struct Envelope<'a> {
    tools: &'static [Entry],
    name: Option<Cow<'a, str>>,
    found: Option<(usize, &'static Entry)>,
    arguments: Given<'a>,
}

/// The arguments as they came.
enum Given<'a> {
    Absent,
    /// Before the tool's name, so they could not be cut yet.
    Text(&'a str),
    Cut(Result<Arguments<'a>, Failure<'a>>),
}


impl<'a> Envelope<'a> {
    fn read(&mut self, text: &'a str) -> Result<(), Error> {
        let mut reader = Reader::from(text);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                "params" => self.params(&mut reader)?,
                _ => drop(reader.skip()?),
            }
        }
        reader.finish()
    }

    fn params(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match &*key {
                "name" => {
                    let name = reader.string()?;
                    self.found = self.tools.iter().enumerate().find(|(_, tool)| tool.name == name);
                    self.name = Some(name);
                }
                "arguments" if reader.peek_kind()? == Kind::Null => reader.null()?,
                "arguments" => {
                    self.arguments = match self.found {
                        Some((_, entry)) => Given::Cut(entry.cut(reader)?),
                        None => Given::Text(reader.skip()?),
                    }
                }
                _ => drop(reader.skip()?),
            }
        }
        Ok(())
    }
}

impl<'a> Given<'a> {
    fn cut(self, entry: &Entry) -> Cut<'a> {
        match self {
            Self::Cut(arguments) => Ok(arguments),
            Self::Text(text) => entry.cut(&mut Reader::from(text)),
            Self::Absent => entry.cut(&mut Reader::from("{}")),
        }
    }
}

impl Entry {
    /// Takes the arguments at the reader apart, as the tool's parameters ask.
    fn cut<'a>(&self, reader: &mut Reader<'a>) -> Cut<'a> {
        (self.parameters.cut)(reader, self.parameters.table)
    }
}

/// The request is not JSON, or not a request.
#[cold]
fn malformed(error: &Error) -> Fault {
    if error.kind() != ErrorKind::WrongType {
        return Fault::new(Fault::PARSE_ERROR, format!("the request is not JSON: {error}"));
    }
    Fault::invalid_params(format!("the request is malformed: {error}"))
}

#[cold]
fn unknown_tool(name: &str, tools: &[Entry]) -> Fault {
    let mut message = format!("unknown tool `{name}`; this servlet has");
    for (index, entry) in tools.iter().enumerate() {
        message.push_str(if index == 0 { " `" } else { ", `" });
        message.push_str(entry.name);
        message.push('`');
    }
    Fault::invalid_params(message)
}
