//! Whether inputs make what handlers take.

use mcp_servlet_expression::{Fit, Misfit, Reason, Type};

use super::{Proof, StepHandler};
use crate::{
    problem::Problem,
    template::Template,
    values::{Values, subject},
};

impl Proof<'_> {
    /// Reports inputs that the handlers do not take.
    pub(super) fn fit(&mut self, values: &Values<'_>) {
        for (number, handler) in self.handlers.iter().enumerate() {
            let place = handler.step.inputs_place();
            for (input, template) in handler.step.inputs.templates() {
                let place = place.key(input);
                // A problem within this input is reported already.
                let is_known = |problem: &Problem| problem.place.is_within(&place);
                if self.problems.iter().any(is_known) || template.constant().is_some() {
                    continue;
                }
                let Some(schema) = handler.input_schema.argument(input) else {
                    continue;
                };
                let wanted = Type::of_schema(handler.input_schema.json(), schema);
                let input = Input {
                    name: input,
                    template,
                    handler,
                };
                let (message, is_wrong) = match values.of_input(number, template).fit(&wanted) {
                    Fit::Fits => continue,
                    Fit::Unproved => (input.unproved(&wanted, values), false),
                    Fit::Misfit(misfit) => (input.wrong(misfit, values), true),
                };
                let problem = match template {
                    Template::One(expression, start) => {
                        let range = expression.range();
                        Problem::within(place, range.start + start..range.end + start, message)
                    }
                    _ => Problem::new(place, message),
                };
                if is_wrong {
                    self.problems.push(problem);
                } else {
                    self.unproved.push(problem);
                }
            }
        }
    }
}

/// An input of a step.
struct Input<'p, 'a> {
    name: &'p str,
    template: &'p Template,
    handler: &'p StepHandler<'a>,
}

impl Input<'_, '_> {
    /// The problem with an input that the handler does not take.
    fn wrong(&self, Misfit { pointer, reason }: Misfit, values: &Values<'_>) -> String {
        let (name, target) = (self.name, &self.handler.step.target);
        let (parent, last) = pointer.rsplit_once('/').unwrap_or_default();
        match reason {
            Reason::Type { found, wanted } if pointer.is_empty() => {
                let (subject, source) = self.origin(values);
                format!("{subject} is {found}{source}, but `{target}` takes {wanted} for `{name}`")
            }
            Reason::Type { found, wanted } => format!(
                "`{pointer}` of this value is {found}, but `{target}` takes {wanted} there (for `{name}`)"
            ),
            Reason::Missing => {
                format!("`{target}` needs `{pointer}` in `{name}`, which this value does not have")
            }
            Reason::Unexpected => format!(
                "`{target}` has no `{last}` in `{name}{parent}`: leave it out of this value"
            ),
        }
    }

    /// What is not known about an input.
    fn unproved(&self, wanted: &Type, values: &Values<'_>) -> String {
        let (name, target) = (self.name, &self.handler.step.target);
        let (subject, _) = self.origin(values);
        format!("{subject} may not be {wanted}, which `{target}` takes for `{name}`")
    }

    /// The value in messages, and where its type comes from.
    fn origin(&self, values: &Values<'_>) -> (String, String) {
        if let Some(argument) = self.template.argument() {
            return (format!("the argument `{argument}`"), String::new());
        }
        let Template::One(expression, _) = self.template else {
            return ("this value".to_owned(), String::new());
        };
        let path = expression.path();
        let each = self.handler.step.each.as_ref();
        let source = match path {
            Some(path) if path.root == "item" => each.and_then(|each| each.list.expression.path()),
            path => path,
        };
        let of_schema = source
            .and_then(|path| values.source(path))
            .map(|step| format!(" in the output schema of `{}`", step.target));
        (subject(path), of_schema.unwrap_or_default())
    }
}
