//! Endpoints for operators: health and metrics.

use mcp_servlet_host::Host;
use mcp_servlet_runtime::LoadOptions;
use serde_json::json;

use crate::{
    client::Served,
    support::{DESCRIPTION, Wat},
};

fn plain() -> Served {
    with(&LoadOptions::default())
}

fn with(options: &LoadOptions) -> Served {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[]}"#)
        .load_with(options);
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
    for bytes in ["input_bytes", "output_bytes"] {
        assert!(total(&metrics, bytes) > 0, "{metrics}");
    }
    assert!(!metrics.contains("unknown"), "{metrics}");
}

/// What the calls of the tool took together.
fn total(metrics: &str, what: &str) -> u64 {
    let before = format!(r#"servlet_call_{what}_total{{servlet="test",tool="t"}} "#);
    let (_, value) = metrics.split_once(&before).expect("a counter");
    let (value, _) = value.split_once('\n').expect("another line");
    value.parse().expect("a number")
}

#[test]
fn fuel_is_added_up_if_it_is_limited() {
    let mut options = LoadOptions::default();
    options.fuel = Some(1_000_000);
    let served = with(&options);
    let fuel_after_a_call = || {
        served.ask("tools/call", json!({"name": "t"}));
        total(&served.server.metrics(), "fuel")
    };
    let one = fuel_after_a_call();
    assert!((1..1_000_000).contains(&one), "{one}");
    assert_eq!(fuel_after_a_call(), 2 * one);
}
