//! The schemas of chrono's types, which are strings.

use chrono::{DateTime, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeZone, Weekday};

use super::{Node, Schema};

const fn text(description: &'static str, example: &'static str) -> Node {
    Node::string()
        .with_description(description)
        .with_example(example)
}

impl<Tz: TimeZone> Schema for DateTime<Tz> {
    const NODE: &'static Node = &text(
        "a time with its offset from UTC",
        "\"2026-03-01T11:00:00Z\"",
    )
    .with_format("date-time");
}

macro_rules! schemas {
    ($($ty:ty => $node:expr;)*) => {
        $(impl Schema for $ty {
            const NODE: &'static Node = &$node;
        })*
    };
}

schemas! {
    NaiveDateTime => text("a date and a time of day", "\"2026-03-01T12:00:00\"");
    NaiveDate => text("a date", "\"2026-03-01\"").with_format("date");
    NaiveTime => text("a time of day", "\"09:30:00\"");
    Weekday => Node::one_of_strings(&["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]);
    Month => Node::one_of_strings(&[
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
    ]);
}
