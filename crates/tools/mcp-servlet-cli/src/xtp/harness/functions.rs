//! The functions that a test module imports.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_servlet_common::lock;
use mcp_servlet_runtime::{HostFunction, Messages};

use super::{Assertion, Shared};

const NAMESPACE: &str = "xtp:test/harness";

type Result<T> = std::result::Result<T, String>;

/// All of them. A module imports those that it uses.
pub(super) fn all(state: &Shared) -> Vec<HostFunction> {
    let function = |name, types, run: Run| {
        let state = Arc::clone(state);
        let run =
            move |messages: &mut Messages<'_, '_>, values: &[i64]| run(messages, values, &state);
        HostFunction::new(NAMESPACE, name, types, run)
    };
    vec![
        function("call", (2, true), call),
        function("time", (2, true), time),
        function("assert", (3, false), assert),
        function("reset", (0, false), reset),
        function("group", (1, false), group),
        function("mock_input", (0, true), mock_input),
    ]
}

type Run = fn(&mut Messages<'_, '_>, &[i64], &Shared) -> Result<i64>;

/// Calls an export of the plugin. If the call fails, the test fails too, because the ABI has no way
/// to return an error.
fn call(messages: &mut Messages<'_, '_>, values: &[i64], state: &Shared) -> Result<i64> {
    let (output, _) = run(messages, values, state)?;
    messages.write(&output)
}

/// Calls an export of the plugin, and returns the time in nanoseconds.
fn time(messages: &mut Messages<'_, '_>, values: &[i64], state: &Shared) -> Result<i64> {
    let (_, elapsed) = run(messages, values, state)?;
    Ok(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX))
}

/// The output of an export of the plugin, and how long the call took.
fn run(
    messages: &mut Messages<'_, '_>,
    values: &[i64],
    state: &Shared,
) -> Result<(Vec<u8>, Duration)> {
    let (name, input) = (read_text(messages, values[0])?, bytes(messages, values[1])?);
    let mut state = lock(state);
    let start = Instant::now();
    let output = state.plugin.call(&name, &input);
    let elapsed = start.elapsed();
    let output = output.map_err(|problem| format!("`{name}` failed: {problem}"))?;
    Ok((output, elapsed))
}

fn assert(messages: &mut Messages<'_, '_>, values: &[i64], state: &Shared) -> Result<i64> {
    let assertion = Assertion {
        name: read_text(messages, values[0])?,
        passed: values[1] == 1,
        reason: read_text(messages, values[2])?,
    };
    lock(state).report.add(assertion);
    Ok(0)
}

/// Creates a new instance of the plugin. The mock host keeps its state: it is a part of the test.
#[expect(clippy::unnecessary_wraps, reason = "all functions have this type")]
fn reset(_: &mut Messages<'_, '_>, _: &[i64], state: &Shared) -> Result<i64> {
    lock(state).plugin.reset();
    Ok(0)
}

fn group(messages: &mut Messages<'_, '_>, values: &[i64], state: &Shared) -> Result<i64> {
    let name = read_text(messages, values[0])?;
    lock(state).report.begin(name);
    Ok(0)
}

fn mock_input(messages: &mut Messages<'_, '_>, _: &[i64], state: &Shared) -> Result<i64> {
    let input = lock(state).mock_input.clone();
    messages.write(&input.unwrap_or_default())
}

/// The bytes of a message. The guest keeps it. Offset 0 means no bytes.
pub(super) fn bytes(messages: &mut Messages<'_, '_>, at: i64) -> Result<Vec<u8>> {
    let bytes = messages.read(at);
    bytes.ok_or_else(|| "an argument is not in memory".to_owned())
}

fn read_text(messages: &mut Messages<'_, '_>, at: i64) -> Result<String> {
    Ok(String::from_utf8_lossy(&bytes(messages, at)?).into_owned())
}
