//! What a tool may ask of its host.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasm;

#[cfg(feature = "charset")]
mod charset;
#[cfg(not(target_family = "wasm"))]
mod client;
mod config;
#[cfg(feature = "http")]
pub(crate) mod http;
mod notify;
mod request;
mod vars;

#[cfg(not(target_family = "wasm"))]
pub use self::native::Context;
#[cfg(not(target_family = "wasm"))]
pub(crate) use self::native::Host;
#[cfg(target_family = "wasm")]
pub use self::wasm::Context;

pub use self::request::{Capabilities, Client};
