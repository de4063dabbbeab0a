//! Durations, sizes and counts in a configuration, and environment variables in its values.

use std::{borrow::Cow, fmt, marker::PhantomData, time::Duration};

use mcp_servlet_runtime::Limit;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Unexpected, Visitor},
};

/// The longest duration that can be set. `none` means no limit.
const MAX_TIME: Duration = Duration::from_hours(24 * 365);

/// The smallest memory limit: one page of WebAssembly.
const MIN_MEMORY: u64 = 64 << 10;

/// A time such as `500ms`, `30s`, `2m`, `1h`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Time(pub(super) Limit<Duration>);

/// A time of at most a day, such as `500ms`, `30s`, `2m` or `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct ShortTime(pub(super) Duration);

/// A size such as `512KiB`, `64MiB`, `1GiB`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Size(pub(super) Limit<u64>);

/// How much memory an instance may take, such as `64MiB`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Memory(pub(super) Limit<u64>);

/// A whole number within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count<const MIN: usize, const MAX: usize>(pub(super) usize);

/// A value that is written as a string, and the form that is expected.
trait Quoted: Sized {
    const EXPECTED: &'static str;

    /// The unit to suggest for a number without one.
    const UNIT: &'static str;

    fn parse(text: &str) -> Result<Self, String>;
}

impl Quoted for Time {
    const EXPECTED: &'static str = "a time such as \"500ms\", \"30s\" or \"2m\", or \"none\"";
    const UNIT: &'static str = "s";

    fn parse(text: &str) -> Result<Self, String> {
        parse_duration(text).map(Self)
    }
}

impl Quoted for ShortTime {
    const EXPECTED: &'static str = "a time such as \"500ms\", \"30s\" or \"2m\"";
    const UNIT: &'static str = "s";

    fn parse(text: &str) -> Result<Self, String> {
        const MAX: Duration = Duration::from_hours(24);
        match parse_duration(text)? {
            Limit::At(time) if time <= MAX => Ok(Self(time)),
            _ => {
                let hours = MAX.as_secs() / 3600;
                Err(format!("expected a time of at most {hours}h, such as 30m"))
            }
        }
    }
}

impl Quoted for Size {
    const EXPECTED: &'static str = "a size such as \"512KiB\", \"64MiB\" or \"1GiB\", or \"none\"";
    const UNIT: &'static str = "MiB";

    fn parse(text: &str) -> Result<Self, String> {
        parse_size(text).map(Self)
    }
}

impl Quoted for Memory {
    const EXPECTED: &'static str = Size::EXPECTED;
    const UNIT: &'static str = Size::UNIT;

    fn parse(text: &str) -> Result<Self, String> {
        parse_memory(text).map(Self)
    }
}

struct QuotedVisitor<T>(PhantomData<T>);

impl<T: Quoted> Visitor<'_> for QuotedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        let (expected, unit) = (T::EXPECTED, T::UNIT);
        let message =
            format!("expected {expected}, found {number}; did you mean \"{number}{unit}\"?");
        Err(E::custom(message))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuotedVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for ShortTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuotedVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuotedVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuotedVisitor(PhantomData))
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Count<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor<const MIN: usize, const MAX: usize>;

impl<const MIN: usize, const MAX: usize> Visitor<'_> for CountVisitor<MIN, MAX> {
    type Value = Count<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let count = usize::try_from(number).ok();
        let count = count.filter(|count| (MIN..=MAX).contains(count));
        count
            .map(Count)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Count<MIN, MAX> {
    fn schema_name() -> Cow<'static, str> {
        format!("CountFrom{MIN}To{MAX}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// Parses a duration such as `500ms`, `30s`, `2m` or `1h`, up to a year. `none` means no limit.
///
/// # Errors
/// What was expected instead.
pub fn parse_duration(text: &str) -> Result<Limit<Duration>, String> {
    const UNITS: Units<'_> = &[
        ("ms", 1, &["msec", "millis", "milliseconds"]),
        ("s", 1000, &["sec", "secs", "second", "seconds"]),
        ("m", 60_000, &["min", "mins", "minute", "minutes"]),
        ("h", 3_600_000, &["hr", "hour", "hours"]),
    ];
    let limit = parse(text, UNITS, "a time such as 500ms, 30s or 2m, or none")?;
    match limit.map(Duration::from_millis) {
        Limit::At(limit) if limit > MAX_TIME => {
            let hours = MAX_TIME.as_secs() / 3600;
            Err(format!("expected at most {hours}h, or none"))
        }
        limit => Ok(limit),
    }
}

/// Parses a size such as `512KiB`, `64MiB` or `1GiB` into bytes. `none` means no limit.
///
/// # Errors
/// What was expected instead.
pub fn parse_size(text: &str) -> Result<Limit<u64>, String> {
    const UNITS: Units<'_> = &[
        ("KiB", 1 << 10, &["kb", "k"]),
        ("MiB", 1 << 20, &["mb", "m"]),
        ("GiB", 1 << 30, &["gb", "g"]),
        ("B", 1, &["byte", "bytes"]),
    ];
    parse(text, UNITS, "a size such as 512KiB, 64MiB or 1GiB, or none")
}

