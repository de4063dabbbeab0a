//! Authenticates the callers of an MCP server: JWTs, token introspection, keys and client certificates. Decides what they may use.
//!
//! A [`Gate`] reads the credentials of a request and returns its [`Caller`], or a [`Refusal`] with the challenge that tells a
//! client how to get a token. The server passes no credentials on after this. [`Owner`] identifies the caller that a session, a task
//! or sealed state belongs to. [`rules`] decide which tools, prompts and resources a caller may use.
//!
//! Programs do not need this crate directly.

pub mod audit;
mod caller;
mod certificate;
mod digest;
mod fetch;
mod gate;
mod jwks;
mod keys;
mod names;
mod options;
pub mod quota;
mod ring_provider;
pub mod rules;
mod session;

pub use caller::{Caller, CallerKind, Owner};
pub use certificate::{Certificate, CertificateName, revocation_list_times};
pub use digest::{Sha256, new_key};
pub use gate::{Gate, Head, Reason, Refusal, metadata_path};
pub use jsonwebtoken::Algorithm;
pub use jwks::{Jwks, JwksError};
pub use keys::KeySource;
pub use mcp_servlet_expression::Truth;
pub use mcp_servlet_http::Trust;
pub use names::unknown_of_caller;
pub use options::{
    AuthOptions, CertificateOptions, IntrospectionOptions, JwtOptions, KeyOptions, Secret,
    ToolScopes, is_scope, without_root,
};
pub use session::{NewSession, SessionCondition};
