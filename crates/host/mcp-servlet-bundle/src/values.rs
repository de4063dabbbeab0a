//! The types of the values that expressions read, and mistakes of expressions that do not depend on the values of a call.

use mcp_servlet_expression::{Access, Mistake, Path, PathStep, Type, Wrong};
use serde_json::Value;

use crate::{
    expressions::{Found, Reader},
    names::{self, Names, members, there_is_no},
    problem::{Problem, listed},
    spec::VirtualTool,
    step::{RESULT, Step, Target},
    template::Template,
};

/// The output schema of a handler that is not known.
const ANYTHING: &Value = &Value::Bool(true);

/// What is known about the values that the expressions of a tool read.
pub(crate) struct Values<'a> {
    tool: &'a VirtualTool,
    /// The output schema of the handler of each step, if it has one.
    outputs: Vec<Option<&'a Value>>,
    /// The request, as `result` and `catches` see it.
    request: Type,
    /// The values of the steps.
    steps: Type,
    /// The items of each step with `each`.
    items: Vec<Type>,
}

impl<'a> Values<'a> {
    /// What is known from the file alone.
    pub(crate) fn of_file(tool: &'a VirtualTool) -> Self {
        let outputs = tool.steps.iter().map(|_| Some(ANYTHING));
        Self::new(tool, outputs.collect(), tool.arguments.as_ref())
    }

    /// `outputs` are the output schemas of the handlers, and `arguments` is the input schema of the tool, if it is known.
    pub(crate) fn new(
        tool: &'a VirtualTool,
        outputs: Vec<Option<&'a Value>>,
        arguments: Option<&Value>,
    ) -> Self {
        let arguments = arguments.map_or(Type::ANY, |schema| Type::of_schema(schema, schema));
        let none = Type::object::<&str>([]);
        let mut steps = none.uncertain("step `{}` has `when`, so it may be absent");
        for (step, output) in tool.steps.iter().zip(&outputs) {
            if let Some(name) = step.name() {
                steps = steps.with(name, of_step(step, *output));
            }
        }
        let mut values = Self {
            tool,
            outputs,
            request: members(&["name"]).with("arguments", arguments),
            steps,
            items: Vec::new(),
        };
        let names = values.names(Reader::Step("each"), None);
        let items = tool.steps.iter().map(|step| {
            let list = &step.each.as_ref()?.list;
            list.expression.infer(&names).value.items()
        });
        values.items = items.map(|items| items.unwrap_or(Type::ANY)).collect();
        values
    }

    /// What expressions can read. `step` is the number of the step that they belong to.
    fn names(&self, reader: Reader, step: Option<usize>) -> Names {
        let (request, has_steps) = (&self.request, self.tool.has_steps());
        let request = match reader {
            Reader::Result | Reader::Catches => request.clone(),
            _ => request
                .with("meta", Type::ANY)
                .with("session", members(&["id", "clientInfo", "capabilities"])),
        };
        let mut names = vec![("request", request)];
        names.extend(match reader {
            Reader::Catches if has_steps => {
                Some(("error", members(&["code", "message", "data", "step"])))
            }
            Reader::Catches => Some(("error", members(&["code", "message", "data"]))),
            _ if has_steps => Some(("steps", self.steps.clone())),
            Reader::Result => Some(("result", self.of_handler())),
            _ => None,
        });
        let items = (reader == Reader::ItemInputs).then_some(&self.items);
        if let (Some(items), Some(step)) = (items, step) {
            names.extend([("item", items[step].clone()), ("index", Type::integer())]);
        }
        names
    }

    /// The result of the handler of a tool without steps.
    fn of_handler(&self) -> Type {
        match (self.tool.steps.as_slice(), self.outputs.as_slice()) {
            ([step], [output]) => of_step(step, *output),
            _ => Type::ANY,
        }
    }

