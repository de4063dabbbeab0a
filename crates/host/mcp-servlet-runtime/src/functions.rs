//! The host functions that modules import.

mod ask;
mod call_tool;
mod extism;
mod http;
mod json;
mod log;
mod notify;

use wasmtime::{Caller, Engine, Linker};

use crate::state::{State, messages};

/// A linker with all functions that this host provides.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    extism::link(&mut linker)?;
    log::link(&mut linker)?;
    http::link(&mut linker)?;
    notify::link(&mut linker)?;
    ask::link(&mut linker)?;
    call_tool::link(&mut linker)?;
    wasmtime_wasi::p1::add_to_linker_async(&mut linker, State::wasi)?;
    Ok(linker)
}

/// An offset in the memory for messages. WebAssembly has no unsigned integers.
fn offset(at: i64) -> u64 {
    at.cast_unsigned()
}

/// A block with the result of a function.
fn result(caller: &mut Caller<'_, State>, bytes: &[u8]) -> wasmtime::Result<i64> {
    Ok(messages::write(caller, bytes)?.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::Call,
        inspect::{Module, USER, imports},
        options::LoadOptions,
        state::Shared,
    };

    #[test]
    fn every_function_that_is_known_can_be_linked() {
        let engine = Engine::default();
        let linker = linker(&engine).expect("no name is used twice");
        let options = LoadOptions::default();
        let shared = Shared::new("test", &Module::default(), &options).into();
        let state = State::new(&shared, Call::new(options.call_limits()));
        let mut store = wasmtime::Store::new(&engine, state.expect("no directories"));
        for name in imports::USER_FUNCTIONS {
            assert!(linker.get(&mut store, USER, name).is_ok(), "{name}");
        }
    }
}
