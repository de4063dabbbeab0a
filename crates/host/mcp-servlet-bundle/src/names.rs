//! The names that expressions can read.

use mcp_servlet_expression::{Expression, Mistake, Type};
use mcp_servlet_schema::similar;

use crate::problem::listed;

/// What the expressions of one place can read, and the types of it.
pub(crate) type Names = Vec<(&'static str, Type)>;

/// The names of all places, and where they are known.
const ROOTS: [(&str, &str); 6] = [
    ("request", "`inputs`, `set`, `result` and `catches`"),
    ("result", "`result`"),
    ("error", "`catches`"),
    ("steps", "the steps and the `result` of a tool with steps"),
    ("item", "`inputs` of a step with `each`"),
    ("index", "`inputs` of a step with `each`"),
];

/// An object with members of any type.
pub(crate) fn members(names: &[&str]) -> Type {
    Type::object(names.iter().map(|name| (*name, Type::ANY)))
}

/// The names in an expression that it cannot read. `place` is the key in whose value it is.
pub(crate) fn unknown(expression: &Expression, place: &str, names: &Names) -> Vec<Mistake> {
    let is_unknown = |root: &str| !names.iter().any(|(name, _)| *name == root);
    let reads = expression.reads.iter();
    let unknown = reads.filter(|path| is_unknown(&path.root));
    unknown
        .map(|path| Mistake {
            range: path.range.clone(),
            message: message(&path.root, place, names),
        })
        .collect()
}

fn message(name: &str, place: &str, names: &Names) -> String {
    let has_steps = names.iter().any(|(root, _)| *root == "steps");
    if name == "result" && has_steps {
        return "a tool with steps has no `result` of a handler: write `steps.NAME`".to_owned();
    }
    if let Some((_, places)) = ROOTS.iter().find(|(known, _)| *known == name) {
        return format!("`{name}` is not known in `{place}`, only in {places}");
    }
    // The expressions of other programs have these.
    if ["env", "secrets"].contains(&name) {
        return format!("there is no `{name}` here; write `${{NAME}}` for an environment variable");
    }
    let known = listed(names.iter().map(|(name, _)| *name));
    format!("there is no `{name}` here; `{place}` can read {known}")
}

/// The problem with a name that there is not. `kind` is what it names.
pub(crate) fn there_is_no<'n>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> String {
    let message = format!("there is no {kind} `{name}`");
    match similar(name, known) {
        Some(known) => format!("{message}; there is `{known}`"),
        None => message,
    }
}
