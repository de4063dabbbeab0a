//! What is known about a rule from the schemas of the tools that it names, before any call.
//!
//! A proof is about calls whose arguments match the schema of the tool. The values that a schema accepts are estimated: there may be fewer
//! than in the estimate, and never more. So a rule that holds for none of them never holds. A rule is only said to be able to hold if
//! there is a call that shows it.

mod path;
mod values;
mod witness;

use mcp_servlet_expression::{Comparison, PathStep};
use mcp_servlet_schema::{referenced, similar};
use serde_json::Value;

use super::{Argument, Effect, When, argument::Step};
use path::{Part, at, is_always_there};
use values::Values;
use witness::witnesses;

/// What is known about a part of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It does something, and what it does is possible.
    Proved,
    /// It does not fit the tool, for this reason.
    Wrong(String),
    /// It holds for no call that matches the schema, for this reason.
    Never(String),
    /// It holds for all calls that match the schema, for this reason.
    Always(String),
    /// Nothing is known, for this reason.
    Unproved(String),
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
const SHOWN: usize = 200;

impl Argument {
    /// What is known about this argument in a rule for a tool.
    pub fn prove(&self, effect: Effect, tool: ToolSchema<'_>) -> Proof {
        let (name, path) = (tool.name, self.path());
        let part = match at(tool.schema, &self.path) {
            Part::Nothing => return Proof::Wrong(unknown(tool, self.name(), &path)),
            Part::Any => {
                return Proof::Unproved(format!("the schema of `{name}` does not name `{path}`"));
            }
            Part::Schema(part) => part,
        };
        let values = Values::of(tool.schema, &part);
        if let Some(message) = self.other_type(&values, name, &part) {
            return Proof::Wrong(message);
        }
        let may_be_null = !is_always_there(tool.schema, &self.path);
        let takes = || takes(name, &path, &part);
        if !self.may_be_absent() && self.never_holds(effect, &values, may_be_null) {
            return Proof::Never(format!("this never holds: {}", takes()));
        }
        if !may_be_null && self.always_holds(effect, &values) {
            return Proof::Always(format!("this always holds: {}", takes()));
        }
        let mut found = [false; 2];
        for arguments in witnesses(tool.schema, &part, self) {
            found[usize::from(self.holds(effect, &arguments))] = true;
            if found == [true; 2] {
                return Proof::Proved;
            }
        }
        Proof::Unproved(match found {
            [_, false] => format!("no arguments of `{name}` were found for which this holds"),
            [false, true] => {
                format!("no arguments of `{name}` were found for which this does not hold")
            }
            [true, true] => unreachable!("that is a proof"),
        })
    }

    /// The problem if no value is of the types that the keywords are about.
    fn other_type(&self, values: &Values, tool: &str, part: &Value) -> Option<String> {
        let types = values.types();
        let is_other = !types.is_empty() && !types.iter().any(|name| self.types.contains(name));
        let (keyword, kind) = self.first_typed()?;
        (is_other && part.to_string().len() <= SHOWN).then(|| {
            let path = self.path();
            format!(
                "argument `{path}` of `{tool}` is {part}, but `{keyword}` is for the type {kind}"
            )
        })
    }

    /// Whether no value can make a rule hold.
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

    /// Whether each value makes a rule hold.
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

    /// Whether something on the way to the value may be of another type, which makes a `deny` hold.
    fn has_other_parents(&self, effect: Effect) -> bool {
        effect == Effect::Deny && self.path.len() > 1
    }

    /// Whether all values are of the type that the keyword `type` names, if it is not the only keyword.
    fn is_of_keyword(&self, values: &Values) -> bool {
        self.type_keyword.is_none() || {
            let keyword = serde_json::json!({ "type": self.schema["type"] });
            values.is_within(&Values::of(&Value::Null, &keyword))
        }
    }
}