    /// Reports mistakes of an expression that do not depend on the values of a call.
    pub(crate) fn check(&self, found: &Found<'_>, problems: &mut Vec<Problem>) {
        let names = self.names(found.reader, found.step);
        let inferred = found.expression.infer(&names);
        let mut mistakes = names::unknown(found.expression, found.reader.key(), &names);
        let reads = found.expression.reads.iter();
        mistakes.extend(reads.filter_map(|path| self.misread(path)));
        let wrong = inferred.wrong.into_iter();
        mistakes.extend(wrong.filter_map(|wrong| self.mistake(wrong, found)));
        if mistakes.is_empty() {
            let value = &inferred.value;
            let subject = subject(found.expression.path());
            let message = match found.reader {
                Reader::Step("each") if value.is_never_list() => {
                    Some(format!("`each` needs a list; {subject} is {value}"))
                }
                Reader::Step("when") if value.is_never_boolean() => {
                    Some(format!("`when` needs true or false; {subject} is {value}"))
                }
                _ => None,
            };
            let range = found.expression.range();
            mistakes.extend(message.map(|message| Mistake { range, message }));
        }
        let mistakes = mistakes.into_iter();
        problems.extend(mistakes.map(|Mistake { range, message }| found.problem(&range, message)));
    }

    /// What is wrong with a path through `steps`, whatever the types of their values are.
    fn misread(&self, path: &Path) -> Option<Mistake> {
        if path.root != "steps" || !self.tool.has_steps() {
            return None;
        }
        let Some(PathStep::Member { name, .. }) = path.steps.first() else {
            let message = "write `steps.NAME`: which steps are read must be known before the call";
            return Some(Mistake {
                range: path.range.clone(),
                message: message.to_owned(),
            });
        };
        let PathStep::Member {
            name: member,
            range,
            ..
        } = path.steps.get(1)?
        else {
            return None;
        };
        let step = &self.tool.steps[self.number_of(name)?];
        step.each.as_ref()?;
        let mark = if step.may_fail && member != "isError" {
            "?"
        } else {
            ""
        };
        let message = format!(
            "`steps.{name}` is a list, because of `each`: write `steps.{name}.map(s, s.{mark}{member})` or `steps.{name}[0].{mark}{member}`"
        );
        Some(Mistake {
            range: range.clone(),
            message,
        })
    }

    /// The mistake of a part of an expression in the words of the file. `None` if another check reports it.
    fn mistake(&self, Wrong { mistake, access }: Wrong, found: &Found<'_>) -> Option<Mistake> {
        let Some(Access {
            path: Some(path),
            found: value,
            member,
        }) = access
        else {
            return Some(mistake);
        };
        let names: Vec<_> = path.steps.iter().map(PathStep::name).collect();
        let message = match (path.root.as_str(), names.as_slice()) {
            ("steps", []) => there_is_no(
                "step",
                &member,
                self.tool.steps.iter().filter_map(Step::name),
            ),
            ("request", [Some("arguments")]) if !self.are_arguments_known(found) => return None,
            ("request", [Some("arguments")]) => there_is_no("argument", &member, value.members()),
            _ => match self.step_of(&path) {
                // A list: see `misread`.
                Some(step) if self.tool.steps[step].each.is_some() => return None,
                Some(step) => match self.no_member(step, &path, &value, &member) {
                    Some(message) => message,
                    None => return Some(mistake),
                },
                None => return Some(mistake),
            },
        };
        let range = mistake.range;
        Some(Mistake { range, message })
    }

    /// Whether an unknown argument is a mistake. Those that are made from inputs have messages of their own.
    fn are_arguments_known(&self, found: &Found<'_>) -> bool {
        let tool = self.tool;
        let are_derived = tool.maps_all_inputs() && found.step.is_some();
        tool.arguments.is_some() || tool.mistakes.is_empty() && !are_derived
    }

    /// The message about a member that the result of a tool does not have.
    fn no_member(&self, step: usize, path: &Path, value: &Type, member: &str) -> Option<String> {
        let target = &self.tool.steps[step].target;
        if !matches!(target, Target::Tool(_)) {
            return None;
        }
        if self.outputs[step].is_none() {
            return Some(format!(
                "`{target}` has no output schema: write `{path}.structuredContent.{member}`"
            ));
        }
        let of_schema = |name: &&str| *name != "error" && !RESULT.contains(name);
        let known = listed(value.members().filter(of_schema));
        Some(format!(
            "`{target}` has no `{member}` in its output schema; it has {known}"
        ))
    }

