//! The HTTP client of servlets, and of the downloads of modules.
//!
//! A [`Transport`] sends single requests and checks each address that it connects to. What may be sent, and which
//! redirects are followed, is up to its users: the runtime for the requests of a servlet, and [`Operator`] for those that
//! the operator of a server sends.
//!
//! A request is a future for the tokio runtime that polls it. While it waits for a server, it holds no thread. Dropping it
//! closes its connection.
//!
//! Programs do not need this crate directly.

mod address;
mod body;
mod connect;
pub mod failure;
mod operator;
mod proxy;
mod proxy_url;
mod request;
mod stream;
mod transport;
mod trust;

pub use address::Addresses;
pub use body::{Room, read, read_more};
pub use operator::{Operator, SendError};
pub use proxy::ProxyServer;
pub use proxy_url::Proxy;
pub use request::Request;
pub use transport::Transport;
pub use trust::{Trust, TrustError};
