//! The runtime of plugins with an XTP schema, used by the code that `xtp-codegen` generates.
//!
//! An XTP schema lists the functions of a plugin and those of its host. `xtp-codegen`, called from
//! `build.rs`, generates a trait for the plugin's functions and a function for each of the host's; this
//! module moves the payloads.
//!
//! ```
//! // What `xtp-codegen` writes, shortened; an author includes it with `mcp_servlet::xtp::plugin!(mod shop)`.
//! mod shop {
//!     pub use mcp_servlet::xtp::Error;
//!     pub trait Exports {
//!         fn shout(_input: String) -> Result<String, Error> {
//!             Err(Error::not_implemented("shout"))
//!         }
//!     }
//!     macro_rules! __export {
//!         ($plugin:ty) => {
//!             ::mcp_servlet::xtp::__export! { <$plugin as Exports> { "shout" => shout(TextPlain) -> TextPlain; } }
//!         };
//!     }
//!     pub(crate) use __export as export;
//! }
//!
//! // What an author writes.
//! use shop::{Error, Exports};
//!
//! struct Shop;
//!
//! impl Exports for Shop {
//!     fn shout(input: String) -> Result<String, Error> {
//!         Ok(input.to_uppercase())
//!     }
//! }
//!
//! shop::export!(Shop);
//!
//! // What a test does.
//! use mcp_servlet::xtp::Plugin;
//! assert_eq!(<Shop as Plugin>::call("shout", b"hello").unwrap(), b"HELLO");
//! ```
//!
//! # Payloads
//!
//! The encoding of a type depends on the `contentType` that the schema declares; see [`encoding`]. An invalid
//! payload is an error that names the function and the position, and never a trap.

mod base64;
mod bytes;
pub(crate) mod call;
pub mod encoding;
mod error;
pub(crate) mod host;
mod text;

pub use self::bytes::Bytes;
pub use self::call::Call;
#[cfg(not(target_family = "wasm"))]
pub use self::call::{Export, Plugin};
pub use self::encoding::{Decode, Encode};
pub use self::error::Error;
#[cfg(not(target_family = "wasm"))]
pub use self::host::{Slot, mock};
pub use self::text::Word;
#[cfg(not(target_family = "wasm"))]
pub use crate::__xtp_host as __host;
pub use crate::{__xtp_export as __export, __xtp_import as __import, __xtp_plugin as plugin};
