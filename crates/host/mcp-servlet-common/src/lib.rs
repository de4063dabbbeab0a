//! What the crates of the host and the client share. It has few dependencies.
//!
//! Programs do not need this crate directly.

mod address;
mod asterisk;
mod check_arguments;
mod failure_kind;
mod hex;
mod json_pointer;
mod json_problem;
mod lock;
mod log_rate;
mod public_url;
mod quoted;
mod rpc_error;
pub mod shape;
mod surrogates;
mod uri;
mod user_cache;
mod value_kind;

pub use address::{Reach, is_this_machine, literal};
pub use asterisk::asterisk_matches;
pub use check_arguments::CheckArguments;
pub use failure_kind::FailureKind;
pub use hex::{hex, unhex};
pub use json_pointer::{escape_pointer, unescape_pointer};
pub use json_problem::json_problem;
pub use lock::{lock, read_lock, write_lock};
pub use log_rate::LogRate;
pub use public_url::public_url;
pub use quoted::quoted;
pub use rpc_error::RpcError;
pub use surrogates::without_lone_surrogates;
pub use uri::{is_plain_uri, is_uri_within, normalized_uri};
pub use user_cache::user_cache;
pub use value_kind::value_kind;

/// A JSON object. Members keep their order.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
