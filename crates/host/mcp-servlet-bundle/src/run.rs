//! The order in which the steps of a call run, and what is kept of their results.
//!
//! See `docs/decisions/0073-steps.md`.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;

use crate::{
    JsonObject,
    spec::VirtualTool,
    step::{Kept, RESULT, Step, Target},
};

/// How many calls of one virtual tool run at once.
pub const MAX_RUNNING: usize = 16;

/// How much memory the results of the steps may take together, in bytes.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The state of the steps of a call. The caller runs them: this says what may begin, and learns what has ended.
///
/// 1. [`ready`](Self::ready) is a step that may begin: [`begin`](Self::begin) or [`skip`](Self::skip) it.
/// 2. [`next_call`](Self::next_call) is a call that may begin.
/// 3. [`ended`](Self::ended) takes the value of a call.
///
/// If a call [asks](Self::asked) the client, a [snapshot](Self::snapshot) goes with the question, and the answer
/// [resumes](Self::resume) it.
#[derive(Debug)]
pub struct Run<'t> {
    tool: &'t VirtualTool,
    states: Vec<State>,
    values: Arc<JsonObject>,
    /// The size of what is kept of each step, in bytes.
    sizes: Vec<usize>,
    running: usize,
    /// How many items each step with `each` has.
    counts: Vec<Option<usize>>,
    /// The values of calls that ended before the snapshot, by step and item. These calls do not run again.
    known: BTreeMap<(usize, usize), Value>,
}

/// A call of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The number of the step.
    pub step: usize,
    /// The number of the item of `each`.
    pub index: Option<usize>,
}

#[derive(Debug)]
enum State {
    Waiting,
    Begun(Begun),
    Done,
    Failed,
    Skipped,
    Stopped,
    /// It was cut off, and may have changed something.
    Unknown,
}

#[derive(Debug)]
struct Begun {
    /// The items of `each`.
    items: Option<Arc<[Value]>>,
    /// The values of the calls that have ended.
    values: Vec<Option<Value>>,
    /// The calls from here on have not begun.
    next: usize,
    running: usize,
}

impl Begun {
    fn ended(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// The next call that has not begun, unless its value is known.
    fn next(&mut self) -> Option<usize> {
        let rest = self.values.get(self.next..)?;
        let index = self.next + rest.iter().position(Option::is_none)?;
        self.next = index + 1;
        self.running += 1;
        Some(index)
    }
}

/// The results of the steps take too much memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The step that brought the last result.
    pub step: String,
    /// The size of the results of this step, in bytes.
    pub bytes: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, bytes } = self;
        write!(
            f,
            "the results of the steps take more than {} MiB; `{step}` brought {} MiB",
            MAX_KEPT_BYTES >> 20,
            bytes.div_ceil(1 << 20)
        )
    }
}

impl std::error::Error for TooLarge {}

impl<'t> Run<'t> {
    /// No step has begun.
    pub fn new(tool: &'t VirtualTool) -> Self {
        Self {
            tool,
            states: tool.steps.iter().map(|_| State::Waiting).collect(),
            values: Arc::default(),
            sizes: vec![0; tool.steps.len()],
            running: 0,
            counts: vec![None; tool.steps.len()],
            known: BTreeMap::new(),
        }
    }

    /// The first step that waits for nothing and has not begun.
    pub fn ready(&self) -> Option<usize> {
        let is_waiting = |step: &usize| matches!(self.states[*step], State::Waiting);
        (0..self.states.len()).filter(is_waiting).find(|step| {
            let mut waits_for = self.tool.steps[*step].waits_for.iter();
            waits_for.all(|other| self.states[*other].is_over())
        })
    }

    /// Skips a step.
    pub fn skip(&mut self, step: usize) {
        self.states[step] = State::Skipped;
        self.drop_unread();
    }

    /// Begins a step: one call, or one for each item.
    pub fn begin(&mut self, step: usize, items: Option<Arc<[Value]>>) {
        self.counts[step] = items.as_ref().map(|items| items.len());
        let calls = self.counts[step].unwrap_or(1);
        let values: Vec<_> = (0..calls)
            .map(|index| self.known.remove(&(step, index)))
            .collect();
        self.sizes[step] += values.iter().flatten().map(size).sum::<usize>();
        let begun = Begun {
            items,
            values,
            next: 0,
            running: 0,
        };
        let is_over = begun.ended() == calls;
        self.states[step] = State::Begun(begun);
        if is_over {
            self.over(step, false);
        }
    }

    /// The next call that may begin: in the order of the steps, and then of the items.
    pub fn next_call(&mut self) -> Option<Call> {
        if self.running == MAX_RUNNING {
            return None;
        }
        for (step, state) in self.states.iter_mut().enumerate() {
            let State::Begun(begun) = state else { continue };
            let parallel = self.tool.steps[step]
                .each
                .as_ref()
                .map_or(1, |each| each.parallel);
            if begun.running < parallel
                && let Some(number) = begun.next()
            {
                self.running += 1;
                let index = begun.items.is_some().then_some(number);
                return Some(Call { step, index });
            }
        }
        None
    }

