//! The steps of a virtual tool.

use std::{collections::BTreeSet, ops::Range, time::Duration};

use mcp_servlet_expression::{Expression, PathStep};
use serde_json::{Map, Value};

use super::{Compiler, Inputs, VirtualTool};
use crate::{
    expressions::Found,
    names::there_is_no,
    problem::{Place, Problem},
    step::{Each, Handler, Kept, Resource, Step, Target},
    template::Template,
};

/// The longest name of a step, in characters.
const MAX_NAME: usize = 32;

/// The most steps of a tool.
const MAX_STEPS: usize = 32;

/// How many calls of one `each` run at once, by default and at most.
const PARALLEL_LIMITS: (usize, usize) = (4, 16);

/// How long the list of `each` may be, by default and at most.
const ITEM_LIMITS: (usize, usize) = (20, 200);

/// The table `step.NAME` of a tool.
#[derive(Clone, Default, Hash)]
pub struct StepSpec {
    /// The name.
    pub name: String,
    /// The tool that it calls: `MEMBER:TOOL`.
    pub handler: Option<String>,
    /// The resource that it reads: `MEMBER:URI`, or `MEMBER:TEMPLATE`.
    pub resource: Option<String>,
    /// All arguments of the tool, or variables of the template.
    pub inputs: Option<Map<String, Value>>,
    /// A condition: a string that is one expression.
    pub when: Option<String>,
    /// A list, with one call for each item: a string that is one expression.
    pub each: Option<String>,
    /// How many calls of `each` run at once.
    pub parallel: Option<i64>,
    /// How long the list of `each` may be.
    pub most: Option<i64>,
    /// Steps that must be over first, in addition to those that it reads.
    pub after: Option<Vec<String>>,
    /// Whether a failure becomes the value of the step.
    pub may_fail: bool,
    /// How long each of its calls may take, if that is less than the handler may take.
    pub timeout: Option<Duration>,
}

impl Compiler<'_, '_> {
    /// The steps, or the one call of a tool with `handler`.
    pub(super) fn steps(&mut self) -> Vec<Step> {
        let spec = self.spec;
        let Some(handler) = &spec.handler else {
            if spec.steps.is_empty() {
                self.problem(Place::default(), "a tool needs `handler` or `step`");
            }
            return self.named_steps();
        };
        if !spec.steps.is_empty() {
            let message = "a tool has `handler` or `step`, not both";
            self.problem(Place::of("step"), message);
        }
        let inputs = self.inputs();
        vec![Step {
            name: None,
            target: self.handler(Place::of("handler"), handler),
            inputs,
            when: None,
            each: None,
            waits_for: BTreeSet::new(),
            has_after: false,
            may_fail: false,
            timeout: spec.timeout,
            kept: Kept::default(),
            is_in_result: false,
        }]
    }

