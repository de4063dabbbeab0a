//! Makes a program out of random numbers.
//!
//! The writer knows which blocks a program has at each point. It leaves out calls whose effect
//! depends on the addresses that an allocator chooses:
//!
//! - access to memory between blocks,
//! - a freed block after the next allocation, which may have the same address; that includes
//!   freed errors and outputs,
//! - `length_unsafe` of an offset within a block, which reads the bytes before it as a header,
//! - lengths from 2⁶³ on in `alloc`, and ranges that wrap around, see the table in `main.rs`.

use super::program::{
    Instruction, Operand,
    Operation::{
        self, Alloc, ConfigGet, Digest, ErrorSet, Free, HttpHeaders, InputLength, InputLoadU8,
        InputLoadU64, InputOffset, Length, LengthUnsafe, LoadU8, LoadU64, Log, OutputSet, Results,
        Return, StoreU8, StoreU64, Trap, VarGet, VarSet,
    },
    Program,
};

/// Random numbers that decide an instruction.
pub(super) type Choice = [u16; 4];

/// Offsets at which there is never a block.
const FOREIGN: [u64; 9] = [
    0,
    1,
    7,
    8,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 63,
    u64::MAX,
];
const SIZES: [u64; 10] = [0, 1, 7, 8, 16, 63, 200, 1_000, 65_535, 70_000];
/// More than the memory limit.
const TOO_LARGE: [u64; 3] = [1 << 31, (1 << 32) - 1, 1 << 32];

struct Block {
    address: Operand,
    /// How many bytes it has at least.
    length: u64,
    is_freed: bool,
}

/// What the output or the error refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reference {
    None,
    Block(Operand),
    /// Memory that the next allocation may use.
    Freed,
}

pub(super) struct Writer {
    instructions: Vec<Instruction>,
    /// The blocks, and the freed ones since the last allocation.
    blocks: Vec<Block>,
    /// Results that are numbers.
    numbers: Vec<Operand>,
    output: Reference,
    error: Reference,
    /// Whether variables are used.
    variables: bool,
}

impl Writer {
    pub(super) fn new(variables: bool) -> Self {
        let mut writer = Self {
            instructions: Vec::new(),
            blocks: Vec::new(),
            numbers: Vec::new(),
            output: Reference::None,
            error: Reference::None,
            variables,
        };
        writer.allocate(InputOffset, [0, 0].map(Operand::constant), INSTRUCTION);
        writer
    }

    /// Appends an instruction, unless its effect would depend on addresses.
    pub(super) fn add(&mut self, [kind, a, b, c]: Choice) {
        match kind % 24 {
            0..=4 => self.alloc(a, b),
            5 | 6 => self.free(a, b),
            7 => self.length(a, b),
            8 => self.length_unsafe(a, b),
            9 => self.load(LoadU8, a, b),
            10 => self.load(LoadU64, a, b),
            11 => self.store(StoreU8, a, b, c),
            12 => self.store(StoreU64, a, b, c),
            13 => self.number(InputLength, Operand::default()),
            14 => self.number(InputLoadU8, self.value(a, b)),
            15 => self.input_load_u64(a),
            16 | 17 => self.output_set(a, b, c),
            18 => self.error_set(a, b),
            19 => self.get(ConfigGet, a, b),
            20 if self.variables => self.get(VarGet, a, b),
            21 if self.variables => self.var_set(a, b, c),
            22 => self.log(a, b),
            _ => self.digest(a),
        }
    }

    /// Ends the program.
    pub(super) fn finish(mut self, ending: u16) -> Program {
        let none = [Operand::default(); 2];
        match ending % 8 {
            0 => {}
            1 => self.push(Return, [Operand::constant(1), Operand::default()]),
            2 => self.push(Trap, none),
            _ => {
                if self.error == Reference::Freed {
                    self.push(ErrorSet, none);
                }
                self.push(Results, none);
            }
        }
        Program(self.instructions)
    }

