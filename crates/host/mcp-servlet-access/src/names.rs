//! Conditions, and the names that they can read.

use std::ops::Range;

use mcp_servlet_expression::{Condition, Mistake, Path, PathStep};
use mcp_servlet_schema::{did_you_mean, similar};

use crate::{Caller, Certificate, options::AuthOptions};

/// Compiles a `when`. `unknown` finds what is wrong with a path that it reads.
///
/// # Errors
/// Everything that is wrong with it.
pub(crate) fn compile(
    text: &str,
    unknown: impl Fn(&Path) -> Option<Mistake>,
) -> Result<Condition, Vec<Mistake>> {
    let condition = Condition::parse(text)?;
    let found = condition.reads().into_iter().filter_map(unknown);
    let mut mistakes: Vec<_> = found
        .map(|mistake| mistake.moved(condition.range.start))
        .collect();
    if let Some(kind) = condition.other_type() {
        mistakes.push(Mistake {
            range: condition.range.clone(),
            message: format!("`when` must be a boolean, but this is of type `{kind}`"),
        });
    }
    if mistakes.is_empty() {
        Ok(condition)
    } else {
        Err(mistakes)
    }
}

/// What is wrong with a path that begins with `caller`, if anything. `auths` are those of the endpoints whose callers it is about.
pub fn unknown_of_caller(path: &Path, auths: &[&AuthOptions]) -> Option<Mistake> {
    if let Some(mistake) = unknown_member(path, 0, &Caller::MEMBERS) {
        return Some(mistake);
    }
    let (name, _) = member(path.steps.first()?)?;
    match name {
        "claims" => {
            let (claim, range) = member(path.steps.get(1)?)?;
            let message = unknown_claim(claim, auths)?;
            Some(Mistake { range, message })
        }
        "certificate" => unknown_member(path, 1, &Certificate::DETAILS),
        _ => None,
    }
}

/// What is wrong with a step of a path that must be one of these names, if anything.
pub(crate) fn unknown_member(path: &Path, step: usize, known: &[&str]) -> Option<Mistake> {
    let (name, range) = member(path.steps.get(step)?)?;
    if known.contains(&name) {
        return None;
    }
    let before = path.steps[..step]
        .iter()
        .filter_map(member)
        .map(|(name, _)| format!(".{name}"));
    let owner = path.root.clone() + &before.collect::<String>();
    let message = match similar(name, known.iter().copied()) {
        Some(near) => format!("`{owner}` has no `{name}`; did you mean `{near}`?"),
        None => format!("`{owner}` has no `{name}`; it has `{}`", known.join("`, `")),
    };
    Some(Mistake { range, message })
}

/// The name of a member, and its bytes.
pub(crate) fn member(step: &PathStep) -> Option<(&str, Range<usize>)> {
    match step {
        PathStep::Member { name, range, .. } => Some((name, range.clone())),
        PathStep::Item { .. } => None,
    }
}

fn unknown_claim(name: &str, auths: &[&AuthOptions]) -> Option<String> {
    if auths.is_empty() {
        return Some(format!(
            "there is no claim `{name}`: the endpoint has no `auth`"
        ));
    }
    let claims = || auths.iter().flat_map(|auth| &auth.claims);
    if claims().any(|claim| claim == name) {
        return None;
    }
    let hint = did_you_mean(similar(name, claims().map(String::as_str)));
    let sections: Vec<_> = auths
        .iter()
        .map(|auth| format!("`[auth.{}]`", auth.name))
        .collect();
    Some(format!(
        "claim `{name}` is not in `claims` of {}{hint}",
        sections.join(" or ")
    ))
}
