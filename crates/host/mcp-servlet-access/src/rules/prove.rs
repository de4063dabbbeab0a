//! Checks rules against the schemas of the tools that they name, before any call.
//!
//! Proofs are about calls whose arguments match the schema. [`Values`] contains every value that the schema accepts, and possibly more: if
//! a rule holds for none of them, it never holds. A rule is proved if one call is found for which it holds, and one for which it does not.

mod path;
mod values;
mod witness;

use mcp_servlet_expression::{Comparison, PathStep};
use mcp_servlet_schema::{did_you_mean, referenced, similar};
use serde_json::Value;

use super::{Argument, Effect, When, argument::Step};
use path::{Subschema, at, is_always_there};
use values::Values;
use witness::witnesses;

/// The result of checking a part of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It holds for some calls, and does not hold for others.
    Proved,
    /// It is a mistake of this kind, for this reason.
    Mistake(MistakeKind, String),
    /// The check could not decide, for this reason.
    Unproved(String),
}

/// A kind of mistake in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MistakeKind {
    /// It does not fit the tool.
    Misfit,
    /// It holds for no call that matches the schema.
    Never,
    /// It holds for all calls that match the schema.
    Always,
}

/// The name of a tool, and its `inputSchema`.
#[derive(Clone, Copy, Debug)]
pub struct ToolSchema<'a> {
    /// The name, for messages.
    pub name: &'a str,
    /// The schema.
    pub schema: &'a Value,
}

/// The maximum length of a schema in a message, in bytes.
const MAX_SHOWN_SCHEMA: usize = 200;

impl Argument {
    /// Checks this argument of a rule against the schema of a tool.
    pub fn prove(&self, effect: Effect, tool: ToolSchema<'_>) -> Proof {
        let (name, path) = (tool.name, self.path());
        let part = match at(tool.schema, &self.path) {
            Subschema::Nothing => return misfit(unknown(tool, self.name(), &path)),
            Subschema::Any => {
                return unnamed(tool, self.name(), &path);
            }
            Subschema::Schema(part) => part,
        };
        let values = Values::of(tool.schema, &part);
        if let Some(message) = self.other_type(&values, name, &part) {
            return misfit(message);
        }
        let may_be_null = !is_always_there(tool.schema, &self.path);
        let takes = || takes(name, &path, &part);
        if !self.may_be_absent() && self.never_holds(effect, &values, may_be_null) {
            let message = format!("this never holds: {}", takes());
            return Proof::Mistake(MistakeKind::Never, message);
        }
        if !may_be_null && self.always_holds(effect, &values) {
            let message = format!("this always holds: {}", takes());
            return Proof::Mistake(MistakeKind::Always, message);
        }
        let mut found = [false; 2];
        for arguments in witnesses(tool.schema, &part, self) {
            found[usize::from(self.holds(effect, &arguments))] = true;
            if found == [true; 2] {
                return Proof::Proved;
            }
        }
        let outcome = if found[1] { "does not hold" } else { "holds" };
        Proof::Unproved(format!(
            "no arguments of `{name}` were found for which this {outcome}"
        ))
    }

    /// The problem if the keywords apply to none of the types that the schema accepts.
    fn other_type(&self, values: &Values, tool: &str, part: &Value) -> Option<String> {
        let types = values.types();
        let is_other = !types.is_empty() && !types.iter().any(|name| self.types.contains(name));
        let (keyword, kind) = self.first_typed()?;
        (is_other && part.to_string().len() <= MAX_SHOWN_SCHEMA).then(|| {
            let path = self.path();
            format!(
                "argument `{path}` of `{tool}` is {part}, but `{keyword}` only applies to type `{kind}`"
            )
        })
    }