    fn push(&mut self, operation: Operation, operands: [Operand; 2]) {
        self.instructions.push(Instruction {
            operation,
            operands,
        });
    }

    /// The result of the last instruction.
    fn result(&self) -> Operand {
        Operand {
            result: self.instructions.len() as u64,
            plus: 0,
        }
    }

    fn number(&mut self, operation: Operation, operand: Operand) {
        self.push(operation, [operand, Operand::default()]);
        self.numbers.push(self.result());
    }

    /// Appends an instruction that makes a block.
    fn allocate(&mut self, operation: Operation, operands: [Operand; 2], length: u64) {
        if [self.output, self.error].contains(&Reference::Freed) {
            return;
        }
        self.push(operation, operands);
        self.blocks.retain(|block| !block.is_freed);
        self.blocks.push(Block {
            address: self.result(),
            length,
            is_freed: false,
        });
    }

    /// Notes that an instruction frees this offset.
    fn release(&mut self, address: Operand) {
        for block in &mut self.blocks {
            block.is_freed |= block.address == address;
        }
        for reference in [&mut self.output, &mut self.error] {
            if *reference == Reference::Block(address) {
                *reference = Reference::Freed;
            }
        }
    }

    fn live(&self, length: u64) -> Vec<&Block> {
        let is_live = |block: &&Block| !block.is_freed && block.length >= length;
        self.blocks.iter().filter(is_live).collect()
    }

    /// The address of a block.
    fn block(&self, a: u16) -> Operand {
        pick(&self.live(0), a).map_or_else(Operand::default, |block| block.address)
    }

    /// The address of a block, one next to it, a freed one, or a foreign one.
    fn pointer(&self, a: u16, b: u16) -> Operand {
        let address = pick(&self.blocks, b).map_or_else(Operand::default, |block| block.address);
        match a % 8 {
            0 => Operand::constant(FOREIGN[usize::from(b) % FOREIGN.len()]),
            1 => address.plus(1),
            2 => address.plus(u64::MAX),
            3 => address.plus(1 << 32),
            _ => address,
        }
    }

    /// The address of bytes within a block, which may be freed, or a foreign one.
    fn place(&self, a: u16, b: u16, width: u64) -> Operand {
        let blocks = self.blocks.iter().filter(|block| block.length >= width);
        match pick(&blocks.collect::<Vec<_>>(), a) {
            Some(block) if !b.is_multiple_of(8) => block
                .address
                .plus(u64::from(b) % (block.length - width + 1)),
            _ => Operand::constant(FOREIGN[usize::from(a) % FOREIGN.len()]),
        }
    }

    /// An earlier number plus 0, 1 or -1, or a constant.
    fn value(&self, a: u16, b: u16) -> Operand {
        match pick(&self.numbers, b) {
            Some(number) if a.is_multiple_of(2) => {
                number.plus([0, 1, u64::MAX][usize::from(a / 2) % 3])
            }
            _ => Operand::constant(FOREIGN[usize::from(b) % FOREIGN.len()]),
        }
    }

    /// A block or null, and rarely the input, which is not text, or an offset without a block.
    fn key(&self, a: u16, b: u16) -> Operand {
        let mut blocks = self.live(0);
        blocks.retain(|block| block.address.result > 1);
        match (a % 32, pick(&blocks, b)) {
            (0, _) => Operand::constant(7),
            (1, _) => self.block(0),
            (4.., Some(block)) => block.address,
            _ => Operand::default(),
        }
    }
}

/// The instructions.
impl Writer {
    fn alloc(&mut self, a: u16, b: u16) {
        let size = match a % 64 {
            0 => TOO_LARGE[usize::from(b) % TOO_LARGE.len()],
            _ => SIZES[usize::from(a) % SIZES.len()],
        };
        let fill = u64::from(b'a') + u64::from(b % 2);
        self.allocate(Alloc, [size, fill].map(Operand::constant), size);
    }

    fn free(&mut self, a: u16, b: u16) {
        let pointer = self.pointer(a, b);
        self.push(Free, [pointer, Operand::default()]);
        self.release(pointer);
    }

