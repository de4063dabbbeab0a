//! Reads a module without running it: what it exports, what it wants, what it is made of.

pub(crate) mod bounds;
pub(crate) mod imports;
mod reader;

use crate::needs::Needs;
pub use bounds::LimitExceeded;
pub(crate) use bounds::SIZE;
pub(crate) use imports::WASI;
pub use imports::{EXTISM, USER};
use reader::Reader;

/// How many bytes say that a file is a module: `\0asm` and the version.
pub(crate) const MAGIC: u64 = 8;
/// What a WebAssembly module consists of.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The size of the whole module in bytes.
    pub size: usize,
    /// What it exports, in order.
    pub exports: Vec<Export>,
    /// What it imports, in order.
    pub imports: Vec<Import>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
    needs: Needs,
    needs_problem: Option<String>,
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
    /// The module it is expected from.
    pub module: String,
    /// Its name there.
    pub name: String,
}

/// One section of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// `code`, `data`, …, or the name of a custom section.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Why bytes could not be read as a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// There is nothing.
    #[error("the file is empty")]
    Empty,
    /// The magic number is missing.
    #[error("this is not a WebAssembly module: it does not begin with `\\0asm`")]
    NotWasm,
    /// A component, which is another binary format.
    #[error("this is a WebAssembly component, not a module")]
    Component,
    /// The binary is broken.
    #[error("the module is damaged at byte {offset}: {message}")]
    Damaged {
        /// Where reading stopped.
        offset: u64,
        /// What was expected there.
        message: String,
    },
    /// The binary has more of something than is compiled.
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
    /// [`Unreadable`] if the bytes are something else.
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

    /// What the servlet declares that it needs; empty if it declares nothing, or nothing that can be read.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Why what the servlet declares that it needs cannot be read.
    pub fn needs_problem(&self) -> Option<&str> {
        self.needs_problem.as_deref()
    }

    /// The imports that neither Extism nor WASI nor this host provides.
    pub fn unknown_imports(&self) -> Vec<Import> {
        self.imports
            .iter()
            .filter(|import| !import.is_known())
            .cloned()
            .collect()
    }

    /// Whether the module imports that function of Extism.
    pub fn imports_extism(&self, name: &str) -> bool {
        self.imports(EXTISM, name)
    }

    /// Whether the module imports that function of that module.
    pub fn imports(&self, module: &str, name: &str) -> bool {
        let mut imports = self.imports.iter();
        imports.any(|import| import.module == module && import.name == name)
    }

    /// Whether the host can call an export of that name.
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
    fn tells_what_the_bytes_are_instead_of_a_module() {
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
        assert!(!module.can_call("memory"), "it is no function");
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
