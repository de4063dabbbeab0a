//! The mock host: a module that implements the functions that a plugin imports from its host.

use std::sync::{Arc, Mutex};

use mcp_servlet_common::lock;
use mcp_servlet_runtime::{
    Fetched, HostFunction, LoadError, LoadOptions, Messages, Plugin, Source,
};
use wasmparser::{Parser, Payload, TypeRef};

use super::functions::bytes;

/// An import of the plugin that this host does not provide.
#[derive(Debug, PartialEq)]
struct Wanted {
    module: String,
    name: String,
    takes_input: bool,
    gives_output: bool,
}

/// Host functions for the imports of `plugin`. Each calls the mock host's export of the same name.
pub(super) fn functions(
    mock: Source,
    (plugin, wasm): (&str, &[u8]),
    options: &LoadOptions,
) -> Result<Vec<HostFunction>, LoadError> {
    let wanted = wanted(wasm).map_err(|error| LoadError::Compile {
        servlet: plugin.to_owned(),
        message: error.to_string(),
    })?;
    let Fetched { name, wasm, .. } = mock.fetch()?;
    let mock = Arc::new(Mutex::new(Plugin::load(&name, wasm, options, Vec::new())?));
    let functions = wanted.into_iter().map(|wanted| function(&mock, wanted));
    Ok(functions.collect())
}

/// The imports of a module that neither Extism nor WASI provides, and whether they have input and output.
fn wanted(wasm: &[u8]) -> Result<Vec<Wanted>, wasmparser::BinaryReaderError> {
    let mut types = Vec::new();
    let mut wanted = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    types.push(ty?);
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    let (TypeRef::Func(index) | TypeRef::FuncExact(index)) = import.ty else {
                        continue;
                    };
                    let is_ours = import.module == mcp_servlet_runtime::EXTISM
                        || import.module.starts_with("wasi_");
                    if let Some(ty) = types.get(index as usize).filter(|_| !is_ours) {
                        wanted.push(Wanted {
                            module: import.module.to_owned(),
                            name: import.name.to_owned(),
                            takes_input: !ty.params().is_empty(),
                            gives_output: !ty.results().is_empty(),
                        });
                    }
                }
            }
            _ => {}
        }
    }
    Ok(wanted)
}

fn function(mock: &Arc<Mutex<Plugin>>, wanted: Wanted) -> HostFunction {
    let types = (wanted.takes_input.into(), wanted.gives_output);
    let mock = Arc::clone(mock);
    let export = wanted.name.clone();
    let run = move |messages: &mut Messages<'_, '_>, values: &[i64]| {
        let input = match values {
            [at] => bytes(messages, *at)?,
            _ => Vec::new(),
        };
        let mut mock = lock(&mock);
        let output = mock
            .call(&export, &input)
            .map_err(|problem| format!("the mock host's `{export}` failed: {problem}"))?;
        messages.write(&output)
    };
    HostFunction::new(&wanted.module, &wanted.name, types, run)
}
