//! Advice for compiler errors that are typical of servlets.

use cargo_metadata::{CompilerMessage, diagnostic::DiagnosticLevel};

/// The Cargo.toml lines that let the crates `getrandom`, `rand` and `uuid` get randomness from the host.
const RANDOMNESS: &str = "\
randomness comes from the host, by a feature of mcp-servlet in Cargo.toml:
mcp-servlet = { …, features = [\"global-allocator\", \"getrandom\"] }
and by these lines in .cargo/config.toml, which `servlet new` writes:
[target.wasm32-unknown-unknown]
rustflags = [\"--cfg\", \"getrandom_backend=\\\"custom\\\"\"]";

/// The additional lines that uuid needs.
const UUID: &str = "\
turn on a feature of uuid and one of mcp-servlet in Cargo.toml:
uuid = { version = \"1\", features = [\"v4\", \"rng-getrandom\"] }
mcp-servlet = { …, features = [\"global-allocator\", \"getrandom\"] }";

/// The dependency that the derives of serde name.
const SERDE: &str = "\
the derives of `Deserialize` and `Serialize` need a dependency in Cargo.toml:
serde = { version = \"1\", features = [\"derive\"] }";

/// The name of a macro that every `export!` defines.
const EXPORT: &str = "one_export_per_crate";

/// The advice for an error, if it is a known one.
pub(super) fn remedy_for(message: &CompilerMessage) -> Option<&'static str> {
    let diagnostic = &message.message;
    if diagnostic.level != DiagnosticLevel::Error {
        return None;
    }
    match message.target.name.as_str() {
        "getrandom" => return Some(RANDOMNESS),
        "uuid" => return Some(UUID),
        _ => {}
    }
    if diagnostic.message == "can't find crate for `serde`" {
        return Some(SERDE);
    }
    let text = diagnostic.rendered.as_deref().unwrap_or_default();
    if text.contains("__getrandom_v03_custom") {
        return Some(RANDOMNESS);
    }
    text.contains(EXPORT).then_some(
        "a crate is one servlet: list all functions in one `export!`, or make a crate of each servlet",
    )
}
