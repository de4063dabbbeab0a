//! The types of values: what expressions read, and whether inputs make what handlers take.

use mcp_servlet_expression::{Access, Fit, Misfit, Path, Reason, Type, Wrong};
use serde_json::Value;

use super::{Handler, Proof};
use crate::{
    expressions::{Found, Reader},
    input_schema::InputSchema,
    problem::{Problem, listed},
    shape::RESULT,
    spec::VirtualTool,
    step::Target,
    template::Template,
};

/// What is known about the values that expressions read.
pub(super) struct Values {
    request: Type,
    /// The values of the steps, or `None` for a tool with `handler`.
    steps: Option<Type>,
    /// The result of the handler.
    result: Type,
    /// The items of each step with `each`.
    items: Vec<Type>,
}

impl Values {
    pub(super) fn new(proof: &Proof<'_>, arguments: &InputSchema) -> Self {
        let schema = arguments.json();
        let request = Type::ANY.with("arguments", Type::of_schema(schema, schema));
        let has_steps = proof.tool.has_steps();
        let all = proof.handlers.iter().filter_map(|handler| {
            let name = handler.step.name.as_deref()?;
            let value = match (&handler.step.each, &handler.step.when) {
                (Some(_), None) => Type::list(value_of(handler)),
                (Some(_), Some(_)) => Type::list(value_of(handler)).or_absent(),
                (None, Some(_)) => value_of(handler).or_absent(),
                (None, None) => value_of(handler),
            };
            Some((name, value))
        });
        let mut values = Self {
            request,
            steps: has_steps.then(|| Type::object(all)),
            result: match proof.handlers.first() {
                Some(handler) if !has_steps => value_of(handler),
                _ => Type::ANY,
            },
            items: Vec::new(),
        };
        let items = proof.tool.steps.iter().map(|step| {
            let each = step.each.as_ref()?;
            let list = each.list.expression.infer(&values.scope(None));
            list.value.items()
        });
        values.items = items.map(|items| items.unwrap_or(Type::ANY)).collect();
        values
    }

    /// The types of the names that an expression reads. `step` is the number of a step, in whose inputs it is.
    fn scope(&self, step: Option<usize>) -> Vec<(&'static str, Type)> {
        let mut scope = vec![("request", self.request.clone())];
        match &self.steps {
            Some(steps) => scope.push(("steps", steps.clone())),
            None => scope.push(("result", self.result.clone())),
        }
        if let Some(item) = step.and_then(|step| self.items.get(step)) {
            scope.extend([("item", item.clone()), ("index", Type::integer())]);
        }
        scope
    }

    /// Reports mistakes of an expression that do not depend on the values of a call.
    pub(super) fn check(&self, found: &Found<'_>, proof: &mut Proof<'_>) {
        let inferred = found.expression.infer(&self.scope(found.step));
        let before = proof.problems.len();
        for wrong in inferred.wrong {
            let Some(message) = message(&wrong, proof) else {
                continue;
            };
            proof
                .problems
                .push(found.problem(&wrong.mistake.range, message));
        }
        if proof.problems.len() > before {
            return;
        }
        let value = &inferred.value;
        let subject = subject(found.expression.path());
        let problem = match found.reader {
            Reader::Step("each") if value.is_never_list() => {
                Some(format!("`each` needs a list; {subject} is {value}"))
            }
            Reader::Step("when") if value.is_never_boolean() => {
                Some(format!("`when` needs true or false; {subject} is {value}"))
            }
            _ => None,
        };
        let range = found.expression.range();
        let problem = problem.map(|message| found.problem(&range, message));
        proof.problems.extend(problem);
    }

    /// Reports inputs that the handlers do not take.
    pub(super) fn fit(&self, proof: &mut Proof<'_>) {
        for (number, handler) in proof.handlers.iter().enumerate() {
            let place = handler.step.inputs_place();
            for (input, template) in handler.step.inputs.templates() {
                let place = place.key(input);
                // A problem within this input is reported already.
                let is_known = |problem: &Problem| problem.place.is_within(&place);
                if proof.problems.iter().any(is_known) || template.constant().is_some() {
                    continue;
                }
                let Some(schema) = handler.input_schema.argument(input) else {
                    continue;
                };
                let wanted = Type::of_schema(handler.input_schema.json(), schema);
                let input = Input {
                    name: input,
                    template,
                    handler,
                };
                let (message, is_wrong) =
                    match self.of_template(template, Some(number)).fit(&wanted) {
                        Fit::Fits => continue,
                        Fit::Unproved => (input.unproved(&wanted, proof), false),
                        Fit::Misfit(misfit) => (input.wrong(misfit, proof), true),
                    };
                let problem = match template {
                    Template::One(expression, start) => {
                        let range = expression.range();
                        Problem::within(place, range.start + start..range.end + start, message)
                    }
                    _ => Problem::new(place, message),
                };
                if is_wrong {
                    proof.problems.push(problem);
                } else {
                    proof.unproved.push(problem);
                }
            }
        }
    }

    /// The schema of the structured content of a tool without an output schema, if more is known than that it is an object.
    pub(super) fn of_structured_content(&self, tool: &VirtualTool) -> Option<Value> {
        let mut result = tool.result.iter().flatten();
        let content = result.find(|(key, _)| key == "structuredContent");
        let (_, template) = content.filter(|_| tool.output.is_none())?;
        let schema = self.of_template(template, None).to_schema();
        schema.get("properties").is_some().then_some(schema)
    }

