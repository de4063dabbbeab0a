//! XTP schemas, and the code generated from them.

#[path = "../../../crates/xtp/xtp-codegen/tests/codegen/survive.rs"]
mod survive;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        survive::survive(text);
    }
}
