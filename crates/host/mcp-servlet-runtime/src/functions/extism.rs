//! Extism's functions for messages, configuration and variables. The kernel has the others.

use mcp_servlet_types::{HTTP_ALL, KEEPS_META};
use tracing::{Level, level_filters::LevelFilter};
use wasmtime::{Caller, Error, Linker, Result};

use super::{offset, result};
use crate::{
    inspect::EXTISM,
    state::{State, messages, variables::Full},
    text::MAX_TEXT,
};

pub(super) fn link(linker: &mut Linker<State>) -> Result<()> {
    linker
        .func_wrap(EXTISM, "alloc", alloc)?
        .func_wrap(EXTISM, "free", free)?
        .func_wrap(EXTISM, "length", length)?
        .func_wrap(EXTISM, "length_unsafe", length)?
        .func_wrap(EXTISM, "config_get", config_get)?
        .func_wrap(EXTISM, "var_get", var_get)?
        .func_wrap(EXTISM, "var_set", var_set)?
        .func_wrap(EXTISM, "get_log_level", log_level)?;
    Ok(())
}

fn alloc(mut caller: Caller<'_, State>, length: i64) -> Result<i64> {
    Ok(messages::alloc(&mut caller, offset(length))?.cast_signed())
}

fn free(mut caller: Caller<'_, State>, at: i64) -> Result<()> {
    messages::free(&mut caller, offset(at))
}

fn length(caller: Caller<'_, State>, at: i64) -> i64 {
    messages::length(&caller, offset(at)).cast_signed()
}

fn config_get(mut caller: Caller<'_, State>, key: i64) -> Result<i64> {
    let name = name(&mut caller, key, "config key", MAX_TEXT as u64)?;
    messages::free(&mut caller, offset(key))?;
    let shared = &caller.data().shared;
    let value = name.and_then(|name| match shared.options.config.get(&name) {
        None if name == HTTP_ALL && shared.reads_failures => Some("1".to_owned()),
        None if name == KEEPS_META => Some("1".to_owned()),
        value => value.cloned(),
    });
    match value {
        Some(value) => result(&mut caller, value.as_bytes()),
        None => Ok(0),
    }
}

fn var_get(mut caller: Caller<'_, State>, key: i64) -> Result<i64> {
    let limit = caller.data().shared.options.vars;
    let name = name(&mut caller, key, "var key", limit)?;
    messages::free(&mut caller, offset(key))?;
    let variables = &caller.data().shared.variables;
    match name.and_then(|name| variables.get(&name)) {
        Some(value) => result(&mut caller, &value),
        None => Ok(0),
    }
}

/// Sets a variable, or removes it if the value is at offset 0. The key and the value can be one block, which is freed
/// only if this succeeds.
fn var_set(mut caller: Caller<'_, State>, key: i64, value: i64) -> Result<()> {
    let limit = caller.data().shared.options.vars;
    if limit == 0 {
        return Err(Error::msg("Vars are disabled by this host"));
    }
    let name = name(&mut caller, key, "var key", limit)?;
    let bytes = match value {
        0 => None,
        at => {
            let bytes = messages::read(&mut caller, offset(at), limit).map_err(|_| Full)?;
            Some(bytes.ok_or_else(|| invalid(at, "var value"))?)
        }
    };
    let variables = &caller.data().shared.variables;
    match (name, bytes) {
        (Some(name), Some(bytes)) => variables.set(name, bytes, limit)?,
        (Some(name), None) => variables.remove(&name),
        (None, Some(_)) => return Err(Full.into()),
        (None, None) => {}
    }
    messages::free(&mut caller, offset(value))?;
    messages::free(&mut caller, offset(key))
}

fn log_level(_: Caller<'_, State>) -> i32 {
    match LevelFilter::current().into_level() {
        None => i32::MAX,
        Some(Level::TRACE) => 0,
        Some(Level::DEBUG) => 1,
        Some(Level::INFO) => 2,
        Some(Level::WARN) => 3,
        Some(Level::ERROR) => 4,
    }
}

/// The name in a block. Offset 0 means no text. `None` if it is longer than any name can be.
fn name(caller: &mut Caller<'_, State>, at: i64, what: &str, most: u64) -> Result<Option<String>> {
    let bytes = messages::view(caller, offset(at)).ok_or_else(|| invalid(at, what))?;
    let name = str::from_utf8(bytes)?;
    Ok((name.len() as u64 <= most).then(|| name.to_owned()))
}

fn invalid(at: i64, what: &str) -> Error {
    Error::msg(format!("invalid handle offset for {what}: {}", offset(at)))
}
