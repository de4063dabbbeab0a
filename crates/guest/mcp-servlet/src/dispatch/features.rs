//! The features of a servlet in addition to tools: resources, prompts and completion.
//!
//! Only the export of each feature refers to its code, so that a servlet links only what it has.

mod list;
mod strings;

use std::borrow::Cow;

use mcp_servlet_json::{Reader, write_raw};
use mcp_servlet_types::Completion;

use self::strings::{StringArguments, Unknown};
use crate::answer::error::Fault;
use crate::arguments::report::Report;
use crate::arguments::{Failure, Field, fields_of};
use crate::describe::completion::CompletionEntry;
use crate::describe::prompt::PromptEntry;
use crate::describe::resource::{ResourceEntry, template};
use crate::dispatch::request::{malformed, members, params};
use crate::host::context::Context;
use crate::returns::completion::{keep_matching, to_json};
use crate::wire::PARAMS;

/// The resources, prompts and completions of a servlet.
#[derive(Debug, Clone, Copy)]
pub struct Features {
    resources: &'static [ResourceEntry],
    /// The outputs of the exports that list resources, resource templates and prompts.
    lists: Lists,
    /// Lists all resources, if functions list some.
    list_all: Option<ListAll>,
    prompts: &'static [PromptEntry],
    completions: &'static [CompletionEntry],
}

/// Rendered lists.
#[derive(Debug, Clone, Copy)]
pub struct Lists {
    /// The output of `list_resources`.
    pub resources: &'static str,
    /// The output of `list_resource_templates`.
    pub templates: &'static str,
    /// The output of `list_prompts`.
    pub prompts: &'static str,
}

type ListAll = fn(&str, &[ResourceEntry], &Context) -> String;

impl Features {
    /// No features.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const NONE: Self = Self {
        resources: &[],
        lists: Lists {
            resources: "",
            templates: "",
            prompts: "",
        },
        list_all: None,
        prompts: &[],
        completions: &[],
    };

    /// The features that the sections of `export!` list.
    pub const fn new(
        lists: Lists,
        resources: &'static [ResourceEntry],
        prompts: &'static [PromptEntry],
        completions: &'static [CompletionEntry],
    ) -> Self {
        Self {
            resources,
            lists,
            list_all: if has_list(resources) {
                Some(list::all)
            } else {
                None
            },
            prompts,
            completions,
        }
    }

    /// The outputs of the exports that list something.
    pub(crate) const fn lists(&self) -> Lists {
        self.lists
    }

    /// The output of `list_resources`.
    pub(crate) fn list_resources(&self, context: &Context) -> Cow<'static, str> {
        let fixed = self.lists.resources;
        match self.list_all {
            None => Cow::Borrowed(fixed),
            Some(list_all) => Cow::Owned(list_all(fixed, self.resources, context)),
        }
    }

    /// Whether the wasm has an export with this name.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) const fn has(&self, export: &str) -> bool {
        match export.as_bytes() {
            b"list_resources" | b"list_resource_templates" | b"read_resource" => {
                !self.resources.is_empty()
            }
            b"list_prompts" | b"get_prompt" => !self.prompts.is_empty(),
            b"complete" => !self.completions.is_empty(),
            _ => false,
        }
    }

    /// The result of the `read_resource` export, both as JSON.
    pub(crate) fn read_resource(
        &self,
        context: &Context,
        request: Option<&str>,
    ) -> Result<String, Fault> {
        let [uri] = params(request, ["uri"]).map_err(request_fault)?;
        let uri = string("uri", uri)?;
        for entry in self.resources {
            if let Some(values) = entry.values(&uri) {
                return contents(context, &uri, entry, &values);
            }
        }
        Err(Fault::resource_not_found(&uri))
    }

    /// The result of the `get_prompt` export, both as JSON.
    pub(crate) fn get_prompt(
        &self,
        context: &Context,
        request: Option<&str>,
    ) -> Result<String, Fault> {
        let [name, arguments] = params(request, ["name", "arguments"]).map_err(request_fault)?;
        let name = string("name", name)?;
        let mut prompts = self.prompts.iter();
        let Some(entry) = prompts.find(|entry| entry.name == name) else {
            return Err(unknown_prompt(&name, self.prompts));
        };
        let arguments = strings::to_json_arguments(arguments, entry.fields, Unknown::Keep)
            .map_err(request_fault)?
            .finish();
        let result = fields_of(&arguments, entry.fields)
            .and_then(|arguments| (entry.get)(context, arguments))
            .and_then(|result| result.to_json().map_err(internal));
        result.or_else(|failure| prompt_failure(entry, failure))
    }

    /// The result of the `complete` export, both as JSON.
    pub(crate) fn complete(
        &self,
        context: &Context,
        request: Option<&str>,
    ) -> Result<String, Fault> {
        let [of, argument, others] =
            params(request, ["ref", "argument", "context"]).map_err(request_fault)?;
        let [name, value] = object("argument", argument, ["name", "value"])?;
        let name = string("argument.name", name)?;
        let value = string("argument.value", value)?;
        let Some(entry) = self.completion(of, &name)? else {
            return Ok(to_json(Completion::default()));
        };
        let [others] = match others {
            Some(others) => object("context", Some(others), ["arguments"])?,
            None => [None],
        };
        let mut values = strings::to_json_arguments(others, entry.fields, Unknown::Drop)
            .map_err(request_fault)?;
        let parameter = entry.fields.iter().find(|field| field.name == name);
        if let Some(field) = parameter {
            values.push(field, &value);
        }
        let values = values.finish();
        let outcome = fields_of(&values, entry.fields)
            .and_then(|arguments| (entry.suggest)(context, arguments));
        let mut completion = suggestions(outcome)?;
        if parameter.is_none() {
            keep_matching(&mut completion, &value);
        }
        Ok(to_json(completion))
    }

    /// The completion for an argument of the prompt or template that the reference names.
    fn completion(
        &self,
        reference: Option<&str>,
        argument: &str,
    ) -> Result<Option<&'static CompletionEntry>, Fault> {
        let [kind, name, uri] = object("ref", reference, ["type", "name", "uri"])?;
        // Some hosts leave out `ref/`.
        let (is_prompt, name) = match &*string("ref.type", kind)? {
            "ref/prompt" | "prompt" => (true, string("ref.name", name)?),
            "ref/resource" | "resource" => (false, string("ref.uri", uri)?),
            _ => return Err(must_be("ref.type", "`ref/prompt` or `ref/resource`")),
        };
        let mut entries = self.completions.iter();
        Ok(entries.find(|entry| {
            entry.target.is_prompt == is_prompt
                && entry.target.name == name
                && entry.argument == argument
        }))
    }
}

