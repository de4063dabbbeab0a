//! What the crates of the host and the client share. It has no dependencies.
//!
//! Programs do not need this crate directly.

mod address;
mod hex;
mod lock;
mod log_rate;

pub use address::{Reach, is_this_machine, literal};
pub use hex::hex;
pub use lock::lock;
pub use log_rate::LogRate;
