//! Resources, prompts and completion through the real dispatch, without a host.
#![allow(deprecated, reason = "tools that only tests call have no descriptions")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "arguments are owned, as the macros want them"
)]

mod completion;
mod lists;
mod prompts;
mod resources;
mod shown;
mod templates;
