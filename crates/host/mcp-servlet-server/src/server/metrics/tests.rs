//! The dashboard in the docs.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::process::RemoteState, Called, ConnectionLabel, Ended, MethodLabel, Metrics,
    ReloadOutcome, RequestLabel,
};

const DASHBOARD: &str = include_str!("../../../../../../docs/grafana.json");

/// The names that begin with `servlet_` in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |one: char| one.is_ascii_lowercase() || one == '_';
    let words = text.split(|one: char| !is_part(one));
    words.filter(|word| word.starts_with("servlet_")).collect()
}

/// Metrics that each have a value: families without one are not written.
fn used() -> Metrics {
    let metrics = Metrics::default();
    let text = || "a".to_owned();
    let called = Called {
        servlet: text(),
        tool: text(),
    };
    let ended = Ended {
        servlet: text(),
        tool: text(),
        outcome: "ok",
    };
    metrics.calls.get_or_create(&ended).inc();
    for bytes in [
        &metrics.input,
        &metrics.output,
        &metrics.fuel,
        &metrics.dropped,
    ] {
        bytes.get_or_create(&called).inc();
    }
    metrics.seconds.get_or_create(&called).observe(1.0);
    metrics.memory.get_or_create(&called).observe(1.0);
    metrics.quota_refused();
    let state = ConnectionLabel { state: "open" };
    metrics.connections.get_or_create(&state).inc();
    drop(metrics.session(None));
    let method = "prompts/get";
    let request = RequestLabel {
        method,
        outcome: "ok",
    };
    metrics.requests.get_or_create(&request).inc();
    let seconds = &metrics.request_seconds;
    seconds.get_or_create(&MethodLabel { method }).observe(1.0);
    metrics.reloaded(ReloadOutcome::Ok);
    metrics
}

#[test]
fn the_dashboard_has_the_metrics_of_the_server() {
    let remote = RemoteState {
        outage: None,
        hidden: 0,
    };
    let remotes = BTreeMap::from([("far".to_owned(), remote)]);
    let encoded = used().encode(&remotes);
    let types = encoded.lines().filter_map(|line| {
        let (name, kind) = line.strip_prefix("# TYPE ")?.split_once(' ')?;
        Some(match kind {
            "counter" => format!("{name}_total"),
            "histogram" => format!("{name}_bucket"),
            _ => name.to_owned(),
        })
    });
    let metrics: BTreeSet<String> = types.collect();
    let shown = names(DASHBOARD);
    let metrics: BTreeSet<_> = metrics.iter().map(String::as_str).collect();
    assert!(metrics.len() >= 16, "{metrics:?}");
    assert_eq!(shown, metrics);
}

#[test]
fn the_dashboard_is_json_with_panels_of_one_data_source() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].to_string()), "{panel}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}");
    }
    assert_eq!(dashboard["templating"]["list"][0]["name"], "datasource");
}
