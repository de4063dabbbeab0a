//! The macros of the crate `log`.

use mcp_servlet::prelude::*;
use mcp_servlet::testing::TestContext;
use serde_json::json;

#[tool]
fn work() {
    log::info!("step {}", 1);
    log::error!("stop");
}

mcp_servlet::export!(static SERVLET = { tools: [work] });

#[test]
fn lines_reach_the_log_of_the_context() {
    let context = TestContext::new();
    SERVLET.call_with(&context, "work", json!({})).unwrap();
    let logs = context.logs();
    assert_eq!(
        logs,
        [
            (Level::Info, "step 1".to_owned()),
            (Level::Error, "stop".to_owned())
        ]
    );
}
