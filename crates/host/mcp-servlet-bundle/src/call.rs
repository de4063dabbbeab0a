//! A call of a virtual tool: the arguments of its handler, and the result or the error for the client.

mod catch;
mod view;

use mcp_servlet_common::{CheckArguments, RpcError};
use mcp_servlet_expression::{Budget, Failure, Part};
use mcp_servlet_schema::Validator;
use serde_json::{Map, Value, json};

use crate::{
    JsonObject,
    problem::Place,
    proven::Proven,
    spec::{Inputs, VirtualTool, content_problem},
    template::{Failed, Template},
    thrown::Thrown,
};
use view::ResultView;
pub use view::{Request, Session};

/// A call whose arguments were accepted.
#[derive(Clone, PartialEq)]
pub struct Prepared {
    /// The arguments for the handler.
    pub arguments: Option<JsonObject>,
    /// The arguments of the call, as its schema accepted them.
    given: JsonObject,
}

impl Prepared {
    /// The arguments of the call, as its schema accepted them.
    pub fn given(&self) -> &JsonObject {
        &self.given
    }
}

/// Why the handler is not called.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The model gets this text as an error result.
    Arguments(String),
    /// The client gets this error.
    Error(RpcError),
}

impl Proven {
    /// Checks the arguments of a call and makes those of the handler.
    ///
    /// # Errors
    /// [`Refused`] if the arguments do not match, or if an input has no value.
    pub fn prepare(
        &self,
        request: &Request<'_>,
        checks: CheckArguments,
        budget: &mut Budget,
    ) -> Result<Prepared, Refused> {
        let given = self.accepted(request.arguments, checks);
        let given = given.map_err(Refused::Arguments)?;
        let is_absent = given.is_none();
        let given = given.unwrap_or_default();
        let (key, templates) = self.tool.inputs.templates();
        let mut arguments = match &self.tool.inputs {
            Inputs::Pass if is_absent => {
                return Ok(Prepared {
                    arguments: None,
                    given,
                });
            }
            Inputs::Pass => {
                return Ok(Prepared {
                    arguments: Some(given.clone()),
                    given,
                });
            }
            Inputs::Set(_) => given.clone(),
            Inputs::Map(_) => Map::new(),
        };
        let view = request.view_for_inputs(&given);
        let scope = view.scope();
        for (name, template) in templates {
            let value = template.fill(&scope, budget);
            let value = value.map_err(|failed| {
                let failed = failed.within_key(name).within_key(key);
                Refused::Error(self.mapping_failed(&failed))
            })?;
            if let Some(value) = value {
                arguments.insert(name.clone(), value);
            }
        }
        if checks != CheckArguments::Off {
            arguments = self.checked_inputs(arguments)?;
        }
        Ok(Prepared {
            arguments: Some(arguments),
            given,
        })
    }

    /// The arguments with which a call runs.
    ///
    /// # Errors
    /// Why they are refused, as the model reads it.
    pub fn accepted(
        &self,
        arguments: Option<&JsonObject>,
        checks: CheckArguments,
    ) -> Result<Option<JsonObject>, String> {
        if let Inputs::Set(templates) = &self.tool.inputs {
            let names = templates.iter().map(|(name, _)| name);
            let fixed =
                names.filter(|name| arguments.is_some_and(|given| given.contains_key(*name)));
            if let Some(name) = fixed.into_iter().next() {
                return Err(format!("invalid arguments: `/{name}` is unknown"));
            }
        }
        match checks {
            CheckArguments::Off => Ok(arguments.cloned()),
            checks => {
                let coerce = checks == CheckArguments::Coerce;
                self.schemas.arguments(coerce, arguments)
            }
        }
    }

    /// The arguments for the handler, if it takes them. The model learns about those that it has sent.
    fn checked_inputs(&self, arguments: JsonObject) -> Result<JsonObject, Refused> {
        let Some(validator) = &self.inputs else {
            return Ok(arguments);
        };
        let arguments = Value::Object(arguments);
        let problem = validator.first_problem(&arguments);
        let Value::Object(arguments) = arguments else {
            unreachable!("it is an object");
        };
        match problem {
            Some(pointer) => Err(self.wrong_input(&pointer, &arguments)),
            None => Ok(arguments),
        }
    }

    fn wrong_input(&self, pointer: &str, arguments: &JsonObject) -> Refused {
        let (key, _) = self.tool.inputs.templates();
        let (place, text) = match pointer.split('/').nth(1) {
            Some(input) => (
                Place::of(key).key(input),
                self.wrong_value(input, arguments),
            ),
            None => (Place::of(key), self.wrong_names(arguments)),
        };
        if let Some(text) = text {
            return Refused::Arguments(text);
        }
        let message = format!(
            "`{}` does not take the value of `{place}`",
            self.tool.handler
        );
        Refused::Error(self.error(&message, &place.to_string(), "MAPPING_FAILED"))
    }

    /// The text for a model whose argument has a value that the handler does not take for an input.
    fn wrong_value(&self, input: &str, arguments: &JsonObject) -> Option<String> {
        let argument = self.argument_of(input)?;
        let schema = self.input_schema.argument(input);
        Some(refusal(argument, schema, arguments.get(input)))
    }

    /// The argument of the call that an input consists of.
    fn argument_of<'a>(&'a self, input: &'a str) -> Option<&'a str> {
        let (_, templates) = self.tool.inputs.templates();
        match templates.iter().find(|(name, _)| name == input) {
            Some((_, template)) => template.argument(),
            // With `set`, all other arguments are those of the call.
            None => matches!(self.tool.inputs, Inputs::Set(_)).then_some(input),
        }
    }

