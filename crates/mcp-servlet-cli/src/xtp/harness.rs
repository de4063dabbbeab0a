//! Runs XTP test modules: Extism modules that call a plugin and assert what it answers.
//!
//! A test module exports `test` and imports from `xtp:test/harness`: `call`, `time`, `assert`, `reset`, `group` and
//! `mock_input`. The functions that the plugin under test imports from its host are those that a third module, the
//! mock host, exports under the same names.

mod functions;
mod mock;
mod report;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_servlet_runtime::{Fetched, LoadError, LoadOptions, Plugin, Source};

pub(crate) use report::{Assertion, Report};

/// The export that runs the tests.
const TEST: &str = "test";

/// What one run consists of.
#[derive(Clone, Debug)]
pub(crate) struct Harness {
    /// The plugin under test.
    pub(crate) plugin: Source,
    /// The test module.
    pub(crate) with: Source,
    /// The module whose exports stand in for the host's functions.
    pub(crate) mock_host: Option<Source>,
    /// What the test module gets when it asks for input.
    pub(crate) mock_input: Option<Vec<u8>>,
    /// What all three may do.
    pub(crate) options: LoadOptions,
}

/// What the functions of the harness share.
struct State {
    plugin: Plugin,
    mock_input: Option<Vec<u8>>,
    report: Report,
}

type Shared = Arc<Mutex<State>>;

impl Harness {
    /// Loads the modules and runs the tests to their end.
    ///
    /// # Errors
    ///
    /// [`LoadError`], if one of the modules does not load. Tests that fail are in the report, and so is a test module that
    /// stopped halfway.
    pub(crate) fn run(self) -> Result<Report, LoadError> {
        let Fetched { name, wasm, .. } = self.plugin.fetch()?;
        let functions = match self.mock_host {
            Some(source) => mock::functions(source, (&name, &wasm), &self.options)?,
            None => Vec::new(),
        };
        let plugin = Plugin::load(&name, wasm, &self.options, functions)?;
        let state = Arc::new(Mutex::new(State {
            plugin,
            mock_input: self.mock_input,
            report: Report::default(),
        }));
        let Fetched { name, wasm, .. } = self.with.fetch()?;
        let mut tests = Plugin::load(&name, wasm, &self.options, functions::all(&state))?;
        let outcome = tests.call(TEST, b"");
        let mut report = std::mem::take(&mut lock(&state).report);
        report.stopped = outcome.err();
        Ok(report)
    }
}

fn lock(state: &Shared) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
