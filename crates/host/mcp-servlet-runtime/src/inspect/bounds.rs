//! Limits for a module that are checked before it is compiled.
//!
//! A small module can take a lot of time and memory to compile: a function of 5 KB can keep a
//! compiler busy for half a minute. One pass over the module counts what compile time and memory
//! depend on. It refuses a module that exceeds the largest programs that people compile to
//! WebAssembly. The limits do not depend on the runtime.

mod body;

use wasmparser::{
    BinaryReaderError, CompositeInnerType, ElementItems, Parser, Payload, TypeSectionReader,
};

use super::Unreadable;

/// The maximum size of a module in bytes.
pub(crate) const MAX_MODULE: u64 = 64 << 20;
const TYPES: u64 = 20_000;
/// Parameters or results of one function type or block type.
const VALUES: u64 = 256;
const IMPORTS: u64 = 10_000;
const EXPORTS: u64 = 10_000;
/// A function costs about 0.15 ms of compile time, even a short one.
const FUNCTIONS: u64 = 80_000;
const TABLES: u64 = 100;
/// Initial entries of all tables.
const TABLE_ENTRIES: u64 = 10_000_000;
const GLOBALS: u64 = 100_000;
/// Entries of all element segments.
const ELEMENTS: u64 = 1_000_000;
const DATA_SEGMENTS: u64 = 100_000;

/// The module exceeds a limit for compilation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: expected at most {limit}, found {found}", self.subject())]
#[non_exhaustive]
pub struct LimitExceeded {
    /// What is counted: `functions`, `bytes`, `locals`, ….
    pub what: &'static str,
    /// The index of the function, not counting imports; `None` for the module as a whole.
    pub function: Option<u32>,
    /// The number in the module.
    pub found: u64,
    /// The maximum number.
    pub limit: u64,
}

impl LimitExceeded {
    /// What exceeds the limit, for the error message.
    fn subject(&self) -> String {
        match self.function {
            Some(function) => format!("function {function} has too many {}", self.what),
            None => format!("the module has too many {}", self.what),
        }
    }

    /// Checks the size of a module.
    pub(crate) fn size(bytes: u64) -> Result<(), Self> {
        at_most("bytes", bytes, MAX_MODULE)
    }

    /// How to fix the error, if there is advice.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match (self.what, self.function) {
            ("bytes", None) => Some("remove debug information: `wasm-opt --strip-debug`"),
            (_, Some(_)) => Some("split the function, or compile it with optimizations"),
            _ => None,
        }
    }
}

/// Why a module is not compiled. Not part of [`Unreadable`], whose conversions would be public.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    #[error(transparent)]
    Damaged(#[from] BinaryReaderError),
}

/// Checks the sections of a module against the limits for compilation, but not the bodies of its functions.
pub(crate) fn check_sections(wasm: &[u8]) -> Result<(), Unreadable> {
    check_bounds(wasm, Bodies::Skip)
}

/// Checks a module against the limits for compilation. Bodies take more time than everything else that is read before
/// compilation, so they are only checked if the module must be compiled.
pub(crate) fn check_all(wasm: &[u8]) -> Result<(), Unreadable> {
    check_bounds(wasm, Bodies::Count)
}

/// What happens to the bodies of functions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bodies {
    Skip,
    Count,
}

fn check_bounds(wasm: &[u8], bodies: Bodies) -> Result<(), Unreadable> {
    count(wasm, bodies).map_err(|refused| match refused {
        Refused::Limit(limit) => Unreadable::Limit(limit),
        Refused::Damaged(error) => Unreadable::damaged(&error),
    })
}

fn count(wasm: &[u8], bodies: Bodies) -> Result<(), Refused> {
    LimitExceeded::size(wasm.len() as u64)?;
    let mut counts = Counts::default();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::CodeSectionEntry(_) if bodies == Bodies::Skip => {}
            payload => counts.section(payload)?,
        }
    }
    Ok(())
}

fn at_most(what: &'static str, found: u64, limit: u64) -> Result<(), LimitExceeded> {
    if found <= limit {
        return Ok(());
    }
    Err(LimitExceeded {
        what,
        function: None,
        found,
        limit,
    })
}

#[derive(Default)]
struct Counts {
    /// The number of parameters and results of each type.
    types: Vec<Arity>,
    /// The type of each function that is not imported.
    functions: Vec<u32>,
    /// The number of function bodies that were read so far.
    bodies: u32,
    effort: u64,
    elements: u64,
}

#[derive(Clone, Copy, Default)]
struct Arity {
    params: u64,
    results: u64,
}

impl Counts {
    fn section(&mut self, payload: Payload<'_>) -> Result<(), Refused> {
        match payload {
            Payload::TypeSection(types) => self.types(types)?,
            Payload::ImportSection(imports) => {
                at_most("imports", imports.count().into(), IMPORTS)?;
            }
            Payload::FunctionSection(functions) => {
                at_most("functions", functions.count().into(), FUNCTIONS)?;
                for ty in functions {
                    self.functions.push(ty?);
                }
            }
            Payload::TableSection(tables) => {
                at_most("tables", tables.count().into(), TABLES)?;
                let mut entries = 0_u64;
                for table in tables {
                    entries = entries.saturating_add(table?.ty.initial);
                    at_most("table entries", entries, TABLE_ENTRIES)?;
                }
            }
            Payload::GlobalSection(globals) => at_most("globals", globals.count().into(), GLOBALS)?,
            Payload::ExportSection(exports) => at_most("exports", exports.count().into(), EXPORTS)?,
            Payload::ElementSection(segments) => {
                for segment in segments {
                    self.elements += match segment?.items {
                        ElementItems::Functions(items) => u64::from(items.count()),
                        ElementItems::Expressions(_, items) => u64::from(items.count()),
                    };
                    at_most("table elements", self.elements, ELEMENTS)?;
                }
            }
            Payload::DataSection(data) => {
                at_most("data segments", data.count().into(), DATA_SEGMENTS)?;
            }
            Payload::CodeSectionStart { count, .. } => {
                at_most("functions", count.into(), FUNCTIONS)?;
            }
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            _ => {}
        }
        Ok(())
    }

    fn types(&mut self, types: TypeSectionReader<'_>) -> Result<(), Refused> {
        at_most("types", types.count().into(), TYPES)?;
        for group in types {
            for ty in group?.into_types() {
                let arity = match ty.composite_type.inner {
                    CompositeInnerType::Func(ty) => Arity {
                        params: ty.params().len() as u64,
                        results: ty.results().len() as u64,
                    },
                    _ => Arity::default(),
                };
                at_most("parameters in a type", arity.params, VALUES)?;
                at_most("results in a type", arity.results, VALUES)?;
                self.types.push(arity);
            }
            at_most("types", self.types.len() as u64, TYPES)?;
        }
        Ok(())
    }

    fn body(&mut self, body: &wasmparser::FunctionBody<'_>) -> Result<(), Refused> {
        let index = self.bodies;
        self.bodies += 1;
        let ty = self.functions.get(index as usize);
        let params = ty.map_or(0, |&ty| self.arity(ty).params);
        let effort = body::effort(body, index, params, |ty| self.arity(ty))?;
        self.effort = self.effort.saturating_add(effort);
        Ok(at_most(body::EFFORT_OF, self.effort, body::EFFORT)?)
    }

    fn arity(&self, ty: u32) -> Arity {
        self.types.get(ty as usize).copied().unwrap_or_default()
    }
}
