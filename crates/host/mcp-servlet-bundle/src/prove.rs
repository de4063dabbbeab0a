//! Checks that a virtual tool fits its handlers, and makes the definition that clients see.

mod annotations;
mod arguments;
mod fit;
mod inputs;
mod order;
mod references;

use annotations::check_annotations;
use fit::check_fit;
use mcp_servlet_expression::{Path, PathStep};
use mcp_servlet_schema::{Schemas, Validator};
use order::check_step_order;
use references::check_references;
use serde_json::{Map, Value, json};

use crate::{
    JsonObject,
    constant::Taker,
    input_schema::InputSchema,
    problem::{Place, Problem, listed},
    proven::{HandlerSchema, Proven},
    spec::{Inputs, VirtualTool},
    step::{Resource, Step, Target},
    template::Template,
    values::Values,
};

impl VirtualTool {
    /// Checks that the tool fits its handlers. `handlers` has a definition for each step: that in the `tools/list` of the member, or
    /// for a resource only the `annotations` that a tool would have.
    ///
    /// # Errors
    /// Every problem, with its place. The [mistakes](Self::mistakes) of the tool are among them.
    pub fn prove(&self, handlers: &[&JsonObject]) -> Result<Proven, Vec<Problem>> {
        let mut proof = Proof::new(self, handlers);
        proof.inputs();
        let shown = proof.arguments();
        proof.expressions(&shown);
        check_annotations(&mut proof);
        check_step_order(&mut proof);
        let problems = proof.unrelated_problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let definition = proof.definition(shown.json().clone());
        let schemas = Schemas::of(&definition).map_err(|problem| {
            vec![Problem::new(
                Place::of("arguments"),
                format!("invalid JSON Schema: {problem}"),
            )]
        })?;
        let output = self.output.as_ref();
        Ok(Proven {
            output: output.and_then(|schema| Validator::new(schema).ok()),
            reads_client: self.reads_client(),
            warnings: proof.warnings,
            unproved: proof.unproved,
            inferred_output: proof.inferred_output,
            tool: self.clone(),
            definition,
            schemas,
            handlers: proof
                .handlers
                .into_iter()
                .map(StepHandler::schema)
                .collect(),
        })
    }

    /// The definition of a tool or resource that is not there, for [`prove`](Self::prove): everything fits it, so that only mistakes
    /// of other steps are found.
    pub fn unknown_handler() -> JsonObject {
        let anything = || Value::Object(Map::new());
        JsonObject::from_iter([
            ("inputSchema".to_owned(), anything()),
            ("outputSchema".to_owned(), anything()),
        ])
    }

    fn reads_client(&self) -> bool {
        let found = self.expressions();
        let mut paths = found.iter().flat_map(|one| &one.expression.reads);
        paths.any(is_of_client)
    }
}

/// Whether a path leads to the metadata or the session of a request, or to an object that contains them.
fn is_of_client(path: &Path) -> bool {
    let first = path.steps.first().and_then(PathStep::name);
    path.root == "request" && !matches!(first, Some("name" | "arguments"))
}

pub(crate) struct Proof<'a> {
    tool: &'a VirtualTool,
    /// The handler of each step.
    handlers: Vec<StepHandler<'a>>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    /// Inputs that the handlers may not take.
    unproved: Vec<Problem>,
    inferred_output: Option<Value>,
}

/// The handler of a step.
pub(crate) struct StepHandler<'a> {
    step: &'a Step,
    definition: &'a JsonObject,
    input_schema: InputSchema,
}

impl<'a> StepHandler<'a> {
    fn new(step: &'a Step, definition: &'a JsonObject) -> Self {
        let input_schema = match &step.target {
            Target::Resource(resource) => InputSchema::new(variables(resource)),
            Target::Tool(_) => InputSchema::of_tool(definition),
        };
        Self {
            step,
            definition,
            input_schema,
        }
    }

    fn schema(self) -> HandlerSchema {
        HandlerSchema {
            is_read_only: annotations::is_read_only(&self),
            inputs: Validator::new(self.input_schema.json()).ok(),
            input_schema: self.input_schema,
        }
    }

    /// The output schema of a tool.
    fn output(&self) -> Option<&'a Value> {
        self.definition.get("outputSchema")
    }

    fn takes_no(&self, name: &str) -> String {
        let Step { target, .. } = self.step;
        let known = self.input_schema.properties();
        let known = listed(known.map(|(name, _)| name.as_str()));
        let input = target.input();
        format!("`{target}` has no {input} `{name}`; it has {known}")
    }

    /// The problem with a constant that the handler does not take for an input.
    fn wrong_constant(&self, name: &str, template: &Template) -> Option<String> {
        let taker = Taker {
            name: &self.step.target.to_string(),
            schema: self.input_schema.json(),
        };
        let schema = self.input_schema.argument(name)?;
        taker.problem(schema, &format!("for `{name}`"), template.constant()?)
    }

    /// Inputs that the handler requires, and `inputs` does not have.
    fn missing(&self, templates: &[(String, Template)]) -> Vec<String> {
        let is_given = |name: &str| templates.iter().any(|(given, _)| given == name);
        let missing = self.input_schema.required().filter(|name| !is_given(name));
        let target = &self.step.target;
        missing
            .map(|name| format!("`{target}` needs `{name}`, which `inputs` does not have"))
            .collect()
    }
}