    /// Whether the rule holds for none of these values.
    fn never_holds(&self, effect: Effect, values: &Values, may_be_null: bool) -> bool {
        // The server accepts null for what may be absent.
        if may_be_null && self.holds_for(effect, &Value::Null) {
            return false;
        }
        if let Some(all) = &values.only {
            let mut all = all.iter();
            return !self.has_other_parents(effect)
                && all.all(|value| !self.holds_for(effect, value));
        }
        let own = Values::of(&Value::Null, &Value::Object(self.schema.clone()));
        match effect {
            Effect::Allow => values.meet(&own).within(&self.types).is_empty(),
            Effect::Deny => {
                !self.has_other_parents(effect)
                    && values.types().iter().all(|name| self.types.contains(name))
                    && self.is_of_keyword(values)
                    && values.meet(&own).is_empty()
            }
        }
    }

    /// Whether the rule holds for all of these values.
    fn always_holds(&self, effect: Effect, values: &Values) -> bool {
        if let Some(all) = &values.only {
            return all.iter().all(|value| self.holds_for(effect, value));
        }
        let has = |name: &str| self.schema.contains_key(name);
        // The estimate of these has more values than they accept.
        if ["enum", "const", "pattern", "multipleOf"]
            .into_iter()
            .any(has)
        {
            return false;
        }
        let own = Values::of(&Value::Null, &Value::Object(self.schema.clone()));
        match effect {
            Effect::Allow => {
                own.is_exact
                    && values.is_within(&own)
                    && values.types().iter().all(|one| self.types.contains(one))
            }
            // What is of another type makes a `deny` hold as well.
            Effect::Deny => own.is_exact && values.within(&self.types).is_within(&own),
        }
    }

    /// Whether a parent of the value may have another type, which makes a `deny` hold.
    fn has_other_parents(&self, effect: Effect) -> bool {
        effect == Effect::Deny && self.path.len() > 1
    }

    /// Whether all values match the keyword `type`, if there are other keywords.
    fn is_of_keyword(&self, values: &Values) -> bool {
        self.type_keyword.is_none() || {
            let keyword = serde_json::json!({ "type": self.schema["type"] });
            values.is_within(&Values::of(&Value::Null, &keyword))
        }
    }
}

impl When {
    /// Checks the parts of this condition against the schemas of these tools. The condition can ask which tool is called, so an
    /// argument only has to exist in one of them.
    pub fn prove(&self, tools: &[ToolSchema<'_>]) -> Vec<Proof> {
        let of_tools = |prove: &dyn Fn(ToolSchema<'_>) -> Option<Proof>| {
            of_all(tools.iter().filter_map(|tool| prove(*tool)).collect())
        };
        let mut proofs = Vec::new();
        for path in self.0.reads() {
            proofs.extend(of_tools(&|tool| of_read(tool, path)));
        }
        for comparison in &self.0.comparisons {
            proofs.extend(of_tools(&|tool| of_comparison(tool, comparison)));
        }
        for operand in self.0.untyped() {
            let prove = |tool: ToolSchema<'_>| match argument_at(tool, operand?)? {
                Subschema::Nothing => None,
                Subschema::Any => Some(false),
                Subschema::Schema(part) => {
                    Some(Values::of(tool.schema, &part).types() == ["boolean"])
                }
            };
            let are_booleans: Vec<_> = tools.iter().filter_map(|tool| prove(*tool)).collect();
            if are_booleans.is_empty() || are_booleans.contains(&false) {
                let message = "some operands of `when` may not be booleans";
                proofs.push(Proof::Unproved(message.to_owned()));
            }
        }
        proofs
    }
}

/// Combines the results for each tool. None if there are none.
fn of_all(proofs: Vec<Proof>) -> Option<Proof> {
    let is_mistake = |proof: &&Proof| matches!(proof, Proof::Mistake(..));
    let mut all = proofs.iter();
    if all.any(|proof| *proof == Proof::Proved) {
        return Some(Proof::Proved);
    }
    let other = proofs.iter().find(|proof| !is_mistake(proof));
    other.or(proofs.first()).cloned()
}

