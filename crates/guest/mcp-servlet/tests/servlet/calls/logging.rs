//! The macros of the crate `log`.

use mcp_servlet::prelude::*;
use serde_json::json;

#[tool]
fn work() {
    log::info!("step {}", 1);
    log::error!("stop");
}

mcp_servlet::export!(static SERVLET = { tools: [work] });

#[test]
fn lines_reach_the_log_of_the_client() {
    let client = SERVLET.client();
    client.call("work", json!({})).unwrap();
    let logs = client.logs();
    assert_eq!(
        logs,
        [
            (Level::Info, "step 1".to_owned()),
            (Level::Error, "stop".to_owned())
        ]
    );
}
