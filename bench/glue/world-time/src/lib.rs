//! Tells the time in any zone, and calculates with it.

#[path = "../../../official/src/pdk.rs"]
mod pdk;

use extism_pdk::Error;
use jiff::{civil, fmt::strtime, tz::TimeZone, Span, Timestamp, ToSpan, Unit, Zoned};
use pdk::types::*;
use serde::{de::DeserializeOwned, Deserialize};
use serde_json::{json, Value};

/// A time with an offset or a zone.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Time(Zoned);

impl TryFrom<String> for Time {
    type Error = jiff::Error;

    /// Parses the output of [`show`], or a time with a zone in brackets or an offset.
    fn try_from(text: String) -> Result<Self, jiff::Error> {
        let (_, time) = text.rsplit_once(", ").unwrap_or(("", &text));
        if time.ends_with(']') {
            return time.parse().map(Self);
        }
        time.parse::<Timestamp>()?.in_tz("UTC").map(Self)
    }
}

/// The IANA name of a zone.
#[derive(Deserialize)]
struct Zone(#[serde(with = "jiff::fmt::serde::tz::required")] TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CurrentTime {
    #[serde(default)]
    zone: Zone,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConvertTime {
    time: Time,
    zone: Zone,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShiftTime {
    duration: Span,
    time: Option<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeBetween {
    from: Time,
    to: Time,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatTime {
    time: Time,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParseTime {
    text: String,
    pattern: String,
    #[serde(default)]
    zone: Zone,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NextTime {
    time: civil::Time,
    weekday: Option<i8>,
    #[serde(default)]
    zone: Zone,
}

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let mut arguments = input.params.arguments.unwrap_or_default();
    arguments.retain(|_, value| !value.is_null());
    let arguments = Value::Object(arguments);
    let tool = input.params.name.as_str();
    let result = match tool {
        "current_time" => read_arguments(tool, arguments).and_then(current_time),
        "convert_time" => read_arguments(tool, arguments).and_then(convert_time),
        "shift_time" => read_arguments(tool, arguments).and_then(shift_time),
        "time_between" => read_arguments(tool, arguments).and_then(time_between),
        "format_time" => read_arguments(tool, arguments).and_then(format_time),
        "parse_time" => read_arguments(tool, arguments).and_then(parse_time),
        "next_time" => read_arguments(tool, arguments).and_then(next_time),
        name => return Err(Error::msg(format!("unknown tool `{name}`"))),
    };
    let (text, is_error) = match result {
        Ok(text) => (text, None),
        Err(error) => (format!("{error:#}"), Some(true)),
    };
    Ok(CallToolResult {
        content: vec![Content {
            text: Some(text),
            ..Content::default()
        }],
        is_error,
    })
}

/// Parses the arguments of a tool. The error names all missing arguments at once.
fn read_arguments<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, Error> {
    let tool = describe()?
        .tools
        .into_iter()
        .find(|known| known.name == tool);
    let schema = Value::Object(tool.map(|tool| tool.input_schema).unwrap_or_default());
    let required = schema["required"].as_array().into_iter().flatten();
    let missing = required
        .filter_map(Value::as_str)
        .filter(|name| arguments.get(name).is_none());
    let missing: Vec<_> = missing
        .map(|name| format!("`/{name}` is missing: {}", schema["properties"][name]))
        .collect();
    if !missing.is_empty() {
        return Err(Error::msg(missing.join("; ")));
    }
    Ok(serde_path_to_error::deserialize(arguments)?)
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    let time = json!({
        "type": "string",
        "description": "a time with an offset or a zone",
        "examples": ["2026-03-01T12:00[Europe/Berlin]"],
    });
    let zone = json!({
        "type": "string",
        "description": "the IANA name of a zone",
        "examples": ["Asia/Tokyo"],
    });
    let mut zone_or_utc = zone.clone();
    zone_or_utc["default"] = json!("UTC");
    Ok(ListToolsResult {
        tools: vec![
            tool(
                "current_time",
                "Returns the current time.",
                json!({ "zone": zone_or_utc }),
                &[],
            )?,
            tool(
                "convert_time",
                "Converts a time to another zone.",
                json!({ "time": time, "zone": zone }),
                &["time", "zone"],
            )?,
            tool(
                "shift_time",
                "Adds a duration to a time, or to the current time.",
                json!({
                    "duration": {
                        "type": "string",
                        "description": "the duration, in words or in ISO 8601; negative with a minus, or with `ago` after the words",
                        "examples": ["1 month 2 days"],
                    },
                    "time": {
                        "type": "string",
                        "description": "the start, with an offset or a zone; by default now",
                        "examples": ["2026-03-01T12:00[Europe/Berlin]"],
                    },
                }),
                &["duration"],
            )?,
            tool(
                "time_between",
                "Returns the duration between two times.",
                json!({ "from": time, "to": time }),
                &["from", "to"],
            )?,
            tool(
                "format_time",
                "Formats a time with a pattern.",
                json!({
                    "time": time,
                    "pattern": {
                        "type": "string",
                        "description": "the pattern, in the syntax of strftime",
                        "examples": ["%A, %-d %B %Y"],
                    },
                }),
                &["time", "pattern"],
            )?,
            tool(
                "parse_time",
                "Parses a time with a pattern.",
                json!({
                    "text": {
                        "type": "string",
                        "description": "the text",
                        "examples": ["1.3.2026 12:00"],
                    },
                    "pattern": {
                        "type": "string",
                        "description": "the pattern, in the syntax of strptime",
                        "examples": ["%d.%m.%Y %H:%M"],
                    },
                    "zone": {
                        "type": "string",
                        "description": "the IANA name of the zone, if the text has none",
                        "default": "UTC",
                        "examples": ["Asia/Tokyo"],
                    },
                }),
                &["text", "pattern"],
            )?,
            tool(
                "next_time",
                "Returns the next occurrence of a time of day, on any day or on a day of the week.",
                json!({
                    "time": {
                        "type": "string",
                        "description": "a time of day",
                        "examples": ["09:30"],
                    },
                    "weekday": {
                        "type": "integer",
                        "description": "the day of the week, from 1 for Monday to 7 for Sunday",
                        "minimum": 1,
                        "maximum": 7,
                    },
                    "zone": zone_or_utc,
                }),
                &["time"],
            )?,
        ],
    })
}

/// The description of a tool.
fn tool(
    name: &str,
    description: &str,
    properties: Value,
    required: &[&str],
) -> Result<ToolDescription, Error> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Ok(ToolDescription {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: serde_json::from_value(schema)?,
    })
}

fn current_time(arguments: CurrentTime) -> Result<String, Error> {
    Ok(show(&now(arguments.zone)?))
}

fn convert_time(arguments: ConvertTime) -> Result<String, Error> {
    Ok(show(&arguments.time.0.with_time_zone(arguments.zone.0)))
}

fn shift_time(arguments: ShiftTime) -> Result<String, Error> {
    let now = now(Zone::default())?;
    let time = arguments.time.map_or(now, |time| time.0);
    Ok(show(&time.checked_add(arguments.duration)?))
}

fn time_between(arguments: TimeBetween) -> Result<String, Error> {
    let from = arguments.from.0;
    let to = arguments.to.0.with_time_zone(from.time_zone().clone());
    let (span, seconds) = (from.until((Unit::Year, &to))?, from.duration_until(&to));
    Ok(format!("{span:#} ({} seconds)", seconds.as_secs()))
}

fn format_time(arguments: FormatTime) -> Result<String, Error> {
    Ok(strtime::format(arguments.pattern, &arguments.time.0)?)
}

fn parse_time(arguments: ParseTime) -> Result<String, Error> {
    let parts = strtime::parse(arguments.pattern, arguments.text)?;
    let zoned = parts.to_zoned();
    let time = zoned.or_else(|_| parts.to_datetime()?.to_zoned(arguments.zone.0))?;
    Ok(show(&time))
}

fn next_time(arguments: NextTime) -> Result<String, Error> {
    let weekday = arguments.weekday;
    if weekday.is_some_and(|day| !(1..=7).contains(&day)) {
        return Err(Error::msg("weekday: must be from 1 to 7"));
    }
    let now = now(arguments.zone)?;
    let days = now.date().series(1.day()).take(9);
    let next = days
        .filter(|day| {
            weekday.map_or(true, |wanted| {
                day.weekday().to_monday_one_offset() == wanted
            })
        })
        .map(|day| day.to_datetime(arguments.time))
        .filter_map(|time| time.to_zoned(now.time_zone().clone()).ok())
        .find(|next| *next > now);
    let next = next.ok_or_else(|| Error::msg("the calendar ends before that"))?;
    Ok(show(&next))
}

fn now(zone: Zone) -> Result<Zoned, Error> {
    let clock = unsafe { wasi::clock_time_get(wasi::CLOCKID_REALTIME, 1)? };
    Ok(Timestamp::from_nanosecond(clock.into())?.to_zoned(zone.0))
}

fn show(time: &Zoned) -> String {
    time.strftime("%A, %Y-%m-%dT%H:%M:%S%:z[%:Q]").to_string()
}
