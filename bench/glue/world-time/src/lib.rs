//! Tells the time in any zone, and computes with it.

#[path = "../../../official/src/pdk.rs"]
mod pdk;

use extism_pdk::Error;
use jiff::{civil, fmt::strtime, Span, Timestamp, ToSpan, Unit, Zoned};
use pdk::types::*;
use serde::{de::DeserializeOwned, Deserialize};
use serde_json::{json, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CurrentTime {
    #[serde(default = "utc")]
    zone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConvertTime {
    time: String,
    zone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShiftTime {
    duration: String,
    time: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeBetween {
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatTime {
    time: String,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParseTime {
    text: String,
    pattern: String,
    #[serde(default = "utc")]
    zone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NextTime {
    time: String,
    weekday: Option<i8>,
    #[serde(default = "utc")]
    zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let arguments = Value::Object(input.params.arguments.unwrap_or_default());
    let result = match input.params.name.as_str() {
        "current_time" => read_arguments(arguments).and_then(current_time),
        "convert_time" => read_arguments(arguments).and_then(convert_time),
        "shift_time" => read_arguments(arguments).and_then(shift_time),
        "time_between" => read_arguments(arguments).and_then(time_between),
        "format_time" => read_arguments(arguments).and_then(format_time),
        "parse_time" => read_arguments(arguments).and_then(parse_time),
        "next_time" => read_arguments(arguments).and_then(next_time),
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

fn read_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, Error> {
    Ok(serde_path_to_error::deserialize(arguments)?)
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![
            tool(
                "current_time",
                "What the time is now.",
                json!({
                    "zone": {
                        "type": "string",
                        "description": "the IANA name of the zone",
                        "default": "UTC",
                        "examples": ["Europe/Berlin"],
                    },
                }),
                &[],
            )?,
            tool(
                "convert_time",
                "What clocks in another zone show at a time.",
                json!({
                    "time": {
                        "type": "string",
                        "description": "with an offset or a zone",
                        "examples": ["2026-03-01T12:00[Europe/Berlin]"],
                    },
                    "zone": {
                        "type": "string",
                        "description": "the IANA name of the other zone",
                        "examples": ["Asia/Tokyo"],
                    },
                }),
                &["time", "zone"],
            )?,
            tool(
                "shift_time",
                "The time that is a duration away from another, or from now.",
                json!({
                    "duration": {
                        "type": "string",
                        "description": "how far, in words or as in ISO 8601; with a minus, or `ago` after the words, back",
                        "examples": ["1 month 2 days"],
                    },
                    "time": {
                        "type": "string",
                        "description": "from when, with an offset or a zone; now if left out",
                    },
                }),
                &["duration"],
            )?,
            tool(
                "time_between",
                "How long it is from one time to another.",
                json!({
                    "from": {
                        "type": "string",
                        "description": "with an offset or a zone",
                        "examples": ["2026-01-31T08:00Z"],
                    },
                    "to": {
                        "type": "string",
                        "description": "with an offset or a zone",
                        "examples": ["2026-03-01T12:00[Europe/Berlin]"],
                    },
                }),
                &["from", "to"],
            )?,
            tool(
                "format_time",
                "A time as a pattern says.",
                json!({
                    "time": {
                        "type": "string",
                        "description": "with an offset or a zone",
                        "examples": ["2026-03-01T12:00[Europe/Berlin]"],
                    },
                    "pattern": {
                        "type": "string",
                        "description": "as strftime has it",
                        "examples": ["%A, %-d %B %Y"],
                    },
                }),
                &["time", "pattern"],
            )?,
            tool(
                "parse_time",
                "The time in a text of a known pattern.",
                json!({
                    "text": {
                        "type": "string",
                        "description": "the text",
                        "examples": ["1.3.2026 12:00"],
                    },
                    "pattern": {
                        "type": "string",
                        "description": "as strptime has it",
                        "examples": ["%d.%m.%Y %H:%M"],
                    },
                    "zone": {
                        "type": "string",
                        "description": "the IANA name of the zone that is meant, if the text does not say",
                        "default": "UTC",
                    },
                }),
                &["text", "pattern"],
            )?,
            tool(
                "next_time",
                "When a time of day comes next, on any day or on one of the week.",
                json!({
                    "time": {
                        "type": "string",
                        "description": "the time of day",
                        "examples": ["09:30"],
                    },
                    "weekday": {
                        "type": "integer",
                        "description": "the day of the week, from 1 for Monday to 7 for Sunday",
                        "minimum": 1,
                        "maximum": 7,
                    },
                    "zone": {
                        "type": "string",
                        "description": "the IANA name of the zone",
                        "default": "UTC",
                    },
                }),
                &["time"],
            )?,
        ],
    })
}

/// What a model reads of a tool.
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
    Ok(show(&now()?.in_tz(&arguments.zone)?))
}

fn convert_time(arguments: ConvertTime) -> Result<String, Error> {
    Ok(show(&read(&arguments.time)?.in_tz(&arguments.zone)?))
}

fn shift_time(arguments: ShiftTime) -> Result<String, Error> {
    let time = match arguments.time {
        Some(time) => read(&time)?,
        None => now()?,
    };
    Ok(show(
        &time.checked_add(arguments.duration.parse::<Span>()?)?,
    ))
}

fn time_between(arguments: TimeBetween) -> Result<String, Error> {
    let from = read(&arguments.from)?;
    let to = read(&arguments.to)?.with_time_zone(from.time_zone().clone());
    let (span, seconds) = (from.until((Unit::Year, &to))?, from.duration_until(&to));
    Ok(format!("{span:#} ({} seconds)", seconds.as_secs()))
}

fn format_time(arguments: FormatTime) -> Result<String, Error> {
    Ok(strtime::format(arguments.pattern, &read(&arguments.time)?)?)
}

fn parse_time(arguments: ParseTime) -> Result<String, Error> {
    let parts = strtime::parse(arguments.pattern, arguments.text)?;
    let time = parts
        .to_zoned()
        .or_else(|_| parts.to_datetime()?.in_tz(&arguments.zone))?;
    Ok(show(&time))
}

fn next_time(arguments: NextTime) -> Result<String, Error> {
    let weekday = arguments.weekday;
    if weekday.is_some_and(|day| !(1..=7).contains(&day)) {
        return Err(Error::msg("weekday: must be from 1 to 7"));
    }
    let (now, time) = (
        now()?.in_tz(&arguments.zone)?,
        arguments.time.parse::<civil::Time>()?,
    );
    let days = now.date().series(1.day()).take(9);
    let next = days
        .filter(|day| {
            weekday.map_or(true, |wanted| {
                day.weekday().to_monday_one_offset() == wanted
            })
        })
        .filter_map(|day| day.to_datetime(time).in_tz(&arguments.zone).ok())
        .find(|next| *next > now);
    let next = next.ok_or_else(|| Error::msg("the calendar ends before that"))?;
    Ok(show(&next))
}

fn now() -> Result<Zoned, Error> {
    let clock = unsafe { wasi::clock_time_get(wasi::CLOCKID_REALTIME, 1)? };
    Ok(Timestamp::from_nanosecond(clock.into())?.in_tz("UTC")?)
}

/// Reads what [`show`] writes, and what has a zone in brackets or an offset.
fn read(text: &str) -> Result<Zoned, Error> {
    let (_, time) = text.rsplit_once(", ").unwrap_or(("", text));
    let read = if time.ends_with(']') {
        time.parse()
    } else {
        time.parse::<Timestamp>().and_then(|time| time.in_tz("UTC"))
    };
    let like = "is no time like 2026-03-01T12:00[Europe/Berlin] or 2026-03-01T11:00Z";
    read.map_err(|error| Error::msg(format!("`{text}` {like}: {error}")))
}

fn show(time: &Zoned) -> String {
    time.strftime("%A, %Y-%m-%dT%H:%M:%S%:z[%:Q]").to_string()
}
