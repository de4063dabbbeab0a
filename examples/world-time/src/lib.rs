//! Returns the time in any zone, and calculates with times.

use jiff::{Error, Span, Timestamp, ToSpan, Unit, Zoned, civil, fmt::strtime, tz::TimeZone};
use mcp_servlet::prelude::*;

/// a time with an offset or a zone
#[derive(FromText)]
#[text(parse = read, example = "2026-03-01T12:00[Europe/Berlin]")]
struct Time(Zoned);

/// the IANA name of a zone
#[derive(FromText)]
#[text(parse = TimeZone::get, example = "Asia/Tokyo")]
struct Zone(TimeZone);

/// Returns the current time.
#[tool(read_only, open_world = false)]
fn current_time(
    context: &Context,
    #[arg(default_str = "UTC")] zone: Zone,
) -> Result<String, Error> {
    Ok(show(&Timestamp::try_from(context.now())?.to_zoned(zone.0)))
}

/// Converts a time to another zone.
#[tool(read_only, open_world = false)]
fn convert_time(time: Time, zone: Zone) -> String {
    show(&time.0.with_time_zone(zone.0))
}

/// Adds a duration to a time, or to the current time.
#[tool(read_only, open_world = false)]
fn shift_time(
    context: &Context,
    /// the duration, in words or in ISO 8601; negative with a minus, or with `ago` after the words
    #[arg(example = "1 month 2 days")]
    duration: Span,
    /// the start, with an offset or a zone; by default now
    time: Option<Time>,
) -> Result<String, Error> {
    let now = Timestamp::try_from(context.now())?.in_tz("UTC")?;
    let time = time.map_or(now, |time| time.0);
    Ok(show(&time.checked_add(duration)?))
}

/// Returns the duration between two times.
#[tool(read_only, open_world = false)]
fn time_between(from: Time, to: Time) -> Result<String, Error> {
    let to = to.0.with_time_zone(from.0.time_zone().clone());
    let (span, seconds) = (from.0.until((Unit::Year, &to))?, from.0.duration_until(&to));
    Ok(format!("{span:#} ({} seconds)", seconds.as_secs()))
}

/// Formats a time with a pattern.
#[tool(read_only, open_world = false)]
fn format_time(
    time: Time,
    /// the pattern, in the syntax of strftime
    #[arg(example = "%A, %-d %B %Y")]
    pattern: String,
) -> Result<String, Error> {
    strtime::format(pattern, &time.0)
}

/// Parses a time with a pattern.
#[tool(read_only, open_world = false)]
fn parse_time(
    /// the text
    #[arg(example = "1.3.2026 12:00")]
    text: String,
    /// the pattern, in the syntax of strptime
    #[arg(example = "%d.%m.%Y %H:%M")]
    pattern: String,
    /// the IANA name of the zone, if the text has none
    #[arg(default_str = "UTC")]
    zone: Zone,
) -> Result<String, Error> {
    let parts = strtime::parse(pattern, text)?;
    let zoned = parts.to_zoned();
    let time = zoned.or_else(|_| parts.to_datetime()?.to_zoned(zone.0))?;
    Ok(show(&time))
}

/// Returns the next occurrence of a time of day, on any day or on a day of the week.
#[tool(read_only, open_world = false)]
fn next_time(
    context: &Context,
    time: civil::Time,
    /// the day of the week, from 1 for Monday to 7 for Sunday
    #[arg(min = 1, max = 7)]
    weekday: Option<i8>,
    #[arg(default_str = "UTC")] zone: Zone,
) -> Result<String, ToolError> {
    let now = Timestamp::try_from(context.now())?.to_zoned(zone.0);
    let days = now.date().series(1.day()).take(9);
    let next = days
        .filter(|day| weekday.is_none_or(|wanted| day.weekday().to_monday_one_offset() == wanted))
        .filter_map(|day| day.to_datetime(time).to_zoned(now.time_zone().clone()).ok())
        .find(|next| *next > now);
    Ok(show(&next.ok_or("the calendar ends before that")?))
}

/// Reads what [`show`] writes, and what has a zone in brackets or an offset.
fn read(text: &str) -> Result<Zoned, Error> {
    let (_, time) = text.rsplit_once(", ").unwrap_or(("", text));
    if time.ends_with(']') {
        return time.parse();
    }
    time.parse::<Timestamp>()?.in_tz("UTC")
}

fn show(time: &Zoned) -> String {
    time.strftime("%A, %Y-%m-%dT%H:%M:%S%:z[%:Q]").to_string()
}

mcp_servlet::export!(static SERVLET = {
    tools: [current_time, convert_time, shift_time, time_between, format_time, parse_time, next_time],
});

#[cfg(test)]
mod tests;
