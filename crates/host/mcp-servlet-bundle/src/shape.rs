//! Which names expressions can read, as far as that is known before a call.

use mcp_servlet_expression::{Expression, Path, PathStep, Type};
use mcp_servlet_schema::similar;
use serde_json::Value;

use crate::{
    problem::{Place, Problem, listed},
    step::{Step, Target},
};

/// What is known about a value.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// An object with these members and no others.
    Members(Vec<(String, Shape)>),
    /// The arguments of the tool.
    Arguments(Vec<String>),
    /// The values of the steps.
    Steps(Vec<StepShape>),
    /// The values of a step with `each`.
    List,
    /// The value of a step that may fail.
    Uncertain(Box<Shape>),
}

/// What is known about the value of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepShape {
    name: String,
    /// Whether it is absent if its `when` is false.
    may_be_skipped: bool,
    shape: Shape,
}

impl StepShape {
    /// The value of a step, if it has a name.
    pub(crate) fn of(step: &Step) -> Option<Self> {
        let result = match &step.target {
            Target::Tool(_) => Shape::Any,
            Target::Resource(_) => members(&["contents", "_meta"]),
        };
        let shape = match (&step.each, step.may_fail) {
            (Some(_), _) => Shape::List,
            (None, true) => Shape::Uncertain(Box::new(result)),
            (None, false) => result,
        };
        Some(Self {
            name: step.name.clone()?,
            may_be_skipped: step.when.is_some(),
            shape,
        })
    }
}

/// The members of every result.
pub(crate) const RESULT: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];

/// What the expressions of one place can read.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The place in words, such as `inputs`.
    pub(crate) place: &'static str,
    pub(crate) roots: Vec<(&'static str, Shape)>,
}

/// The names of all places, and where they are known.
const ROOTS: [(&str, &str); 6] = [
    ("request", "`inputs`, `set`, `result` and `catches`"),
    ("result", "`result`"),
    ("error", "`catches`"),
    ("steps", "the steps and the `result` of a tool with steps"),
    ("item", "`inputs` of a step with `each`"),
    ("index", "`inputs` of a step with `each`"),
];

/// An object with members of unknown shapes.
pub(crate) fn members(names: &[&str]) -> Shape {
    let names = names.iter().map(|name| ((*name).to_owned(), Shape::Any));
    Shape::Members(names.collect())
}

impl Names {
    /// Adds a problem for each name that an expression cannot read.
    pub(crate) fn check(
        &self,
        expression: &Expression,
        place: &Place,
        start: usize,
        problems: &mut Vec<Problem>,
    ) {
        for path in &expression.reads {
            if let Some((range, message)) = self.problem(path) {
                let range = range.start + start..range.end + start;
                problems.push(Problem::within(place.clone(), range, message));
            }
        }
    }

    fn problem(&self, path: &Path) -> Option<(std::ops::Range<usize>, String)> {
        let Some((_, shape)) = self.roots.iter().find(|(name, _)| *name == path.root) else {
            return Some((path.range.clone(), self.unknown_root(&path.root)));
        };
        let mut shape = shape;
        let mut name = path.root.clone();
        let mut may_be_absent = false;
        if let (Shape::Steps(_), None | Some(PathStep::Item { .. })) = (shape, path.steps.first()) {
            let message = "write `steps.NAME`: which steps are read must be known before the call";
            return Some((path.range.clone(), message.to_owned()));
        }
        for step in &path.steps {
            let PathStep::Member {
                name: member,
                range,
                is_optional,
            } = step
            else {
                return None;
            };
            may_be_absent |= is_optional;
            match shape.member(&name, member, may_be_absent) {
                Ok(next) => shape = next,
                Err(message) => return Some((range.clone(), message)),
            }
            name = format!("{name}.{member}");
        }
        None
    }

    fn unknown_root(&self, name: &str) -> String {
        let place = self.place;
        let has_steps = self.roots.iter().any(|(root, _)| *root == "steps");
        if name == "result" && has_steps {
            return "a tool with steps has no `result` of a handler: write `steps.NAME`".to_owned();
        }
        if let Some((_, places)) = ROOTS.iter().find(|(known, _)| *known == name) {
            return format!("`{name}` is not known in `{place}`, only in {places}");
        }
        // The expressions of other programs have these.
        if ["env", "secrets"].contains(&name) {
            return format!(
                "there is no `{name}` here; write `${{NAME}}` for an environment variable"
            );
        }
        let known = self.roots.iter().map(|(name, _)| *name);
        format!(
            "there is no `{name}` here; `{place}` can read {}",
            listed(known)
        )
    }
}

static ANY: Shape = Shape::Any;

impl Shape {
    /// A member of the value that has this name. `may_be_absent` is whether the expression allows that.
    fn member(&self, name: &str, member: &str, may_be_absent: bool) -> Result<&Self, String> {
        let find =
            |members: &'_ [(String, Self)]| members.iter().position(|(known, _)| known == member);
        match self {
            Self::Any => Ok(&ANY),
            Self::Members(members) => find(members).map(|at| &members[at].1).ok_or_else(|| {
                let known = listed(members.iter().map(|(name, _)| name.as_str()));
                format!("`{name}` has no `{member}`; it has {known}")
            }),
            Self::Arguments(names) if names.iter().any(|known| known == member) => Ok(&ANY),
            Self::Arguments(names) => Err(no_argument(member, names)),
            Self::Steps(steps) => match steps.iter().find(|step| step.name == member) {
                None => Err(no_step(member, steps.iter().map(|step| &*step.name))),
                Some(step) if step.may_be_skipped && !may_be_absent => Err(format!(
                    "step `{member}` has `when`, so it may be absent: write `steps.?{member}`"
                )),
                Some(step) => Ok(&step.shape),
            },
            Self::List => Err(format!(
                "`{name}` is a list, because of `each`: write `{name}.map(s, s.{member})` or `{name}[0].{member}`"
            )),
            Self::Uncertain(_) if !may_be_absent && member != "isError" => {
                let step = name.trim_start_matches("steps.");
                Err(format!(
                    "step `{step}` may fail, so `{member}` may be absent: write `{name}.?{member}`"
                ))
            }
            Self::Uncertain(_) if ["isError", "error"].contains(&member) => Ok(&ANY),
            Self::Uncertain(shape) => shape.member(name, member, may_be_absent),
        }
    }
}

fn no_argument(name: &str, known: &[String]) -> String {
    unknown("argument", name, known.iter().map(String::as_str))
}

/// The problem with a step that there is not.
pub(crate) fn no_step<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    unknown("step", name, known)
}

fn unknown<'n>(kind: &str, name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let message = format!("there is no {kind} `{name}`");
    match similar(name, known) {
        Some(known) => format!("{message}; there is `{known}`"),
        None => message,
    }
}

/// The arguments of a tool. They are known only if its schema names all of them.
pub(crate) fn arguments(schema: &Value) -> Shape {
    let names = Type::of_schema(schema, schema).all_members();
    names.map_or(Shape::Any, Shape::Arguments)
}