/// The input schema of a resource: its variables.
fn variables(resource: &Resource) -> Value {
    let names = resource.variables().unwrap_or_default();
    let schema = || json!({ "type": ["string", "integer", "number", "boolean"] });
    let properties: Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), schema()))
        .collect();
    json!({ "properties": properties, "required": names, "additionalProperties": false })
}

impl<'a> Proof<'a> {
    fn new(tool: &'a VirtualTool, handlers: &[&'a JsonObject]) -> Self {
        let steps = tool.steps.iter().zip(handlers);
        Self {
            tool,
            handlers: steps
                .map(|(step, definition)| StepHandler::new(step, definition))
                .collect(),
            problems: tool.mistakes.clone(),
            warnings: tool.warnings.clone(),
            unproved: Vec::new(),
            inferred_output: None,
        }
    }

    /// The schema of the arguments, as clients see it. Reports what is wrong with it.
    fn arguments(&mut self) -> InputSchema {
        let before = self.problems.len();
        let shown = arguments::advertised(self);
        match &self.tool.arguments {
            Some(_) => check_fit(self, &shown),
            None => check_references(self, &shown),
        }
        fit::needed(self, &shown);
        if !self.tool.mistakes.is_empty() {
            // Which arguments a wrong expression would read is not known.
            self.problems.truncate(before);
        }
        shown
    }

    /// The problems, without those that follow from a mistake at the same place.
    fn unrelated_problems(&mut self) -> Vec<Problem> {
        let (mistakes, count) = (&self.tool.mistakes, self.tool.mistakes.len());
        let follows = |problem: &Problem| {
            let mut mistakes = mistakes.iter().filter(|one| !one.place.0.is_empty());
            mistakes.any(|mistake| problem.place.is_within(&mistake.place))
        };
        let found = self.problems.split_off(count);
        let mut problems = std::mem::take(&mut self.problems);
        problems.extend(found.into_iter().filter(|problem| !follows(problem)));
        problems
    }

    fn inputs(&mut self) {
        for handler in &self.handlers {
            let place = handler.step.inputs_place();
            for (name, template) in handler.step.inputs.templates() {
                let message = if handler.input_schema.takes(name) {
                    handler.wrong_constant(name, template)
                } else {
                    Some(handler.takes_no(name))
                };
                let problem = message.map(|message| Problem::new(place.key(name), message));
                self.problems.extend(problem);
            }
            match &handler.step.inputs {
                Inputs::Map(templates) => {
                    let missing = handler.missing(templates).into_iter();
                    let problems = missing.map(|message| Problem::new(place.clone(), message));
                    self.problems.extend(problems);
                }
                Inputs::Set(templates) => self.problems.extend(elsewhere(handler, templates)),
                Inputs::Pass => {}
            }
        }
    }

    /// Checks what is known about expressions only now: the arguments, and the types of values.
    fn expressions(&mut self, shown: &InputSchema) {
        let tool = self.tool;
        let outputs = self.handlers.iter().map(StepHandler::output);
        let values = Values::new(tool, outputs.collect(), Some(shown.json()));
        for found in tool.expressions() {
            values.check(&found, &mut self.problems);
        }
        self.fit(&values);
        self.inferred_output = values.of_structured_content();
    }

    /// The definition for `tools/list`: the handler's, or one of its own for a tool with steps, with what the bundle says.
    fn definition(&self, schema: Value) -> JsonObject {
        let tool = self.tool;
        let mut definition = match (&*self.handlers, tool.has_steps()) {
            ([handler], false) => handler.definition.clone(),
            _ => JsonObject::new(),
        };
        definition.insert("name".to_owned(), tool.name.as_str().into());
        definition.insert("inputSchema".to_owned(), schema);
        if tool.has_steps() {
            let annotations = annotations::of_steps(self);
            definition.insert("annotations".to_owned(), annotations);
        }
        for (key, value) in &tool.shown {
            match (definition.get_mut(key), value) {
                (Some(Value::Object(hints)), Value::Object(more)) if tool.has_steps() => {
                    hints.extend(more.clone());
                }
                _ => {
                    definition.insert(key.clone(), value.clone());
                }
            }
        }
        match &tool.output {
            Some(output) => {
                definition.insert("outputSchema".to_owned(), output.clone());
            }
            None if tool.result.is_some() => {
                definition.shift_remove("outputSchema");
            }
            None => {}
        }
        definition
    }
}

/// Problems with inputs that cannot be fixed, as other keywords of the schema may speak of them.
fn elsewhere(handler: &StepHandler<'_>, templates: &[(String, Template)]) -> Vec<Problem> {
    let Some(keyword) = handler.input_schema.elsewhere() else {
        return Vec::new();
    };
    let Step { target, .. } = handler.step;
    let problems = templates.iter().map(|(name, _)| {
        let message = format!(
            "`{name}` cannot be fixed: the schema of `{target}` uses `{keyword}`; use `inputs` and `arguments`"
        );
        Problem::new(Place::of("set").key(name), message)
    });
    problems.collect()
}
