//! Checks how hosts treat a servlet: whether they load it, what they drop, and which rules of
//! clients it breaks.
//!
//! One table, `check/feature.rs`, contains what each host does with each feature. [`table`] prints it.

mod address;
mod collision;
mod dropped;
mod feature;
mod finding;
mod findings;
mod lists;
mod load;
mod name;
mod needs;
mod provider;
mod report;
mod schema;
mod size;
mod target;
mod words;

pub use collision::check_all;
pub use feature::table;
pub use finding::{Finding, Level, Place};
pub use provider::rules_table;
pub use report::{Report, check};
pub use target::Target;
