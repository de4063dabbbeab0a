//! All expressions of a virtual tool.

use std::ops::Range;

use mcp_servlet_expression::Expression;

use crate::{
    problem::{Place, Problem},
    spec::VirtualTool,
    step::Step,
};

/// An expression of a virtual tool.
#[derive(Debug)]
pub(crate) struct Found<'t> {
    pub(crate) reader: Reader,
    /// The number of the step that it belongs to.
    pub(crate) step: Option<usize>,
    pub(crate) place: Place,
    /// Where it begins in the string.
    pub(crate) start: usize,
    pub(crate) expression: &'t Expression,
}

impl Found<'_> {
    /// A problem with these bytes of the expression.
    pub(crate) fn problem(&self, range: &Range<usize>, message: String) -> Problem {
        let range = range.start + self.start..range.end + self.start;
        Problem::within(self.place.clone(), range, message)
    }
}

/// The part of a tool that has an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The key `inputs` or `set`.
    Inputs(&'static str),
    /// The `inputs` of a step with `each`.
    ItemInputs,
    /// The key `when` or `each` of a step.
    Step(&'static str),
    Result,
    Catches,
}

impl VirtualTool {
    /// All expressions, in the order of the keys.
    pub(crate) fn expressions(&self) -> Vec<Found<'_>> {
        let mut all = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let place = step.place();
            let when = step.when.iter().map(|when| ("when", when));
            let each = step.each.iter().map(|each| ("each", &each.list));
            for (key, single) in when.chain(each) {
                all.push(Found {
                    reader: Reader::Step(key),
                    step: Some(number),
                    place: place.key(key),
                    start: single.start,
                    expression: &single.expression,
                });
            }
            let reader = Reader::of_inputs(step);
            for (name, template) in step.inputs.templates() {
                let place = step.inputs_place().key(name);
                template.each(&place, &mut |place, start, expression| {
                    all.push(Found {
                        reader,
                        step: Some(number),
                        place: place.clone(),
                        start,
                        expression,
                    });
                });
            }
        }
        let mut add = |reader, place: &Place, start, expression| {
            all.push(Found {
                reader,
                step: None,
                place: place.clone(),
                start,
                expression,
            });
        };
        for (key, template) in self.result.iter().flatten() {
            let place = Place::of("result").key(key);
            template.each(&place, &mut |place, start, one| {
                add(Reader::Result, place, start, one);
            });
        }
        for catch in &self.catches {
            catch.each(&mut |place, start, one| add(Reader::Catches, place, start, one));
        }
        all
    }
}

impl Reader {
    /// The reader of the inputs of a step.
    pub(crate) fn of_inputs(step: &Step) -> Self {
        match step.each {
            Some(_) => Self::ItemInputs,
            None => Self::Inputs(step.inputs.key()),
        }
    }

    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Inputs(key) | Self::Step(key) => key,
            Self::ItemInputs => "inputs",
            Self::Result => "result",
            Self::Catches => "catches",
        }
    }
}
