//! Tools and resources of other servers, through the host.
//!
//! All functions are generic or `#[inline]`, so they are compiled in the servlets that use them. Other servlets stay the same,
//! byte for byte.

mod error;
mod member;
mod result;

use mcp_caller::Wrap;
use mcp_servlet_json::{from_str, to_string, write_raw, write_string};
use mcp_servlet_types::{CallToolResult, ReadResourceResult, ResourceContents};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::error::{ARGUMENTS, MISMATCH};
pub use self::error::{ToolsError, ToolsErrorKind};
pub use self::member::Member;
use super::Context;
use crate::json::member;

impl Context {
    /// The tools and resources of the other servers of the host, as far as the operator allows them.
    ///
    /// A call waits for its result, and ends at the latest with the call of this servlet. If the other tool asks the
    /// client for input, the host calls this servlet again from the beginning, with the results that it had so far.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// #[derive(Serialize)]
    /// struct Place<'a> {
    ///     city: &'a str,
    /// }
    ///
    /// #[derive(Deserialize)]
    /// struct Weather {
    ///     temperature: f64,
    /// }
    ///
    /// /// Tells whether to take a coat.
    /// #[tool]
    /// fn coat(context: &Context, city: String) -> Result<bool, ToolError> {
    ///     let place = Place { city: &city };
    ///     let weather: Weather = context.tools().call("weather:get_weather", &place)?;
    ///     Ok(weather.temperature < 12.0)
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [coat], calls: ["weather:get_weather"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET
    ///     .client()
    ///     .with_tool("weather:get_weather", |_| Ok(json!({ "temperature": 4.5 })));
    /// let result = client.call("coat", json!({ "city": "Oslo" }))?;
    /// assert_eq!(result.text(), "true");
    /// assert_eq!(client.calls(), [("weather:get_weather", json!({ "city": "Oslo" }))]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The host must provide `call_tool`, as this project's host does; otherwise the servlet does not load. With the
    /// feature `no-tools`, and with the ABIs for other hosts, the servlet loads everywhere, and each call is an error
    /// of the kind [`Unsupported`](ToolsErrorKind::Unsupported).
    #[inline]
    pub fn tools(&self) -> Tools<'_> {
        Tools { context: self }
    }
}

/// Calls tools and reads resources of other servers: [`Context::tools`].
///
/// A tool is named `MEMBER:TOOL`. The member is a servlet or a remote in the operator's configuration.
///
/// ```
/// use mcp_servlet::prelude::*;
/// use serde_json::json;
///
/// mcp_servlet::export!(static SERVLET = { calls: ["users:*"] });
///
/// # fn main() -> Result<(), ToolError> {
/// let client = SERVLET.client().with_tool("users:count", |_| Ok(3));
/// let tools = client.context().tools();
/// assert_eq!(tools.call::<u32>("users:count", ())?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Tools<'a> {
    context: &'a Context,
}

