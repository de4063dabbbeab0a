//! Prepares a module for Extism: what it runs at its start becomes an export, and its tables get a maximum.
//!
//! Extism makes an instance of a module, and lets it start, before the instance has a memory limit or can be
//! interrupted. With its start as an export, [`Instance`](super::instance::Instance) runs it like any call, within the
//! same limits. Tables have no limit in Extism at all.

mod start;
mod tables;

use wasm_encoder::{Encode as _, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

pub(super) use start::START;
use start::Starts;
use tables::Tables;

/// A module as it runs.
pub(super) struct Prepared {
    /// The module, if it is not the same as before.
    pub(super) wasm: Option<Vec<u8>>,
    /// Whether an instance has to run [`START`] before anything else.
    pub(super) starts: bool,
    /// How many bytes the tables have at first.
    pub(super) tables_initial: u64,
    /// How many bytes the tables can take.
    pub(super) tables_maximum: u64,
}

/// Prepares a module whose instances may take that much memory.
pub(super) fn prepare(wasm: &[u8], memory: Option<u64>) -> Result<Prepared, BinaryReaderError> {
    let mut starts = Starts::default();
    let mut tables = Tables::new(memory);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::TableSection(section) => tables.read(section)?,
            // What starts is known before the first body.
            Payload::CodeSectionStart { .. } => break,
            payload => starts.read(&payload)?,
        }
    }
    let function = starts.function();
    let changed = if function.is_some() || tables.can_grow() {
        Some(rewrite(wasm, function.as_ref(), &tables)?)
    } else {
        None
    };
    Ok(Prepared {
        wasm: changed,
        starts: function.is_some(),
        tables_initial: tables.initial(),
        tables_maximum: tables.maximum(),
    })
}

fn rewrite(
    wasm: &[u8],
    start: Option<&start::Function>,
    tables: &Tables,
) -> Result<Vec<u8>, BinaryReaderError> {
    let mut module = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        let Some((id, range)) = payload.as_section() else {
            continue;
        };
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let data = &wasm[at(range.start)..at(range.end)];
        let changed = match (&payload, start) {
            (Payload::TableSection(section), _) => Some(tables.bounded(section, data)?),
            (Payload::StartSection { .. }, Some(_)) => continue,
            (payload, Some(start)) => start.added_to(payload, data)?,
            _ => None,
        };
        let data = changed.as_deref().unwrap_or(data);
        module.section(&RawSection { id, data });
    }
    Ok(module.finish())
}

/// A section with one more item.
fn with_item(section: &[u8], count: u32, item: &[u8]) -> Vec<u8> {
    let mut before = Vec::new();
    count.encode(&mut before);
    let mut data = Vec::with_capacity(section.len() + item.len() + 1);
    (count + 1).encode(&mut data);
    // The count may be written with more bytes than it needs.
    let length = section.iter().take_while(|byte| **byte >= 0x80).count() + 1;
    data.extend(&section[length..]);
    data.extend(item);
    data
}

#[cfg(test)]
mod tests;