    /// The text for a model that has left out an argument that the handler requires, or has sent one that it does not know.
    fn wrong_names(&self, arguments: &JsonObject) -> Option<String> {
        let mut required = self.input_schema.required();
        if let Some(missing) = required.find(|name| !arguments.contains_key(*name)) {
            let argument = self.argument_of(missing)?;
            return Some(format!("invalid arguments: `/{argument}` is missing"));
        }
        let mut names = arguments.keys();
        let unknown = names.find(|name| !self.input_schema.takes(name))?;
        let argument = self.argument_of(unknown)?;
        Some(format!("invalid arguments: `/{argument}` is unknown"))
    }

    /// The result for the client; `None` if it is the handler's.
    ///
    /// # Errors
    /// [`RpcError`] if the result cannot be mapped.
    pub fn result(
        &self,
        request: &Request<'_>,
        prepared: &Prepared,
        result: &JsonObject,
        budget: &mut Budget,
    ) -> Result<Option<JsonObject>, RpcError> {
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        if let Some(thrown) = catch::of_result(result).filter(|_| is_error)
            && let Some(error) = self.caught(request, prepared, &thrown, budget)
        {
            return Err(error);
        }
        let templates = self.tool.result.as_ref();
        let maps_errors = templates.is_some_and(|all| all.iter().any(|(key, _)| key == "isError"));
        let Some(templates) = templates.filter(|_| !is_error || maps_errors) else {
            if self.output.is_some() && !is_error {
                self.check(result)?;
            }
            return Ok(None);
        };
        let mapped = self.mapped(request, prepared, templates, result, budget);
        let mapped = mapped.and_then(|mapped| self.check(&mapped).map(|()| mapped));
        match mapped {
            Ok(mapped) => Ok(Some(mapped)),
            // The failure of the handler says more than one of the mapping, which most likely is for good results.
            Err(_) if is_error => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn mapped(
        &self,
        request: &Request<'_>,
        prepared: &Prepared,
        templates: &[(String, Template)],
        result: &JsonObject,
        budget: &mut Budget,
    ) -> Result<JsonObject, RpcError> {
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let (view, result) = (
            request.view_for_outcome(&prepared.given),
            ResultView(result),
        );
        let scope = view.scope().with("result", Part::Object(&result));
        let mut mapped = Map::new();
        for (key, template) in templates {
            let value = match template.fill(&scope, budget) {
                // MCP reads a result without `isError` as a success. A failure must stay a failure.
                Err(failed)
                    if key == "isError" && !is_error && failed.failure == Failure::Absent =>
                {
                    continue;
                }
                value => value,
            };
            let value = value.map_err(|failed| {
                let failed = failed.within_key(key).within_key("result");
                self.mapping_failed(&failed)
            })?;
            if let Some(value) = value {
                mapped.insert(key.clone(), value);
            }
        }
        Ok(mapped)
    }

    /// Whether a result is one of MCP and matches the output schema.
    fn check(&self, result: &JsonObject) -> Result<(), RpcError> {
        match self.wrong_result(result) {
            None => Ok(()),
            Some((at, why)) => {
                let message = format!(
                    "tool `{}` has an invalid result: {at}: {why}",
                    self.tool.name
                );
                Err(self.error(&message, &at, "RESULT_INVALID"))
            }
        }
    }

    fn wrong_result(&self, result: &JsonObject) -> Option<(String, &'static str)> {
        if let Some(problem) = content_problem(result.get("content")) {
            return Some(problem);
        }
        if result
            .get("isError")
            .is_some_and(|value| !value.is_boolean())
        {
            return Some(("/isError".to_owned(), "expected a boolean"));
        }
        if result.get("_meta").is_some_and(|value| !value.is_object()) {
            return Some(("/_meta".to_owned(), "expected an object"));
        }
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        let validator = self.output.as_ref().filter(|_| !is_error)?;
        let Some(structured) = result.get("structuredContent") else {
            return Some(("/structuredContent".to_owned(), "expected a value"));
        };
        let at = validator.first_problem(structured)?;
        Some((
            format!("/structuredContent{at}"),
            "it does not match the output schema",
        ))
    }

    /// The error of the first catch that applies to a failure; `None` if none does.
    pub fn caught(
        &self,
        request: &Request<'_>,
        prepared: &Prepared,
        thrown: &Thrown,
        budget: &mut Budget,
    ) -> Option<RpcError> {
        let view = request.view_for_outcome(&prepared.given);
        let scope = view.scope().with("error", Part::Object(thrown));
        catch::find(&self.tool, thrown, &scope, budget)
    }

    fn mapping_failed(&self, failed: &Failed) -> RpcError {
        let at = failed.place.to_string();
        let message = format!(
            "tool `{}` cannot fill `{at}`: {}",
            self.tool.name, failed.failure
        );
        self.error(&message, &at, "MAPPING_FAILED")
    }

    fn error(&self, message: &str, at: &str, code: &str) -> RpcError {
        let VirtualTool { bundle, name, .. } = &self.tool;
        RpcError {
            code: RpcError::INTERNAL,
            message: message.to_owned(),
            data: Some(json!({ "bundle": bundle, "tool": name, "at": at, "code": code })),
        }
    }
}

/// The text for a model whose argument the handler does not take.
fn refusal(argument: &str, schema: Option<&Value>, value: Option<&Value>) -> String {
    let reason = schema.and_then(|schema| {
        let schema = json!({ "properties": { argument: schema } });
        let value = json!({ argument: value? });
        Validator::new(&schema).ok()?.check(&value).err()
    });
    match reason {
        Some(reason) => format!("invalid arguments: {reason}"),
        None => format!("invalid arguments: `/{argument}` does not match its schema"),
    }
}
