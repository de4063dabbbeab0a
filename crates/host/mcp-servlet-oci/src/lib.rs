//! Modules in OCI registries, such as `oci://ghcr.io/ada/mine:1.2.0`.
//!
//! [`Client::pull`] reads a module. It checks every digest and size, and keeps what it reads in a [`Cache`]. [`Client::push`]
//! writes one, as a single layer that other programs read, too. Credentials are those of docker and podman.
//!
//! [`Client::sign`] signs an image as cosign 3 does, and [`Client::verify`] checks that. [`sign_file`] and [`signer_of_file`] do the
//! same for a file. [`Client::named_keys`] and [`named_key`] tell which keys signatures name.
//!
//! The crate knows nothing about what is in a module. It sends requests with `mcp-servlet-http`.
//!
//! Programs do not need this crate directly.

mod artifact;
mod bundle;
mod cache;
mod client;
mod credentials;
mod digest;
mod error;
mod key;
mod layer;
mod manifest;
mod pull;
mod push;
mod reference;
mod signature;
mod token;

pub use artifact::{Artifact, HYPER_MCP_V2, SERVLET};
pub use bundle::{named_key, sign_file, signer_of_file};
pub use cache::{Cache, Cleaned};
pub use client::{Client, Settings};
pub use credentials::auth_files;
pub use digest::Digest;
pub use error::Error;
pub use key::{KeyError, SigningKey, VerifyingKey};
pub use pull::Pulled;
pub use push::{Pushed, Tagged};
pub use reference::Reference;
pub use signature::Signed;
