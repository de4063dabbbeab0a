//! The limits of a call.

use std::time::Duration;

use super::{Limit, LoadOptions};

/// Limits of a tool. By default, it inherits those of its servlet.
///
/// Start with `ToolOptions::default()` and set fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOptions {
    /// The time limit of a call.
    pub timeout: Limit<Duration>,
    /// The memory limit in bytes of an instance that runs the tool.
    ///
    /// Calls of the tool then have their own instances, which count towards the maximum of the servlet.
    pub memory: Limit<u64>,
    /// The fuel of a call: see [`LoadOptions::fuel`].
    pub fuel: Limit<u64>,
    /// The limit for the output of a call in bytes.
    pub output: Limit<u64>,
    /// How many HTTP requests a call may send.
    pub http_requests: Limit<u32>,
    /// The limit for the body of an HTTP response in bytes.
    pub http_response: Limit<u64>,
    /// The time limit of an HTTP request, including redirects and the body.
    pub http_timeout: Limit<Duration>,
}

/// The limits of a call; `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The memory limit of the instance in bytes.
    pub memory: Option<u64>,
    /// The fuel: see [`LoadOptions::fuel`].
    pub fuel: Option<u64>,
    /// The limit for the output in bytes.
    pub output: Option<u64>,
    /// How many HTTP requests the call may send.
    pub http_requests: Option<u32>,
    /// The limit for the body of an HTTP response in bytes.
    pub http_response: Option<u64>,
    /// The time limit of an HTTP request, including redirects and the body.
    pub http_timeout: Option<Duration>,
}

impl Limits {
    /// The limits of a servlet.
    pub(crate) fn of(options: &LoadOptions) -> Self {
        Self {
            timeout: options.timeout,
            memory: options.memory,
            fuel: options.fuel,
            output: options.output,
            http_requests: options.http_requests,
            http_response: options.http_response,
            http_timeout: options.http_timeout,
        }
    }

    /// The limits of a tool of the servlet.
    pub(crate) fn of_tool(options: &LoadOptions, tool: &str) -> Self {
        let limits = Self::of(options);
        let Some(tool) = options.tools.get(tool) else {
            return limits;
        };
        Self {
            timeout: tool.timeout.resolve(limits.timeout),
            memory: tool.memory.resolve(limits.memory),
            fuel: tool.fuel.resolve(limits.fuel),
            output: tool.output.resolve(limits.output),
            http_requests: tool.http_requests.resolve(limits.http_requests),
            http_response: tool.http_response.resolve(limits.http_response),
            http_timeout: tool.http_timeout.resolve(limits.http_timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_limits_of_its_servlet_where_it_has_none_of_its_own() {
        let tool = ToolOptions {
            timeout: Limit::Unlimited,
            memory: Limit::At(1),
            http_requests: Limit::At(2),
            ..ToolOptions::default()
        };
        let options = LoadOptions {
            tools: [("t".to_owned(), tool)].into(),
            ..LoadOptions::default()
        };
        let limits = Limits::of(&options);
        assert_eq!(Limits::of_tool(&options, "other"), limits);
        let expected = Limits {
            timeout: None,
            memory: Some(1),
            http_requests: Some(2),
            ..limits
        };
        assert_eq!(Limits::of_tool(&options, "t"), expected);
    }
}
