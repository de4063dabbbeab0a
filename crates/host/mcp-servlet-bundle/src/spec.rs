//! The definition of a virtual tool in a file, and its compiled form.

mod catches;
mod content;
mod steps;
mod structured;

use std::{
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use mcp_servlet_schema::Validator;
use serde_json::{Map, Value};

use crate::{
    problem::{Place, Problem, listed},
    step::{RESULT, Step},
    template::{Expand, Template},
    values::Values,
};
pub(crate) use catches::{Catch, Code};
pub use catches::{CatchSpec, ErrorSpec};
pub(crate) use content::problem as content_problem;
pub use steps::StepSpec;

/// The table `[bundle.BUNDLE.tool.NAME]`, which defines a virtual tool.
#[derive(Clone, Default, Hash)]
pub struct Spec {
    /// The name of the bundle.
    pub bundle: String,
    /// The name that clients see.
    pub name: String,
    /// The tool that it calls: `MEMBER:TOOL`. `None` if it has steps.
    pub handler: Option<String>,
    /// The steps, in the order of the file.
    pub steps: Vec<StepSpec>,
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
    pub(crate) fn templates(&self) -> &[(String, Template)] {
        match self {
            Self::Pass => &[],
            Self::Set(templates) | Self::Map(templates) => templates,
        }
    }

    /// The key of the table.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Set(_) => "set",
            Self::Pass | Self::Map(_) => "inputs",
        }
    }
}

/// A virtual tool whose expressions are compiled. [`prove`](Self::prove) checks that it fits its handlers.
#[derive(Clone)]
pub struct VirtualTool {
    pub(crate) bundle: String,
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) shown: Map<String, Value>,
    pub(crate) arguments: Option<Value>,
    pub(crate) output: Option<Value>,
    pub(crate) result: Option<Vec<(String, Template)>>,
    pub(crate) catches: Vec<Catch>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) warnings: Vec<Problem>,
    /// What is wrong with it, as far as that is known without the handlers.
    pub(crate) mistakes: Vec<Problem>,
    digest: u64,
}

