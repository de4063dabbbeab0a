//! Schemas of single types, in the description of a servlet with one tool.

use mcp_servlet::Servlet;
use serde_json::Value;

/// The schema of a type as the argument `value` of a tool, and as the field of another type.
macro_rules! input {
    ($ty:ty) => {{
        #[mcp_servlet::tool]
        fn probe(value: $ty) {
            let _ = value;
        }
        mcp_servlet::export!(static SERVLET = { tools: [probe] });
        crate::schemas::probe::tool(&SERVLET)["inputSchema"]["properties"]["value"].clone()
    }};
}

/// The schema of a type that takes all arguments of a tool.
macro_rules! whole {
    ($ty:ty) => {{
        #[mcp_servlet::tool]
        fn probe(#[arg(flatten)] value: $ty) {
            let _ = value;
        }
        mcp_servlet::export!(static SERVLET = { tools: [probe] });
        crate::schemas::probe::tool(&SERVLET)["inputSchema"].clone()
    }};
}

/// The schema of a type in the structured result of a tool, which is an object and has it as a member.
macro_rules! output {
    ($ty:ty) => {{
        #[derive(serde::Serialize, mcp_servlet::Schema)]
        struct Probe {
            value: $ty,
        }

        #[mcp_servlet::tool]
        fn probe() -> Result<mcp_servlet::Json<Probe>, String> {
            Err("not called".to_owned())
        }
        mcp_servlet::export!(static SERVLET = { tools: [probe] });
        crate::schemas::probe::tool(&SERVLET)["outputSchema"]["properties"]["value"].clone()
    }};
}

/// The description of the only tool, after the strictest checks.
pub(crate) fn tool(servlet: &'static Servlet) -> Value {
    let description = crate::schemas::strict::checked_description(servlet);
    description["tools"][0].clone()
}
