//! The functions that a test module imports.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use extism::{CurrentPlugin, Error, Function, PTR, UserData, Val, ValType};

use super::{Assertion, Shared, lock};

const NAMESPACE: &str = "xtp:test/harness";

/// All of them. A module imports those that it uses.
pub(super) fn all(state: &Shared) -> Vec<Function> {
    let function = |name, inputs: &[ValType], outputs: &[ValType], run: HostFunction| {
        let state = Arc::clone(state);
        let run = move |guest: &mut CurrentPlugin, inputs: &[Val], outputs: &mut [Val], _| {
            run(guest, inputs, outputs, &state)
        };
        Function::new(
            name,
            inputs.to_vec(),
            outputs.to_vec(),
            UserData::new(()),
            run,
        )
        .with_namespace(NAMESPACE)
    };
    vec![
        function("call", &[PTR, PTR], &[PTR], call),
        function("time", &[PTR, PTR], &[ValType::I64], time),
        function("assert", &[PTR, ValType::I64, PTR], &[], assert),
        function("reset", &[], &[], reset),
        function("group", &[PTR], &[], group),
        function("mock_input", &[], &[PTR], mock_input),
    ]
}

type HostFunction = fn(&mut CurrentPlugin, &[Val], &mut [Val], &Shared) -> Result<(), Error>;

/// Calls an export of the plugin. If the call fails, the test fails too, because the ABI has no way
/// to return an error.
fn call(
    guest: &mut CurrentPlugin,
    inputs: &[Val],
    outputs: &mut [Val],
    state: &Shared,
) -> Result<(), Error> {
    let (output, _) = run(guest, inputs, state)?;
    outputs[0] = block(guest, &output)?;
    Ok(())
}

/// Calls an export of the plugin, and returns the time in nanoseconds.
fn time(
    guest: &mut CurrentPlugin,
    inputs: &[Val],
    outputs: &mut [Val],
    state: &Shared,
) -> Result<(), Error> {
    let (_, elapsed) = run(guest, inputs, state)?;
    outputs[0] = Val::I64(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX));
    Ok(())
}

/// The output of an export of the plugin, and how long the call took.
fn run(
    guest: &mut CurrentPlugin,
    inputs: &[Val],
    state: &Shared,
) -> Result<(Vec<u8>, Duration), Error> {
    let (name, input) = (text(guest, &inputs[0])?, bytes(guest, &inputs[1])?);
    let mut state = lock(state);
    let start = Instant::now();
    let output = state.plugin.call(&name, &input);
    let elapsed = start.elapsed();
    let output = output.map_err(|problem| Error::msg(format!("`{name}` failed: {problem}")))?;
    Ok((output, elapsed))
}

fn assert(
    guest: &mut CurrentPlugin,
    inputs: &[Val],
    _: &mut [Val],
    state: &Shared,
) -> Result<(), Error> {
    let assertion = Assertion {
        name: text(guest, &inputs[0])?,
        passed: inputs[1].i64() == Some(1),
        reason: text(guest, &inputs[2])?,
    };
    lock(state).report.add(assertion);
    Ok(())
}

/// Creates a new instance of the plugin. The mock host keeps its state: it is a part of the test.
fn reset(_: &mut CurrentPlugin, _: &[Val], _: &mut [Val], state: &Shared) -> Result<(), Error> {
    lock(state).plugin.reset().map_err(Error::msg)
}

fn group(
    guest: &mut CurrentPlugin,
    inputs: &[Val],
    _: &mut [Val],
    state: &Shared,
) -> Result<(), Error> {
    let name = text(guest, &inputs[0])?;
    lock(state).report.begin(name);
    Ok(())
}

fn mock_input(
    guest: &mut CurrentPlugin,
    _: &[Val],
    outputs: &mut [Val],
    state: &Shared,
) -> Result<(), Error> {
    let input = lock(state).mock_input.clone();
    outputs[0] = match input {
        Some(input) => block(guest, &input)?,
        None => Val::I64(0),
    };
    Ok(())
}

/// The bytes of a block in Extism memory. The guest keeps the block. Offset 0 means no bytes.
pub(super) fn bytes(guest: &mut CurrentPlugin, at: &Val) -> Result<Vec<u8>, Error> {
    if at.i64() == Some(0) {
        return Ok(Vec::new());
    }
    let handle = guest.memory_from_val(at);
    let handle = handle.ok_or_else(|| Error::msg("an argument is not in memory"))?;
    Ok(guest.memory_bytes(handle)?.to_vec())
}

fn text(guest: &mut CurrentPlugin, at: &Val) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&bytes(guest, at)?).into_owned())
}

/// Allocates a block with these bytes.
pub(super) fn block(guest: &mut CurrentPlugin, bytes: &[u8]) -> Result<Val, Error> {
    if bytes.is_empty() {
        return Ok(Val::I64(0));
    }
    let handle = guest.memory_new(bytes)?;
    Ok(guest.memory_to_val(handle))
}
