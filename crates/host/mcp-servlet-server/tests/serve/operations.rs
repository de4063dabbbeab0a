//! Endpoints for operators: health and metrics.

use mcp_servlet_host::Host;
use mcp_servlet_runtime::LoadOptions;
use serde_json::json;

use crate::{
    client::Served,
    reload::{LOG, start_log},
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

#[test]
fn the_log_says_what_a_call_took() {
    start_log();
    let tool = json!({"tools": [{"name": "measured", "inputSchema": {"type": "object"}}]});
    let servlet = Wat::new()
        .describe(&tool.to_string())
        .answer(r#"{"content":[]}"#);
    let mut options = LoadOptions::default();
    options.fuel = Some(1_000_000);
    let servlet = servlet.load_with(&options).expect("a servlet");
    let served = Served::start(Host::new(vec![servlet]));
    served.ask("tools/call", json!({"name": "measured"}));
    let log = String::from_utf8(LOG.lock().expect("no panic").clone()).expect("text");
    let is_wanted = |line: &&str| line.contains(r#"tool="measured""#) && line.ends_with("ended");
    let line = log.lines().find(is_wanted).expect("a line for the call");
    assert!(line.contains(r#"outcome="ok""#), "{line}");
    for measure in ["milliseconds", "memory", "fuel", "input", "output"] {
        let value = line.split_once(&format!(" {measure}="));
        let (_, value) = value.unwrap_or_else(|| panic!("no {measure}: {line}"));
        assert!(
            !value.starts_with('0') || measure == "milliseconds",
            "{line}"
        );
    }
}
