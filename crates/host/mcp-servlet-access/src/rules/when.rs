//! The condition of a rule, over the caller, the tool and the arguments.

use mcp_servlet_expression::{Budget, Condition, Mistake, Part, Path, Scope, Truth};
use mcp_servlet_schema::JsonObject;
use serde_json::{Value, json};

use super::{Arguments, Effect, Hint, Hints, Holds, Item, Name};
use crate::{
    caller::Caller,
    names::{compile, member, unknown_member, unknown_of_caller},
    options::AuthOptions,
};

/// The condition of a rule: an expression in the Common Expression Language.
#[derive(Clone, Debug, PartialEq)]
pub struct When(pub(super) Condition);

const TOOL: [&str; 3] = ["name", "member", "annotations"];

impl When {
    /// Compiles a condition such as `${{ 'admin' in caller.roles }}`. Only rules that name nothing but tools can read `tool` and
    /// `arguments`. `auth` says which claims callers can have.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(
        text: &str,
        is_for_tools: bool,
        auth: Option<&AuthOptions>,
    ) -> Result<Self, Vec<Mistake>> {
        compile(text, |path| unknown(path, is_for_tools, auth)).map(Self)
    }

    /// Whether it reads arguments.
    pub fn reads_arguments(&self) -> bool {
        self.0.reads().iter().any(|path| path.root == "arguments")
    }

    /// Whether it reads what a tool says about itself.
    pub fn reads_annotations(&self) -> bool {
        self.0.reads().iter().any(|path| {
            let first = path.steps.first().and_then(member);
            path.root == "tool" && first.is_none_or(|(name, _)| name == "annotations")
        })
    }

    /// Whether a rule with this effect holds, as far as the condition decides. If the condition has no value, an `allow` does
    /// not hold and a `deny` does.
    pub(super) fn holds(
        &self,
        rule: (&str, Effect),
        variables: &Variables<'_>,
        budget: &mut Budget,
    ) -> Holds {
        let (name, effect) = rule;
        match self.0.evaluate(&variables.scope(), budget) {
            Truth::False => Holds::No,
            Truth::Unknown => Holds::Maybe,
            Truth::True => Holds::Yes,
            Truth::Failed(reason) => {
                if matches!(variables.arguments, Arguments::Known(_)) {
                    tracing::warn!(
                        rule = name,
                        "cannot evaluate `when`, which denies: {reason}"
                    );
                }
                Holds::is(effect == Effect::Deny)
            }
        }
    }

    /// Why it does not hold. None if it holds.
    pub(super) fn reason(&self, variables: &Variables<'_>, budget: &mut Budget) -> Option<String> {
        Some(match self.0.evaluate(&variables.scope(), budget) {
            Truth::True => return None,
            Truth::False => "`when` is false".to_owned(),
            Truth::Unknown => "`when` depends on the arguments".to_owned(),
            Truth::Failed(reason) => format!("cannot evaluate `when`: {reason}"),
        })
    }
}

/// The variables of conditions.
#[derive(Debug)]
pub(super) struct Variables<'a> {
    caller: JsonObject,
    tool: Option<Value>,
    arguments: Arguments<'a>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(caller: Option<&Caller>, item: &Item<'_>, arguments: Arguments<'a>) -> Self {
        let certificate = caller.and_then(|caller| caller.certificate.as_deref());
        Self {
            caller: Caller::to_json_with(caller, certificate),
            tool: of_tool(item),
            arguments,
        }
    }

    /// Conditions about prompts and resources cannot read `tool`.
    fn scope(&self) -> Scope<'_> {
        let mut scope = Scope::default().with("caller", Part::Map(&self.caller));
        if let Some(tool) = &self.tool {
            scope = scope.with("tool", Part::Json(tool));
        }
        match self.arguments {
            Arguments::Unknown => scope,
            Arguments::Known(arguments) => scope.with("arguments", Part::Map(arguments)),
        }
    }
}

fn of_tool(item: &Item<'_>) -> Option<Value> {
    let (name, hints) = match &item.name {
        Name::Tool(name, hints) => (name, hints),
        Name::Step(own, listed, hints) => (listed.as_ref().unwrap_or(own), hints),
        Name::Prompt(_) | Name::Resource(_) | Name::StepResource(_) => return None,
    };
    Some(json!({ "name": name, "member": item.member, "annotations": of_hints(*hints) }))
}

fn of_hints(hints: Hints) -> Value {
    let all = Hint::ALL.map(|hint| (hint.name().to_owned(), hints.has((hint, true)).into()));
    Value::Object(all.into_iter().collect())
}

/// The problem with a path that does not exist, and its range in the expression.
fn unknown(path: &Path, is_for_tools: bool, auth: Option<&AuthOptions>) -> Option<Mistake> {
    let root = path.root.as_str();
    if !is_for_tools && ["tool", "arguments"].contains(&root) {
        let range = path.range.clone();
        let message = format!("`{root}` needs a rule that names only tools");
        return Some(Mistake { range, message });
    }
    let known: &[&str] = match root {
        "arguments" => return None,
        "caller" => return unknown_of_caller(path, auth.as_slice()),
        "tool" => &TOOL,
        _ => {
            let range = path.range.clone();
            let message = format!(
                "there is no `{root}` here; `when` can read `caller`, `tool` and `arguments`"
            );
            return Some(Mistake { range, message });
        }
    };
    if let Some(mistake) = unknown_member(path, 0, known) {
        return Some(mistake);
    }
    let (name, _) = member(path.steps.first()?)?;
    let (inner, range) = member(path.steps.get(1)?)?;
    if name != "annotations" || Hint::ALL.iter().any(|hint| hint.name() == inner) {
        return None;
    }
    let known = Hint::ALL.map(Hint::name).join("`, `");
    let message = format!("there is no hint `{inner}`; there are `{known}`");
    Some(Mistake { range, message })
}
