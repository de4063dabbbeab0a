//! The schemas of jiff's types, which are strings.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use super::{Node, Schema};

macro_rules! texts {
    ($($ty:ty: $description:literal, $example:literal $(, $format:literal)?;)*) => {
        $(impl Schema for $ty {
            const NODE: &'static Node = &Node::string()
                .with_description($description)
                .with_example(concat!("\"", $example, "\""))
                $(.with_format($format))?;
        })*
    };
}

texts! {
    Timestamp: "a time with its offset from UTC", "2026-03-01T11:00:00Z", "date-time";
    Zoned: "a time with its zone", "2026-03-01T12:00[Europe/Berlin]";
    DateTime: "a date and a time of day", "2026-03-01T12:00";
    Date: "a date", "2026-03-01", "date";
    Time: "a time of day", "09:30";
    Span: "a duration, in words or as in ISO 8601", "1 month 2 days";
    SignedDuration: "a duration in hours and less, in words or as in ISO 8601", "2h 30m";
}
