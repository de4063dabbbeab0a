//! Functions that a plugin imports from its host, in addition to those of servlets.

use std::sync::Arc;

use wasmtime::{Caller, Error, FuncType, Linker, Result, Val, ValType};

use crate::state::{State, messages};

/// A function that a plugin imports.
///
/// Its parameters and its result are 64-bit integers: numbers, or offsets in the memory for messages.
#[derive(Clone)]
pub struct HostFunction {
    module: String,
    name: String,
    parameters: usize,
    has_result: bool,
    run: Arc<Run>,
}

type Run = dyn Fn(&mut Messages<'_, '_>, &[i64]) -> std::result::Result<i64, String> + Send + Sync;

/// The messages between a plugin and its host.
pub struct Messages<'a, 'b>(&'a mut Caller<'b, State>);

impl HostFunction {
    /// A function with this number of parameters. Without a result, the number that it returns has no meaning.
    ///
    /// An error ends the call of the plugin. It is a message for people.
    pub fn new(
        module: &str,
        name: &str,
        (parameters, has_result): (usize, bool),
        run: impl Fn(&mut Messages<'_, '_>, &[i64]) -> std::result::Result<i64, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            module: module.to_owned(),
            name: name.to_owned(),
            parameters,
            has_result,
            run: Arc::new(run),
        }
    }

    pub(super) fn link(&self, linker: &mut Linker<State>) -> Result<()> {
        let types = |count| std::iter::repeat_n(ValType::I64, count);
        let ty = FuncType::new(
            linker.engine(),
            types(self.parameters),
            types(self.has_result.into()),
        );
        let run = Arc::clone(&self.run);
        linker.func_new(
            &self.module,
            &self.name,
            ty,
            move |mut caller, parameters, results| {
                let parameters: Option<Vec<_>> = parameters.iter().map(Val::i64).collect();
                let result = run(&mut Messages(&mut caller), &parameters.unwrap_or_default())
                    .map_err(Error::msg)?;
                if let [place] = results {
                    *place = Val::I64(result);
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

impl Messages<'_, '_> {
    /// Copies a message, which the plugin keeps. Offset 0 means no bytes. `None` if there is no message at this offset, or if
    /// it is larger than an output may be.
    pub fn read(&mut self, offset: i64) -> Option<Vec<u8>> {
        let limit = self.0.data().call.limits.output.value().unwrap_or(u64::MAX);
        messages::read(self.0, offset.cast_unsigned(), limit).ok()?
    }

    /// Adds a message and returns its offset, which is 0 if there are no bytes.
    ///
    /// # Errors
    /// A message for people if the plugin has no room for it.
    pub fn write(&mut self, bytes: &[u8]) -> std::result::Result<i64, String> {
        let offset = messages::write(self.0, bytes);
        offset
            .map(u64::cast_signed)
            .map_err(|error| format!("{error:#}"))
    }
}
