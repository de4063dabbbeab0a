//! Whether the arguments of a virtual tool fit those of its handler.

use super::{Proof, types::Types};
use crate::{input_schema::InputSchema, problem::Place, spec::Inputs, template::Template};

/// Reports what is wrong with the schema `arguments`.
pub(super) fn check(proof: &mut Proof<'_>, arguments: &InputSchema) {
    let tool = proof.tool;
    match &tool.inputs {
        Inputs::Pass => passed(proof, arguments, &[]),
        Inputs::Set(fixed) => {
            sent(proof, arguments, fixed);
            passed(proof, arguments, fixed);
        }
        Inputs::Map(_) => {}
    }
    let (key, templates) = tool.inputs.templates();
    for (input, template) in templates {
        let argument = template.argument();
        let message = argument.and_then(|argument| other_types(proof, arguments, argument, input));
        if let Some(message) = message {
            proof.problem(Place::of(key).key(input), message);
        }
    }
}

/// Reports arguments that may be absent, although an input consists of them that the handler requires.
pub(super) fn needed(proof: &mut Proof<'_>, arguments: &InputSchema) {
    if arguments.elsewhere().is_some() {
        return;
    }
    let tool = proof.tool;
    let (key, templates) = tool.inputs.templates();
    for (input, template) in templates.iter().filter(|(_, one)| !one.is_optional()) {
        let Some(argument) = template.argument() else {
            continue;
        };
        if arguments.requires(argument) || !proof.input_schema.requires(input) {
            continue;
        }
        let place = Place::of(key).key(input);
        let message = format!(
            "`arguments` must require `{argument}`: `{place}` is only this argument, and `{}` needs it",
            tool.handler
        );
        let place = match tool.arguments {
            Some(_) => place_of(argument),
            None => place,
        };
        proof.problem(place, message);
    }
}

/// Reports arguments that are both fixed and expected from clients.
fn sent(proof: &mut Proof<'_>, arguments: &InputSchema, fixed: &[(String, Template)]) {
    for (name, _) in fixed {
        if arguments.names(name) || arguments.requires(name) {
            let message =
                format!("`{name}` is fixed by `set`, so clients cannot send it: remove it here");
            proof.problem(Place::of("arguments"), message);
        }
    }
}

/// Reports arguments that are passed on and that the handler does not take, and those that it needs in addition.
fn passed(proof: &mut Proof<'_>, arguments: &InputSchema, fixed: &[(String, Template)]) {
    let is_fixed = |name: &str| fixed.iter().any(|(fixed, _)| fixed == name);
    for (name, _) in arguments.properties().filter(|(name, _)| !is_fixed(name)) {
        let message = if proof.input_schema.takes(name) {
            other_types(proof, arguments, name, name)
        } else {
            Some(proof.takes_no(name))
        };
        if let Some(message) = message {
            proof.problem(place_of(name), message);
        }
    }
    // Other keywords may require more.
    if arguments.elsewhere().is_some() {
        return;
    }
    let required = proof.input_schema.required().map(str::to_owned);
    let required: Vec<_> = required.filter(|name| !is_fixed(name)).collect();
    for name in required.iter().filter(|name| !arguments.requires(name)) {
        let (place, message) = not_required(proof, arguments, name);
        proof.problem(place, message);
    }
}

/// The problem with an argument that the handler requires and `arguments` does not.
fn not_required(proof: &Proof<'_>, arguments: &InputSchema, name: &str) -> (Place, String) {
    let handler = &proof.tool.handler;
    if arguments.names(name) {
        let message = format!("`arguments` must require `{name}`: `{handler}` needs it");
        return (place_of(name), message);
    }
    let without = match proof.tool.inputs {
        Inputs::Set(_) => "neither `arguments` nor `set` has",
        _ => "`arguments` does not have",
    };
    let message = format!("`{handler}` needs `{name}`, which {without}");
    (Place::of("arguments"), message)
}

/// The problem with an argument whose types the handler does not take for an input.
fn other_types(
    proof: &Proof<'_>,
    arguments: &InputSchema,
    argument: &str,
    input: &str,
) -> Option<String> {
    let ours = types(arguments, argument)?;
    let theirs = types(&proof.input_schema, input)?;
    let handler = &proof.tool.handler;
    (!ours.fit(&theirs)).then(|| {
        format!("the argument `{argument}` is {ours}, but `{handler}` takes {theirs} for `{input}`")
    })
}

/// The types of an argument, if they are known.
fn types<'s>(schema: &'s InputSchema, argument: &str) -> Option<Types<'s>> {
    Types::of(schema.json(), schema.argument(argument)?)
}

/// The place of the schema of an argument.
fn place_of(argument: &str) -> Place {
    Place::of("arguments").key("properties").key(argument)
}