impl<'a> Tools<'a> {
    /// Calls a tool, and reads its result into a type: the structured content, or without one a single text that is
    /// JSON.
    ///
    /// The arguments are a value whose JSON is an object, such as a struct, or `()` for none.
    ///
    /// # Errors
    ///
    /// [`ToolsError`] if there is no result, if the tool reports a failure
    /// ([`Tool`](ToolsErrorKind::Tool)), or if the result does not match the type
    /// ([`Mismatch`](ToolsErrorKind::Mismatch)).
    pub fn call<R: DeserializeOwned>(
        self,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<R, ToolsError> {
        self.call_wrapped(tool, to_string(&arguments), Wrap::No)
    }

    /// Calls a tool, and returns the whole result. A tool that reports a failure is an `Ok` with `is_error`.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Looks for a flight.
    /// #[tool]
    /// fn flight(context: &Context) -> Result<String, ToolError> {
    ///     let result = context.tools().call_raw("air:search", ())?;
    ///     let failed = result.is_error == Some(true);
    ///     Ok(if failed { "no flight".to_owned() } else { result.text() })
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [flight], calls: ["air:*"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_tool("air:search", |_| Ok(json!({ "id": "a1" })));
    /// assert_eq!(client.call("flight", json!({}))?.text(), r#"{"id":"a1"}"#);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolsError`] if there is no result, or if it is not a result of MCP.
    pub fn call_raw(
        self,
        tool: &str,
        arguments: impl Serialize,
    ) -> Result<CallToolResult, ToolsError> {
        self.call_untyped(tool, to_string(&arguments))
    }

    /// Reads a resource of a member.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// /// Tells the rules.
    /// #[tool]
    /// fn rules(context: &Context) -> Result<Option<String>, ToolError> {
    ///     let contents = context.tools().read("docs", "file:///rules.md")?;
    ///     Ok(contents.into_iter().find_map(|contents| contents.text))
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [rules], reads: ["docs:file:///*"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_resource("docs", "file:///rules.md", "Be polite.");
    /// assert_eq!(client.call("rules", json!({}))?.text(), "Be polite.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ToolsError`] if there is no result, or if it is not a result of MCP.
    #[inline]
    pub fn read(self, member: &str, uri: &str) -> Result<Vec<ResourceContents>, ToolsError> {
        let mut request = String::from("{\"method\":\"resources/read\",\"params\":{\"member\":");
        write_string(&mut request, member);
        write_raw(&mut request, ",\"uri\":");
        write_string(&mut request, uri);
        let name = joined(member, uri);
        let answer = self.send(&name, request)?;
        let result: ReadResourceResult = read_result(&name, &answer)?;
        Ok(result.contents)
    }

    /// One server, for a client that `servlet gen client` has generated from its catalog.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    /// use serde_json::json;
    ///
    /// # mod weather {
    /// #     use mcp_caller::{Caller, NoArguments};
    /// #     pub struct Weather<C> { caller: C }
    /// #     impl<C: Caller> Weather<C> {
    /// #         pub fn new(caller: C) -> Self { Self { caller } }
    /// #         pub fn list_cities(&self) -> C::Answer<'_, C::Content> { self.caller.call_untyped("list_cities", &NoArguments {}) }
    /// #     }
    /// # }
    /// use weather::Weather; // with `mcp_caller::client!(mod weather);`
    ///
    /// /// Lists the cities that have a station.
    /// #[tool]
    /// fn cities(context: &Context) -> Result<String, ToolError> {
    ///     let weather = Weather::new(context.tools().member("weather"));
    ///     Ok(weather.list_cities()?.text())
    /// }
    ///
    /// mcp_servlet::export!(static SERVLET = { tools: [cities], calls: ["weather:list_cities"] });
    ///
    /// # fn main() -> Result<(), Fault> {
    /// let client = SERVLET.client().with_tool("weather:list_cities", |_| Ok(["Oslo", "Rome"]));
    /// assert_eq!(client.call("cities", json!({}))?.text(), r#"["Oslo","Rome"]"#);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn member(self, name: &'a str) -> Member<'a> {
        Member::new(self, name)
    }

    fn call_wrapped<R: DeserializeOwned>(
        self,
        tool: &str,
        arguments: Result<String, mcp_servlet_json::Error>,
        wrap: Wrap,
    ) -> Result<R, ToolsError> {
        let answer = self.request(tool, arguments)?;
        let value = result::value(tool, member(&answer, "result"), wrap)?;
        from_str(&value).map_err(|error| ToolsError::mismatch(tool, MISMATCH, &value, &error))
    }

    #[inline]
    fn call_untyped(
        self,
        tool: &str,
        arguments: Result<String, mcp_servlet_json::Error>,
    ) -> Result<CallToolResult, ToolsError> {
        read_result(tool, &self.request(tool, arguments)?)
    }

    /// The answer to a call, which has a result.
    #[inline]
    fn request(
        self,
        tool: &str,
        arguments: Result<String, mcp_servlet_json::Error>,
    ) -> Result<String, ToolsError> {
        let arguments =
            arguments.map_err(|error| ToolsError::mismatch(tool, ARGUMENTS, "", &error))?;
        let mut request = String::from("{\"method\":\"tools/call\",\"params\":{\"name\":");
        write_string(&mut request, tool);
        // `()` is no arguments.
        if arguments != "null" {
            write_raw(&mut request, ",\"arguments\":");
            write_raw(&mut request, &arguments);
        }
        self.send(tool, request)
    }

    /// Sends a request without its end.
    #[inline]
    fn send(self, name: &str, mut request: String) -> Result<String, ToolsError> {
        write_raw(&mut request, "}}");
        let answer = answer(self.context, &request);
        if member(&answer, "result").is_empty() {
            return Err(ToolsError::from_host(name, member(&answer, "error")));
        }
        Ok(answer)
    }
}

#[inline]
fn read_result<T: DeserializeOwned>(name: &str, answer: &str) -> Result<T, ToolsError> {
    let result = member(answer, "result");
    from_str(result).map_err(|error| ToolsError::mismatch(name, MISMATCH, result, &error))
}

/// `MEMBER:ITEM`
#[inline]
fn joined(member: &str, item: &str) -> String {
    let mut name = String::from(member);
    write_raw(&mut name, ":");
    write_raw(&mut name, item);
    name
}

#[cfg(not(mcp_servlet_no_tools))]
#[inline]
fn answer(context: &Context, request: &str) -> String {
    context.host.call_tool(request)
}

#[cfg(mcp_servlet_no_tools)]
fn answer(_: &Context, _: &str) -> String {
    String::from(UNSUPPORTED)
}

/// What a host answers that cannot call tools.
#[cfg(any(test, mcp_servlet_no_tools))]
const UNSUPPORTED: &str =
    "{\"error\":{\"kind\":\"unsupported\",\"message\":\"this host cannot call tools\"}}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_for_other_hosts_says_that_they_cannot_call_tools() {
        let error = ToolsError::from_host("weather:get_weather", member(UNSUPPORTED, "error"));
        assert_eq!(error.kind(), ToolsErrorKind::Unsupported);
        assert_eq!(
            error.to_string(),
            "weather:get_weather: this host cannot call tools"
        );
    }
}