    fn handler(&mut self, place: Place, text: &str) -> Target {
        let parts = text
            .split_once(':')
            .filter(|(member, tool)| !member.is_empty() && !tool.is_empty());
        let (member, tool) = parts.unwrap_or_else(|| {
            let message = "expected a member and its tool, such as \"weather:get_weather\"";
            self.problem(place, message);
            Default::default()
        });
        Target::Tool(Handler {
            member: member.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// The inputs of a tool with `handler`.
    fn inputs(&mut self) -> Inputs {
        match (&self.spec.inputs, &self.spec.set) {
            (Some(_), Some(_)) => {
                let message = "`inputs` has all arguments of the handler, and `set` only those that are fixed: use one of them";
                self.problem(Place::of("set"), message);
                Inputs::Pass
            }
            (Some(inputs), None) => Inputs::Map(self.templates(&Place::of("inputs"), inputs)),
            (None, Some(set)) => Inputs::Set(self.templates(&Place::of("set"), set)),
            (None, None) => Inputs::Pass,
        }
    }

    fn named_steps(&mut self) -> Vec<Step> {
        let spec = self.spec;
        let keys = [
            ("inputs", spec.inputs.is_some()),
            ("set", spec.set.is_some()),
        ];
        for (key, _) in keys.into_iter().filter(|(_, is_set)| *is_set) {
            let message =
                format!("a tool with steps has no `{key}`: each step has its own `inputs`");
            self.problem(Place::of(key), message);
        }
        if let Some(step) = spec.steps.get(MAX_STEPS) {
            let message = format!("a tool has at most {MAX_STEPS} steps");
            self.problem(Place::of("step").key(&step.name), message);
        }
        spec.steps.iter().map(|one| self.step(one)).collect()
    }

    fn step(&mut self, spec: &StepSpec) -> Step {
        let place = Place::of("step").key(&spec.name);
        self.step_name(&spec.name, &place);
        let target = self.target(spec, &place);
        let inputs = spec
            .inputs
            .as_ref()
            .map(|inputs| self.templates(&place.key("inputs"), inputs));
        let when = spec.when.as_ref().map(|text| {
            let example = "${{ size(steps.search.items) > 0 }}";
            Template::single(text, &place.key("when"), example, &mut self.problems)
        });
        let each = self.each(spec, &place);
        Step {
            name: Some(spec.name.clone()),
            target,
            inputs: Inputs::Map(inputs.unwrap_or_default()),
            when,
            each,
            waits_for: BTreeSet::new(),
            has_after: spec.after.is_some(),
            may_fail: spec.may_fail,
            timeout: spec.timeout,
            kept: Kept::default(),
            is_in_result: false,
        }
    }

    fn step_name(&mut self, name: &str, place: &Place) {
        let is_letter = |one: char| one.is_ascii_lowercase();
        let is_known = |one: char| is_letter(one) || one.is_ascii_digit() || one == '_';
        if !name.starts_with(is_letter) || !name.chars().all(is_known) || name.len() > MAX_NAME {
            let message = format!(
                "the name of a step has lower-case letters, digits and `_`, begins with a letter, and has at most {MAX_NAME} characters"
            );
            self.problem(place.clone(), message);
        } else if Expression::parse(&format!("steps.{name}")).is_err() {
            let message = format!("expressions cannot read a step `{name}`: choose another name");
            self.problem(place.clone(), message);
        }
    }

    fn target(&mut self, spec: &StepSpec, place: &Place) -> Target {
        match (&spec.handler, &spec.resource) {
            (Some(handler), None) => self.handler(place.key("handler"), handler),
            (None, Some(resource)) => self.resource(place.key("resource"), resource),
            (handler, resource) => {
                let (place, message) = if handler.is_some() && resource.is_some() {
                    let message = "a step has `handler` or `resource`, not both";
                    (place.key("resource"), message)
                } else {
                    (place.clone(), "a step needs `handler` or `resource`")
                };
                self.problem(place, message);
                Target::Tool(Handler::default())
            }
        }
    }

    fn resource(&mut self, place: Place, text: &str) -> Target {
        let parts = text
            .split_once(':')
            .filter(|(member, uri)| !member.is_empty() && uri.contains(':'));
        let Some((member, template)) = parts else {
            self.problem(place, "expected `MEMBER:URI`, such as `docs:file:///a.md`");
            return Target::Resource(Resource::default());
        };
        let resource = Resource {
            member: member.to_owned(),
            template: template.to_owned(),
        };
        if let Err(message) = resource.variables() {
            self.problem(place, message);
        }
        Target::Resource(resource)
    }

    fn each(&mut self, spec: &StepSpec, place: &Place) -> Option<Each> {
        let parallel = self.limit(spec.parallel, PARALLEL_LIMITS, &place.key("parallel"));
        let most = self.limit(spec.most, ITEM_LIMITS, &place.key("most"));
        let Some(text) = &spec.each else {
            let keys = [("parallel", spec.parallel), ("most", spec.most)];
            for (key, _) in keys.into_iter().filter(|(_, value)| value.is_some()) {
                self.problem(place.key(key), format!("`{key}` needs `each`"));
            }
            return None;
        };
        let example = "${{ steps.search.items }}";
        let list = Template::single(text, &place.key("each"), example, &mut self.problems);
        Some(Each {
            list,
            parallel,
            most,
        })
    }

    fn limit(&mut self, set: Option<i64>, (default, max): (usize, usize), place: &Place) -> usize {
        let Some(set) = set else { return default };
        match usize::try_from(set) {
            Ok(limit) if (1..=max).contains(&limit) => limit,
            _ => {
                let message = format!("expected a number from 1 to {max}, found {set}");
                self.problem(place.clone(), message);
                default
            }
        }
    }

    /// Finds what the steps wait for, and what is read of their values. Unknown names have their own messages.
    pub(super) fn order(&mut self, tool: &mut VirtualTool) {
        let names: Vec<_> = tool.steps.iter().filter_map(Step::name).collect();
        let found = tool.expressions();
        let reads: Vec<_> = found.iter().flat_map(|one| reads(one, &names)).collect();
        let mut orders = Vec::new();
        for (step, spec) in self.spec.steps.iter().enumerate() {
            let read: BTreeSet<_> = reads
                .iter()
                .filter(|read| read.reader == Some(step))
                .map(|read| read.step)
                .collect();
            let after = self.after(step, spec, &names, &read);
            orders.push(read.union(&after).copied().collect::<BTreeSet<_>>());
        }
        self.cycles(&names, &orders, &reads);
        let of = |step| {
            reads
                .iter()
                .filter(move |read: &&Read<'_>| read.step == step)
        };
        let kept: Vec<_> = (0..names.len())
            .map(|step| (kept(of(step)), of(step).any(|read| read.reader.is_none())))
            .collect();
        for ((step, waits_for), kept) in tool.steps.iter_mut().zip(orders).zip(kept) {
            step.waits_for = waits_for;
            (step.kept, step.is_in_result) = kept;
        }
    }

    /// The steps in `after`.
    fn after(
        &mut self,
        step: usize,
        spec: &StepSpec,
        names: &[&str],
        read: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let mut after = BTreeSet::new();
        for (at, name) in spec.after.iter().flatten().enumerate() {
            let place = Place::of("step").key(&spec.name).key("after").item(at);
            match names.iter().position(|known| known == name) {
                Some(other) if other == step => {
                    self.problem(place, format!("step `{name}` waits for itself"));
                }
                Some(other) if read.contains(&other) => {
                    let message = format!("`{}` reads `{name}` anyway: remove it here", spec.name);
                    self.warnings.push(Problem::new(place, message));
                }
                Some(other) => {
                    after.insert(other);
                }
                None => self.problem(place, there_is_no("step", name, names.iter().copied())),
            }
        }
        after
    }

    /// The place of a name in the `after` of a step.
    fn place_of_after(&self, step: usize, name: &str) -> Place {
        let spec = &self.spec.steps[step];
        let mut after = spec.after.iter().flatten();
        let at = after.position(|other| other == name).unwrap_or_default();
        Place::of("step").key(&spec.name).key("after").item(at)
    }

    /// Reports steps that wait for each other.
    fn cycles(&mut self, names: &[&str], orders: &[BTreeSet<usize>], reads: &[Read<'_>]) {
        let mut reported = BTreeSet::<usize>::new();
        for (step, name) in names.iter().enumerate() {
            let Some(cycle) = cycle(step, orders) else {
                continue;
            };
            // Another step of the same circle, or a circle through one of its steps.
            if cycle.iter().any(|one| reported.contains(one)) {
                continue;
            }
            reported.extend(&cycle);
            let read_of = |reader: usize, step: usize| {
                let mut reads = reads.iter();
                reads.find(|read| read.reader == Some(reader) && read.step == step)
            };
            let message = match cycle.as_slice() {
                [_] => format!("step `{name}` reads itself"),
                _ => "steps wait for each other".to_owned(),
            };
            let last = cycle.last().copied().unwrap_or(step);
            let mut problem = match read_of(last, step) {
                Some(Read { found, range, .. }) => found.problem(range, message),
                None => Problem::new(self.place_of_after(last, name), message),
            };
            if cycle.len() > 1 {
                let next = cycle.iter().cycle().skip(1);
                let waits = cycle.iter().zip(next).map(|(one, other)| {
                    let step = Place::of("step").key(names[*one]);
                    let (verb, place) = match read_of(*one, *other) {
                        Some(read) => ("reads", read.found.place.clone()),
                        None => ("waits for", step.key("after")),
                    };
                    (
                        format!("`{}` {verb} `{}`", names[*one], names[*other]),
                        place,
                    )
                });
                problem.parts = waits.collect();
            }
            self.problems.push(problem);
        }
    }
}

/// A value of a step that an expression reads.
struct Read<'t> {
    found: &'t Found<'t>,
    /// The step that has the expression.
    reader: Option<usize>,
    step: usize,
    /// The bytes of the name in the expression.
    range: Range<usize>,
    /// The member of the value. `None` for the whole value.
    member: Option<&'t str>,
}

/// The values of steps that an expression reads.
fn reads<'t>(found: &'t Found<'t>, names: &[&str]) -> Vec<Read<'t>> {
    let paths = found
        .expression
        .exact_reads
        .iter()
        .filter(|path| path.root == "steps");
    let read = paths.filter_map(|path| {
        let [PathStep::Member { name, range, .. }, rest @ ..] = path.steps.as_slice() else {
            return None;
        };
        // The values of a step with `each` are the items of a list.
        let rest = if let [PathStep::Item { .. }, of_item @ ..] = rest {
            of_item
        } else {
            rest
        };
        Some(Read {
            found,
            reader: found.step,
            step: names.iter().position(|known| known == name)?,
            range: range.clone(),
            member: rest.first().and_then(PathStep::name),
        })
    });
    read.collect()
}

fn kept<'r>(reads: impl Iterator<Item = &'r Read<'r>>) -> Kept {
    let members: Option<BTreeSet<_>> = reads.map(|read| read.member.map(str::to_owned)).collect();
    members.map_or(Kept::All, Kept::Members)
}

/// The steps on a way from a step back to itself, the shortest one.
fn cycle(step: usize, orders: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    let mut ways = vec![vec![step]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in way.last().into_iter().flat_map(|last| &orders[*last]) {
                if *next == step {
                    return Some(way);
                }
                if seen.insert(*next) {
                    longer.push([way.as_slice(), &[*next]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}
