//! Tells what hosts make of a servlet: whether it loads, what they drop of it, and which rules of clients it breaks.
//!
//! What each host does with each feature is one table, `check/feature.rs`; [`table`] shows it to people.

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
