//! Steps that are most likely not meant so: nothing reads them, or their order is left open.

use std::collections::BTreeSet;

use super::{Proof, annotations::is_read_only};
use crate::{
    problem::Problem,
    step::{Kept, Step},
};

/// Warns of steps without use, and of writes without an order.
pub(super) fn check_step_order(proof: &mut Proof<'_>) {
    let steps = &proof.tool.steps;
    let is_read_only: Vec<_> = proof.handlers.iter().map(is_read_only).collect();
    let mut warn = |step: &Step, message: String| {
        proof.warnings.push(Problem::new(step.place(), message));
    };
    for (number, step) in steps.iter().enumerate() {
        let Some(name) = step.name() else { continue };
        if is_read_only[number] && step.kept == Kept::default() {
            let message = format!("nothing reads step `{name}`, and it changes nothing: remove it");
            warn(step, message);
        }
        if is_read_only[number] || step.has_after {
            continue;
        }
        let is_open = |other: &usize| {
            let is_write = !is_read_only[*other] && !steps[*other].has_after;
            is_write && !comes_after(steps, number, *other) && !comes_after(steps, *other, number)
        };
        if let Some(other) = (0..number).find(is_open) {
            let other = steps[other].name().unwrap_or_default();
            let message = format!(
                "neither `{other}` nor `{name}` is read-only, and nothing says which comes first: set `after = [\"{other}\"]`, or `after = []` if the order does not matter"
            );
            warn(step, message);
        }
    }
}

/// Whether a step waits for another one, directly or not.
fn comes_after(steps: &[Step], step: usize, other: usize) -> bool {
    let (mut open, mut seen) = (vec![step], BTreeSet::new());
    while let Some(next) = open.pop() {
        if next == other {
            return true;
        }
        if seen.insert(next) {
            open.extend(&steps[next].waits_for);
        }
    }
    false
}