const fn has_list(resources: &[ResourceEntry]) -> bool {
    let mut at = 0;
    while at < resources.len() {
        if resources[at].list.is_some() {
            return true;
        }
        at += 1;
    }
    false
}

/// Runs the function that reads a resource. If a variable cannot be parsed, the resource does not exist.
fn contents(
    context: &Context,
    uri: &str,
    entry: &ResourceEntry,
    values: &[Option<&str>],
) -> Result<String, Fault> {
    let fields = entry.template.map_or(&[][..], |template| template.fields);
    let variables = to_arguments(fields, values).ok_or_else(|| Fault::resource_not_found(uri))?;
    let result =
        fields_of(&variables, fields).and_then(|arguments| (entry.read)(context, arguments));
    let json = match result {
        Ok(result) => result.into_json(uri, entry.mime_type),
        Err(Failure::Tool(error)) => return error.into_input_request(),
        Err(Failure::Fault(fault)) => return Err(fault),
        Err(_) => None,
    };
    json.ok_or_else(|| Fault::resource_not_found(uri))
}

/// The values of variables as arguments; `None` if an escape is invalid.
fn to_arguments(fields: &'static [Field], values: &[Option<&str>]) -> Option<String> {
    let mut arguments = StringArguments::default();
    for (field, value) in fields.iter().zip(values) {
        if let Some(value) = value {
            arguments.push(field, &template::decoded(value)?);
        }
    }
    Some(arguments.finish())
}

/// The suggestions; none if another argument is missing or invalid so far.
fn suggestions(outcome: Result<Completion, Failure<'_>>) -> Result<Completion, Fault> {
    match outcome {
        Ok(completion) => Ok(completion),
        Err(Failure::Tool(error)) => Err(match error.into_input_request() {
            Ok(_) => Fault::internal("a completion cannot ask the client for input"),
            Err(fault) => fault,
        }),
        Err(Failure::Fault(fault)) => Err(fault),
        Err(_) => Ok(Completion::default()),
    }
}

/// What a prompt returns instead of messages: requests for input, or a fault.
fn prompt_failure(entry: &PromptEntry, failure: Failure<'_>) -> Result<String, Fault> {
    Err(match failure {
        Failure::Tool(error) => return error.into_input_request(),
        Failure::Fault(fault) => fault,
        Failure::Malformed(error) => malformed(&error),
        failure => {
            let schema = std::str::from_utf8(entry.schema).unwrap_or_default();
            Fault::invalid_params(Report::for_schema(schema, entry.hints, 0, &failure))
        }
    })
}

fn request_fault(failure: Failure<'_>) -> Fault {
    match failure {
        Failure::Fault(fault) => fault,
        Failure::Malformed(error) => malformed(&error),
        // Reading a request returns no other failure.
        _ => Fault::invalid_params("the request is wrong"),
    }
}

fn internal<'a>(error: mcp_servlet_json::Error) -> Failure<'a> {
    Failure::Tool(error.into())
}

/// The text of a parameter of the request.
fn string<'a>(place: &str, json: Option<&'a str>) -> Result<Cow<'a, str>, Fault> {
    let text = json.and_then(|json| Reader::from(json).string().ok());
    text.ok_or_else(|| must_be(place, "a string"))
}

/// Members of an object among the parameters.
fn object<'a, const N: usize>(
    place: &str,
    json: Option<&'a str>,
    names: [&str; N],
) -> Result<[Option<&'a str>; N], Fault> {
    let found = json.and_then(|json| members(&mut Reader::from(json), names).ok());
    found.ok_or_else(|| must_be(place, "an object"))
}

#[cold]
fn must_be(place: &str, what: &str) -> Fault {
    let mut message = String::from("`");
    for part in [PARAMS, ".", place, "` must be ", what] {
        write_raw(&mut message, part);
    }
    Fault::invalid_params(message)
}

#[cold]
fn unknown_prompt(name: &str, prompts: &[PromptEntry]) -> Fault {
    let mut message = String::from("unknown prompt `");
    write_raw(&mut message, name);
    let mut separator = "`; this servlet has `";
    for prompt in prompts {
        write_raw(&mut message, separator);
        write_raw(&mut message, prompt.name);
        separator = "`, `";
    }
    write_raw(&mut message, "`");
    Fault::invalid_params(message)
}
