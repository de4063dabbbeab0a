//! `servlet complete`: suggests values for an argument.

use std::{
    collections::HashSet,
    io::{self, Write as _},
};

use clap::Args;
use mcp_servlet_host::{CompleteResult, Listed, Servlet};
use mcp_servlet_runtime::{JsonObject, Source, quoted};
use mcp_servlet_schema::ArgumentError;
use serde_json::{Value, json};

use crate::{
    call::print,
    failure::{Failure, Kind},
    format::Format,
    limits::{Limits, key_value},
    terminal::{self, one_line},
};

/// Show completions for an argument of a prompt or a variable of a resource template
#[derive(Args, Debug)]
pub(crate) struct Complete {
    /// The servlet: a `.wasm` file or a URL
    file: String,

    /// The name of a prompt, or a resource template as the servlet lists it
    of: String,

    /// The argument and the beginning of its value, such as `city=Ro`; `city=` for all values
    #[arg(value_name = "KEY=TYPED", value_parser = key_value)]
    argument: (String, String),

    /// The values of other arguments
    #[arg(value_name = "KEY=VALUE", value_parser = key_value)]
    others: Vec<(String, String)>,

    /// `json` prints the whole result
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    limits: Limits,
}

impl Complete {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let servlet = Servlet::load(Source::parse(&self.file), &self.limits.options()?)?;
        let (reference, arguments) = self.target(&servlet)?;
        self.check(&arguments)?;
        let (name, value) = &self.argument;
        let others = self.others.iter().cloned();
        let others: JsonObject = others.map(|(key, value)| (key, value.into())).collect();
        let params = JsonObject::from_iter([
            ("ref".to_owned(), reference),
            (
                "argument".to_owned(),
                json!({ "name": name, "value": value }),
            ),
            ("context".to_owned(), json!({ "arguments": others })),
        ]);
        let result = servlet.complete(&params);
        match self.format {
            Format::Human => Ok(show(&result?)?),
            Format::Json => print(result.map(CompleteResult::into_json)),
        }
    }

    /// The reference to the prompt or template for `completion/complete`, and the names of its arguments.
    fn target(&self, servlet: &Servlet) -> Result<(Value, Vec<String>), Failure> {
        let is_meant = |entry: &&Listed| entry.key() == self.of;
        if let Some(prompt) = servlet.prompts().iter().find(is_meant) {
            let reference = json!({ "type": "ref/prompt", "name": self.of });
            return Ok((reference, argument_names(prompt)));
        }
        let templates = servlet.resource_templates();
        if templates.iter().any(|template| is_meant(&template)) {
            let reference = json!({ "type": "ref/resource", "uri": self.of });
            return Ok((reference, variables(&self.of)));
        }
        let message = format!("unknown prompt or resource template `{}`", self.of);
        let known = servlet.prompts().iter().chain(templates).map(Listed::key);
        Err(Failure::with_help(Kind::Usage, message, among(known)))
    }

    /// Refuses unknown and repeated arguments. Otherwise the former would get no suggestions, and
    /// the latter would be dropped silently.
    fn check(&self, known: &[String]) -> Result<(), Failure> {
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
pub(crate) fn argument_names(prompt: &Listed) -> Vec<String> {
    let arguments = prompt.json().get("arguments").and_then(Value::as_array);
    let names = arguments.into_iter().flatten();
    let names = names.filter_map(|argument| argument["name"].as_str());
    names.map(str::to_owned).collect()
}

/// The variables of a URI template (RFC 6570): `{name}`, `{?a,b}`, `{/path*}`.
fn variables(template: &str) -> Vec<String> {
    let expressions = template.split('{').skip(1);
    let expressions = expressions.filter_map(|rest| rest.split('}').next());
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
