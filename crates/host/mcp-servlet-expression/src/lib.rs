//! Expressions in the Common Expression Language, within a budget.
//!
//! An [`Expression`] reads the JSON of a [`Scope`]. The work of all expressions of a call is limited by a [`Budget`]. A [`Condition`]
//! can be evaluated before all of its variables are known.
//!
//! Programs do not need this crate directly.

mod as_path;
mod budget;
mod check;
mod clock;
mod column;
mod condition;
mod functions;
mod infer;
mod optional;
mod parse;
mod path;
mod pattern;
mod rewrite;
mod scope;
mod source;
mod types;
mod value;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    thread,
};

use cel::{
    Context, ExecutionError, Value as CelValue,
    common::{ast::IdedExpr, value::Val},
};
use serde_json::Value;

pub use budget::{Budget, MAX_STEPS, MAX_TIME};
use budget::{MAX_COPY, MAX_READ, Size};
use check::Check;
use column::Column;
pub use condition::{Comparison, Condition, Truth};
pub use infer::{Access, Inferred, Wrong};
pub use path::{Path, PathStep};
use pattern::Pattern;
use rewrite::Rewrite;
use scope::Found;
pub use scope::{Object, Part, Scope};
use source::Source;
pub use types::{Fit, Misfit, Reason, Type};

/// The stack for deep expressions in bytes. Only what is used takes memory.
const LARGE_STACK: usize = 64 << 20;

/// Expressions that are nested deeper than this run on a thread with a large stack.
const DEEP: usize = 32;

/// What is wrong with an expression, and the bytes of it that are wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The bytes.
    pub range: Range<usize>,
    /// What is wrong with them.
    pub message: String,
}

impl Mistake {
    /// The same mistake, in a text in which the expression begins at this byte.
    #[must_use]
    pub fn moved(mut self, by: usize) -> Self {
        self.range.start += by;
        self.range.end += by;
        self
    }
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The paths that it reads, in the order of the text.
    pub reads: Vec<Path>,
    /// The same, but of a list over which a loop runs, only what the loop reads of its items. As number, these items have 0.
    pub exact_reads: Vec<Path>,
    program: Program,
}

#[derive(Clone, Debug)]
enum Program {
    /// Only a path: it is looked up in the JSON itself, and keeps the order of members and all digits.
    Path(Path),
    Cel(Arc<Cel>),
}

struct Cel {
    expression: IdedExpr,
    /// The functions of this crate that it calls.
    functions: BTreeSet<&'static str>,
    /// How deep its parts are nested.
    depth: usize,
    patterns: Arc<[Pattern]>,
    /// The text from which it was parsed.
    source: Arc<Source>,
    /// A faster way for `list.map(item, item.member)`.
    column: Option<Column>,
}

impl std::fmt::Debug for Cel {
    /// An expression may contain constants, which are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cel").finish_non_exhaustive()
    }
}

