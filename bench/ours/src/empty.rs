//! A servlet without tools.

mcp_servlet::export!(static SERVLET = { tools: [] });
