//! Programs for `interpreter.wat`.

use std::fmt;

/// The operation of an instruction. The interpreter has a table in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Operation {
    Alloc,
    Free,
    Length,
    LengthUnsafe,
    LoadU8,
    LoadU64,
    StoreU8,
    StoreU64,
    InputLength,
    InputOffset,
    InputLoadU8,
    InputLoadU64,
    OutputSet,
    ErrorSet,
    ConfigGet,
    VarGet,
    VarSet,
    Log,
    HttpHeaders,
    Digest,
    Results,
    Return,
    Trap,
}

/// The result of an earlier instruction plus a constant, modulo 2⁶⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Operand {
    /// The number of the instruction, from 1; 0 for none.
    pub(super) result: u64,
    pub(super) plus: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Instruction {
    pub(super) operation: Operation,
    pub(super) operands: [Operand; 2],
}

pub(super) struct Program(pub(super) Vec<Instruction>);

impl Operand {
    pub(super) fn constant(plus: u64) -> Self {
        Self { result: 0, plus }
    }

    pub(super) fn plus(self, more: u64) -> Self {
        Self {
            plus: self.plus.wrapping_add(more),
            ..self
        }
    }
}

impl Operation {
    /// Whether the result is the address of a block.
    fn makes_block(self) -> bool {
        use Operation::{Alloc, ConfigGet, HttpHeaders, InputOffset, VarGet};
        matches!(self, Alloc | ConfigGet | HttpHeaders | InputOffset | VarGet)
    }
}

impl Program {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let words = self.0.iter().flat_map(|instruction| {
            let [a, b] = instruction.operands;
            [
                instruction.operation as u64,
                a.result,
                a.plus,
                b.result,
                b.plus,
            ]
        });
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// The output without addresses, if it consists of the results.
    pub(super) fn without_addresses(&self, output: &[u8]) -> Vec<u8> {
        let Some(Instruction {
            operation: Operation::Results,
            ..
        }) = self.0.last()
        else {
            return output.to_owned();
        };
        let (words, _) = output.as_chunks::<8>();
        let results = words.iter().zip(&self.0).flat_map(|(word, instruction)| {
            let result = u64::from_le_bytes(*word);
            let is_address = instruction.operation.makes_block();
            u64::to_le_bytes(if is_address { result.min(1) } else { result })
        });
        results.collect()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            at,
            Instruction {
                operation,
                operands: [a, b],
            },
        ) in self.0.iter().enumerate()
        {
            writeln!(f, "#{} = {operation:?}({a}, {b})", at + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.result, self.plus.cast_signed()) {
            (0, plus) => write!(f, "{plus:#x}"),
            (result, 0) => write!(f, "#{result}"),
            (result, plus) => write!(f, "#{result} + {plus}"),
        }
    }
}