    fn length(&mut self, a: u16, b: u16) {
        self.number(Length, self.pointer(a, b));
    }

    fn length_unsafe(&mut self, a: u16, b: u16) {
        let is_within = matches!(a % 8, 1 | 2);
        let pointer = self.pointer(if is_within { 0 } else { a }, b);
        self.number(LengthUnsafe, pointer);
    }

    fn load(&mut self, operation: Operation, a: u16, b: u16) {
        self.number(operation, self.place(a, b, width(operation)));
    }

    fn store(&mut self, operation: Operation, a: u16, b: u16, c: u16) {
        let operands = [self.place(a, b, width(operation)), self.value(c, a)];
        self.push(operation, operands);
    }

    fn input_load_u64(&mut self, a: u16) {
        const OFFSETS: [u64; 9] = [0, 1, 7, 8, 33, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63];
        let offset = OFFSETS[usize::from(a) % OFFSETS.len()];
        self.number(InputLoadU64, Operand::constant(offset));
    }

    fn output_set(&mut self, a: u16, b: u16, c: u16) {
        const LENGTHS: [u64; 6] = [0, 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63];
        let length = LENGTHS[usize::from(c) % LENGTHS.len()];
        let blocks = self.live(1);
        let Some(block) = pick(&blocks, a).filter(|_| !b.is_multiple_of(8)) else {
            let foreign = FOREIGN[usize::from(b / 8) % FOREIGN.len()];
            return self.push(OutputSet, [foreign, length].map(Operand::constant));
        };
        let skipped = u64::from(b) % block.length;
        let address = block.address;
        let is_within = !c.is_multiple_of(4);
        let length = if is_within {
            u64::from(c) % (block.length - skipped + 1)
        } else {
            length.max(1 << 31)
        };
        self.push(
            OutputSet,
            [address.plus(skipped), Operand::constant(length)],
        );
        if is_within {
            self.output = Reference::Block(address);
        }
    }

    fn error_set(&mut self, a: u16, b: u16) {
        let pointer = self.pointer(a, b);
        self.push(ErrorSet, [pointer, Operand::default()]);
        let is_live = self.live(0).iter().any(|block| block.address == pointer);
        self.error = match pointer {
            _ if is_live => Reference::Block(pointer),
            Operand { result: 0, plus: 0 } => Reference::None,
            Operand { result: 0, .. } => self.error,
            // Too far away to have an effect.
            Operand { plus, .. } if plus == 1 << 32 => self.error,
            _ => Reference::Freed,
        };
    }

    /// `config_get` and `var_get` free the key and make a block.
    fn get(&mut self, operation: Operation, a: u16, b: u16) {
        let key = self.key(a, b);
        let dangling = [Reference::Freed, Reference::Block(key)];
        if ![self.output, self.error]
            .iter()
            .any(|reference| dangling.contains(reference))
        {
            self.release(key);
            self.allocate(operation, [key, Operand::default()], 0);
        }
    }

    fn var_set(&mut self, a: u16, b: u16, c: u16) {
        let operands = [self.key(a, b), self.key(a / 32, c)];
        self.push(VarSet, operands);
        for operand in operands {
            self.release(operand);
        }
    }

    fn log(&mut self, a: u16, b: u16) {
        if a.is_multiple_of(4) {
            return self.allocate(HttpHeaders, [Operand::default(); 2], 0);
        }
        let text = self.block(b);
        self.push(Log, [text, Operand::default()]);
        self.release(text);
    }

    fn digest(&mut self, a: u16) {
        self.number(Digest, self.block(a));
    }
}

/// How many bytes an instruction takes in the input.
const INSTRUCTION: u64 = 40;

fn width(operation: Operation) -> u64 {
    if matches!(operation, LoadU64 | StoreU64) {
        8
    } else {
        1
    }
}

fn pick<T>(list: &[T], at: u16) -> Option<&T> {
    list.get(usize::from(at) % list.len().max(1))
}
