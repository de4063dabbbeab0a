//! An Extism host whose functions record their input.

use std::path::Path;
use std::sync::{Arc, Mutex};

use extism::{CurrentPlugin, Function, Manifest, PTR, Plugin, UserData, Val, ValType, Wasm};

/// The calls of the host's functions, in order.
type Calls = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A plugin in its own host.
pub(super) struct Hosted {
    plugin: Plugin,
    calls: Calls,
}

/// The functions of a host, added one by one.
pub(super) struct Host {
    functions: Vec<Function>,
    calls: Calls,
}

struct State {
    calls: Calls,
    answer: Box<dyn Fn(Vec<u8>) -> Vec<u8> + Send>,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            functions: Vec::new(),
            calls: Calls::default(),
        }
    }

    /// A function of the host. Its wasm type has a parameter only if there is an input, and a result only if there is
    /// an output.
    pub(super) fn with(
        mut self,
        name: &str,
        (input, output): (bool, bool),
        answer: impl Fn(Vec<u8>) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let state = UserData::new(State {
            calls: self.calls.clone(),
            answer: Box::new(answer),
        });
        let owned = name.to_owned();
        let types = |wanted: bool| -> Vec<ValType> { wanted.then_some(PTR).into_iter().collect() };
        self.functions.push(Function::new(
            name,
            types(input),
            types(output),
            state,
            move |plugin, inputs, outputs, state| {
                let input = inputs
                    .first()
                    .map_or(Vec::new(), |block| read(plugin, block));
                let state = state.get()?;
                let state = state.lock().map_err(|_| extism::Error::msg("poisoned"))?;
                let mut calls = state
                    .calls
                    .lock()
                    .map_err(|_| extism::Error::msg("poisoned"))?;
                calls.push((owned.clone(), input.clone()));
                if let [output] = outputs {
                    plugin.memory_set_val(output, (state.answer)(input))?;
                }
                Ok(())
            },
        ));
        self
    }

    pub(super) fn load(self, wasm: &Path) -> Hosted {
        self.load_within(wasm, None)
    }

    /// Loads a plugin with at most this many pages of memory.
    pub(super) fn load_within(self, wasm: &Path, pages: Option<u32>) -> Hosted {
        let bytes =
            std::fs::read(wasm).unwrap_or_else(|error| panic!("{}: {error}", wasm.display()));
        let mut manifest = Manifest::new([Wasm::data(bytes)]);
        manifest.memory.max_pages = pages;
        let plugin = Plugin::new(&manifest, self.functions, false);
        Hosted {
            plugin: plugin.unwrap_or_else(|error| panic!("{}: {error:?}", wasm.display())),
            calls: self.calls,
        }
    }
}

/// Reads a block of memory. An empty payload has no block.
fn read(plugin: &mut CurrentPlugin, block: &Val) -> Vec<u8> {
    let block = plugin.memory_from_val(block);
    let bytes = block.and_then(|block| plugin.memory_bytes(block).ok().map(<[u8]>::to_vec));
    bytes.unwrap_or_default()
}

impl Hosted {
    /// Calls an export.
    pub(super) fn call(&mut self, export: &str, input: &[u8]) -> Result<Vec<u8>, String> {
        let output = self.plugin.call::<_, Vec<u8>>(export, input);
        output.map_err(|error| error.to_string())
    }

    /// The calls of the host's functions since the last call of this method.
    pub(super) fn calls(&self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut *self.calls.lock().expect("no call panics"))
    }
}
