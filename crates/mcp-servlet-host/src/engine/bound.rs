//! A bound on memory within a module.

use wasm_encoder::{MemorySection, MemoryType, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

/// The module with memories that may grow to that many pages, whoever runs it, and to no more than it says itself.
///
/// Extism bounds the memory of a store only after linking, for which it makes an instance and lets it start. What that takes,
/// only the module can bound.
pub(super) fn memories(wasm: &[u8], pages: u64) -> Result<Vec<u8>, BinaryReaderError> {
    let mut module = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        if let Payload::MemorySection(memories) = payload {
            let mut section = MemorySection::new();
            for memory in memories {
                section.memory(bounded(&memory?, pages));
            }
            module.section(&section);
        } else if let Some((id, range)) = payload.as_section() {
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            let data = &wasm[at(range.start)..at(range.end)];
            module.section(&RawSection { id, data });
        }
    }
    Ok(module.finish())
}

fn bounded(memory: &wasmparser::MemoryType, pages: u64) -> MemoryType {
    let maximum = memory.maximum.unwrap_or(u64::MAX).min(pages);
    MemoryType {
        minimum: memory.initial,
        maximum: Some(maximum.max(memory.initial)),
        memory64: memory.memory64,
        shared: memory.shared,
        page_size_log2: memory.page_size_log2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_memory(memory: &str, expected: &str) {
        let module = |memory: &str| {
            let text = format!(
                "(module (func $f (drop (memory.grow (i32.const 1)))) {memory} (export \"f\" (func $f)) (start $f) \
                (data (i32.const 0) \"text\") (@custom \"note\" \"kept\"))"
            );
            wat::parse_str(text).expect("valid text")
        };
        let bounded = memories(&module(memory), 160).expect("a module");
        assert_eq!(bounded, module(expected));
    }

    #[test]
    fn only_memories_are_other_than_they_were() {
        assert_memory("(memory 1)", "(memory 1 160)");
        assert_memory("(memory 1 1000)", "(memory 1 160)");
        assert_memory("(memory 1 7)", "(memory 1 7)");
        assert_memory("(memory 300)", "(memory 300 300)");
    }
}
