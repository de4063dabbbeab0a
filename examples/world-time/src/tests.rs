//! Tests of the tools: `cargo test` runs them natively, `servlet test` against the wasm module.

use std::time::{Duration, SystemTime};

use mcp_servlet::testing::Client;
use serde_json::{Value, json};

use super::SERVLET;

/// Sunday, 1 March 2026, noon in Berlin.
fn noon() -> Client {
    let since = Duration::from_secs(1_772_362_800);
    SERVLET.client().with_now(SystemTime::UNIX_EPOCH + since)
}

fn at_noon(tool: &str, arguments: Value) -> String {
    call(&noon(), tool, arguments)
}

fn call(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call(tool, arguments).unwrap();
    result.text()
}

#[test]
fn returns_the_current_time_in_a_zone() {
    let cases = [
        (json!({}), "Sunday, 2026-03-01T11:00:00+00:00[UTC]"),
        (
            json!({ "zone": "Asia/Kolkata" }),
            "Sunday, 2026-03-01T16:30:00+05:30[Asia/Kolkata]",
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(at_noon("current_time", arguments), expected);
    }
}

#[test]
fn uses_the_current_time_by_default() {
    let later = at_noon("shift_time", json!({ "duration": "2h 30m" }));
    assert_eq!(later, "Sunday, 2026-03-01T13:30:00+00:00[UTC]");
}

#[test]
fn the_next_time_of_day_is_today_only_if_it_is_still_to_come() {
    let berlin = |time, weekday: Option<u8>| {
        let mut arguments = json!({ "time": time, "zone": "Europe/Berlin" });
        arguments["weekday"] = weekday.map_or(Value::Null, Value::from);
        at_noon("next_time", arguments)
    };
    let days = [
        ("12:01", None, "Sunday, 2026-03-01T12:01:00+01:00"),
        ("12:00", None, "Monday, 2026-03-02T12:00:00+01:00"),
        ("12:00", Some(7), "Sunday, 2026-03-08T12:00:00+01:00"),
        ("00:00", Some(6), "Saturday, 2026-03-07T00:00:00+01:00"),
    ];
    for (time, weekday, expected) in days {
        assert_eq!(berlin(time, weekday), format!("{expected}[Europe/Berlin]"));
    }
}

#[mcp_servlet::test]
fn the_clock_of_the_host_is_read(client: &Client) {
    let now = call(client, "current_time", json!({}));
    let arguments = json!({ "from": "2026-01-01T00:00Z", "to": now });
    let since = call(client, "time_between", arguments);
    assert!(!since.contains("ago"), "{now} is {since} after 2026 began");
}

#[mcp_servlet::test]
fn clocks_elsewhere_show_the_same_time(client: &Client) {
    for time in [
        "2026-03-01T12:00[Europe/Berlin]",
        "2026-03-01T12:00+01:00",
        "2026-03-01T11:00Z",
        "Sunday, 2026-03-01T12:00:00+01:00[Europe/Berlin]",
    ] {
        let arguments = json!({ "time": time, "zone": "America/New_York" });
        assert_eq!(
            call(client, "convert_time", arguments),
            "Sunday, 2026-03-01T06:00:00-05:00[America/New_York]"
        );
    }
}

#[mcp_servlet::test]
fn days_are_those_of_the_calendar_and_hours_those_of_the_clock(client: &Client) {
    // Daylight saving time begins in the night from the 28th to the 29th.
    let time = "2026-03-28T12:00[Europe/Berlin]";
    let cases = [
        ("1 day", "Sunday, 2026-03-29T12:00:00+02:00[Europe/Berlin]"),
        ("P1D", "Sunday, 2026-03-29T12:00:00+02:00[Europe/Berlin]"),
        ("24h", "Sunday, 2026-03-29T13:00:00+02:00[Europe/Berlin]"),
        (
            "1 month ago",
            "Saturday, 2026-02-28T12:00:00+01:00[Europe/Berlin]",
        ),
    ];
    for (duration, expected) in cases {
        let arguments = json!({ "time": time, "duration": duration });
        assert_eq!(call(client, "shift_time", arguments), expected);
    }
}

#[mcp_servlet::test]
fn returns_a_duration_in_words_and_in_seconds(client: &Client) {
    let cases = [
        (
            "2026-01-31T11:00Z",
            "2026-03-01T12:00[Europe/Berlin]",
            "1mo 1d (2505600 seconds)",
        ),
        (
            "2026-03-01T12:00Z",
            "2026-03-01T10:30Z",
            "1h 30m ago (-5400 seconds)",
        ),
    ];
    for (from, to, expected) in cases {
        let arguments = json!({ "from": from, "to": to });
        assert_eq!(call(client, "time_between", arguments), expected);
    }
}

#[mcp_servlet::test]
fn texts_are_written_and_read_by_pattern(client: &Client) {
    let time = "2026-03-01T12:00[Europe/Berlin]";
    let arguments = json!({ "time": time, "pattern": "%A, %-d %B %Y" });
    let text = call(client, "format_time", arguments);
    assert_eq!(text, "Sunday, 1 March 2026");

    let zone = "Europe/Berlin";
    let cases = [
        (
            "1.3.2026 12:00",
            "%d.%m.%Y %H:%M",
            "12:00:00+01:00[Europe/Berlin]",
        ),
        ("2026-03-01", "%Y-%m-%d", "00:00:00+01:00[Europe/Berlin]"),
        (
            "1 Mar 2026 12:00 -0500",
            "%d %b %Y %H:%M %z",
            "12:00:00-05:00[-05:00]",
        ),
    ];
    for (text, pattern, expected) in cases {
        let arguments = json!({ "text": text, "pattern": pattern, "zone": zone });
        let expected = format!("Sunday, 2026-03-01T{expected}");
        assert_eq!(call(client, "parse_time", arguments), expected);
    }
}

#[mcp_servlet::test]
fn explains_errors_to_the_model(client: &Client) {
    let time = "2026-03-01T12:00Z";
    let cases = [
        (
            "current_time",
            json!({ "zone": "Mars/Olympus" }),
            "`Mars/Olympus`",
        ),
        (
            "convert_time",
            json!({ "time": "noon", "zone": "UTC" }),
            "noon",
        ),
        (
            "shift_time",
            json!({ "duration": "a while", "time": time }),
            "expected duration",
        ),
        (
            "shift_time",
            json!({ "duration": "9999 years 12 months", "time": time }),
            "year",
        ),
        (
            "format_time",
            json!({ "time": time, "pattern": "%!" }),
            "`!`",
        ),
        ("next_time", json!({ "time": "25:00" }), "hour"),
        (
            "next_time",
            json!({ "time": "09:30", "weekday": 8 }),
            "`/weekday`",
        ),
    ];
    for (tool, arguments, expected) in cases {
        let result = client.call(tool, &arguments).unwrap();
        assert_eq!(result.is_error, Some(true), "{tool}({arguments})");
        let text = result.text();
        assert!(text.contains(expected), "{tool}({arguments}): {text}");
    }
}
