//! `servlet complete`: suggests values for an argument.

mod remote;

use std::{
    collections::HashSet,
    io::{self, Write as _},
};

use clap::Args;
use mcp_servlet_call::JsonObject;
use mcp_servlet_common::quoted;
use mcp_servlet_host::{CompleteResult, Listed, Servlet};
use mcp_servlet_runtime::{Source, block_on};
use mcp_servlet_schema::ArgumentError;
use serde_json::{Value, json};

use crate::{
    call::print,
    failure::{Failure, Kind},
    format::Format,
    limits::key_value,
    session::{ServerOptions, missing},
    terminal::{self, one_line},
};

#[derive(Args, Debug)]
pub(crate) struct Complete {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// The name of a prompt, or a resource template as the server lists it
    #[arg(value_name = "PROMPT|TEMPLATE")]
    of: Option<String>,

    /// The argument and the beginning of its value, such as `city=Ro`; `city=` for all values
    #[arg(value_name = "KEY=TYPED")]
    argument: Option<String>,

    /// The values of other arguments
    #[arg(value_name = "KEY=VALUE")]
    others: Vec<String>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

/// What is completed.
struct CompletionRequest {
    /// A prompt or a resource template.
    of: String,
    /// The argument and the beginning of its value.
    argument: (String, String),
    /// The values of other arguments.
    others: Vec<(String, String)>,
}

/// A prompt or a resource template with the names of its arguments.
enum Reference {
    Prompt(Vec<String>),
    Template(Vec<String>),
}

impl Complete {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let words = [&self.target, &self.of, &self.argument]
            .into_iter()
            .flatten()
            .chain(&self.others);
        let (target, words) = self.server.target(words.cloned().collect())?;
        let request = CompletionRequest::parse(words)?;
        match self.server.module(&target) {
            Some(source) => self.run_in_process(source, &request),
            None => self
                .server
                .with_session(&target, self.format, async |session| {
                    let result = remote::complete(session, &request).await?;
                    self.show(CompleteResult::new(result))
                }),
        }
    }

    fn run_in_process(&self, source: Source, request: &CompletionRequest) -> Result<(), Failure> {
        let servlet = Servlet::load(source, &self.server.limits.options()?)?;
        let params = request.params(&request.reference(&servlet)?)?;
        match block_on(servlet.complete(&params)) {
            Ok(result) => self.show(result),
            Err(error) if self.format == Format::Json => print(Err(error)),
            Err(error) => Err(error.into()),
        }
    }

    fn show(&self, result: CompleteResult) -> Result<(), Failure> {
        match self.format {
            Format::Human => Ok(show(&result)?),
            Format::Json => print(Ok(result.into_json())),
        }
    }
}

impl CompletionRequest {
    fn parse(words: Vec<String>) -> Result<Self, Failure> {
        let mut words = words.into_iter();
        let of = words
            .next()
            .ok_or_else(|| missing("the name of a prompt or a resource template"))?;
        let mut pairs = words.map(|word| {
            key_value(&word).map_err(|problem| {
                let message = format!("invalid argument `{word}`: {problem}");
                Failure::new(Kind::Usage, message)
            })
        });
        let argument = pairs.next().ok_or_else(|| missing("an argument"))??;
        let others = pairs.collect::<Result<_, _>>()?;
        Ok(Self {
            of,
            argument,
            others,
        })
    }

    /// The values of other arguments as an object.
    fn context(&self) -> JsonObject {
        let others = self.others.iter().cloned();
        others.map(|(key, value)| (key, value.into())).collect()
    }

    /// The parameters of `completion/complete`.
    fn params(&self, reference: &Reference) -> Result<JsonObject, Failure> {
        self.check(reference)?;
        let reference = match reference {
            Reference::Prompt(_) => json!({ "type": "ref/prompt", "name": self.of }),
            Reference::Template(_) => json!({ "type": "ref/resource", "uri": self.of }),
        };
        let (name, value) = &self.argument;
        Ok(JsonObject::from_iter([
            ("ref".to_owned(), reference),
            (
                "argument".to_owned(),
                json!({ "name": name, "value": value }),
            ),
            ("context".to_owned(), json!({ "arguments": self.context() })),
        ]))
    }

    /// The prompt or template of a servlet.
    fn reference(&self, servlet: &Servlet) -> Result<Reference, Failure> {
        let is_meant = |entry: &&Listed| entry.key() == self.of;
        if let Some(prompt) = servlet.prompts().iter().find(is_meant) {
            return Ok(Reference::Prompt(argument_names(prompt.json())));
        }
        let templates = servlet.resource_templates();
        if templates.iter().any(|template| is_meant(&template)) {
            return Ok(Reference::Template(variables(&self.of)));
        }
        let known = servlet.prompts().iter().chain(templates).map(Listed::key);
        Err(self.unknown(known))
    }

    fn unknown<'a>(&self, known: impl Iterator<Item = &'a str>) -> Failure {
        let message = format!("unknown prompt or resource template `{}`", self.of);
        Failure::with_help(Kind::Usage, message, among(known))
    }

    /// Refuses unknown and repeated arguments. Otherwise the former would get no suggestions, and
    /// the latter would be dropped silently.
    fn check(&self, reference: &Reference) -> Result<(), Failure> {
        let (Reference::Prompt(known) | Reference::Template(known)) = reference;
        let mut given = std::iter::once(&self.argument).chain(&self.others);
        let mut seen = HashSet::new();
        if let Some((key, _)) = given.clone().find(|(key, _)| !seen.insert(key)) {
            return Err(ArgumentError::Twice { key: key.clone() }.into());
        }
        match given.find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => Err(Failure::with_help(
                Kind::Usage,
                format!("`{}` has no argument `{key}`", self.of),
                among(known.iter().map(String::as_str)),
            )),
        }
    }
}

/// The names of a prompt's arguments.
pub(crate) fn argument_names(prompt: &JsonObject) -> Vec<String> {
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    arguments
        .into_iter()
        .flatten()
        .filter_map(|argument| argument["name"].as_str())
        .map(str::to_owned)
        .collect()
}

/// The variables of a URI template (RFC 6570): `{name}`, `{?a,b}`, `{/path*}`.
fn variables(template: &str) -> Vec<String> {
    let expressions = template
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next());
    expressions
        .flat_map(|expression| expression.trim_start_matches(is_operator).split(','))
        .map(|variable| {
            variable
                .split([':', '*'])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

fn is_operator(character: char) -> bool {
    "+#./;?&".contains(character)
}

fn among<'a>(names: impl Iterator<Item = &'a str>) -> String {
    match &*names.collect::<Vec<_>>() {
        [] => "the servlet has none".to_owned(),
        names => format!("known names: {}", quoted(names)),
    }
}

fn show(result: &CompleteResult) -> io::Result<()> {
    let mut out = terminal::out();
    for value in result.values() {
        writeln!(out, "{}", one_line(value))?;
    }
    let shown = result.values().count();
    match result.total().filter(|total| *total > shown as u64) {
        Some(total) => writeln!(out, "[{shown} of {total}]"),
        None if result.has_more() => writeln!(out, "[and more]"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_variables_of_every_expression() {
        let names = variables("a://{+path}/{id:3}{?page,size*}{&x}");
        assert_eq!(names, ["path", "id", "page", "size", "x"]);
        assert!(variables("a://b").is_empty());
    }
}
