//! The limits of a call.

use std::time::Duration;

use crate::Limit;

/// The limits of a call. A tool inherits those that it does not set from its servlet, and a servlet from [`Limits::DEFAULT`].
///
/// Start with `Limits::default()`, which inherits everything, and set fields:
///
/// ```
/// use std::time::Duration;
///
/// use mcp_servlet_call::{Limit, Limits};
///
/// let mut slow = Limits::default();
/// slow.timeout = Limit::At(Duration::from_mins(5));
/// slow.memory = "none".parse()?;
/// let limits = slow.inherit(&Limits::DEFAULT);
/// assert_eq!(limits.memory.value(), None);
/// assert_eq!(limits.output, Limits::DEFAULT.output);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The time limit.
    pub timeout: Limit<Duration>,
    /// The memory limit in bytes of the instance, messages included.
    ///
    /// Calls of a tool with a limit of its own have their own instances, which count towards the maximum of the servlet.
    pub memory: Limit<u64>,
    /// How many WebAssembly instructions the call may execute, roughly: wasmtime counts most instructions as one unit of
    /// fuel, and a few, such as `nop` and `block`, as none.
    ///
    /// In contrast to the time, the same work always takes the same fuel. Counting makes the servlet slower, and starts
    /// if the servlet or one of its tools has this limit.
    pub fuel: Limit<u64>,
    /// The limit for the output in bytes; without one, only `memory` limits it.
    pub output: Limit<u64>,
    /// How many HTTP requests the call may send, not counting redirects.
    pub http_requests: Limit<u32>,
    /// The limit for the body of an HTTP response in bytes; without one, only `memory` limits it.
    pub http_response: Limit<u64>,
    /// The time limit of an HTTP request, including redirects and the body; without one, only `timeout` limits it.
    /// It ends the request, while `timeout` ends the call.
    pub http_timeout: Limit<Duration>,
}

impl Limits {
    /// The limits of a servlet that sets none.
    pub const DEFAULT: Self = Self {
        timeout: Limit::At(Duration::from_secs(30)),
        memory: Limit::At(256 << 20),
        fuel: Limit::Unlimited,
        output: Limit::At(8 << 20),
        http_requests: Limit::At(100),
        http_response: Limit::At(50 << 20),
        http_timeout: Limit::At(Duration::from_secs(20)),
    };

    /// Replaces each inherited limit with the one of `parent`.
    #[must_use]
    pub fn inherit(self, parent: &Self) -> Self {
        Self {
            timeout: self.timeout.or(parent.timeout),
            memory: self.memory.or(parent.memory),
            fuel: self.fuel.or(parent.fuel),
            output: self.output.or(parent.output),
            http_requests: self.http_requests.or(parent.http_requests),
            http_response: self.http_response.or(parent.http_response),
            http_timeout: self.http_timeout.or(parent.http_timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_that_are_not_set_are_inherited() {
        let tool = Limits {
            timeout: Limit::Unlimited,
            memory: Limit::At(1),
            http_requests: Limit::At(2),
            ..Limits::default()
        };
        let expected = Limits {
            timeout: Limit::Unlimited,
            memory: Limit::At(1),
            http_requests: Limit::At(2),
            ..Limits::DEFAULT
        };
        assert_eq!(tool.inherit(&Limits::DEFAULT), expected);
        assert_eq!(Limits::default().inherit(&Limits::DEFAULT), Limits::DEFAULT);
    }
}
