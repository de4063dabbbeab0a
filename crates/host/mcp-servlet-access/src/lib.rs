//! Who calls an MCP server.
//!
//! A [`Gate`] reads the credentials of a request and returns its [`Caller`], or a [`Refusal`] with the challenge that tells a
//! client how to get a token. Credentials go no further than the gate. [`Owner`] says to whom sessions, tasks and sealed state
//! belong.
//!
//! Programs do not need this crate directly.

mod caller;
mod certificate;
mod digest;
mod fetch;
mod gate;
mod jwks;
mod keys;
mod options;
mod ring_provider;

pub use caller::{Caller, CallerKind, Owner};
pub use certificate::{Certificate, CertificateName};
pub use digest::{Sha256, new_key};
pub use gate::{Gate, Head, Reason, Refusal, metadata_path};
pub use jsonwebtoken::Algorithm;
pub use jwks::{Jwks, JwksError};
pub use keys::KeySource;
pub use mcp_servlet_http::Trust;
pub use options::{
    AuthOptions, CertificateOptions, IntrospectionOptions, JwtOptions, KeyOptions, Secret,
    ToolScopes, is_scope,
};
