//! The schemas of types of other crates. Each crate is a feature.

use super::Node;
#[cfg(feature = "chrono")]
use super::Schema;

/// A type that is a string in JSON.
#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "url",
    feature = "uuid"
))]
const fn text(description: &'static str, example: &'static str) -> Node {
    Node::string()
        .with_description(description)
        .with_example(example)
}

#[cfg(feature = "serde_json")]
schemas! {
    serde_json::Value => Node::any();
    serde_json::Map<String, serde_json::Value> => Node::map::<serde_json::Value>();
    serde_json::Number => Node::number();
}

#[cfg(feature = "chrono")]
impl<Tz: chrono::TimeZone> Schema for chrono::DateTime<Tz> {
    const NODE: &'static Node = &text(
        "a time with its offset from UTC",
        "\"2026-03-01T11:00:00Z\"",
    )
    .with_format("date-time");
}

#[cfg(feature = "chrono")]
schemas! {
    chrono::NaiveDateTime => text("a date and a time of day", "\"2026-03-01T12:00:00\"");
    chrono::NaiveDate => text("a date", "\"2026-03-01\"").with_format("date");
    chrono::NaiveTime => text("a time of day", "\"09:30:00\"");
    chrono::Weekday => Node::one_of_strings(&["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]);
    chrono::Month => Node::one_of_strings(&[
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]);
}

#[cfg(feature = "jiff")]
schemas! {
    jiff::Timestamp => text("a time with its offset from UTC", "\"2026-03-01T11:00:00Z\"").with_format("date-time");
    jiff::Zoned => text("a time with its zone", "\"2026-03-01T12:00[Europe/Berlin]\"");
    jiff::civil::DateTime => text("a date and a time of day", "\"2026-03-01T12:00\"");
    jiff::civil::Date => text("a date", "\"2026-03-01\"").with_format("date");
    jiff::civil::Time => text("a time of day", "\"09:30\"");
    jiff::Span => text("a duration, in words or as in ISO 8601", "\"1 month 2 days\"");
    jiff::SignedDuration => text("a duration in hours and less, in words or as in ISO 8601", "\"2h 30m\"");
}

#[cfg(feature = "url")]
schemas! {
    url::Url => text("an absolute URL", "\"https://example.com/\"").with_format("uri");
}

#[cfg(feature = "uuid")]
schemas! {
    uuid::Uuid => text("a UUID", "\"67e55044-10b1-426f-9247-bb680e5fe0c8\"").with_format("uuid");
}
