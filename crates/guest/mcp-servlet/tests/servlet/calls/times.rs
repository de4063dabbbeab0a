//! jiff's types as arguments.

use jiff::{SignedDuration, Span, Timestamp, Zoned, civil};
use mcp_servlet::prelude::*;
use serde_json::json;

use crate::calls::{complaint, text, wrong};

/// Repeats times.
#[tool]
fn times(
    timestamp: Timestamp,
    zoned: Zoned,
    date_time: civil::DateTime,
    date: civil::Date,
    time: civil::Time,
    span: Span,
    duration: SignedDuration,
) -> String {
    format!("{timestamp} {zoned} {date_time} {date} {time} {span} {duration}")
}

mcp_servlet::export!(static SERVLET = { tools: [times] });

#[test]
fn the_examples_are_read() {
    let example = SERVLET.example("times").unwrap();
    assert_eq!(
        text(&SERVLET, "times", &example).unwrap(),
        "2026-03-01T11:00:00Z 2026-03-01T12:00:00+01:00[Europe/Berlin] 2026-03-01T12:00:00 2026-03-01 09:30:00 P1M2D PT2H30M"
    );
}

#[test]
fn invalid_time_is_an_error() {
    let mut arguments: serde_json::Value =
        serde_json::from_str(SERVLET.example("times").unwrap().get()).unwrap();
    arguments["time"] = json!("25:00");
    let complaint = complaint(&SERVLET, "times", arguments);
    let (place, schema, got) = wrong(&complaint);
    assert_eq!(place, "/time");
    assert_eq!(schema["description"], "a time of day");
    assert!(got.starts_with("\"25:00\": "), "{got}");
}
