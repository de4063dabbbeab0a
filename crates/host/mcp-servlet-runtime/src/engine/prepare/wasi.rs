//! Functions that are added to a module and run instead of WASI functions: see
//! [`wasi`](crate::functions::wasi).

use wasm_encoder::{BlockType, Function, MemArg, ValType};

/// A WASI function that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    Write,
    Poll,
}

impl Replaced {
    pub(super) const ALL: [Self; 2] = [Self::Write, Self::Poll];

    /// The name in WASI. Both functions take four integers and return an error code.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Write => "fd_write",
            Self::Poll => "poll_oneoff",
        }
    }

    /// The host function that the replacement calls, with its parameter types.
    pub(super) fn host(self) -> (&'static str, &'static [ValType]) {
        match self {
            Self::Write => (
                crate::functions::wasi::WRITE,
                &[ValType::I32, ValType::I32, ValType::I64],
            ),
            Self::Poll => (crate::functions::wasi::SLEEP, &[ValType::I64]),
        }
    }

    /// The body of the replacement. `wasi` and `host` are the indices of WASI's function and of the host's.
    pub(super) fn body(self, wasi: u32, host: u32) -> Vec<u8> {
        match self {
            Self::Write => write(wasi, host),
            Self::Poll => poll(wasi, host),
        }
    }
}

fn memory(offset: u64) -> MemArg {
    MemArg {
        offset,
        align: 0,
        memory_index: 0,
    }
}

/// `fd_write`: passes output for the streams 1 and 2 to the host, eight bytes at a time.
fn write(wasi: u32, host: u32) -> Vec<u8> {
    const STREAM: u32 = 0;
    const PIECES: u32 = 1;
    const COUNT: u32 = 2;
    const WRITTEN: u32 = 3;
    const AT: u32 = 4;
    const LEFT: u32 = 5;
    const TOTAL: u32 = 6;
    let mut function = Function::new([(3, ValType::I32)]);
    let mut code = function.instructions();
    code.local_get(STREAM)
        .i32_const(1)
        .i32_sub()
        .i32_const(1)
        .i32_gt_u();
    code.if_(BlockType::Empty);
    for parameter in 0..4 {
        code.local_get(parameter);
    }
    code.call(wasi).return_().end();
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    code.local_get(COUNT).i32_eqz().br_if(1);
    code.local_get(PIECES).i32_load(memory(0)).local_set(AT);
    code.local_get(PIECES).i32_load(memory(4)).local_tee(LEFT);
    code.local_get(TOTAL).i32_add().local_set(TOTAL);
    for (length, is_whole) in [(8, true), (1, false)] {
        code.block(BlockType::Empty).loop_(BlockType::Empty);
        code.local_get(LEFT).i32_const(length).i32_lt_u().br_if(1);
        code.local_get(STREAM).i32_const(length).local_get(AT);
        if is_whole {
            code.i64_load(memory(0));
        } else {
            code.i64_load8_u(memory(0));
        }
        code.call(host);
        code.local_get(AT).i32_const(length).i32_add().local_set(AT);
        code.local_get(LEFT)
            .i32_const(length)
            .i32_sub()
            .local_set(LEFT);
        code.br(0).end().end();
    }
    code.local_get(PIECES)
        .i32_const(8)
        .i32_add()
        .local_set(PIECES);
    code.local_get(COUNT)
        .i32_const(1)
        .i32_sub()
        .local_set(COUNT);
    code.br(0).end().end();
    code.local_get(WRITTEN)
        .local_get(TOTAL)
        .i32_store(memory(0));
    code.i32_const(0).end();
    function.into_raw_body()
}

/// `poll_oneoff`: sleeps in the host if the only subscription is a relative timeout.
fn poll(wasi: u32, host: u32) -> Vec<u8> {
    const SUBSCRIPTION: u32 = 0;
    const EVENT: u32 = 1;
    const COUNT: u32 = 2;
    const EVENTS: u32 = 3;
    /// Offsets of the event type (0 is a clock), the timeout and the flags (0 is a relative time)
    /// of a subscription.
    const KIND: u64 = 8;
    const TIME: u64 = 24;
    const FLAGS: u64 = 40;
    let mut function = Function::new([]);
    let mut code = function.instructions();
    code.block(BlockType::Empty);
    code.local_get(COUNT).i32_const(1).i32_ne().br_if(0);
    code.local_get(SUBSCRIPTION)
        .i32_load8_u(memory(KIND))
        .br_if(0);
    code.local_get(SUBSCRIPTION)
        .i32_load16_u(memory(FLAGS))
        .br_if(0);
    code.local_get(SUBSCRIPTION)
        .i64_load(memory(TIME))
        .call(host);
    code.local_get(EVENT)
        .local_get(SUBSCRIPTION)
        .i64_load(memory(0))
        .i64_store(memory(0));
    for rest in [8, 16, 24] {
        code.local_get(EVENT).i64_const(0).i64_store(memory(rest));
    }
    code.local_get(EVENTS).i32_const(1).i32_store(memory(0));
    code.i32_const(0).return_().end();
    for parameter in 0..4 {
        code.local_get(parameter);
    }
    code.call(wasi).end();
    function.into_raw_body()
}
