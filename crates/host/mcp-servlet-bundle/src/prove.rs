//! Checks that a virtual tool fits its handler, and makes the definition that clients see.

mod arguments;
mod fit;
mod references;
mod types;

use mcp_servlet_expression::{Path, PathStep};
use mcp_servlet_schema::{Schemas, Validator};
use serde_json::Value;

use crate::{
    JsonObject,
    constant::Taker,
    input_schema::InputSchema,
    problem::{Place, Problem, listed},
    proven::Proven,
    shape::{Names, Shape},
    spec::{Inputs, VirtualTool},
    template::Template,
};

impl VirtualTool {
    /// Checks that the tool fits its handler. `handler` is its definition in the member's `tools/list`.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn prove(&self, handler: &JsonObject) -> Result<Proven, Vec<Problem>> {
        let mut proof = Proof::new(self, handler);
        proof.inputs();
        let shown = arguments::advertised(&mut proof);
        match &self.arguments {
            Some(_) => fit::check(&mut proof, &shown),
            None => references::check(&mut proof, &shown),
        }
        fit::needed(&mut proof, &shown);
        proof.names(shown.json());
        if !proof.problems.is_empty() {
            return Err(proof.problems);
        }
        let definition = proof.definition(shown.json().clone());
        let schemas = Schemas::of(&definition).map_err(|problem| {
            vec![Problem::new(
                Place::of("arguments"),
                format!("invalid JSON Schema: {problem}"),
            )]
        })?;
        Ok(Proven {
            inputs: Validator::new(proof.input_schema.json()).ok(),
            input_schema: proof.input_schema,
            output: self
                .output
                .as_ref()
                .and_then(|schema| Validator::new(schema).ok()),
            reads_client: self.reads_client(),
            tool: self.clone(),
            definition,
            schemas,
        })
    }

    fn reads_client(&self) -> bool {
        let (key, templates) = self.inputs.templates();
        let mut reads = false;
        for (_, template) in templates {
            template.each(&Place::of(key), &mut |_, _, expression| {
                reads |= expression.reads.iter().any(is_of_client);
            });
        }
        reads
    }
}

/// Whether a path leads to the metadata or the session of a request, or to an object that contains them.
fn is_of_client(path: &Path) -> bool {
    let first = path.steps.first().and_then(PathStep::name);
    path.root == "request" && !matches!(first, Some("name" | "arguments"))
}

pub(crate) struct Proof<'a> {
    tool: &'a VirtualTool,
    handler: &'a JsonObject,
    /// The input schema of the handler.
    input_schema: InputSchema,
    problems: Vec<Problem>,
}

impl<'a> Proof<'a> {
    fn new(tool: &'a VirtualTool, handler: &'a JsonObject) -> Self {
        Self {
            tool,
            handler,
            input_schema: InputSchema::of_tool(handler),
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, place: Place, message: String) {
        self.problems.push(Problem::new(place, message));
    }

    fn inputs(&mut self) {
        let tool = self.tool;
        let (key, templates) = tool.inputs.templates();
        for (name, template) in templates {
            let message = if self.input_schema.takes(name) {
                self.wrong_constant(name, template)
            } else {
                Some(self.takes_no(name))
            };
            if let Some(message) = message {
                self.problem(Place::of(key).key(name), message);
            }
        }
        match &tool.inputs {
            Inputs::Map(templates) => self.needed(templates),
            Inputs::Set(templates) => self.elsewhere(templates),
            Inputs::Pass => {}
        }
    }

    fn takes_no(&self, name: &str) -> String {
        let known = self.input_schema.properties();
        let known = listed(known.map(|(name, _)| name.as_str()));
        format!(
            "`{}` has no argument `{name}`; it has {known}",
            self.tool.handler
        )
    }

    /// The problem with a constant that the handler does not take for an argument.
    fn wrong_constant(&self, name: &str, template: &Template) -> Option<String> {
        let handler = Taker {
            name: &self.tool.handler.to_string(),
            schema: self.input_schema.json(),
        };
        let schema = self.input_schema.argument(name)?;
        handler.problem(schema, &format!("for `{name}`"), template.constant()?)
    }

    fn needed(&mut self, templates: &[(String, Template)]) {
        let is_given = |name: &str| templates.iter().any(|(given, _)| given == name);
        let missing = self.input_schema.required().filter(|name| !is_given(name));
        let missing: Vec<_> = missing.map(str::to_owned).collect();
        for name in missing {
            let message = format!(
                "`{}` needs `{name}`, which `inputs` does not have",
                self.tool.handler
            );
            self.problem(Place::of("inputs"), message);
        }
    }

    /// Reports arguments that cannot be fixed, as other keywords of the schema may speak of them.
    fn elsewhere(&mut self, templates: &[(String, Template)]) {
        let Some(keyword) = self.input_schema.elsewhere() else {
            return;
        };
        for (name, _) in templates {
            let message = format!(
                "`{name}` cannot be fixed: the schema of `{}` uses `{keyword}`; use `inputs` and `arguments`",
                self.tool.handler
            );
            self.problem(Place::of("set").key(name), message);
        }
    }

    /// Checks the names that are known only now: arguments, and members of the handler's result.
    fn names(&mut self, schema: &Value) {
        let arguments = match Shape::of_schema(schema) {
            Shape::Members(members) => {
                Shape::Arguments(members.into_iter().map(|(name, _)| name).collect())
            }
            _ => Shape::Any,
        };
        let tool = self.tool;
        let request = Shape::Members(
            [
                ("name", Shape::Any),
                ("arguments", arguments),
                ("meta", Shape::Any),
                ("session", Shape::Any),
            ]
            .map(|(name, shape)| (name.to_owned(), shape))
            .into(),
        );
        let output = self.handler.get("outputSchema");
        let result = Shape::of_result(&tool.handler.to_string(), output);
        let names = Names {
            place: "result",
            roots: vec![
                ("request", request),
                ("result", result),
                ("error", Shape::Any),
            ],
        };
        let (key, inputs) = tool.inputs.templates();
        let results = tool.result.iter().flatten();
        let templates = inputs
            .iter()
            .map(|one| (key, one))
            .chain(results.map(|one| ("result", one)));
        // An argument without a known schema has its own message.
        let is_derived = tool.arguments.is_none() && matches!(tool.inputs, Inputs::Map(_));
        for (key, (name, template)) in templates {
            if is_derived && key == "inputs" {
                continue;
            }
            template.each(&Place::of(key).key(name), &mut |place, start, one| {
                names.check(one, place, start, &mut self.problems);
            });
        }
        self.catch_names(&names);
    }

    fn catch_names(&mut self, names: &Names) {
        for catch in &self.tool.catches {
            let place = Place::of("catches").item(catch.number);
            if let Some(when) = &catch.when {
                // The position was checked when the tool was compiled; only the name matters here.
                names.check(when, &place.key("when"), 3, &mut self.problems);
            }
            for (key, template) in [("message", &catch.message), ("data", &catch.data)] {
                let place = place.key("error").key(key);
                if let Some(template) = template {
                    template.each(&place, &mut |place, start, one| {
                        names.check(one, place, start, &mut self.problems);
                    });
                }
            }
        }
    }

    /// The definition for `tools/list`: the handler's, with what the bundle says.
    fn definition(&self, schema: Value) -> JsonObject {
        let tool = self.tool;
        let mut definition = self.handler.clone();
        definition.insert("name".to_owned(), tool.name.as_str().into());
        definition.insert("inputSchema".to_owned(), schema);
        for (key, value) in &tool.shown {
            definition.insert(key.clone(), value.clone());
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
