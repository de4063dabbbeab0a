//! All expressions of a virtual tool, and what each of them can read.

use std::ops::Range;

use mcp_servlet_expression::Expression;
use serde_json::Value;

use crate::{
    problem::{Place, Problem},
    shape::{Names, Shape, StepShape, arguments, members},
    spec::VirtualTool,
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
            let reader = match step.each {
                Some(_) => Reader::ItemInputs,
                None => Reader::Inputs(step.inputs.key()),
            };
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

/// What is known about the values that the expressions of a tool read.
pub(crate) struct Readable {
    arguments: Shape,
    /// Whether the arguments are made from inputs. Then an unknown one in an input has its own message.
    are_derived: bool,
    /// The values of the steps. `None` for a tool with `handler`.
    steps: Option<Vec<StepShape>>,
}

impl Readable {
    /// `schema` is the input schema of the tool, if it is known.
    pub(crate) fn new(tool: &VirtualTool, schema: Option<&Value>) -> Self {
        Self {
            arguments: schema.map_or(Shape::Any, arguments),
            are_derived: tool.arguments.is_none() && tool.maps_all_inputs(),
            steps: tool
                .has_steps()
                .then(|| tool.steps.iter().filter_map(StepShape::of).collect()),
        }
    }

    /// Adds a problem for each name that an expression cannot read.
    pub(crate) fn check(&self, found: &Found<'_>, problems: &mut Vec<Problem>) {
        let names = self.names(found);
        names.check(found.expression, &found.place, found.start, problems);
    }

    fn names(&self, found: &Found<'_>) -> Names {
        let (reader, is_of_step) = (found.reader, found.step.is_some());
        let arguments = if self.are_derived && is_of_step {
            Shape::Any
        } else {
            self.arguments.clone()
        };
        let mut request = vec![
            ("name".to_owned(), Shape::Any),
            ("arguments".to_owned(), arguments),
        ];
        if is_of_step {
            let session = members(&["id", "clientInfo", "capabilities"]);
            request.extend([
                ("meta".to_owned(), Shape::Any),
                ("session".to_owned(), session),
            ]);
        }
        let mut roots = vec![("request", Shape::Members(request))];
        match (&self.steps, reader) {
            (Some(_), Reader::Catches) => {
                roots.push(("error", members(&["code", "message", "data", "step"])));
            }
            (None, Reader::Catches) => roots.push(("error", members(&["code", "message", "data"]))),
            (Some(steps), _) => roots.push(("steps", Shape::Steps(steps.clone()))),
            (None, Reader::Result) => roots.push(("result", Shape::Any)),
            (None, _) => {}
        }
        if reader == Reader::ItemInputs {
            roots.extend([("item", Shape::Any), ("index", Shape::Any)]);
        }
        Names {
            place: reader.key(),
            roots,
        }
    }
}

impl Reader {
    fn key(self) -> &'static str {
        match self {
            Self::Inputs(key) | Self::Step(key) => key,
            Self::ItemInputs => "inputs",
            Self::Result => "result",
            Self::Catches => "catches",
        }
    }
}
