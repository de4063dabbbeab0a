//! Runs XTP test modules: Extism modules that call a plugin and check its answers.
//!
//! A test module exports `test` and imports from `xtp:test/harness`: `call`, `time`, `assert`,
//! `reset`, `group` and `mock_input`. A third module, the mock host, exports the functions that the
//! plugin under test imports from its host, under the same names.

mod functions;
mod mock;
mod report;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use mcp_servlet_common::lock;
use mcp_servlet_runtime::{Fetched, LoadError, LoadOptions, Plugin, Source};

pub(crate) use report::{Assertion, Report};

/// The export that runs the tests.
const TEST: &str = "test";

/// The modules and inputs of one run.
#[derive(Clone, Debug)]
pub(crate) struct Harness {
    /// The plugin under test.
    pub(crate) plugin: Source,
    /// The test module.
    pub(crate) with: Source,
    /// The module that implements the host functions of the plugin.
    pub(crate) mock_host: Option<Source>,
    /// The result of `mock_input`.
    pub(crate) mock_input: Option<Vec<u8>>,
    /// The limits for all three modules.
    pub(crate) options: LoadOptions,
}

/// State that the functions of the harness share.
struct State {
    plugin: Plugin,
    mock_input: Option<Vec<u8>>,
    report: Report,
}

type Shared = Arc<Mutex<State>>;

impl Harness {
    /// Loads the modules and runs the tests.
    ///
    /// # Errors
    ///
    /// [`LoadError`], if a module cannot be loaded. The report contains failed tests, and a test
    /// module that stopped early.
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
