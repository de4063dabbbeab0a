//! Tells the time in any zone, and computes with it.

use jiff::{Error, Span, Timestamp, ToSpan, Unit, Zoned, civil, fmt::strtime};
use mcp_servlet::prelude::*;

/// What the time is now.
#[tool(read_only, open_world = false)]
fn current_time(
    context: &Context,
    /// the IANA name of the zone
    #[arg(default = "UTC", example = "Europe/Berlin")]
    zone: String,
) -> Result<String, Error> {
    Ok(show(&now(context)?.in_tz(&zone)?))
}

/// What clocks in another zone show at a time.
#[tool(read_only, open_world = false)]
fn convert_time(
    /// with an offset or a zone
    #[arg(example = "2026-03-01T12:00[Europe/Berlin]")]
    time: String,
    /// the IANA name of the other zone
    #[arg(example = "Asia/Tokyo")]
    zone: String,
) -> Result<String, ToolError> {
    Ok(show(&read(&time)?.in_tz(&zone)?))
}

/// The time that is a duration away from another, or from now.
#[tool(read_only, open_world = false)]
fn shift_time(
    context: &Context,
    /// how far, in words or as in ISO 8601; with a minus, or `ago` after the words, back
    #[arg(example = "1 month 2 days")]
    duration: String,
    /// from when, with an offset or a zone; now if left out
    time: Option<String>,
) -> Result<String, ToolError> {
    let time = match time {
        Some(time) => read(&time)?,
        None => now(context)?,
    };
    Ok(show(&time.checked_add(duration.parse::<Span>()?)?))
}

/// How long it is from one time to another.
#[tool(read_only, open_world = false)]
fn time_between(
    /// with an offset or a zone
    #[arg(example = "2026-01-31T08:00Z")]
    from: String,
    /// with an offset or a zone
    #[arg(example = "2026-03-01T12:00[Europe/Berlin]")]
    to: String,
) -> Result<String, ToolError> {
    let from = read(&from)?;
    let to = read(&to)?.with_time_zone(from.time_zone().clone());
    let (span, seconds) = (from.until((Unit::Year, &to))?, from.duration_until(&to));
    Ok(format!("{span:#} ({} seconds)", seconds.as_secs()))
}

/// A time as a pattern says.
#[tool(read_only, open_world = false)]
fn format_time(
    /// with an offset or a zone
    #[arg(example = "2026-03-01T12:00[Europe/Berlin]")]
    time: String,
    /// as strftime has it
    #[arg(example = "%A, %-d %B %Y")]
    pattern: String,
) -> Result<String, ToolError> {
    Ok(strtime::format(pattern, &read(&time)?)?)
}

/// The time in a text of a known pattern.
#[tool(read_only, open_world = false)]
fn parse_time(
    /// the text
    #[arg(example = "1.3.2026 12:00")]
    text: String,
    /// as strptime has it
    #[arg(example = "%d.%m.%Y %H:%M")]
    pattern: String,
    /// the IANA name of the zone that is meant, if the text does not say
    #[arg(default = "UTC")]
    zone: String,
) -> Result<String, Error> {
    let parts = strtime::parse(pattern, text)?;
    let time = parts
        .to_zoned()
        .or_else(|_| parts.to_datetime()?.in_tz(&zone))?;
    Ok(show(&time))
}

/// When a time of day comes next, on any day or on one of the week.
#[tool(read_only, open_world = false)]
fn next_time(
    context: &Context,
    /// the time of day
    #[arg(example = "09:30")]
    time: String,
    /// the day of the week, from 1 for Monday to 7 for Sunday
    #[arg(min = 1, max = 7)]
    weekday: Option<i8>,
    /// the IANA name of the zone
    #[arg(default = "UTC")]
    zone: String,
) -> Result<String, ToolError> {
    let (now, time) = (now(context)?.in_tz(&zone)?, time.parse::<civil::Time>()?);
    let days = now.date().series(1.day()).take(9);
    let next = days
        .filter(|day| weekday.is_none_or(|wanted| day.weekday().to_monday_one_offset() == wanted))
        .filter_map(|day| day.to_datetime(time).in_tz(&zone).ok())
        .find(|next| *next > now);
    Ok(show(&next.ok_or("the calendar ends before that")?))
}

fn now(context: &Context) -> Result<Zoned, Error> {
    Timestamp::try_from(context.now())?.in_tz("UTC")
}

/// Reads what [`show`] writes, and what has a zone in brackets or an offset.
fn read(text: &str) -> Result<Zoned, ToolError> {
    let (_, time) = text.rsplit_once(", ").unwrap_or(("", text));
    let read = if time.ends_with(']') {
        time.parse()
    } else {
        time.parse::<Timestamp>().and_then(|time| time.in_tz("UTC"))
    };
    let like = "is no time like 2026-03-01T12:00[Europe/Berlin] or 2026-03-01T11:00Z";
    read.map_err(|error| ToolError::new(format!("`{text}` {like}: {error}")))
}

fn show(time: &Zoned) -> String {
    time.strftime("%A, %Y-%m-%dT%H:%M:%S%:z[%:Q]").to_string()
}

mcp_servlet::export!(static SERVLET = {
    instructions: "Times are texts such as 2026-03-01T12:00[Europe/Berlin] or 2026-03-01T11:00Z.",
    tools: [
        current_time, convert_time, shift_time, time_between, format_time, parse_time, next_time,
    ],
});

#[cfg(test)]
mod tests;
