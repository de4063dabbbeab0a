//! The annotations of virtual tools: MCP's hints about what a tool does.

use serde_json::{Value, json};

use super::{Proof, StepHandler};
use crate::problem::{Place, Problem};

const READ_ONLY: &str = "readOnlyHint";
const DESTRUCTIVE: &str = "destructiveHint";
const IDEMPOTENT: &str = "idempotentHint";
const OPEN_WORLD: &str = "openWorldHint";

/// A hint that a handler sets.
fn hint(handler: &StepHandler<'_>, name: &str) -> Option<bool> {
    handler.definition.get("annotations")?.get(name)?.as_bool()
}

/// Whether the handler changes nothing. A tool that does not say so may change something.
pub(super) fn is_read_only(handler: &StepHandler<'_>) -> bool {
    hint(handler, READ_ONLY).unwrap_or(false)
}

/// The annotations of a tool with steps. A hint that a handler does not set has MCP's default, which is the worst case.
pub(super) fn of_steps(proof: &Proof<'_>) -> Value {
    let all = &proof.handlers;
    let is_read_only_tool = all.iter().all(is_read_only);
    let destroys =
        |one: &StepHandler<'_>| !is_read_only(one) && hint(one, DESTRUCTIVE) != Some(false);
    json!({
        READ_ONLY: is_read_only_tool,
        DESTRUCTIVE: all.iter().any(destroys),
        IDEMPOTENT: is_read_only_tool,
        OPEN_WORLD: all.iter().any(|one| hint(one, OPEN_WORLD) != Some(false)),
    })
}

/// The annotations that a handler can contradict: the name, the value that the tool claims, and two parts of the message.
const CLAIMS: [(&str, bool, &str, &str); 4] = [
    (READ_ONLY, true, "cannot be read-only", "is not"),
    (DESTRUCTIVE, false, "is destructive", "is"),
    (IDEMPOTENT, true, "cannot be idempotent", "is not"),
    (OPEN_WORLD, false, "is open-world", "is"),
];

/// Reports annotations that claim more than a handler says of itself.
pub(super) fn check_annotations(proof: &mut Proof<'_>) {
    let tool = proof.tool;
    let Some(claims) = tool.shown.get("annotations") else {
        return;
    };
    for (name, claim, problem, is) in CLAIMS {
        if claims.get(name) != Some(&Value::Bool(claim)) {
            continue;
        }
        // The hints about writes mean nothing for a tool that only reads.
        let matters =
            |one: &&StepHandler<'_>| [READ_ONLY, OPEN_WORLD].contains(&name) || !is_read_only(one);
        let mut handlers = proof.handlers.iter().filter(matters);
        if let Some(handler) = handlers.find(|one| hint(one, name) == Some(!claim)) {
            let step = match handler.step.name() {
                Some(step) => format!("step `{step}`"),
                None => "its handler".to_owned(),
            };
            let (tool, target) = (&tool.name, &handler.step.target);
            let message = format!("`{tool}` {problem}: {step} (`{target}`) {is}");
            let place = Place::of("annotations").key(name);
            proof.problems.push(Problem::new(place, message));
        }
    }
}
