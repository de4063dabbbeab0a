//! The memory for messages between a servlet and this host, as Extism defines it: blocks that either side allocates.
//!
//! The functions of the kernel, which are part of the servlet, read and write this memory. Which blocks there are is
//! known here alone, so a servlet cannot damage it.

mod blocks;

use wasmtime::{
    AsContextMut, Caller, Extern, Global, Instance, Memory, Result, Store, StoreContextMut, Val,
};

use super::{State, limiter::OutOfMemory};
use blocks::Blocks;

const PAGE: u64 = 1 << 16;

/// The messages of the call that an instance runs.
#[derive(Default)]
pub(crate) struct Messages {
    blocks: Blocks,
    /// Known after the first use.
    kernel: Option<Kernel>,
}

/// What the kernel exports.
#[derive(Clone, Copy)]
struct Kernel {
    memory: Memory,
    input: Global,
    input_length: Global,
    output: Global,
    output_length: Global,
    error: Global,
}

impl Kernel {
    fn find(mut export: impl FnMut(&str) -> Option<Extern>) -> Self {
        let mut export = |name| export(name).expect("the kernel is part of every module");
        let mut global = |name| export(name).into_global().expect("a global of the kernel");
        Self {
            input: global("kernel.input"),
            input_length: global("kernel.input_length"),
            output: global("kernel.output"),
            output_length: global("kernel.output_length"),
            error: global("kernel.error"),
            memory: export("kernel.memory")
                .into_memory()
                .expect("the memory of the kernel"),
        }
    }

    fn of_caller(caller: &mut Caller<'_, State>) -> Self {
        if let Some(kernel) = caller.data().messages.kernel {
            return kernel;
        }
        let kernel = Self::find(|name| caller.get_export(name));
        *caller.data_mut().messages.kernel.insert(kernel)
    }

    fn of_instance(store: &mut Store<State>, instance: &Instance) -> Self {
        if let Some(kernel) = store.data().messages.kernel {
            return kernel;
        }
        let kernel = Self::find(|name| instance.get_export(&mut *store, name));
        *store.data_mut().messages.kernel.insert(kernel)
    }

    /// Extism's `alloc`: 0 if there is no room, or if nothing is wanted.
    fn alloc(self, store: &mut StoreContextMut<'_, State>, length: u64) -> Result<u64> {
        let blocks = &mut store.data_mut().messages.blocks;
        if length == 0 {
            return Ok(0);
        }
        if let Some(at) = blocks.reuse(length) {
            return Ok(at);
        }
        let end = blocks.end_after(length);
        let missing = end.saturating_sub(self.memory.data_size(&*store) as u64);
        if missing > 0
            && let Err(error) = self.memory.grow(&mut *store, missing.div_ceil(PAGE))
        {
            return if error.is::<OutOfMemory>() {
                Err(error)
            } else {
                Ok(0)
            };
        }
        Ok(store.data_mut().messages.blocks.append(length))
    }

    fn write(self, mut store: StoreContextMut<'_, State>, bytes: &[u8]) -> Result<u64> {
        let at = self.alloc(&mut store, bytes.len() as u64)?;
        if at == 0 && !bytes.is_empty() {
            return Err(wasmtime::Error::msg("out of memory"));
        }
        self.memory.write(&mut store, usize::try_from(at)?, bytes)?;
        Ok(at)
    }

    fn read<'a>(
        self,
        store: impl Into<wasmtime::StoreContext<'a, State>>,
        at: u64,
        length: u64,
    ) -> Option<&'a [u8]> {
        let start = usize::try_from(at).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.memory.data(store.into()).get(start..end)
    }
}

/// Removes the messages of the last call, and adds the input of the next one.
pub(crate) fn begin(store: &mut Store<State>, instance: &Instance, input: &[u8]) -> Result<()> {
    let kernel = Kernel::of_instance(store, instance);
    let (data, state) = kernel.memory.data_and_store_mut(&mut *store);
    data[state.messages.blocks.clear()].fill(0);
    let at = kernel.write(store.as_context_mut(), input)?;
    for (global, value) in [
        (kernel.input, at),
        (kernel.input_length, input.len() as u64),
        (kernel.output, 0),
        (kernel.output_length, 0),
        (kernel.error, 0),
    ] {
        global.set(&mut *store, Val::I64(value.cast_signed()))?;
    }
    Ok(())
}

/// The output of the call.
pub(crate) fn output(store: &mut Store<State>) -> Option<&[u8]> {
    let kernel = store.data().messages.kernel?;
    let [at, length] = [kernel.output, kernel.output_length].map(|global| number(store, global));
    kernel.read(&*store, at, length)
}

/// The error text of the call, if the servlet has set one.
pub(crate) fn error(store: &mut Store<State>) -> Option<&[u8]> {
    let kernel = store.data().messages.kernel?;
    let at = number(store, kernel.error);
    let length = store.data().messages.blocks.length(at)?;
    kernel.read(&*store, at, length)
}

fn number(store: &mut Store<State>, global: Global) -> u64 {
    global.get(store).i64().unwrap_or_default().cast_unsigned()
}

/// Extism's `alloc`: 0 if there is no room, or if nothing is wanted.
pub(crate) fn alloc(caller: &mut Caller<'_, State>, length: u64) -> Result<u64> {
    Kernel::of_caller(caller).alloc(&mut caller.as_context_mut(), length)
}

/// Extism's `free`. It has no effect if there is no block at this offset.
pub(crate) fn free(caller: &mut Caller<'_, State>, at: u64) -> Result<()> {
    if caller.data_mut().messages.blocks.free(at) {
        let kernel = Kernel::of_caller(caller);
        if kernel.input.get(&mut *caller).i64() == Some(at.cast_signed()) {
            kernel.input_length.set(caller, Val::I64(0))?;
        }
    }
    Ok(())
}

/// Extism's `length`: 0 if there is no block at this offset.
pub(crate) fn length(caller: &Caller<'_, State>, at: u64) -> u64 {
    caller.data().messages.blocks.length(at).unwrap_or(0)
}

/// A block is larger than what reads it allows. It was not copied.
#[derive(Debug, thiserror::Error)]
#[error("expected at most {limit} bytes, found {found}")]
pub(crate) struct TooLong {
    pub(crate) limit: u64,
    pub(crate) found: u64,
}

/// Copies a block of at most `limit` bytes. `None` if there is no block at this offset; offset 0 means no bytes.
pub(crate) fn read(
    caller: &mut Caller<'_, State>,
    at: u64,
    limit: u64,
) -> Result<Option<Vec<u8>>, TooLong> {
    match length(caller, at) {
        found if found > limit => Err(TooLong { limit, found }),
        _ => Ok(view(caller, at).map(<[u8]>::to_vec)),
    }
}

/// A block in the memory of the servlet. `None` if there is no block at this offset; offset 0 means no bytes.
pub(crate) fn view<'a>(caller: &'a mut Caller<'_, State>, at: u64) -> Option<&'a [u8]> {
    if at == 0 {
        return Some(&[]);
    }
    let length = caller.data().messages.blocks.length(at)?;
    let kernel = Kernel::of_caller(caller);
    kernel.read(&*caller, at, length)
}

/// Adds a block with these bytes. Returns its offset, which is 0 if there are none.
pub(crate) fn write(caller: &mut Caller<'_, State>, bytes: &[u8]) -> Result<u64> {
    Kernel::of_caller(caller).write(caller.as_context_mut(), bytes)
}
