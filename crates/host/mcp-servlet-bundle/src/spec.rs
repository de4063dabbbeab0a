//! The definition of a virtual tool in a file, and its compiled form.

mod catches;
mod content;
mod structured;

use std::{fmt, time::Duration};

use mcp_servlet_expression::Expression;
use mcp_servlet_schema::Validator;
use serde_json::{Map, Value};

use crate::{
    problem::{Place, Problem, listed},
    shape::{Names, RESULT, Shape, members},
    template::{Expand, Template},
};
pub(crate) use catches::{Catch, Code};
pub use catches::{CatchSpec, ErrorSpec};
pub(crate) use content::problem as content_problem;

/// The table `[bundle.BUNDLE.tool.NAME]`, which defines a virtual tool.
#[derive(Clone, Default)]
pub struct Spec {
    /// The name of the bundle.
    pub bundle: String,
    /// The name that clients see.
    pub name: String,
    /// The tool that it calls: `MEMBER:TOOL`.
    pub handler: String,
    /// The description; by default the handler's.
    pub description: Option<String>,
    /// The title; by default the handler's.
    pub title: Option<String>,
    /// The annotations; by default those of the handler.
    pub annotations: Option<Value>,
    /// The JSON Schema of its arguments; by default made from the handler's schema.
    pub arguments: Option<Value>,
    /// All arguments of the handler.
    pub inputs: Option<Map<String, Value>>,
    /// Some arguments of the handler; the others are those of the call.
    pub set: Option<Map<String, Value>>,
    /// The JSON Schema of the structured content of a mapped result.
    pub output: Option<Value>,
    /// The result; by default the handler's.
    pub result: Option<Map<String, Value>>,
    /// JSON-RPC errors for failures of the handler.
    pub catches: Vec<CatchSpec>,
    /// How long a call may take, if that is less than the handler may take.
    pub timeout: Option<Duration>,
}

/// The tool that a virtual tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The name of the servlet.
    pub member: String,
    /// The servlet's own name for the tool.
    pub tool: String,
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.member, self.tool)
    }
}

/// How the arguments of the handler are made.
#[derive(Clone, Debug)]
pub(crate) enum Inputs {
    /// They are those of the call.
    Pass,
    /// Some are fixed, and the others are those of the call.
    Set(Vec<(String, Template)>),
    /// Each one has a template.
    Map(Vec<(String, Template)>),
}

impl Inputs {
    /// The templates, and the key of their table.
    pub(crate) fn templates(&self) -> (&'static str, &[(String, Template)]) {
        match self {
            Self::Pass => ("inputs", &[]),
            Self::Set(templates) => ("set", templates),
            Self::Map(templates) => ("inputs", templates),
        }
    }
}

/// A virtual tool whose expressions are compiled. [`prove`](Self::prove) checks that it fits its handler.
#[derive(Clone)]
pub struct VirtualTool {
    pub(crate) bundle: String,
    pub(crate) name: String,
    pub(crate) handler: Handler,
    pub(crate) shown: Map<String, Value>,
    pub(crate) arguments: Option<Value>,
    pub(crate) inputs: Inputs,
    pub(crate) output: Option<Value>,
    pub(crate) result: Option<Vec<(String, Template)>>,
    pub(crate) catches: Vec<Catch>,
    pub(crate) timeout: Option<Duration>,
}

impl fmt::Debug for VirtualTool {
    /// Constants may be secret, so they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTool")
            .field("bundle", &self.bundle)
            .field("name", &self.name)
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}

impl VirtualTool {
    /// Compiles a virtual tool and checks everything for which the handler is not needed. `expand`
    /// replaces environment variables outside of expressions.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn compile(spec: &Spec, expand: &mut Expand<'_>) -> Result<Self, Vec<Problem>> {
        let mut compiler = Compiler {
            spec,
            expand,
            problems: Vec::new(),
        };
        let tool = compiler.tool();
        match (tool, compiler.problems) {
            (Some(tool), problems) if problems.is_empty() => Ok(tool),
            (_, problems) => Err(problems),
        }
    }

    /// The name of the bundle.
    pub fn bundle(&self) -> &str {
        &self.bundle
    }

    /// The name that clients see.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool that it calls.
    pub fn handler(&self) -> &Handler {
        &self.handler
    }

    /// How long a call may take, if that is less than the handler may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