    /// The type of a value. `step` is the number of a step, in whose inputs it is.
    fn of_template(&self, template: &Template, step: Option<usize>) -> Type {
        match template {
            Template::Constant(value) => Type::of_value(value),
            Template::One(expression, _) => expression.infer(&self.scope(step)).value,
            Template::Text(_) => Type::string(),
            Template::List(items) => {
                let items = items.iter().map(|item| self.of_template(item, step));
                let items = items.reduce(|one, other| one.or(&other));
                Type::list(items.unwrap_or(Type::ANY))
            }
            Template::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, one)| (name, self.of_template(one, step)));
                Type::object(members)
            }
        }
    }
}

/// What a handler returns, as expressions see it: the members of a result, and those of its structured content.
fn value_of(handler: &Handler<'_>) -> Type {
    let value = match (&handler.step.target, handler.output()) {
        (Target::Resource(_), _) => {
            Type::object::<&str>([]).with("contents", Type::list(Type::ANY))
        }
        (Target::Tool(_), None) => of_tool(&Type::object::<&str>([]), Type::ANY),
        (Target::Tool(_), Some(schema)) => {
            let structured = Type::of_schema(schema, schema);
            of_tool(&structured, structured.clone())
        }
    };
    let value = value.with("_meta", Type::ANY.or_absent());
    if handler.step.may_fail {
        let value = value.with("isError", Type::boolean());
        value.with("error", Type::ANY.or_absent())
    } else {
        value
    }
}

/// The result of a tool, with the members of its structured content.
fn of_tool(members: &Type, structured: Type) -> Type {
    members
        .with("content", Type::list(Type::ANY))
        .with("structuredContent", structured)
        .with("isError", Type::boolean())
}

/// What is wrong with a part of an expression. `None` if the check of names reports it.
fn message(wrong: &Wrong, proof: &Proof<'_>) -> Option<String> {
    let Some(Access {
        path,
        found,
        member,
    }) = &wrong.access
    else {
        return Some(wrong.mistake.message.clone());
    };
    let Some(path) = path else {
        return Some(wrong.mistake.message.clone());
    };
    if path.root == "request" {
        return None;
    }
    let is_whole = match path.root.as_str() {
        "steps" => path.steps.len() == 1,
        _ => path.steps.is_empty(),
    };
    let Some(handler) = handler_of(path, proof).filter(|_| is_whole) else {
        return Some(wrong.mistake.message.clone());
    };
    let target = &handler.step.target;
    let is_tool = matches!(target, Target::Tool(_));
    if is_tool && handler.output().is_none() {
        return Some(format!(
            "`{target}` has no output schema: write `{path}.structuredContent.{member}`"
        ));
    }
    let known = found.members();
    let of_schema = known.filter(|name| *name != "error" && !RESULT.contains(name));
    let known = listed(of_schema);
    Some(if is_tool {
        format!("`{target}` has no `{member}` in its output schema; it has {known}")
    } else {
        format!("`{path}` has no `{member}`; it has {known}")
    })
}

/// The handler that returns the value that a path reads.
fn handler_of<'p, 'a>(path: &Path, proof: &'p Proof<'a>) -> Option<&'p Handler<'a>> {
    match path.root.as_str() {
        "result" => proof.handlers.first(),
        "steps" => {
            let name = path.steps.first()?.name()?;
            let mut handlers = proof.handlers.iter();
            handlers.find(|handler| handler.step.name.as_deref() == Some(name))
        }
        _ => None,
    }
}

/// An expression in messages.
fn subject(path: Option<&Path>) -> String {
    path.map_or_else(|| "this expression".to_owned(), |path| format!("`{path}`"))
}

/// An input of a step.
struct Input<'p, 'a> {
    name: &'p str,
    template: &'p Template,
    handler: &'p Handler<'a>,
}

impl Input<'_, '_> {
    /// The problem with an input that the handler does not take.
    fn wrong(&self, Misfit { pointer, reason }: Misfit, proof: &Proof<'_>) -> String {
        let (name, target) = (self.name, &self.handler.step.target);
        let (parent, last) = pointer.rsplit_once('/').unwrap_or_default();
        match reason {
            Reason::Type { found, wanted } if pointer.is_empty() => {
                let (subject, source) = self.origin(proof);
                format!("{subject} is {found}{source}, but `{target}` takes {wanted} for `{name}`")
            }
            Reason::Type { found, wanted } => format!(
                "`{pointer}` of this value is {found}, but `{target}` takes {wanted} there (for `{name}`)"
            ),
            Reason::Missing => {
                format!("`{target}` needs `{pointer}` in `{name}`, which this value does not have")
            }
            Reason::Unexpected => format!(
                "`{target}` has no `{last}` in `{name}{parent}`: leave it out of this value"
            ),
        }
    }

    /// What is not known about an input.
    fn unproved(&self, wanted: &Type, proof: &Proof<'_>) -> String {
        let (name, target) = (self.name, &self.handler.step.target);
        let (subject, _) = self.origin(proof);
        format!("{subject} may not be {wanted}, which `{target}` takes for `{name}`")
    }

    /// The value in messages, and where its type comes from.
    fn origin(&self, proof: &Proof<'_>) -> (String, String) {
        if let Some(argument) = self.template.argument() {
            return (format!("the argument `{argument}`"), String::new());
        }
        let Template::One(expression, _) = self.template else {
            return ("this value".to_owned(), String::new());
        };
        let path = expression.path();
        let each = self.handler.step.each.as_ref();
        let source = match path {
            Some(path) if path.root == "item" => each.and_then(|each| each.list.expression.path()),
            path => path,
        };
        let source = source.and_then(|path| handler_of(path, proof));
        let source =
            source.map(|handler| format!(" in the output schema of `{}`", handler.step.target));
        (subject(path), source.unwrap_or_default())
    }
}
