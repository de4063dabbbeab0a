//! The limits of a call.

use std::time::Duration;

use super::LoadOptions;

/// Limits of a tool that differ from those of its servlet. `Some(None)` removes a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolOptions {
    /// The time limit of a call.
    pub timeout: Option<Option<Duration>>,
    /// The memory limit in bytes of an instance that runs the tool.
    ///
    /// Calls of the tool then have their own instances, which count towards the maximum of the servlet.
    pub memory: Option<Option<u64>>,
    /// The limit for the output of a call in bytes.
    pub output: Option<Option<u64>>,
    /// How many HTTP requests a call may send.
    pub http_requests: Option<Option<u32>>,
    /// The limit for the body of an HTTP response in bytes.
    pub http_response: Option<Option<u64>>,
    /// The time limit of an HTTP request, including redirects and the body.
    pub http_timeout: Option<Option<Duration>>,
}

/// The limits of a call; `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The memory limit of the instance in bytes.
    pub memory: Option<u64>,
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
            timeout: tool.timeout.unwrap_or(limits.timeout),
            memory: tool.memory.unwrap_or(limits.memory),
            output: tool.output.unwrap_or(limits.output),
            http_requests: tool.http_requests.unwrap_or(limits.http_requests),
            http_response: tool.http_response.unwrap_or(limits.http_response),
            http_timeout: tool.http_timeout.unwrap_or(limits.http_timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_the_limits_of_its_servlet_where_it_has_none_of_its_own() {
        let tool = ToolOptions {
            timeout: Some(None),
            memory: Some(Some(1)),
            http_requests: Some(Some(2)),
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
