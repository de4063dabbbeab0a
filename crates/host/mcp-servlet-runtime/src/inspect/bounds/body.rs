//! The cost of compiling one function.
//!
//! For most code the cost is proportional to its size. Some constructs cost more. Each loop keeps
//! every local alive. The cost of nested loops grows with the square of their depth, and the cost
//! of indirect calls and branch tables with the square of their number in the function. These costs
//! are counted as *effort* and summed over the module; one unit is about 5 µs.

use wasmparser::{BlockType, FunctionBody, Operator};

use super::{Arity, LimitExceeded, Refused};

const BYTES: u64 = 1 << 20;
const LOCALS: u64 = 10_000;
/// The maximum depth of nested blocks.
const NESTING: u64 = 10_000;

/// The effort for all functions of a module: almost two minutes on one processor. A Go program of
/// 14 MB needs a quarter of it.
pub(super) const EFFORT: u64 = 20_000_000;
pub(super) const EFFORT_OF: &str = "loops, branches and locals in its functions";

/// Functions that cannot exceed this effort are not analyzed.
const LITTLE: u64 = 100;

/// The effort of a function, or an error if the function exceeds one of its own limits.
pub(super) fn effort(
    body: &FunctionBody<'_>,
    index: u32,
    params: u64,
    arity: impl Fn(u32) -> Arity,
) -> Result<u64, Refused> {
    let at_most = |what, found, limit| {
        if found <= limit {
            return Ok(());
        }
        Err(LimitExceeded {
            what,
            function: Some(index),
            found,
            limit,
        })
    };
    at_most("bytes", body.as_bytes().len() as u64, BYTES)?;
    let mut locals = params;
    for group in body.get_locals_reader()? {
        locals += u64::from(group?.0);
        at_most("locals", locals, LOCALS)?;
    }
    let mut weight = Weight::new(locals);
    if weight.at_most(openers(body.as_bytes())) <= LITTLE {
        return Ok(0);
    }
    for operator in body.get_operators_reader()? {
        weight.add(&operator?, &arity);
        at_most("nested blocks", weight.blocks.len() as u64, NESTING)?;
        at_most(EFFORT_OF, weight.effort, EFFORT)?;
    }
    Ok(weight.effort)
}

/// How many bytes could be opcodes of expensive operators.
fn openers(code: &[u8]) -> u64 {
    const BLOCK: u8 = 0x02;
    const LOOP: u8 = 0x03;
    const IF: u8 = 0x04;
    const BR_TABLE: u8 = 0x0e;
    const CALL_INDIRECT: u8 = 0x11;
    const TRY_TABLE: u8 = 0x1f;
    let dear = |byte: &&u8| {
        matches!(
            **byte,
            BLOCK | LOOP | IF | BR_TABLE | CALL_INDIRECT | TRY_TABLE
        )
    };
    code.iter().filter(dear).count() as u64
}

struct Weight {
    /// How many values are live at the same time, at least.
    locals: u64,
    /// For each open block, whether it is a loop.
    blocks: Vec<bool>,
    loops: u64,
    indirect_calls: u64,
    targets: u64,
    effort: u64,
}

impl Weight {
    fn new(locals: u64) -> Self {
        Self {
            locals: locals + 1,
            blocks: Vec::new(),
            loops: 0,
            indirect_calls: 0,
            targets: 0,
            effort: 0,
        }
    }

    /// The maximum effort of this many operators.
    fn at_most(&self, openers: u64) -> u64 {
        openers
            .saturating_mul(self.locals)
            .saturating_mul(depth_factor(openers))
    }

    fn add(&mut self, operator: &Operator<'_>, arity: &impl Fn(u32) -> Arity) {
        let cost = match operator {
            Operator::Block { blockty } | Operator::If { blockty } => {
                self.blocks.push(false);
                block(*blockty, arity)
            }
            Operator::TryTable { try_table } => {
                self.blocks.push(false);
                block(try_table.ty, arity)
            }
            Operator::Loop { blockty } => {
                self.blocks.push(true);
                self.loops += 1;
                let depth = depth_factor(self.loops);
                block(*blockty, arity) + self.locals.saturating_mul(depth)
            }
            Operator::End => {
                if self.blocks.pop() == Some(true) {
                    self.loops -= 1;
                }
                0
            }
            Operator::BrTable { targets } => {
                let before = self.targets;
                self.targets += u64::from(targets.len());
                let loops = 1 + self.loops.min(10);
                let squares = self.targets.pow(2) - before.pow(2);
                squares.saturating_mul(self.locals * loops) / 1_000
            }
            Operator::CallIndirect { .. } | Operator::ReturnCallIndirect { .. } => {
                self.indirect_calls += 1;
                10 + self.indirect_calls / 75
            }
            _ => 0,
        };
        self.effort = self.effort.saturating_add(cost);
    }
}

/// The factor by which a loop inside this many loops costs more than a loop on its own.
fn depth_factor(loops: u64) -> u64 {
    1 + (loops / 16).pow(2)
}

/// The effort for the parameters and results of a block.
fn block(ty: BlockType, arity: &impl Fn(u32) -> Arity) -> u64 {
    match ty {
        BlockType::FuncType(ty) => {
            let arity = arity(ty);
            10 * (arity.params + arity.results)
        }
        BlockType::Empty | BlockType::Type(_) => 0,
    }
}
