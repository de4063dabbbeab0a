//! No tool at all.

mcp_servlet::export!(static SERVLET = { tools: [] });
