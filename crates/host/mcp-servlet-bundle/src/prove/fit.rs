//! Whether the arguments of a virtual tool fit those of its handlers.

use mcp_servlet_expression::{Fit, Type};

use super::{Proof, StepHandler};
use crate::{
    input_schema::InputSchema,
    problem::{Place, Problem},
    spec::Inputs,
    template::Template,
};

/// Reports what is wrong with the schema `arguments`.
pub(super) fn check_fit(proof: &mut Proof<'_>, arguments: &InputSchema) {
    for handler in &proof.handlers {
        let problems = &mut proof.problems;
        match &handler.step.inputs {
            Inputs::Pass => passed(handler, arguments, &[], problems),
            Inputs::Set(fixed) => {
                sent(arguments, fixed, problems);
                passed(handler, arguments, fixed, problems);
            }
            Inputs::Map(_) => {}
        }
    }
}

/// Reports arguments that may be absent, although an input consists of them that the handler requires.
pub(super) fn needed(proof: &mut Proof<'_>, arguments: &InputSchema) {
    if arguments.elsewhere().is_some() {
        return;
    }
    let runs_once = |handler: &&StepHandler<'_>| !handler.step.is_conditional();
    for handler in proof.handlers.iter().filter(runs_once) {
        let templates = handler.step.inputs.templates().iter();
        for (input, template) in templates.filter(|(_, one)| !one.is_optional()) {
            let Some(argument) = template.argument() else {
                continue;
            };
            if arguments.requires(argument) || !handler.input_schema.requires(input) {
                continue;
            }
            let place = handler.step.inputs_place().key(input);
            let message = format!(
                "`arguments` must require `{argument}`: `{place}` is only this argument, and `{}` needs it",
                handler.step.target
            );
            let place = match proof.tool.arguments {
                Some(_) => place_of(argument),
                None => place,
            };
            proof.problems.push(Problem::new(place, message));
        }
    }
}

/// Reports arguments that are both fixed and expected from clients.
fn sent(arguments: &InputSchema, fixed: &[(String, Template)], problems: &mut Vec<Problem>) {
    for (name, _) in fixed {
        if arguments.names(name) || arguments.requires(name) {
            let message =
                format!("`{name}` is fixed by `set`, so clients cannot send it: remove it here");
            problems.push(Problem::new(Place::of("arguments"), message));
        }
    }
}

/// Reports arguments that are passed on and that the handler does not take, and those that it needs in addition.
fn passed(
    handler: &StepHandler<'_>,
    arguments: &InputSchema,
    fixed: &[(String, Template)],
    problems: &mut Vec<Problem>,
) {
    let is_fixed = |name: &str| fixed.iter().any(|(fixed, _)| fixed == name);
    for (name, _) in arguments.properties().filter(|(name, _)| !is_fixed(name)) {
        let message = if handler.input_schema.takes(name) {
            other_type(handler, arguments, name)
        } else {
            Some(handler.takes_no(name))
        };
        problems.extend(message.map(|message| Problem::new(place_of(name), message)));
    }
    // Other keywords may require more.
    if arguments.elsewhere().is_some() {
        return;
    }
    let required = handler
        .input_schema
        .required()
        .filter(|name| !is_fixed(name) && !arguments.requires(name));
    problems.extend(required.map(|name| not_required(handler, arguments, name)));
}

/// The problem with an argument that the handler requires and `arguments` does not.
fn not_required(handler: &StepHandler<'_>, arguments: &InputSchema, name: &str) -> Problem {
    let target = &handler.step.target;
    if arguments.names(name) {
        let message = format!("`arguments` must require `{name}`: `{target}` needs it");
        return Problem::new(place_of(name), message);
    }
    let without = match handler.step.inputs {
        Inputs::Set(_) => "neither `arguments` nor `set` has",
        _ => "`arguments` does not have",
    };
    let message = format!("`{target}` needs `{name}`, which {without}");
    Problem::new(Place::of("arguments"), message)
}

/// The problem with an argument that is passed on, of a type that the handler does not take.
fn other_type(handler: &StepHandler<'_>, arguments: &InputSchema, name: &str) -> Option<String> {
    let type_of = |schema: &InputSchema| {
        let argument = schema.argument(name)?;
        Some(Type::of_schema(schema.json(), argument))
    };
    let (ours, theirs) = (type_of(arguments)?, type_of(&handler.input_schema)?);
    let target = &handler.step.target;
    matches!(ours.fit(&theirs), Fit::Misfit(_)).then(|| {
        format!("the argument `{name}` is {ours}, but `{target}` takes {theirs} for `{name}`")
    })
}

/// The place of the schema of an argument.
fn place_of(argument: &str) -> Place {
    Place::of("arguments").key("properties").key(argument)
}