/// Why an expression has no value. It never contains values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It reads something that is absent.
    Absent,
    /// An operator or a function does not take values of these types.
    Type,
    /// Arithmetic has no result, such as a division by zero.
    Arithmetic,
    /// A list has no such item.
    Bounds,
    /// The budget is used up.
    Budget,
    /// It reads too much.
    TooMuch,
    /// The paths of the call copy too much.
    TooLarge,
    /// JSON cannot express its value, which is this.
    Json(&'static str),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("a value that the expression reads is absent"),
            Self::Type => f.write_str("an operator or a function does not take these values"),
            Self::Arithmetic => f.write_str("the arithmetic has no result"),
            Self::Bounds => f.write_str("a list has no item with this number"),
            Self::Budget => f.write_str("the expressions of this call take too long"),
            Self::TooMuch => write!(f, "the expression reads more than {MAX_READ} bytes"),
            Self::TooLarge => write!(f, "the paths of this call copy more than {MAX_COPY} bytes"),
            Self::Json(kind) => write!(f, "the result is {kind}"),
        }
    }
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        // The parser recurses for each operator in a row, so expressions that are too deep are refused here.
        let whole = || Mistake {
            range: 0..text.len(),
            message: "cannot start a thread to parse the expression".to_owned(),
        };
        on_large_stack(|| Self::parse_deep(text)).unwrap_or_else(|_| Err(vec![whole()]))
    }

    fn parse_deep(text: &str) -> Result<Self, Vec<Mistake>> {
        let (expression, info) = parse::parse(text).map_err(|mistake| vec![mistake])?;
        Self::compile(expression, &Arc::new(Source::new(text, info)))
    }

    /// Compiles an expression, or a part of one.
    fn compile(mut expression: IdedExpr, source: &Arc<Source>) -> Result<Self, Vec<Mistake>> {
        let check = Check::of(&expression, source);
        if !check.mistakes.is_empty() {
            return Err(check.mistakes);
        }
        let program = if let Some(path) = as_path::path(&expression, source) {
            Program::Path(path)
        } else {
            let column = Column::of(&expression, source);
            let mut rewrite = Rewrite::default();
            rewrite.part(&mut expression);
            Program::Cel(Arc::new(Cel {
                expression,
                functions: rewrite.functions,
                depth: check.deepest,
                patterns: check.patterns.into(),
                source: Arc::clone(source),
                column,
            }))
        };
        Ok(Self {
            reads: check.reads,
            exact_reads: check.exact_reads,
            program,
        })
    }

    /// The path, if the expression is nothing else.
    pub fn path(&self) -> Option<&Path> {
        match &self.program {
            Program::Path(path) => Some(path),
            Program::Cel(_) => None,
        }
    }

    /// The bytes of the text without the space around it.
    pub fn range(&self) -> Range<usize> {
        match &self.program {
            Program::Path(path) => path.range.start..path.end(),
            Program::Cel(cel) => {
                let text = &cel.source.text;
                let start = text.len() - text.trim_start().len();
                start..start + text.trim().len()
            }
        }
    }

    /// The value of the expression. `Ok(None)` is an absent optional value.
    ///
    /// # Errors
    /// Why there is no value.
    pub fn run(&self, scope: &Scope<'_>, budget: &mut Budget) -> Result<Option<Value>, Failure> {
        match &self.program {
            Program::Path(path) => match scope.find(path) {
                Found::Value(part) => copied(part, budget).map(Some),
                Found::Absent => Ok(None),
                Found::Missing => Err(Failure::Absent),
            },
            Program::Cel(cel) => self.run_cel(cel, scope, budget),
        }
    }

    fn run_cel(
        &self,
        cel: &Cel,
        scope: &Scope<'_>,
        budget: &mut Budget,
    ) -> Result<Option<Value>, Failure> {
        let column = cel.column.as_ref();
        if let Some(values) = column.and_then(|column| column.run(scope, budget)) {
            return Ok(Some(values));
        }
        let meter = Arc::new(budget.start());
        let result = self.run_metered(cel, scope, budget, &meter);
        let is_within = budget.end(&meter);
        if is_within || result == Err(Failure::TooMuch) {
            result
        } else {
            Err(Failure::Budget)
        }
    }

    fn run_metered(
        &self,
        cel: &Cel,
        scope: &Scope<'_>,
        budget: &mut Budget,
        meter: &Arc<budget::Meter>,
    ) -> Result<Option<Value>, Failure> {
        // Without time, it does not even read.
        meter.charge(0).map_err(|_| Failure::Budget)?;
        let parts = self.parts(scope, budget)?;
        let run = || evaluate(cel, &parts, meter);
        if cel.depth <= DEEP {
            run()
        } else if budget.may_block() {
            on_large_stack(run).unwrap_or(Err(Failure::Budget))
        } else {
            Err(Failure::Budget)
        }
    }

    /// The JSON that the expression reads, and nothing else.
    fn parts<'s>(
        &'s self,
        scope: &Scope<'s>,
        budget: &mut Budget,
    ) -> Result<BTreeMap<&'s str, Tree<'s>>, Failure> {
        let mut roots: BTreeMap<&str, Tree<'_>> = BTreeMap::new();
        for path in &self.reads {
            let tree = roots.entry(&path.root).or_default();
            let names: Vec<_> = path.members().collect();
            tree.add(&names, scope, &path.root);
        }
        let mut size = Size::in_cel();
        for tree in roots.values() {
            tree.add_to(&mut size);
        }
        if budget.may_read(&size) {
            Ok(roots)
        } else {
            Err(Failure::TooMuch)
        }
    }
}

/// The JSON that a path leads to.
fn copied(part: Part<'_>, budget: &mut Budget) -> Result<Value, Failure> {
    if budget.may_copy(part) {
        Ok(part.to_json())
    } else {
        Err(Failure::TooLarge)
    }
}

fn evaluate(
    cel: &Cel,
    parts: &BTreeMap<&str, Tree<'_>>,
    meter: &Arc<budget::Meter>,
) -> Result<Option<Value>, Failure> {
    let mut context = Context::with_env(Arc::clone(&parse::ENV));
    functions::add(&mut context, &cel.functions, meter, &cel.patterns);
    for (root, tree) in parts {
        context.add_variable_as_val(*root, tree.to_cel());
    }
    let value =
        CelValue::resolve_val(&cel.expression, &context).map_err(|error| failure(&error))?;
    meter
        .charge_value(value.as_ref())
        .map_err(|_| Failure::Budget)?;
    value::to_json(value.as_ref()).map_err(Failure::Json)
}

/// Runs a function on a thread with a large stack.
fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(LARGE_STACK);
        let thread = builder.spawn_scoped(scope, run)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The parts of the JSON that an expression reads.
#[derive(Default)]
struct Tree<'s> {
    /// The value, if the expression reads all of it.
    whole: Option<Part<'s>>,
    members: BTreeMap<&'s str, Tree<'s>>,
}

impl<'s> Tree<'s> {
    fn add(&mut self, names: &[&'s str], scope: &Scope<'s>, root: &str) {
        let mut part = scope.root(root);
        let mut tree = self;
        for name in names {
            // `cel` reports an access to a member of a value that is not an object.
            match part.and_then(|part| part.member(name)) {
                Some(next) => part = Some(next),
                None if part.is_some_and(Part::is_object) => return,
                None => break,
            }
            tree = tree.members.entry(name).or_default();
        }
        tree.whole = part;
    }

    fn add_to(&self, size: &mut Size) {
        match self.whole {
            Some(part) => size.add_part(part),
            None => self.members.values().for_each(|tree| tree.add_to(size)),
        }
    }

    fn to_cel(&self) -> Box<dyn Val + '_> {
        match &self.whole {
            Some(part) => value::from_part(*part),
            None => value::map(
                self.members
                    .iter()
                    .map(|(name, tree)| (*name, tree.to_cel())),
            ),
        }
    }
}

fn failure(error: &ExecutionError) -> Failure {
    match error {
        ExecutionError::NoSuchKey(_) => Failure::Absent,
        ExecutionError::IndexOutOfBounds(_) => Failure::Bounds,
        ExecutionError::DivisionByZero(_)
        | ExecutionError::RemainderByZero(_)
        | ExecutionError::Overflow(..) => Failure::Arithmetic,
        _ => Failure::Type,
    }
}

#[cfg(test)]
mod tests;
