//! Runs servlets in Extism.

use anyhow::Context;
use extism::{Manifest, Plugin, PluginBuilder, Wasm};
use serde_json::Value;

/// More instructions than any call takes.
const FUEL: u64 = 10_000_000_000;

/// A request of 85 bytes.
pub(crate) const GREET: &str =
    r#"{"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada Lovelace"}}}"#;

/// A servlet with a count of its instructions.
pub(crate) struct Metered(Plugin);

impl Metered {
    pub(crate) fn new(wasm: &[u8]) -> anyhow::Result<Self> {
        let manifest = Manifest::new([Wasm::data(wasm)]);
        let plugin = PluginBuilder::new(manifest)
            .with_cache_disabled()
            .with_fuel_limit(FUEL)
            .build();
        plugin.map(Self).context("Extism cannot load the servlet")
    }

    /// The wasm instructions of a call, including Extism's kernel, and the answer.
    pub(crate) fn run(&mut self, export: &str, input: &str) -> anyhow::Result<(u64, Value)> {
        let answer = serde_json::from_slice(self.0.call(export, input)?)?;
        let fuel = self.0.fuel_consumed();
        Ok((fuel.context("Extism does not meter the servlet")?, answer))
    }
}

/// A call of the greeting whose request has `length` bytes.
pub(crate) fn greet_of(length: usize) -> String {
    let name = "Ada Lovelace";
    let filler = "a".repeat(length - GREET.len() + name.len());
    GREET.replace(name, &filler)
}

#[cfg(test)]
mod tests {
    use super::{GREET, greet_of};

    #[test]
    fn requests_have_the_length_they_say() {
        assert_eq!(GREET.len(), 85);
        assert_eq!(greet_of(1 << 20).len(), 1 << 20);
    }
}