impl fmt::Debug for VirtualTool {
    /// Constants may be secret, so they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTool")
            .field("bundle", &self.bundle)
            .field("name", &self.name)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl VirtualTool {
    /// Compiles a virtual tool and checks everything for which the handlers are not needed. `expand`
    /// replaces environment variables outside of expressions.
    ///
    /// # Errors
    /// Every problem, with its place.
    pub fn compile(spec: &Spec, expand: &mut Expand<'_>) -> Result<Self, Vec<Problem>> {
        let tool = Self::compile_with_mistakes(spec, expand);
        if tool.mistakes.is_empty() {
            Ok(tool)
        } else {
            Err(tool.mistakes)
        }
    }

    /// The same, but a tool with [`mistakes`](Self::mistakes) is only good for [`prove`](Self::prove), which finds those that these
    /// would hide.
    pub fn compile_with_mistakes(spec: &Spec, expand: &mut Expand<'_>) -> Self {
        let mut compiler = Compiler {
            spec,
            expand,
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        let mut tool = compiler.tool();
        tool.mistakes = compiler.problems;
        tool
    }

    /// What is wrong with it, as far as that is known without the handlers.
    pub fn mistakes(&self) -> &[Problem] {
        &self.mistakes
    }

    /// The name of the bundle.
    pub fn bundle(&self) -> &str {
        &self.bundle
    }

    /// The name that clients see.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it calls. A tool with `handler` has one step, without a name.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it has steps instead of `handler`.
    pub fn has_steps(&self) -> bool {
        self.steps.iter().any(|step| step.name.is_some())
    }

    /// Whether all arguments of the handlers are made by `inputs`.
    pub(crate) fn maps_all_inputs(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.all(|step| matches!(step.inputs, Inputs::Map(_)))
    }

    /// A digest of the definition. It is the same in all processes of one version of this program.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// How long all steps together may take. `None` if it has no steps, or no limit.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

struct Compiler<'a, 'e> {
    spec: &'a Spec,
    expand: &'a mut Expand<'e>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Compiler<'_, '_> {
    fn tool(&mut self) -> VirtualTool {
        let spec = self.spec;
        let steps = self.steps();
        let has_steps = spec.handler.is_none() && !spec.steps.is_empty();
        let mut tool = VirtualTool {
            bundle: spec.bundle.clone(),
            name: spec.name.clone(),
            steps,
            shown: self.shown(),
            arguments: spec.arguments.clone(),
            output: spec.output.clone(),
            result: self.result(has_steps),
            catches: self.catches(),
            timeout: spec.timeout.filter(|_| has_steps),
            warnings: Vec::new(),
            mistakes: Vec::new(),
            digest: digest(spec),
        };
        self.values(&tool);
        self.arguments(&tool);
        if has_steps {
            self.order(&mut tool);
        }
        tool.warnings = std::mem::take(&mut self.warnings);
        tool
    }

    /// Checks the names and types of what expressions read, as far as they are known without the handlers.
    fn values(&mut self, tool: &VirtualTool) {
        let values = Values::of_file(tool);
        for found in tool.expressions() {
            values.check(&found, &mut self.problems);
        }
    }

    fn problem(&mut self, place: Place, message: impl Into<String>) {
        self.problems.push(Problem::new(place, message));
    }

    /// What the list shows instead of what the handler says.
    fn shown(&self) -> Map<String, Value> {
        let spec = self.spec;
        let texts = [("title", &spec.title), ("description", &spec.description)]
            .into_iter()
            .filter_map(|(key, text)| Some((key, Value::from(text.clone()?))));
        let annotations = spec.annotations.clone().map(|value| ("annotations", value));
        texts
            .chain(annotations)
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    fn templates(&mut self, place: &Place, values: &Map<String, Value>) -> Vec<(String, Template)> {
        let values = values.iter();
        values
            .map(|(name, value)| (name.clone(), self.template(value, &place.key(name))))
            .collect()
    }

    fn template(&mut self, value: &Value, place: &Place) -> Template {
        Template::parse(value, place, self.expand, &mut self.problems)
    }

    fn arguments(&mut self, tool: &VirtualTool) {
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
        // It is unknown which arguments a wrong expression reads.
        if tool.maps_all_inputs() && self.problems.is_empty() {
            self.unread(schema, tool);
        }
    }

    /// Reports arguments that no expression reads.
    fn unread(&mut self, schema: &Value, tool: &VirtualTool) {
        let mut read = Vec::new();
        let mut reads_all = false;
        let found = tool.expressions();
        let paths = found.iter().flat_map(|one| &one.expression.reads);
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

    fn result(&mut self, has_steps: bool) -> Option<Vec<(String, Template)>> {
        let place = Place::of("result");
        if has_steps && self.spec.result.is_none() {
            self.problem(Place::default(), "a tool with steps needs `result`");
        }
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
        let mut parts = Vec::new();
        for (key, value) in result {
            let (place, before) = (place.key(key), self.problems.len());
            let template = self.template(value, &place);
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
            ("content", _) => content::check_content(part, place, problems),
            ("isError", _) => part.expect("a boolean", place, problems),
            ("_meta", _) => part.expect("an object", place, problems),
            ("structuredContent", Some(output)) if !is_always_error(spec) => {
                structured::check_structured(part, output, place, problems);
            }
            _ => {}
        }
    }

    fn catches(&mut self) -> Vec<Catch> {
        let specs = self.spec.catches.iter().enumerate();
        let mut catches = Vec::new();
        for (number, spec) in specs {
            let place = Place::of("catches").item(number);
            catches.extend(catches::compile(
                spec,
                &place,
                self.expand,
                &mut self.problems,
            ));
        }
        catches::check_order(&self.spec.catches, &mut self.problems);
        catches
    }
}

fn digest(spec: &Spec) -> u64 {
    let mut hasher = DefaultHasher::new();
    spec.hash(&mut hasher);
    hasher.finish()
}

/// Whether the result is an error in every call. Such a result does not have to match the output schema.
fn is_always_error(spec: &Spec) -> bool {
    let result = spec.result.as_ref();
    result.and_then(|result| result.get("isError")) == Some(&Value::Bool(true))
}