struct Compiler<'a, 'e> {
    spec: &'a Spec,
    expand: &'a mut Expand<'e>,
    problems: Vec<Problem>,
}

impl Compiler<'_, '_> {
    fn tool(&mut self) -> Option<VirtualTool> {
        let handler = self.handler();
        let inputs = self.inputs();
        let result = self.result();
        let catches = self.catches();
        self.arguments(&inputs, result.as_deref().unwrap_or_default(), &catches);
        let spec = self.spec;
        Some(VirtualTool {
            bundle: spec.bundle.clone(),
            name: spec.name.clone(),
            handler: handler?,
            shown: self.shown(),
            arguments: spec.arguments.clone(),
            inputs,
            output: spec.output.clone(),
            result,
            catches,
            timeout: spec.timeout,
        })
    }

    fn problem(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Problem::new(place, message));
    }

    fn handler(&mut self) -> Option<Handler> {
        let parts = self.spec.handler.split_once(':');
        let parts = parts.filter(|(member, tool)| !member.is_empty() && !tool.is_empty());
        let Some((member, tool)) = parts else {
            let message = "expected a member and its tool, such as \"weather:get_weather\"";
            self.problem(Place::of("handler"), message);
            return None;
        };
        Some(Handler {
            member: member.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// What the list shows instead of what the handler says.
    fn shown(&self) -> Map<String, Value> {
        let spec = self.spec;
        let texts = [("title", &spec.title), ("description", &spec.description)];
        let texts = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key, Value::from(text.clone()?))));
        let annotations = spec.annotations.clone().map(|value| ("annotations", value));
        texts
            .chain(annotations)
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    fn inputs(&mut self) -> Inputs {
        match (&self.spec.inputs, &self.spec.set) {
            (Some(_), Some(_)) => {
                let message = "`inputs` has all arguments of the handler, and `set` only those that are fixed: use one of them";
                self.problem(Place::of("set"), message);
                Inputs::Pass
            }
            (Some(inputs), None) => Inputs::Map(self.templates("inputs", inputs)),
            (None, Some(set)) => Inputs::Set(self.templates("set", set)),
            (None, None) => Inputs::Pass,
        }
    }

    fn templates(
        &mut self,
        key: &'static str,
        values: &Map<String, Value>,
    ) -> Vec<(String, Template)> {
        let session = members(&["id", "clientInfo", "capabilities"]);
        let mut request = self.request();
        request.extend([
            ("meta".to_owned(), Shape::Any),
            ("session".to_owned(), session),
        ]);
        let names = Names {
            place: key,
            roots: vec![("request", Shape::Members(request))],
        };
        let values = values.iter();
        values
            .map(|(name, value)| {
                (
                    name.clone(),
                    self.template(value, &Place::of(key).key(name), &names),
                )
            })
            .collect()
    }

    fn template(&mut self, value: &Value, place: &Place, names: &Names) -> Template {
        let template = Template::parse(value, place, self.expand, &mut self.problems);
        template.each(place, &mut |place, start, expression| {
            names.check(expression, place, start, &mut self.problems);
        });
        template
    }

    /// What all expressions can read of the request.
    fn request(&self) -> Vec<(String, Shape)> {
        let arguments = self.spec.arguments.as_ref().map(Shape::of_schema);
        let arguments = match arguments {
            Some(Shape::Members(members)) => {
                Shape::Arguments(members.into_iter().map(|(name, _)| name).collect())
            }
            _ => Shape::Any,
        };
        vec![
            ("name".to_owned(), Shape::Any),
            ("arguments".to_owned(), arguments),
        ]
    }

    fn arguments(&mut self, inputs: &Inputs, result: &[(String, Template)], catches: &[Catch]) {
        let place = Place::of("arguments");
        let Some(schema) = &self.spec.arguments else {
            return;
        };
        if !schema.is_object() {
            return self.problem(place, "expected a JSON Schema as a table");
        }
        if let Err(problem) = Validator::new(schema) {
            self.problem(place.clone(), format!("invalid JSON Schema: {problem}"));
        }
        if let Inputs::Map(templates) = inputs {
            let mut expressions = expressions(templates.iter().chain(result));
            for catch in catches {
                expressions.extend(catch.expressions());
            }
            self.unread(schema, &expressions);
        }
    }

    /// Reports arguments that no expression reads.
    fn unread(&mut self, schema: &Value, expressions: &[&Expression]) {
        let mut read = Vec::new();
        let mut reads_all = false;
        let paths = expressions.iter().flat_map(|one| &one.reads);
        for path in paths.filter(|path| path.root == "request") {
            let mut names = path.members();
            match (names.next(), names.next()) {
                (Some("arguments"), Some(name)) => read.push(name),
                (Some("arguments") | None, None) => reads_all = true,
                _ => {}
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, _) in properties.into_iter().flatten().filter(|_| !reads_all) {
            if !read.contains(&name.as_str()) {
                let place = Place::of("arguments").key("properties").key(name);
                self.problem(place, format!("no expression reads the argument `{name}`"));
            }
        }
    }

    fn result(&mut self) -> Option<Vec<(String, Template)>> {
        let place = Place::of("result");
        if let Some(output) = &self.spec.output
            && let Err(problem) = Validator::new(output)
        {
            self.problem(
                Place::of("output"),
                format!("invalid JSON Schema: {problem}"),
            );
        }
        let result = self.spec.result.as_ref()?;
        for key in result.keys().filter(|key| !RESULT.contains(&key.as_str())) {
            let message = format!("a result has {}, not `{key}`", listed(RESULT));
            self.problem(place.key(key), message);
        }
        if !result.contains_key("content") {
            self.problem(
                place.clone(),
                "a result needs `content`, a list of content blocks",
            );
        }
        if self.spec.output.is_some() && !result.contains_key("structuredContent") {
            let message = format!(
                "tool `{}` has an output schema, so its `result` needs `structuredContent`",
                self.spec.name
            );
            self.problem(place.clone(), message);
        }
        let names = Names {
            place: "result",
            roots: vec![
                ("request", Shape::Members(self.request())),
                ("result", Shape::Any),
            ],
        };
        let mut parts = Vec::new();
        for (key, value) in result {
            let (place, before) = (place.key(key), self.problems.len());
            let template = self.template(value, &place, &names);
            // The type of a wrong expression is not known.
            if self.problems.len() == before {
                self.result_part(key, &template, &place);
            }
            parts.push((key.clone(), template));
        }
        Some(parts)
    }

    /// Reports what is wrong with a part of the result in every call.
    fn result_part(&mut self, key: &str, part: &Template, place: &Place) {
        let (spec, problems) = (self.spec, &mut self.problems);
        match (key, &spec.output) {
            ("content", _) => content::check(part, place, problems),
            ("isError", _) => part.expect("a boolean", place, problems),
            ("_meta", _) => part.expect("an object", place, problems),
            ("structuredContent", Some(output)) if !is_always_error(spec) => {
                structured::check(part, output, place, problems);
            }
            _ => {}
        }
    }

    fn catches(&mut self) -> Vec<Catch> {
        let error = members(&["code", "message", "data"]);
        let names = Names {
            place: "catches",
            roots: vec![
                ("request", Shape::Members(self.request())),
                ("error", error),
            ],
        };
        let specs = self.spec.catches.iter().enumerate();
        let mut catches = Vec::new();
        for (number, spec) in specs {
            let place = Place::of("catches").item(number);
            catches.extend(catches::compile(
                spec,
                &place,
                &names,
                self.expand,
                &mut self.problems,
            ));
        }
        catches::check_order(&self.spec.catches, &mut self.problems);
        catches
    }
}

/// Whether the result is an error in every call. Such a result does not have to match the output schema.
fn is_always_error(spec: &Spec) -> bool {
    let result = spec.result.as_ref();
    result.and_then(|result| result.get("isError")) == Some(&Value::Bool(true))
}

/// All expressions of named templates.
fn expressions<'t>(templates: impl Iterator<Item = &'t (String, Template)>) -> Vec<&'t Expression> {
    let mut expressions = Vec::new();
    for (_, template) in templates {
        template.each(&Place::default(), &mut |_, _, one| expressions.push(one));
    }
    expressions
}