impl When {
    /// What is known about the parts of this condition in a rule for these tools. It may read an argument that only one of them has,
    /// because it can ask which tool is called.
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
                Part::Nothing => None,
                Part::Any => Some(false),
                Part::Schema(part) => Some(Values::of(tool.schema, &part).types() == ["boolean"]),
            };
            let are_booleans: Vec<_> = tools.iter().filter_map(|tool| prove(*tool)).collect();
            if are_booleans.is_empty() || are_booleans.contains(&false) {
                let message = "whether all operands of `when` are booleans";
                proofs.push(Proof::Unproved(message.to_owned()));
            }
        }
        proofs
    }
}

/// What is known about a part of a condition, from what is known for each tool. None if no tool says something about it.
fn of_all(proofs: Vec<Proof>) -> Option<Proof> {
    let is_wrong = |proof: &&Proof| matches!(proof, Proof::Wrong(_));
    let mut all = proofs.iter();
    if all.any(|proof| *proof == Proof::Proved) {
        return Some(Proof::Proved);
    }
    let other = proofs.iter().find(|proof| !is_wrong(proof));
    other.or(proofs.first()).cloned()
}

fn of_read(tool: ToolSchema<'_>, path: &mcp_servlet_expression::Path) -> Option<Proof> {
    let (name, (text, first)) = (tool.name, in_words(path));
    Some(match argument_at(tool, path)? {
        Part::Nothing => Proof::Wrong(unknown(tool, &first, &text)),
        Part::Any => Proof::Unproved(format!("the schema of `{name}` does not name `{text}`")),
        Part::Schema(_) => Proof::Proved,
    })
}

fn of_comparison(tool: ToolSchema<'_>, comparison: &Comparison) -> Option<Proof> {
    let Some(Part::Schema(part)) = argument_at(tool, &comparison.path) else {
        return None;
    };
    let types = Values::of(tool.schema, &part).types();
    let literal = comparison.literal;
    if literal == "null" || types.is_empty() || types.contains(&literal) {
        return Some(Proof::Proved);
    }
    let (path, _) = in_words(&comparison.path);
    let takes = takes(tool.name, &path, &part);
    let message = format!("`{path}` is compared with the type {literal}, but {takes}");
    Some(Proof::Wrong(message))
}

/// The part of the schema that a path leads to. None if it does not lead to an argument.
fn argument_at(tool: ToolSchema<'_>, path: &mcp_servlet_expression::Path) -> Option<Part> {
    let steps = path.steps.iter().map(|step| match step {
        PathStep::Member { name, .. } => Step::Member(name.clone()),
        PathStep::Item { .. } => Step::Items,
    });
    let steps: Vec<_> = steps.collect();
    let is_argument = path.root == "arguments" && matches!(steps.first(), Some(Step::Member(_)));
    is_argument.then(|| at(tool.schema, &steps))
}

/// A path below the arguments as text, and the name of the argument.
fn in_words(path: &mcp_servlet_expression::Path) -> (String, String) {
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

/// What a tool takes at a path, which is in the schema if that is long.
fn takes(tool: &str, path: &str, part: &Value) -> String {
    let schema = part.to_string();
    if schema.len() <= SHOWN {
        format!("`{tool}` takes {schema} for `{path}`")
    } else {
        format!("see the schema of `{path}` in `{tool}`")
    }
}

fn unknown(tool: ToolSchema<'_>, argument: &str, path: &str) -> String {
    let name = tool.name;
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    let known = properties.into_iter().flatten().map(|(name, _)| &**name);
    if properties.is_some_and(|all| all.contains_key(argument)) {
        return format!("`{name}` accepts no value at `{path}`");
    }
    let hint = similar(argument, known);
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("tool `{name}` has no argument `{argument}`{hint}")
}

/// What a reference that leads elsewhere accepts, as far as that is known.
static ANYTHING: Value = Value::Bool(true);

/// The target of the reference in a schema. None if it has no reference.
fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let reference = schema.get("$ref")?.as_str().unwrap_or_default();
    Some(referenced(root, reference).unwrap_or(&ANYTHING))
}

#[cfg(test)]
mod tests;