fn of_read(tool: ToolSchema<'_>, path: &mcp_servlet_expression::Path) -> Option<Proof> {
    let (text, first) = path_text(path);
    Some(match argument_at(tool, path)? {
        Subschema::Nothing => misfit(unknown(tool, &first, &text)),
        Subschema::Any => unnamed(tool, &first, &text),
        Subschema::Schema(_) => Proof::Proved,
    })
}

fn of_comparison(tool: ToolSchema<'_>, comparison: &Comparison) -> Option<Proof> {
    let Some(Subschema::Schema(part)) = argument_at(tool, &comparison.path) else {
        return None;
    };
    let types = Values::of(tool.schema, &part).types();
    let literal = comparison.literal;
    if literal == "null" || types.is_empty() || types.contains(&literal) {
        return Some(Proof::Proved);
    }
    let (path, _) = path_text(&comparison.path);
    let takes = takes(tool.name, &path, &part);
    let message = format!("`{path}` is compared with a {literal}, but {takes}");
    Some(misfit(message))
}

/// The part of the schema that a path leads to. None if it does not lead to an argument.
fn argument_at(tool: ToolSchema<'_>, path: &mcp_servlet_expression::Path) -> Option<Subschema> {
    let steps: Vec<_> = path
        .steps
        .iter()
        .map(|step| match step {
            PathStep::Member { name, .. } => Step::Member(name.clone()),
            PathStep::Item { .. } => Step::Items,
        })
        .collect();
    let is_argument = path.root == "arguments" && matches!(steps.first(), Some(Step::Member(_)));
    is_argument.then(|| at(tool.schema, &steps))
}

/// A path below `arguments` as text, and the name of its first argument.
fn path_text(path: &mcp_servlet_expression::Path) -> (String, String) {
    let mut text = String::new();
    for step in &path.steps {
        match step {
            PathStep::Member { name, .. } if text.is_empty() => text += name,
            PathStep::Member { name, .. } => text.extend([".", name]),
            PathStep::Item { number, .. } => text.extend(["[", &number.to_string(), "]"]),
        }
    }
    let first = path.members().next().unwrap_or_default();
    (text, first.to_owned())
}

/// The schema of a path, for messages. Refers to the tool's schema if it is long.
fn takes(tool: &str, path: &str, part: &Value) -> String {
    let schema = part.to_string();
    if schema.len() <= MAX_SHOWN_SCHEMA {
        format!("`{tool}` takes {schema} for `{path}`")
    } else {
        format!("see the schema of `{path}` in `{tool}`")
    }
}

fn misfit(message: String) -> Proof {
    Proof::Mistake(MistakeKind::Misfit, message)
}

fn unknown(tool: ToolSchema<'_>, argument: &str, path: &str) -> String {
    let name = tool.name;
    match meant(tool, argument) {
        None => format!("`{name}` accepts no value at `{path}`"),
        Some(hint) => format!("tool `{name}` has no argument `{argument}`{hint}"),
    }
}

/// A path that the schema of a tool may accept and does not name.
fn unnamed(tool: ToolSchema<'_>, argument: &str, path: &str) -> Proof {
    let hint = meant(tool, argument).unwrap_or_default();
    let name = tool.name;
    Proof::Unproved(format!(
        "the schema of `{name}` does not name `{path}`{hint}"
    ))
}

/// The argument that was probably meant, for messages. None if the tool has this one.
fn meant(tool: ToolSchema<'_>, argument: &str) -> Option<String> {
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|all| all.contains_key(argument)) {
        return None;
    }
    let known = properties.into_iter().flatten().map(|(name, _)| &**name);
    Some(did_you_mean(similar(argument, known)))
}

/// Stands for a reference that cannot be resolved: it may accept anything.
static ANYTHING: Value = Value::Bool(true);

/// The target of the reference in a schema. None if it has no reference.
fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let reference = schema.get("$ref")?.as_str().unwrap_or_default();
    Some(referenced(root, reference).unwrap_or(&ANYTHING))
}

#[cfg(test)]
mod tests;
