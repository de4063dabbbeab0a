//! Tools may live in modules and behind `cfg`; the crate may be renamed.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![forbid(unsafe_code)]

extern crate mcp_servlet as renamed;

mod nested {
    use renamed::prelude::*;

    /// Says one.
    #[tool(crate = ::renamed)]
    pub(crate) fn one() -> &'static str {
        "one"
    }

    #[cfg(any())]
    #[tool(crate = ::renamed)]
    pub(crate) fn never() -> String {}

    #[cfg(all())]
    #[tool(crate = ::renamed)]
    pub(crate) fn always() {}
}

renamed::export!(static SERVLET = {
    name: "nested",
    version: "1.2.3",
    instructions: concat!("a", "b"),
    tools: [nested::one, #[cfg(any())] nested::never, #[cfg(all())] nested::always],
});

fn main() {
    let names: Vec<_> = SERVLET.client().describe().unwrap().tools.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["one", "always"]);
}