    /// The items of the step of a call.
    pub fn items(&self, call: Call) -> Option<&Arc<[Value]>> {
        match &self.states[call.step] {
            State::Begun(begun) => begun.items.as_ref(),
            _ => None,
        }
    }

    /// Takes the result of a call. `failed` is whether the call has failed.
    ///
    /// # Errors
    /// [`TooLarge`] if there is no room for it.
    pub fn ended(
        &mut self,
        call: Call,
        mut result: JsonObject,
        failed: bool,
    ) -> Result<(), TooLarge> {
        let Call { step, index } = call;
        self.running -= 1;
        let State::Begun(begun) = &mut self.states[step] else {
            return Ok(());
        };
        let Step {
            kept,
            target,
            may_fail,
            ..
        } = &self.tool.steps[step];
        if *may_fail || matches!(target, Target::Tool(_)) {
            result.entry("isError").or_insert(failed.into());
        }
        let value = kept.trim(result);
        self.sizes[step] += size(&value);
        begun.values[index.unwrap_or_default()] = Some(value);
        begun.running -= 1;
        if begun.values.iter().all(Option::is_some) {
            self.over(step, failed && index.is_none());
        }
        if self.sizes.iter().sum::<usize>() > MAX_KEPT_BYTES {
            return Err(TooLarge {
                step: self.name(step).to_owned(),
                bytes: self.sizes[step],
            });
        }
        Ok(())
    }

    /// Ends a step whose condition or list has no value.
    pub fn cannot_begin(&mut self, step: usize) {
        self.states[step] = State::Failed;
    }

    /// How many items a step with `each` has.
    pub fn item_count(&self, step: usize) -> Option<usize> {
        self.counts[step]
    }

    /// Takes back a call that was stopped before it began.
    pub fn not_begun(&mut self, call: Call) {
        self.running -= 1;
        if let State::Begun(begun) = &mut self.states[call.step] {
            begun.running -= 1;
            if begun.running == 0 && begun.ended() == 0 {
                self.states[call.step] = State::Waiting;
            }
        }
    }

    /// Stops everything that runs.
    pub fn cut_off(&mut self, is_read_only: impl Fn(usize) -> bool) {
        for (step, state) in self.states.iter_mut().enumerate() {
            if let State::Begun(begun) = state {
                *state = if begun.running > 0 && !is_read_only(step) {
                    State::Unknown
                } else {
                    State::Stopped
                };
            }
        }
    }

    /// Whether a call of a step has begun.
    pub fn has_begun(&self, step: usize) -> bool {
        !matches!(self.states[step], State::Waiting | State::Skipped)
    }

    /// Whether a call of a step has ended.
    pub fn has_ended(&self, step: usize) -> bool {
        match &self.states[step] {
            State::Begun(begun) => begun.ended() > 0,
            State::Done | State::Failed => true,
            _ => false,
        }
    }

    /// The size of what is kept of each step, in bytes of memory.
    pub fn sizes(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sizes.iter().copied().enumerate()
    }

    /// Ends a call that was stopped.
    pub fn stopped(&mut self, call: Call) {
        self.running -= 1;
        if let State::Begun(_) = self.states[call.step] {
            self.states[call.step] = State::Stopped;
        }
    }

    /// Ends a call that has failed, which ends the call of the tool.
    pub fn failed(&mut self, call: Call) {
        self.running -= 1;
        self.states[call.step] = State::Failed;
    }

    /// Takes back a call that needs an answer of the client. It runs again after that.
    pub fn asked(&mut self, call: Call) {
        self.running -= 1;
        if let State::Begun(begun) = &mut self.states[call.step] {
            begun.running -= 1;
        }
    }

    /// What must be known to go on: the steps that are over, and the values that are still read.
    pub fn snapshot(&self) -> JsonObject {
        let (mut over, mut calls) = (JsonObject::new(), JsonObject::new());
        for (step, state) in self.states.iter().enumerate() {
            let name = self.name(step).to_owned();
            match state {
                State::Waiting => {}
                State::Begun(begun) => {
                    let values = begun.values.iter().enumerate();
                    let known = values
                        .filter_map(|(index, value)| Some((index.to_string(), value.clone()?)));
                    calls.insert(name, known.collect::<JsonObject>().into());
                }
                state => {
                    over.insert(name, state.name().into());
                }
            }
        }
        JsonObject::from_iter([
            ("over".to_owned(), over.into()),
            ("calls".to_owned(), calls.into()),
            ("values".to_owned(), Value::Object((*self.values).clone())),
        ])
    }

    /// Goes on after a [snapshot](Self::snapshot). `None` if the snapshot is not one of this tool.
    pub fn resume(&mut self, snapshot: &Value) -> Option<()> {
        let step_of = |name: &str| {
            let mut steps = self.tool.steps.iter();
            steps.position(|step| step.name.as_deref() == Some(name))
        };
        for (name, state) in snapshot.get("over")?.as_object()? {
            let step = step_of(name)?;
            self.states[step] = State::named(state.as_str()?)?;
        }
        for (name, values) in snapshot.get("calls")?.as_object()? {
            let step = step_of(name)?;
            for (index, value) in values.as_object()? {
                self.known
                    .insert((step, index.parse().ok()?), value.clone());
            }
        }
        let values = snapshot.get("values")?.as_object()?;
        for (name, value) in values {
            self.sizes[step_of(name)?] = size(value);
        }
        self.values = Arc::new(values.clone());
        Some(())
    }

