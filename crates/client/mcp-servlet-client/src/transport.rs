//! Ways to a server. Each passes what it receives through the [tap](crate::tap).

pub(crate) mod child;
pub(crate) mod http;
mod lines;
pub(crate) mod sse;
mod stderr;
pub(crate) mod stdio;