    /// The number of the step whose whole value a path reads.
    fn step_of(&self, path: &Path) -> Option<usize> {
        match (path.root.as_str(), path.steps.as_slice()) {
            ("result", []) => Some(0),
            ("steps", [step]) => self.number_of(step.name()?),
            _ => None,
        }
    }

    fn number_of(&self, name: &str) -> Option<usize> {
        let mut steps = self.tool.steps.iter();
        steps.position(|step| step.name() == Some(name))
    }

    /// The step in whose value a path begins.
    pub(crate) fn source(&self, path: &Path) -> Option<&'a Step> {
        let number = match path.root.as_str() {
            "result" => 0,
            "steps" => self.number_of(path.steps.first()?.name()?)?,
            _ => return None,
        };
        self.tool.steps.get(number)
    }

    /// The schema of the structured content of a tool without an output schema, if more is known than that it is an object.
    pub(crate) fn of_structured_content(&self) -> Option<Value> {
        let mut result = self.tool.result.iter().flatten();
        let content = result.find(|(key, _)| key == "structuredContent");
        let (_, template) = content.filter(|_| self.tool.output.is_none())?;
        let schema = of_template(template, &self.names(Reader::Result, None)).to_schema();
        schema.get("properties").is_some().then_some(schema)
    }

    /// The type of an input of a step.
    pub(crate) fn of_input(&self, step: usize, template: &Template) -> Type {
        let reader = Reader::of_inputs(&self.tool.steps[step]);
        of_template(template, &self.names(reader, Some(step)))
    }
}

fn of_template(template: &Template, names: &Names) -> Type {
    match template {
        Template::Constant(value) => Type::of_value(value),
        Template::One(expression, _) => expression.infer(names).value,
        Template::Text(_) => Type::string(),
        Template::List(items) => {
            let joined = items
                .iter()
                .map(|item| of_template(item, names))
                .reduce(|one, other| one.or(&other));
            Type::list(joined.unwrap_or(Type::ANY))
        }
        Template::Object(members) => {
            let members = members.iter();
            Type::object(members.map(|(name, one)| (name, of_template(one, names))))
        }
    }
}

/// The value of a step. `output` is the output schema of its tool.
fn of_step(step: &Step, output: Option<&Value>) -> Type {
    let value = of_call(step, output);
    let value = match step.each {
        Some(_) => Type::list(value),
        None => value,
    };
    match step.when {
        Some(_) => value.or_absent(),
        None => value,
    }
}

/// What a call of a step returns, as expressions see it: the members of a result, and those of its structured content.
fn of_call(step: &Step, output: Option<&Value>) -> Type {
    let none = Type::object::<&str>([]);
    let answer = match (&step.target, output) {
        (Target::Resource(_), _) => none.with("contents", Type::list(Type::ANY)),
        (Target::Tool(_), None) => of_tool(&none, Type::ANY),
        (Target::Tool(_), Some(schema)) => {
            let structured = Type::of_schema(schema, schema);
            of_tool(&structured, structured.clone())
        }
    };
    let value = answer.with("_meta", Type::ANY.or_absent());
    let Some(name) = step.name().filter(|_| step.may_fail) else {
        return value;
    };
    value
        .with("error", Type::ANY)
        .uncertain(&format!("step `{name}` may fail, so `{{}}` may be absent"))
        .with("isError", Type::boolean())
}

/// The result of a tool, with the members of its structured content.
fn of_tool(members: &Type, structured: Type) -> Type {
    members
        .with("content", Type::list(Type::ANY))
        .with("structuredContent", structured)
        .with("isError", Type::boolean())
}

/// An expression in messages.
pub(crate) fn subject(path: Option<&Path>) -> String {
    path.map_or_else(|| "this expression".to_owned(), |path| format!("`{path}`"))
}
