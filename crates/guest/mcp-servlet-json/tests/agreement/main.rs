//! Checks that this crate and `serde_json` accept the same texts and read the same values from them.
//!
//! `differences.rs` covers the intended differences, with a test for each row of the table in the crate's
//! documentation.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share are tests too"
)]

mod corpus;
mod differences;
mod properties;
mod reading;
mod types;
mod writing;
