//! Rewrites a module before Extism compiles it.
//!
//! - The start function becomes an export. Extism runs the start function when it makes an
//!   instance, before there is a memory limit or a way to interrupt it.
//!   [`Instance`](super::instance::Instance) runs the export like any call.
//! - Tables that can grow get a maximum, because Extism does not limit them.
//! - Calls of some WASI functions go through functions that are added to the module: see
//!   [`wasi`](crate::functions::wasi).
//!
//! All other modules stay unchanged.

mod shift;
mod start;
mod tables;
mod wasi;

use wasm_encoder::{Encode, RawSection, ValType};
use wasmparser::{BinaryReader, BinaryReaderError, Parser, Payload};

use shift::Shift;
pub(super) use start::START;
use start::{Facts, exports};
use tables::Tables;

/// A module, ready to be compiled.
pub(super) struct Prepared {
    /// The new module; `None` if nothing changed.
    pub(super) wasm: Option<Vec<u8>>,
    /// Whether an instance has to run [`START`] before its first call.
    pub(super) starts: bool,
    /// The initial size of all tables in bytes.
    pub(super) tables_initial: u64,
    /// The maximum size of all tables in bytes.
    pub(super) tables_maximum: u64,
}

/// Prepares a module for instances with this memory limit.
pub(super) fn prepare(wasm: &[u8], memory: Option<u64>) -> Result<Prepared, BinaryReaderError> {
    let mut facts = Facts::default();
    let mut tables = Tables::new(memory);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TableSection(section) => tables.read(section)?,
            // Everything about the start is known before the first function body.
            Payload::CodeSectionStart { .. } => break,
            payload => facts.read(&payload)?,
        }
    }
    let additions = Additions::new(&facts);
    let changed = if additions.functions.is_empty() && !tables.can_grow() {
        None
    } else {
        Some(rewrite(wasm, &additions, &tables)?)
    };
    Ok(Prepared {
        wasm: changed,
        starts: additions.start.is_some(),
        tables_initial: tables.initial(),
        tables_maximum: tables.maximum(),
    })
}

/// What is added to a module.
#[derive(Default)]
struct Additions {
    types: Vec<Vec<u8>>,
    imports: Vec<Vec<u8>>,
    functions: Vec<Added>,
    /// The function that is exported as [`START`].
    start: Option<u32>,
    shift: Shift,
}

struct Added {
    ty: u32,
    body: Vec<u8>,
}

impl Additions {
    fn new(facts: &Facts) -> Self {
        let mut additions = Self::default();
        if facts.has_functions() {
            additions.replace_wasi(facts);
            additions.add_start(facts);
        }
        additions
    }

    fn replace_wasi(&mut self, facts: &Facts) {
        let replaced = facts.replaced();
        self.shift.imported = facts.imported();
        self.shift.added = u32::try_from(replaced.len()).unwrap_or_default();
        for (function, (replaced, wasi, ty)) in (facts.imported()..).zip(replaced) {
            let (name, params) = replaced.host();
            let mut import = Vec::new();
            crate::functions::wasi::MODULE.encode(&mut import);
            name.encode(&mut import);
            import.push(0);
            self.add_type(facts, params).encode(&mut import);
            self.imports.push(import);
            let body = replaced.body(wasi, function);
            let index = self.add_function(facts, ty, body);
            self.shift.redirected.push((wasi, index));
        }
    }

    fn add_start(&mut self, facts: &Facts) {
        if let Some(body) = facts.start(|function| self.shift.index(function)) {
            let ty = self.add_type(facts, &[]);
            self.start = Some(self.add_function(facts, ty, body));
        }
    }

    /// Adds the type of a function without results. Returns its index.
    fn add_type(&mut self, facts: &Facts, params: &[ValType]) -> u32 {
        const FUNCTION: u8 = 0x60;
        let mut ty = vec![FUNCTION];
        params.encode(&mut ty);
        ty.push(0);
        self.types.push(ty);
        facts.types() + length(&self.types) - 1
    }

    /// Adds a function. Returns its index.
    fn add_function(&mut self, facts: &Facts, ty: u32, body: Vec<u8>) -> u32 {
        self.functions.push(Added { ty, body });
        facts.functions() + self.shift.added + length(&self.functions) - 1
    }

    /// The items to append to a section.
    fn items(&self, payload: &Payload<'_>) -> Vec<Vec<u8>> {
        let encoded = |item: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            item(&mut bytes);
            bytes
        };
        let functions = self.functions.iter();
        match payload {
            Payload::TypeSection(_) => self.types.clone(),
            Payload::ImportSection(_) => self.imports.clone(),
            Payload::FunctionSection(_) => functions
                .map(|added| encoded(&|to| added.ty.encode(to)))
                .collect(),
            Payload::CodeSectionStart { .. } => functions
                .map(|added| encoded(&|to| added.body.encode(to)))
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

fn rewrite(
    wasm: &[u8],
    additions: &Additions,
    tables: &Tables,
) -> Result<Vec<u8>, BinaryReaderError> {
    let shift = &additions.shift;
    let mut module = wasm_encoder::Module::new();
    let payloads: Result<Vec<_>, _> = Parser::new(0).parse_all(wasm).collect();
    let payloads = payloads?;
    for payload in &payloads {
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let section = &wasm[at(range.start)..at(range.end)];
        let changed = match payload {
            Payload::StartSection { .. } if additions.start.is_some() => continue,
            // The name section has the old indices, and only debuggers read it.
            Payload::CustomSection(custom) if custom.name() == "name" && shift.added > 0 => {
                continue;
            }
            Payload::TableSection(section) => {
                Some(tables.bounded(&shift.tables(wasm, section.clone())?)?)
            }
            Payload::ExportSection(section) => Some(exports(section, shift, additions.start)?),
            Payload::GlobalSection(section) if shift.added > 0 => {
                Some(shift.globals(wasm, section.clone())?)
            }
            Payload::ElementSection(section) if shift.added > 0 => {
                Some(shift.elements(wasm, section.clone())?)
            }
            Payload::CodeSectionStart { .. } if shift.added > 0 => {
                let bodies = bodies(wasm, &payloads, shift)?;
                Some(with_items(&bodies, &additions.items(payload))?)
            }
            payload => {
                let items = additions.items(payload);
                (!items.is_empty())
                    .then(|| with_items(section, &items))
                    .transpose()?
            }
        };
        let data = changed.as_deref().unwrap_or(section);
        module.section(&RawSection { id, data });
    }
    Ok(module.finish())
}

/// The code section with new function indices.
fn bodies(
    wasm: &[u8],
    payloads: &[Payload<'_>],
    shift: &Shift,
) -> Result<Vec<u8>, BinaryReaderError> {
    let bodies = payloads.iter().filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(shift.body(wasm, body)),
        _ => None,
    });
    let bodies: Result<Vec<_>, _> = bodies.collect();
    let bodies = bodies?;
    let mut section = Vec::new();
    length(&bodies).encode(&mut section);
    for body in bodies {
        body.encode(&mut section);
    }
    Ok(section)
}

/// Copies a section and appends items.
fn with_items(section: &[u8], items: &[Vec<u8>]) -> Result<Vec<u8>, BinaryReaderError> {
    let mut reader = BinaryReader::new(section, 0);
    let count = reader.read_var_u32()?;
    let mut data = Vec::with_capacity(section.len() + items.len() * 16);
    (count + length(items)).encode(&mut data);
    data.extend(&section[reader.current_position()..]);
    data.extend(items.iter().flatten());
    Ok(data)
}

#[cfg(test)]
mod tests;