/// Parses a memory limit like [`parse_size`]. The minimum is one page of WebAssembly.
///
/// # Errors
/// What was expected instead.
pub fn parse_memory(text: &str) -> Result<Limit<u64>, String> {
    match parse_size(text)? {
        Limit::At(size) if size < MIN_MEMORY => {
            Err("expected at least 64KiB, one page of WebAssembly memory".to_owned())
        }
        limit => Ok(limit),
    }
}

/// Each unit with its factor and its common misspellings. A unit that is the suffix of another one comes after it.
type Units<'a> = &'a [(&'a str, u64, &'a [&'a str])];

/// Parses a whole number with one of the units.
fn parse(text: &str, units: Units<'_>, expected: &str) -> Result<Limit<u64>, String> {
    if text == "none" {
        return Ok(Limit::Unlimited);
    }
    let parsed = units.iter().find_map(|(unit, factor, _)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(*factor).filter(|value| *value > 0)
    });
    parsed
        .map(Limit::At)
        .ok_or_else(|| match suggestion(text, units) {
            Some(suggestion) => format!("expected {expected}; did you mean {suggestion}?"),
            None => format!("expected {expected}"),
        })
}

/// The value to suggest for a misspelled unit.
fn suggestion(text: &str, units: Units<'_>) -> Option<String> {
    let digits = text.find(|one: char| !one.is_ascii_digit())?;
    let (number, written) = text.split_at(digits);
    let written = written.trim().to_ascii_lowercase();
    let is_meant = |unit: &str, others: &[&str]| {
        unit.to_ascii_lowercase() == written || others.contains(&&*written)
    };
    let (unit, ..) = units
        .iter()
        .find(|(unit, _, others)| is_meant(unit, others))?;
    let is_number = number.parse::<u64>().is_ok_and(|number| number > 0);
    is_number.then(|| format!("{number}{unit}"))
}

/// Expands `${NAME}` and `${NAME:-default}` from the environment. `$$` is a literal dollar sign.
pub(super) fn expand(
    text: &str,
    mut variable: impl FnMut(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out += before;
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let inside = after
            .strip_prefix('{')
            .and_then(|after| after.split_once('}'));
        let Some((inside, after)) = inside else {
            return Err("write `${NAME}` for a variable, or `$$` for a dollar".to_owned());
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match variable(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => out += &value,
            None => return Err(format!("the environment variable `{name}` is not set")),
        }
        rest = after;
    }
    Ok(out + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_and_sizes() {
        assert_eq!(
            parse_duration("500ms"),
            Ok(Limit::At(Duration::from_millis(500)))
        );
        assert_eq!(parse_duration("2m"), Ok(Limit::At(Duration::from_mins(2))));
        assert_eq!(parse_duration("none"), Ok(Limit::Unlimited));
        assert_eq!(parse_size("64MiB"), Ok(Limit::At(64 << 20)));
        assert_eq!(parse_size("10B"), Ok(Limit::At(10)));
        for wrong in [
            "",
            "5",
            "s",
            "0s",
            "-1s",
            "99999999999999999999h",
            "18446744073709551615ms",
            "8761h",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        assert!(parse_memory("1KiB").is_err() && parse_memory("64KiB").is_ok());
    }

    #[test]
    fn suggests_a_unit() {
        for (error, suggestion) in [
            (parse_duration("30 Sec").map(drop), "30s"),
            (parse_duration("2MIN").map(drop), "2m"),
            (parse_size("64MB").map(drop), "64MiB"),
            (parse_size("1g").map(drop), "1GiB"),
        ] {
            let error = error.expect_err("not a value");
            assert!(
                error.ends_with(&format!("did you mean {suggestion}?")),
                "{error}"
            );
        }
        for text in ["30", "x5s", "5 parsecs", "0sec"] {
            let error = parse_duration(text).expect_err("not a value");
            assert!(error.ends_with("or none"), "{error}");
        }
    }

    #[test]
    fn takes_secrets_from_the_environment() {
        let variable = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        let expand = |text| expand(text, variable);
        assert_eq!(expand("Bearer ${KEY}!"), Ok("Bearer s3cret!".into()));
        assert_eq!(expand("${NONE:-x}$$5"), Ok("x$5".into()));
        assert!(expand("${NONE}").is_err_and(|text| text.contains("`NONE`")));
        assert!(expand("$KEY").is_err());
        assert!(expand("${KEY").is_err());
    }
}
