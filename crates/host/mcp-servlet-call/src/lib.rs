//! The types that describe a call of a servlet or of a remote.
//!
//! [`RequestMeta`] has what a request says besides its arguments. [`Limits`] are the limits of a call, a [`Listener`] receives
//! what it sends while it runs, and a [`CallError`] says why it gave no result. The crates `mcp-servlet-runtime` and
//! `mcp-servlet-host` make calls.
//!
//! ```
//! use std::time::Duration;
//!
//! use mcp_servlet_call::{CallErrorKind, Limit};
//!
//! let limit: Limit<Duration> = "30s".parse()?;
//! let limit = limit.value().expect("it is a limit");
//! let error = CallErrorKind::Timeout { limit }.at("weather", Some("call"));
//! assert_eq!(error.to_string(), "servlet `weather` did not finish `call` within 30s");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod callees;
mod capability;
mod chain;
mod error;
mod exchange;
mod help;
mod input_required;
mod limit;
mod limits;
mod listener;
mod nursery;
mod request_meta;
mod withdrawal;

pub use callees::{Answering, Callee, CalleeError, Callees};
pub use capability::{can_answer, is_input_request, missing_capability};
pub use chain::chain;
pub use error::{CallError, CallErrorKind, RemoteFailure, Site};
pub use exchange::{HttpDenied, HttpFailure, HttpRequest, HttpResponse};
pub use help::file_help;
pub use input_required::{
    INPUT_REQUIRED, RELAYED_REQUEST, asks_client, refusal, refusal_among, refused, takes_error,
};
pub use limit::{Limit, ParseLimitError};
pub use limits::Limits;
pub use listener::{Change, Listener, Notification, Sending, Usage};
pub use mcp_servlet_common::{JsonObject, RpcError};
pub use nursery::Nursery;
pub use request_meta::{
    CallGuard, CallMaker, CallObserver, CallTarget, ClientSession, Denied, InnerCall, InnerOutcome,
    InputTimeout, ObservedCall, RequestCaller, RequestMeta,
};
pub use withdrawal::Withdrawal;
