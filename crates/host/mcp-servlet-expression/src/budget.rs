//! How much work the expressions of one call may do.
//!
//! `cel` has no limits (<https://github.com/cel-rust/cel-rust/issues/56>), so [`rewrite`](crate::rewrite) adds calls of
//! functions that charge a [`Meter`] for every turn of a loop and for the size of every value that is copied or compared.
//!
//! See `docs/decisions/0050-cel-with-a-budget.md`.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use cel::{
    ExecutionError,
    common::{
        types::{CelBytes, CelList, CelMap, CelOptional, CelString},
        value::Val,
    },
};
use serde_json::{Map, Value};

use crate::{clock::thread_time, scope::Part};

/// The work that the expressions of one call may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    steps: u64,
    time: Duration,
    /// How much JSON each expression may copy for `cel`; see [`Size::in_cel`].
    read: u64,
    /// How much JSON the paths of a call may still copy, in bytes of its text.
    copy: u64,
    /// Whether this is an [attempt](Self::attempt) that needs more than it may take. All its expressions fail.
    needs_more: bool,
}

/// The steps of a call: a turn of a loop, or 64 bytes of values.
pub const MAX_STEPS: u64 = 100_000;

/// The processor time that the expressions of one call may take together. The last function that began in it runs to its end.
pub const MAX_TIME: Duration = Duration::from_millis(200);

/// How much JSON an expression may copy for `cel`, in bytes.
pub(super) const MAX_READ: u64 = 1 << 20;

/// How much JSON the paths of a call may copy, in bytes of its text. A servlet may return as much by default.
pub(super) const MAX_COPY: u64 = 8 << 20;

/// What [`Budget::attempt`] allows: steps, time and JSON to read. It is little enough for a thread that must not block.
const ATTEMPT_LIMITS: (u64, Duration, u64) = (1_000, Duration::from_millis(1), 32 << 10);

/// What [`Budget::of_decision`] allows: steps and time.
const DECISION_LIMITS: (u64, Duration) = (10_000, Duration::from_millis(20));

/// How many bytes of a value cost one step.
pub(super) const BYTES_PER_STEP: u64 = 64;

/// What a value costs in addition to its text, in bytes.
const VALUE_OVERHEAD: u64 = 16;

/// The least that JSON text has for a value in addition to the characters of a string, such as two quotes or brackets.
const MIN_JSON_OVERHEAD: u64 = 2;

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: MAX_STEPS,
            time: MAX_TIME,
            read: MAX_READ,
            copy: MAX_COPY,
            needs_more: false,
        }
    }
}

impl Budget {
    /// As much as a thread that must not block can afford, but without the limit of time for [`attempt`](Self::attempt):
    /// whether the budget is enough does not depend on the load of the machine.
    pub fn small() -> Self {
        let (steps, _, read) = ATTEMPT_LIMITS;
        Self {
            steps,
            read,
            ..Self::default()
        }
    }

    /// What a decision about one request may take on a thread that others need.
    pub fn of_decision() -> Self {
        let (steps, time) = DECISION_LIMITS;
        Self {
            steps,
            time,
            ..Self::default()
        }
    }

    /// Starts an expression.
    pub(super) fn start(&self) -> Meter {
        Meter {
            left: AtomicU64::new(self.steps),
            begins: thread_time(),
            time: self.time,
            ends: Instant::now() + self.time,
            is_spent: AtomicBool::new(false),
        }
    }

    /// Ends an expression. False if it has used up the budget.
    pub(super) fn end(&mut self, meter: &Meter) -> bool {
        self.steps = meter.left.load(Ordering::Relaxed);
        self.time = self.time.saturating_sub(meter.taken());
        self.allow(!meter.is_spent.load(Ordering::Relaxed))
    }

    /// Whether an expression may read JSON of this size.
    pub(super) fn may_read(&mut self, size: &Size) -> bool {
        self.allow(size.bytes <= self.read)
    }

    /// Takes what a path copies. False if that is more than the paths of this call may still copy.
    pub(super) fn may_copy(&mut self, part: Part<'_>) -> bool {
        let mut size = Size::of_text(self.copy);
        size.add_part(part);
        let left = self.copy.checked_sub(size.bytes);
        self.copy = left.unwrap_or(self.copy);
        left.is_some()
    }

    /// Whether the steps are enough for so many bytes of values.
    pub(super) fn affords(&self, bytes: u64) -> bool {
        bytes / BYTES_PER_STEP <= self.steps
    }

    /// Takes the steps for so many bytes of values.
    pub(super) fn spend(&mut self, bytes: u64) {
        self.steps = self.steps.saturating_sub(bytes / BYTES_PER_STEP);
    }

    /// Whether an expression may wait for another thread.
    pub(super) fn may_block(&mut self) -> bool {
        self.allow(!self.is_attempt())
    }

    fn allow(&mut self, may: bool) -> bool {
        self.needs_more |= !may && self.is_attempt();
        may && !self.needs_more
    }

    fn is_attempt(&self) -> bool {
        self.read < MAX_READ
    }

    /// Whether this is an attempt that is to be run again with more.
    pub fn needs_more(&self) -> bool {
        self.needs_more
    }

    /// Runs expressions with a small part of the budget, which a thread that must not block can afford. `None` if they need
    /// more: run them again with the budget, which has not changed, on a thread that may block.
    pub fn attempt<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let (steps, time, read) = ATTEMPT_LIMITS;
        let begin = Self {
            steps: self.steps.min(steps),
            time: self.time.min(time),
            read,
            copy: self.copy,
            needs_more: false,
        };
        let mut end = begin;
        let value = run(&mut end);
        if end.needs_more {
            return None;
        }
        self.steps -= begin.steps - end.steps;
        self.copy = end.copy;
        self.time = self
            .time
            .saturating_sub(begin.time.saturating_sub(end.time));
        Some(value)
    }

    /// The steps that are left.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// Counts the work of one expression.