    fn over(&mut self, step: usize, failed: bool) {
        let over = if failed { State::Failed } else { State::Done };
        let State::Begun(begun) = std::mem::replace(&mut self.states[step], over) else {
            return;
        };
        let mut values: Vec<_> = begun.values.into_iter().flatten().collect();
        let value = match begun.items {
            Some(_) => Value::Array(values),
            None => values.pop().unwrap_or_default(),
        };
        let name = self.name(step).to_owned();
        Arc::make_mut(&mut self.values).insert(name, value);
        self.drop_unread();
    }

    /// Drops the values that no later expression reads.
    fn drop_unread(&mut self) {
        let states = self.states.iter().enumerate();
        let unread: Vec<_> = states
            .filter(|(step, state)| state.is_over() && !self.is_read(*step))
            .map(|(step, _)| step)
            .collect();
        let values = Arc::make_mut(&mut self.values);
        for step in unread {
            values.shift_remove(self.tool.steps[step].name().unwrap_or_default());
            self.sizes[step] = 0;
        }
    }

    /// Whether an expression of a step that is not over, or of the result, reads the value of a step.
    fn is_read(&self, step: usize) -> bool {
        let mut steps = self.tool.steps.iter().zip(&self.states);
        self.tool.steps[step].is_in_result
            || steps.any(|(other, state)| !state.is_over() && other.waits_for.contains(&step))
    }

    fn name(&self, step: usize) -> &str {
        self.tool.steps[step].name().unwrap_or_default()
    }

    /// The values of the steps that are over, by name.
    pub fn values(&self) -> &Arc<JsonObject> {
        &self.values
    }

    /// Steps with calls that have begun and not ended.
    pub fn running(&self) -> impl Iterator<Item = &'t Step> {
        let steps = self.tool.steps.iter().zip(&self.states);
        steps.filter_map(|(step, state)| matches!(state, State::Begun(_)).then_some(step))
    }

    /// The name of each step, and what has become of it.
    pub fn states(&self) -> JsonObject {
        let steps = self.tool.steps.iter().zip(&self.states);
        let states =
            steps.filter_map(|(step, state)| Some((step.name.clone()?, Value::from(state.name()))));
        states.collect()
    }

    /// The share of a call in its step.
    #[expect(clippy::cast_precision_loss, reason = "a list has at most 200 items")]
    pub fn weight(&self, call: Call) -> f64 {
        1.0 / self.items(call).map_or(1.0, |items| items.len() as f64)
    }

    /// How many steps are over. A step that has begun counts as the share of its calls that have ended.
    #[expect(clippy::cast_precision_loss, reason = "a list has at most 200 items")]
    pub fn progress(&self) -> f64 {
        let done = self.states.iter().map(|state| match state {
            State::Waiting => 0.0,
            State::Begun(begun) => begun.ended() as f64 / begun.values.len() as f64,
            _ => 1.0,
        });
        done.sum()
    }
}

impl State {
    fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Begun(_))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Waiting => "not started",
            Self::Begun(_) | Self::Stopped => "stopped",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
        }
    }

    /// The state of a step that is over, by its name in a snapshot.
    fn named(name: &str) -> Option<Self> {
        let mut states = [Self::Done, Self::Failed, Self::Skipped].into_iter();
        states.find(|state| state.name() == name)
    }
}

impl Kept {
    fn has(&self, member: &str) -> bool {
        match self {
            Self::All => true,
            Self::Members(members) => members.contains(member),
        }
    }

    /// What is kept of a result: its members, and the members of its structured content that have other names.
    fn trim(&self, mut result: JsonObject) -> Value {
        let is_own = |name: &str| self.has(name) && !RESULT.contains(&name);
        let members: Vec<_> = match result.get_mut(STRUCTURED) {
            Some(Value::Object(structured)) if self.has(STRUCTURED) => {
                let own = structured.iter().filter(|(name, _)| is_own(name));
                own.map(|(name, value)| (name.clone(), value.clone()))
                    .collect()
            }
            Some(Value::Object(structured)) => {
                let members = std::mem::take(structured).into_iter();
                members.filter(|(name, _)| is_own(name)).collect()
            }
            _ => Vec::new(),
        };
        result.retain(|name, _| self.has(name));
        result.extend(members);
        result.into()
    }
}

const STRUCTURED: &str = "structuredContent";

/// About how much memory a value takes, in bytes.
fn size(value: &Value) -> usize {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| MEMBER_OVERHEAD + name.len() + size(value))
                .sum()
        }
    };
    size_of::<Value>() + inside
}

/// What an object needs for a member in addition to its name and value, in bytes.
const MEMBER_OVERHEAD: usize = 48;
