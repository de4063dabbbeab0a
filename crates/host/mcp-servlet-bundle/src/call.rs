//! A call of a virtual tool: the arguments of its handlers, and the result or the error for the client.

mod catch;
mod view;

use mcp_servlet_common::{CheckArguments, RpcError};
use mcp_servlet_expression::{Budget, Failure, Part};
use mcp_servlet_schema::{Validator, kind};
use serde_json::{Map, Value, json};

use crate::{
    JsonObject,
    input_schema::InputSchema,
    problem::Place,
    proven::Proven,
    spec::{Inputs, VirtualTool, content_problem},
    step::Step,
    template::{Failed, Single},
    thrown::Thrown,
};
use view::ResultView;
pub use view::{Request, Session};

/// How a step begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Begin {
    /// Its condition is false.
    Skip,
    /// It runs once.
    Once,
    /// It runs once for each item.
    Each(Vec<Value>),
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
    /// Whether a step runs, and how often. `steps` are the values of the steps that are over.
    ///
    /// # Errors
    /// [`RpcError`] if an expression has no value, or one of another type.
    pub fn begin(
        &self,
        number: usize,
        request: &Request<'_>,
        steps: &JsonObject,
        budget: &mut Budget,
    ) -> Result<Begin, RpcError> {
        let step = &self.tool.steps[number];
        let view = request.view_for_inputs();
        let scope = view.scope().with("steps", Part::Map(steps));
        let mut value = |single: &Single, key: &str| {
            let place = step.place().key(key);
            let value = single.expression.run(&scope, budget);
            value.map_err(|failure| self.mapping_failed(&Failed { place, failure }))
        };
        if let Some(when) = &step.when {
            match value(when, "when")? {
                Some(Value::Bool(true)) => {}
                Some(Value::Bool(false)) => return Ok(Begin::Skip),
                other => {
                    return Err(self.wrong_type(step, "when", "true or false", other.as_ref()));
                }
            }
        }
        let Some(each) = &step.each else {
            return Ok(Begin::Once);
        };
        match value(&each.list, "each")? {
            Some(Value::Array(items)) if items.len() <= each.most => Ok(Begin::Each(items)),
            Some(Value::Array(items)) => {
                let (items, most) = (items.len(), each.most);
                let why = format!("`each` has {items} items, and `most` is {most}");
                Err(self.cannot_run(step, "each", &why))
            }
            other => Err(self.wrong_type(step, "each", "a list", other.as_ref())),
        }
    }

    fn wrong_type(&self, step: &Step, key: &str, wanted: &str, found: Option<&Value>) -> RpcError {
        let found = found.map_or("nothing", kind);
        self.cannot_run(step, key, &format!("`{key}` needs {wanted}, found {found}"))
    }

    fn cannot_run(&self, step: &Step, key: &str, why: &str) -> RpcError {
        let place = step.place();
        let message = format!("tool `{}` cannot run `{place}`: {why}", self.tool.name);
        self.error(&message, &place.key(key).to_string(), "MAPPING_FAILED")
    }

    /// The arguments for the handler of a step, or the values of its variables. `steps` are the values of the steps that are
    /// over, and `item` is an item of `each` and its number.
    ///
    /// # Errors
    /// [`Refused`] if an input has no value, or one that the handler does not take.
    pub fn inputs(
        &self,
        number: usize,
        item: Option<(usize, &Value)>,
        request: &Request<'_>,
        steps: &JsonObject,
        checks: CheckArguments,
        budget: &mut Budget,
    ) -> Result<Option<JsonObject>, Refused> {
        let step = &self.tool.steps[number];
        let mut arguments = match &step.inputs {
            Inputs::Pass => return Ok(request.arguments.cloned()),
            Inputs::Set(_) => request.arguments.cloned().unwrap_or_default(),
            Inputs::Map(templates) if templates.is_empty() && step.name.is_some() => {
                return Ok(None);
            }
            Inputs::Map(_) => Map::new(),
        };
        let view = request.view_for_inputs();
        let index = item.map(|(index, _)| Value::from(index));
        let mut scope = view.scope().with("steps", Part::Map(steps));
        if let (Some((_, item)), Some(index)) = (item, &index) {
            scope = scope
                .with("item", Part::Json(item))
                .with("index", Part::Json(index));
        }
        for (name, template) in step.inputs.templates() {
            let value = template.fill(&scope, budget).map_err(|failed| {
                let failed = failed.within(&step.inputs_place().key(name));
                Refused::Error(self.mapping_failed(&failed))
            })?;
            if let Some(value) = value {
                arguments.insert(name.clone(), value);
            }
        }
        if checks != CheckArguments::Off {
            arguments = self.checked_inputs(number, arguments)?;
        }
        Ok(Some(arguments))
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
        for step in &self.tool.steps {
            let Inputs::Set(templates) = &step.inputs else {
                continue;
            };
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

    /// The arguments for the handler of a step, if it takes them. The model learns about those that it has sent.
    fn checked_inputs(&self, number: usize, arguments: JsonObject) -> Result<JsonObject, Refused> {
        let Some(validator) = &self.handlers[number].inputs else {
            return Ok(arguments);
        };
        let arguments = Value::Object(arguments);
        let problem = validator.first_problem(&arguments);
        let Value::Object(arguments) = arguments else {
            unreachable!("it is an object");
        };
        match problem {
            Some(pointer) => Err(self.wrong_input(number, &pointer, &arguments)),
            None => Ok(arguments),
        }
    }

    fn wrong_input(&self, number: usize, pointer: &str, arguments: &JsonObject) -> Refused {
        let step = &self.tool.steps[number];
        let schema = &self.handlers[number].input_schema;
        let (place, text) = match pointer.split('/').nth(1) {
            Some(input) => (
                step.inputs_place().key(input),
                wrong_value(step, schema, input, arguments),
            ),
            None => (step.inputs_place(), wrong_names(step, schema, arguments)),
        };
        if let Some(text) = text {
            return Refused::Arguments(text);
        }
        let message = format!("`{}` does not take the value of `{place}`", step.target);
        Refused::Error(self.error(&message, &place.to_string(), "MAPPING_FAILED"))
    }

    /// The result for the client of a tool with `handler`; `None` if it is the handler's.
    ///
    /// # Errors
    /// [`RpcError`] if the result cannot be mapped.
    pub fn result(
        &self,
        request: &Request<'_>,
        result: &JsonObject,
        budget: &mut Budget,
    ) -> Result<Option<JsonObject>, RpcError> {
        let is_error = result.get("isError") == Some(&Value::Bool(true));
        if let Some(thrown) = Thrown::of_result(result)
            && let Some(error) = self.caught(request, &thrown, budget)
        {
            return Err(error);
        }
        let templates = self.tool.result.as_ref();
        let maps_errors = templates.is_some_and(|all| all.iter().any(|(key, _)| key == "isError"));
        if templates.is_none() || (is_error && !maps_errors) {
            if self.output.is_some() && !is_error {
                self.check(result)?;
            }
            return Ok(None);
        }
        let root = ("result", Part::Object(&ResultView(result)));
        match self.mapped(request, root, is_error, budget) {
            Ok(mapped) => Ok(Some(mapped)),
            // The failure of the handler says more than one of the mapping, which most likely is for good results.
            Err(_) if is_error => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The result for the client of a tool with steps. `steps` are their values.
    ///
    /// # Errors
    /// [`RpcError`] if the result cannot be made.
    pub fn result_of_steps(
        &self,
        request: &Request<'_>,
        steps: &JsonObject,
        budget: &mut Budget,
    ) -> Result<JsonObject, RpcError> {
        self.mapped(request, ("steps", Part::Map(steps)), false, budget)
    }

    fn mapped(
        &self,
        request: &Request<'_>,
        (root, part): (&'static str, Part<'_>),
        is_error: bool,
        budget: &mut Budget,
    ) -> Result<JsonObject, RpcError> {
        let view = request.view_for_outcome();
        let scope = view.scope().with(root, part);
        let mut mapped = Map::new();
        for (key, template) in self.tool.result.iter().flatten() {
            let filled = match template.fill(&scope, budget) {
                // MCP reads a result without `isError` as a success. A failure must stay a failure.
                Err(failed)
                    if key == "isError" && !is_error && failed.failure == Failure::Absent =>
                {
                    continue;
                }
                filled => filled,
            };
            let value = filled.map_err(|failed| {
                let failed = failed.within(&Place::of("result").key(key));
                self.mapping_failed(&failed)
            })?;
            if let Some(value) = value {
                mapped.insert(key.clone(), value);
            }
        }
        self.check(&mapped)?;
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
        thrown: &Thrown,
        budget: &mut Budget,
    ) -> Option<RpcError> {
        let view = request.view_for_outcome();
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

/// The text for a model whose argument has a value that the handler does not take for an input.
fn wrong_value(
    step: &Step,
    schema: &InputSchema,
    input: &str,
    arguments: &JsonObject,
) -> Option<String> {
    let argument = argument_of(step, input)?;
    Some(refusal(
        argument,
        schema.argument(input),
        arguments.get(input),
    ))
}

/// The argument of the call that an input consists of.
fn argument_of<'a>(step: &'a Step, input: &'a str) -> Option<&'a str> {
    match step.input(input) {
        Some(template) => template.argument(),
        // With `set`, all other arguments are those of the call.
        None => matches!(step.inputs, Inputs::Set(_)).then_some(input),
    }
}

/// The text for a model that has left out an argument that the handler requires, or has sent one that it does not know.
fn wrong_names(step: &Step, schema: &InputSchema, arguments: &JsonObject) -> Option<String> {
    let mut required = schema.required();
    if let Some(missing) = required.find(|name| !arguments.contains_key(*name)) {
        let argument = argument_of(step, missing)?;
        return Some(format!("invalid arguments: `/{argument}` is missing"));
    }
    let mut names = arguments.keys();
    let unknown = names.find(|name| !schema.takes(name))?;
    let argument = argument_of(step, unknown)?;
    Some(format!("invalid arguments: `/{argument}` is unknown"))
}

/// The text for a model whose argument the handler does not take.
fn refusal(argument: &str, schema: Option<&Value>, value: Option<&Value>) -> String {
    let reason = schema.and_then(|schema| {
        let schema = json!({ "properties": { argument: schema } });
        let value = json!({ argument: value? });
        Validator::new(&schema).ok()?.check_value(&value).err()
    });
    match reason {
        Some(reason) => format!("invalid arguments: {reason}"),
        None => format!("invalid arguments: `/{argument}` does not match its schema"),
    }
}