#[derive(Debug)]
pub(super) struct Meter {
    left: AtomicU64,
    /// The processor time of the thread at the begin.
    begins: Duration,
    /// How much it may take.
    time: Duration,
    /// When it has taken that, if nothing else has run meanwhile. Only then, the processor time is looked at, which is slower.
    ends: Instant,
    is_spent: AtomicBool,
}

impl Meter {
    /// Takes steps. After the first failure, every call fails: `cel` ignores errors in some places.
    pub(super) fn charge(&self, steps: u64) -> Result<(), ExecutionError> {
        let left = self.left.load(Ordering::Relaxed);
        let is_late = Instant::now() > self.ends && self.taken() > self.time;
        let is_over = left < steps || is_late;
        if is_over || self.is_spent.load(Ordering::Relaxed) {
            self.is_spent.store(true, Ordering::Relaxed);
            return Err(ExecutionError::function_error("budget", "used up"));
        }
        self.left.store(left - steps, Ordering::Relaxed);
        Ok(())
    }

    /// The processor time that the expression has taken. It runs on one thread.
    fn taken(&self) -> Duration {
        thread_time().saturating_sub(self.begins)
    }

    /// Takes the steps for bytes that are about to be made.
    pub(super) fn charge_bytes(&self, bytes: u64) -> Result<(), ExecutionError> {
        self.charge(bytes / BYTES_PER_STEP)
    }

    /// Takes the steps for a value.
    pub(super) fn charge_value(&self, value: &dyn Val) -> Result<(), ExecutionError> {
        self.charge_bytes(self.weight(value))
    }

    /// The size of a value in bytes. One that costs more than is left may be larger.
    pub(super) fn weight(&self, value: &dyn Val) -> u64 {
        let most = self
            .left
            .load(Ordering::Relaxed)
            .saturating_mul(BYTES_PER_STEP);
        let mut weight = 0;
        weigh(value, most.saturating_add(BYTES_PER_STEP), &mut weight);
        weight
    }
}

/// The size of a value without members and items in bytes.
pub(super) fn weight(scalar: &Value) -> u64 {
    VALUE_OVERHEAD + scalar.as_str().map_or(0, |text| text.len() as u64)
}

/// Adds up the size of JSON: the text of strings and names, and a number of bytes for each value and each name.
#[derive(Debug)]
pub(super) struct Size {
    /// The bytes of each value and each name in addition to its text.
    each: u64,
    /// Values are not added any more when the size is above this one.
    most: u64,
    bytes: u64,
}

impl Size {
    /// Adds up what is copied for `cel`.
    pub(super) fn in_cel() -> Self {
        Self {
            each: VALUE_OVERHEAD,
            most: MAX_READ,
            bytes: 0,
        }
    }

    /// Adds up JSON text, without commas and escapes.
    fn of_text(most: u64) -> Self {
        Self {
            each: MIN_JSON_OVERHEAD,
            most,
            bytes: 0,
        }
    }

    pub(super) fn add_part(&mut self, part: Part<'_>) {
        match part {
            Part::Json(json) => self.add_json(json),
            Part::Map(members) => self.add_members(members),
            Part::Text(text) => self.add_text(text),
            Part::Object(object) => {
                let members = object.members().into_iter();
                members.for_each(|(_, member)| self.add_part(member));
            }
        }
    }

    fn add_json(&mut self, json: &Value) {
        if self.bytes > self.most {
            return;
        }
        match json {
            Value::String(text) => self.add_text(text),
            Value::Array(items) => {
                self.bytes += self.each;
                for item in items {
                    self.add_json(item);
                }
            }
            Value::Object(members) => self.add_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes += self.each,
        }
    }

    fn add_members(&mut self, members: &Map<String, Value>) {
        self.bytes += self.each;
        for (name, value) in members {
            self.add_text(name);
            self.add_json(value);
        }
    }

    fn add_text(&mut self, text: &str) {
        self.bytes += self.each + text.len() as u64;
    }
}

/// Adds the size of a value in bytes, and stops at `most`.
fn weigh(value: &dyn Val, most: u64, weight: &mut u64) {
    *weight += VALUE_OVERHEAD;
    if *weight > most {
        return;
    }
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        *weight += text.inner().len() as u64;
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        weigh_all(list.inner().iter().map(AsRef::as_ref), most, weight);
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        let parts = map.inner().iter();
        weigh_all(
            parts.flat_map(|(key, value)| [key.inner(), value.as_ref()]),
            most,
            weight,
        );
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        *weight += bytes.inner().len() as u64;
    } else if let Some(inner) = value
        .downcast_ref::<CelOptional<'_>>()
        .and_then(CelOptional::inner)
    {
        weigh(inner, most, weight);
    }
}

fn weigh_all<'a, 'v: 'a>(
    values: impl Iterator<Item = &'a (dyn Val + 'v)>,
    most: u64,
    weight: &mut u64,
) {
    for value in values {
        if *weight > most {
            return;
        }
        weigh(value, most, weight);
    }
}

// Elsewhere, `thread_time` is the time that passes.
#[cfg(all(test, unix))]
mod tests {
    use std::{hint, thread};

    use super::*;

    #[test]
    fn only_work_takes_time() {
        let budget = Budget::of_decision();
        let meter = budget.start();
        thread::sleep(2 * budget.time);
        assert!(meter.charge(1).is_ok());
        while thread_time() <= meter.begins + budget.time {
            hint::spin_loop();
        }
        assert!(meter.charge(1).is_err());
    }
}
