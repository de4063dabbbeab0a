//! Endpoints for operators: health and metrics.

use mcp_servlet_host::Host;
use serde_json::json;

use crate::{
    client::Served,
    support::{DESCRIPTION, Wat},
};

fn plain() -> Served {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[]}"#)
        .load();
    Served::start(Host::new(vec![servlet.expect("a servlet")]))
}

#[test]
fn answers_health_checks() {
    let served = plain();
    let health = served.send("GET", "/health", &[], "");
    let expected = json!({"status": "ok", "servlets": 1, "tools": 1});
    assert_eq!((health.status, health.message()), (200, expected));
}

#[test]
fn calls_are_counted_by_tool_and_outcome() {
    let served = plain();
    for name in ["t", "t", "unknown"] {
        served.ask("tools/call", json!({"name": name}));
    }
    let metrics = served.server.metrics();
    let calls = r#"servlet_calls_total{servlet="test",tool="t",outcome="ok"} 2"#;
    assert!(metrics.contains(calls), "{metrics}");
    assert!(metrics.contains(r#"servlet_call_duration_seconds_count{servlet="test",tool="t"} 2"#));
    assert!(metrics.contains(r#"servlet_call_memory_bytes_count{servlet="test",tool="t"} 2"#));
    assert!(
        !metrics.contains("servlet_call_fuel_total{"),
        "it is not counted"
    );
    for bytes in ["input", "output"] {
        let bytes = format!(r#"servlet_call_{bytes}_bytes_total{{servlet="test",tool="t"}} "#);
        let bytes = metrics.split_once(&bytes).expect("a counter").1;
        let (bytes, _) = bytes.split_once('\n').expect("another line");
        assert!(bytes.parse::<u64>().expect("a number") > 0, "{metrics}");
    }
    assert!(!metrics.contains("unknown"), "{metrics}");
}
