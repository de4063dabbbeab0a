//! How far one call may go.

use std::time::Duration;

use super::LoadOptions;

/// Limits for one tool, where they are others than those of its servlet. `Some(None)` lifts a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolOptions {
    /// How long one call may run.
    pub timeout: Option<Option<Duration>>,
    /// How many bytes of memory an instance may take that runs the tool.
    ///
    /// Calls of the tool have instances of their own then, among as many as the servlet may have.
    pub memory: Option<Option<u64>>,
    /// How many bytes one call may answer.
    pub output: Option<Option<u64>>,
    /// How many HTTP requests one call may send.
    pub http_requests: Option<Option<u32>>,
    /// How many bytes the body of an HTTP response may have.
    pub http_response: Option<Option<u64>>,
    /// How long one HTTP request may take, redirects and body included.
    pub http_timeout: Option<Option<Duration>>,
}

/// How far one call may go. It travels with the call to wherever a bound is kept; `None` is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How many bytes the instance may take.
    pub memory: Option<u64>,
    /// How many bytes its output may have.
    pub output: Option<u64>,
    /// How many HTTP requests it may send.
    pub http_requests: Option<u32>,
    /// How many bytes the body of an HTTP response may have.
    pub http_response: Option<u64>,
    /// How long one HTTP request may take, redirects and body included.
    pub http_timeout: Option<Duration>,
}

impl Limits {
    /// Those of a servlet.
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

    /// Those of a tool of the servlet.
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
