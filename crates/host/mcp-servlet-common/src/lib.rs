//! What the crates of the host and the client share. Its only dependency is serde.
//!
//! Programs do not need this crate directly.

mod address;
mod hex;
mod json_problem;
mod lock;
mod log_rate;
mod surrogates;
mod uri;
mod user_cache;

pub use address::{Reach, is_this_machine, literal};
pub use hex::{hex, unhex};
pub use json_problem::json_problem;
pub use lock::lock;
pub use log_rate::LogRate;
pub use surrogates::without_lone_surrogates;
pub use uri::normalized_uri;
pub use user_cache::user_cache;
