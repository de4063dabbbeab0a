//! This crate and `serde_json` accept the same texts, and read the same values from them.
//!
//! What is different by intention is in `differences.rs`, a test for each row of the table in the crate's
//! documentation.

mod corpus;
mod differences;
mod properties;
mod reading;
mod types;
mod writing;
