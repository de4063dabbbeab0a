//! Reads a module without running it: its exports, imports and sections.

pub(crate) mod bounds;
pub(crate) mod imports;
mod reader;

use std::sync::Arc;

use mcp_servlet_types::{ContentFeature, InputRequestKind, SDK, STRICT};

use crate::{contract::Contract, needs::Needs};
pub use bounds::LimitExceeded;
pub(crate) use bounds::MAX_MODULE;
pub(crate) use imports::WASI;
pub use imports::{EXTISM, USER};
use reader::Reader;

/// The size of a module's header: `\0asm` and the version.
pub(crate) const MAGIC: u64 = 8;
/// The contents of a WebAssembly module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The size in bytes.
    pub size: usize,
    /// The exports, in order.
    pub exports: Vec<Export>,
    /// The imports, in order.
    pub imports: Vec<Import>,
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// The requests for input from the client that the servlet can send, if it uses the crate `mcp-servlet`.
    pub input_requests: Vec<InputRequestKind>,
    /// The kinds of content that the servlet can return, if it uses the crate `mcp-servlet`.
    pub content_features: Vec<ContentFeature>,
    needs: Needs,
    needs_problem: Option<String>,
    contract: Option<Arc<Contract>>,
    contract_problem: Option<String>,
    /// How many entries the largest table can have.
    pub(crate) largest_table: u64,
}

/// One export of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name.
    pub name: String,
    /// Whether it is a function that a host can call: no parameters, at most one `i32` result.
    pub callable: bool,
    /// Whether it is a function at all.
    pub function: bool,
}

/// One import of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The module that it is imported from.
    pub module: String,
    /// The name in that module.
    pub name: String,
}

/// One section of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `code`, `data`, …, or the name of a custom section.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
}

/// Why bytes could not be read as a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The magic number is missing.
    #[error("this is not a WebAssembly module: it does not begin with `\\0asm`")]
    NotWasm,
    /// The file is a WebAssembly component, which is another binary format.
    #[error("this is a WebAssembly component, not a module")]
    Component,
    /// The binary is damaged.
    #[error("the module is damaged at byte {offset}: {message}")]
    Damaged {
        /// The offset of the damage in bytes.
        offset: u64,
        /// The message of the parser.
        message: String,
    },
    /// The module exceeds a limit for compilation.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

impl Unreadable {
    pub(crate) fn damaged(error: &wasmparser::BinaryReaderError) -> Self {
        Self::Damaged {
            offset: error.offset(),
            message: error.message().to_owned(),
        }
    }

    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            Self::Empty | Self::NotWasm => {
                Some("give the `.wasm` file that `servlet build` prints")
            }
            Self::Component => {
                Some("build for the target `wasm32-unknown-unknown` or `wasm32-wasip1`")
            }
            Self::Damaged { .. } => None,
            Self::Limit(limit) => limit.help(),
        }
    }
}

impl Module {
    /// Reads a module.
    ///
    /// # Errors
    /// [`Unreadable`] if the bytes are not a module.
    pub fn read(wasm: &[u8]) -> Result<Self, Unreadable> {
        check_magic(wasm)?;
        Reader::default()
            .read(wasm)
            .map_err(|error| Unreadable::damaged(&error))
    }

    /// Whether the module imports WASI preview 1.
    pub fn uses_wasi(&self) -> bool {
        self.imports.iter().any(|import| import.module == WASI)
    }

    /// Whether the servlet uses the crate `mcp-servlet`, which marks its modules.
    pub(crate) fn uses_sdk(&self) -> bool {
        self.has_section(SDK)
    }

    /// Whether results have only forms of the first interfaces of servlets (the ABI `servlet-strict`).
    pub fn is_strict(&self) -> bool {
        self.has_section(STRICT)
    }

    fn has_section(&self, name: &str) -> bool {
        self.sections.iter().any(|section| section.name == name)
    }

    /// What the servlet declares that it needs. Empty if it declares nothing, or if the declaration
    /// cannot be read.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Why the declaration of the servlet's needs cannot be read; `None` if it can.
    pub fn needs_problem(&self) -> Option<&str> {
        self.needs_problem.as_deref()
    }

    /// What the module says about the servlet, if it says it in a way that can be read.
    pub fn contract(&self) -> Option<&Contract> {
        self.contract.as_deref()
    }

    /// Why the module's contract cannot be read; `None` if it can, or if there is none.
    pub fn contract_problem(&self) -> Option<&str> {
        self.contract_problem.as_deref()
    }

    /// The imports that neither Extism, WASI nor this host provides.
    pub fn unknown_imports(&self) -> Vec<Import> {
        self.imports
            .iter()
            .filter(|import| !import.is_known())
            .cloned()
            .collect()
    }

    /// Whether the module imports the function `name` of Extism.
    pub fn imports_extism(&self, name: &str) -> bool {
        self.imports(EXTISM, name)
    }

    /// Whether the module imports `name` from `module`.
    pub fn imports(&self, module: &str, name: &str) -> bool {
        let mut imports = self.imports.iter();
        imports.any(|import| import.module == module && import.name == name)
    }

    /// Whether the host can call the export `name`.
    pub fn can_call(&self, name: &str) -> bool {
        self.exports
            .iter()
            .any(|export| export.callable && export.name == name)
    }
}

pub(crate) fn check_magic(wasm: &[u8]) -> Result<(), Unreadable> {
    match wasm {
        [] => Err(Unreadable::Empty),
        [0, b'a', b's', b'm', _, _, 1, 0, ..] => Err(Unreadable::Component),
        [0, b'a', b's', b'm', ..] => Ok(()),
        _ => Err(Unreadable::NotWasm),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> Module {
        Module::read(&wat::parse_str(text).expect("valid text")).expect("a module")
    }

    #[test]
    fn recognizes_bytes_that_are_not_a_module() {
        assert_eq!(Module::read(b"").err(), Some(Unreadable::Empty));
        assert_eq!(Module::read(b"MZ..").err(), Some(Unreadable::NotWasm));
        let component = wat::parse_str("(component)").expect("valid text");
        assert_eq!(Module::read(&component).err(), Some(Unreadable::Component));
        let truncated = Module::read(b"\0asm\x01\0\0\0\x01\x07\x01");
        assert!(matches!(truncated, Err(Unreadable::Damaged { .. })));
    }

    #[test]
    fn knows_which_exports_can_be_called() {
        let module = module(
            r#"(module
                (import "extism:host/env" "alloc" (func (param i64) (result i64)))
                (memory (export "memory") 1)
                (func (export "describe") (result i32) i32.const 0)
                (func (export "call") (param i32)))"#,
        );
        assert!(module.can_call("describe"));
        assert!(!module.can_call("call"), "it has a parameter");
        assert!(!module.can_call("memory"), "it is not a function");
        assert_eq!(module.unknown_imports(), []);
    }

    #[test]
    fn lists_imports_that_no_host_provides() {
        let module = module(
            r#"(module
                (import "extism:host/env" "brew_coffee" (func))
                (import "__wbindgen_placeholder__" "__wbindgen_throw" (func (param i32 i32)))
                (import "wasi_snapshot_preview1" "clock_time_get" (func)))"#,
        );
        let unknown = module.unknown_imports();
        let shown: Vec<_> = unknown.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "extism:host/env::brew_coffee",
                "__wbindgen_placeholder__::__wbindgen_throw"
            ]
        );
        assert!(unknown[1].is_wasm_bindgen());
        assert!(module.uses_wasi());
    }
}
