//! Limits as text: `30s`, `64MiB` or `none`.

use std::{fmt, marker::PhantomData, str::FromStr, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

use super::Limit;

/// The longest duration that can be set. `none` means no limit.
const MAX_TIME: Duration = Duration::from_hours(24 * 365);

/// The text of a limit is not valid. The message says what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseLimitError(String);

/// Parses a duration such as `500ms`, `30s`, `2m` or `1h`, up to a year. The units are `ns`, `us` or `µs`, `ms`, `s`, `m`, `h`
/// and `d`. `none` means no limit.
impl FromStr for Limit<Duration> {
    type Err = ParseLimitError;

    fn from_str(text: &str) -> Result<Self, ParseLimitError> {
        const SECOND: u64 = 1_000_000_000;
        const UNITS: Units<'_> = &[
            ("ns", 1, &["nsec", "nanos", "nanoseconds"]),
            ("us", 1000, &["usec", "micros", "microseconds"]),
            // With the micro sign, and with the Greek letter.
            ("\u{b5}s", 1000, &[]),
            ("\u{3bc}s", 1000, &[]),
            ("ms", 1_000_000, &["msec", "millis", "milliseconds"]),
            ("s", SECOND, &["sec", "secs", "second", "seconds"]),
            ("m", 60 * SECOND, &["min", "mins", "minute", "minutes"]),
            ("h", 3600 * SECOND, &["hr", "hour", "hours"]),
            ("d", 24 * 3600 * SECOND, &["day", "days"]),
        ];
        let limit = parse(text, UNITS, "s", "a time such as 500ms, 30s or 2m, or none")?;
        match limit.map(Duration::from_nanos) {
            Limit::At(limit) if limit > MAX_TIME => {
                let days = MAX_TIME.as_secs() / (24 * 3600);
                Err(ParseLimitError(format!(
                    "expected at most {days}d, or none"
                )))
            }
            limit => Ok(limit),
        }
    }
}

/// Parses a size in bytes such as `512KiB`, `64MiB` or `1GiB`. `none` means no limit.
impl FromStr for Limit<u64> {
    type Err = ParseLimitError;

    fn from_str(text: &str) -> Result<Self, ParseLimitError> {
        const UNITS: Units<'_> = &[
            ("KiB", 1 << 10, &["kb", "ki", "k"]),
            ("MiB", 1 << 20, &["mb", "mi", "m"]),
            ("GiB", 1 << 30, &["gb", "gi", "g"]),
            ("B", 1, &["byte", "bytes"]),
        ];
        parse(
            text,
            UNITS,
            "MiB",
            "a size such as 512KiB, 64MiB or 1GiB, or none",
        )
    }
}

/// Each unit with its factor and its common misspellings. A unit that is the suffix of another one comes after it.
type Units<'a> = &'a [(&'a str, u64, &'a [&'a str])];

/// Parses a whole number with one of the units. `usual` is the unit to suggest for a number without one.
fn parse(
    text: &str,
    units: Units<'_>,
    usual: &str,
    expected: &str,
) -> Result<Limit<u64>, ParseLimitError> {
    if text == "none" {
        return Ok(Limit::Unlimited);
    }
    let parsed = units.iter().find_map(|(unit, factor, _)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number.saturating_mul(*factor))
    });
    let message = match (parsed, suggestion(text, units, usual)) {
        (Some(value @ 1..), _) => return Ok(Limit::At(value)),
        (Some(0), _) => format!("expected {expected}; 0 is not a limit"),
        (None, Some(suggestion)) => format!("expected {expected}; did you mean {suggestion}?"),
        (None, None) if text == "0" => format!("expected {expected}; 0 is not a limit"),
        (None, None) => format!("expected {expected}"),
    };
    Err(ParseLimitError(message))
}

/// The value to suggest for a misspelled or missing unit.
fn suggestion(text: &str, units: Units<'_>, usual: &str) -> Option<String> {
    let is_digit = |one: char| one.is_ascii_digit();
    let digits = text.find(|one| !is_digit(one)).unwrap_or(text.len());
    let (number, written) = text.split_at(digits);
    let written = written.trim().to_ascii_lowercase();
    let written = if written.is_empty() {
        usual.to_ascii_lowercase()
    } else {
        written
    };
    let is_meant = |unit: &str, others: &[&str]| {
        unit.to_ascii_lowercase() == written || others.contains(&&*written)
    };
    let (unit, ..) = units
        .iter()
        .find(|(unit, _, others)| is_meant(unit, others))?;
    let is_number = number.parse::<u64>().is_ok_and(|number| number > 0);
    is_number.then(|| format!("{number}{unit}"))
}

/// A string that [`FromStr`] parses.
impl<'de> Deserialize<'de> for Limit<Duration> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a time such as \"500ms\", \"30s\" or \"2m\", or \"none\"";
        deserializer.deserialize_any(LimitVisitor::new(EXPECTED, "s"))
    }
}

/// A string that [`FromStr`] parses.
impl<'de> Deserialize<'de> for Limit<u64> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a size such as \"512KiB\", \"64MiB\" or \"1GiB\", or \"none\"";
        deserializer.deserialize_any(LimitVisitor::new(EXPECTED, "MiB"))
    }
}

struct LimitVisitor<T> {
    expected: &'static str,
    /// The unit to suggest for a number without one.
    unit: &'static str,
    limit: PhantomData<T>,
}

impl<T> LimitVisitor<T> {
    fn new(expected: &'static str, unit: &'static str) -> Self {
        Self {
            expected,
            unit,
            limit: PhantomData,
        }
    }

    /// The error for a number.
    fn without_unit<E: Error>(self, number: impl fmt::Display) -> E {
        let Self { expected, unit, .. } = self;
        E::custom(format!(
            "expected {expected}, found {number}; did you mean \"{number}{unit}\"?"
        ))
    }
}

impl<T> Visitor<'_> for LimitVisitor<T>
where
    Limit<T>: FromStr<Err = ParseLimitError>,
{
    type Value = Limit<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Limit<T>, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Limit<T>, E> {
        Err(self.without_unit(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Limit<T>, E> {
        Err(self.without_unit(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Result<Limit<Duration>, ParseLimitError> {
        text.parse()
    }

    fn size(text: &str) -> Result<Limit<u64>, ParseLimitError> {
        text.parse()
    }

    #[test]
    fn reads_times_and_sizes() {
        assert_eq!(time("500ms"), Ok(Limit::At(Duration::from_millis(500))));
        assert_eq!(time("2m"), Ok(Limit::At(Duration::from_mins(2))));
        assert_eq!(time("365d"), Ok(Limit::At(Duration::from_hours(24 * 365))));
        assert_eq!(time("7 ns"), Ok(Limit::At(Duration::from_nanos(7))));
        for micros in ["250us", "250\u{b5}s", "250\u{3bc}s"] {
            assert_eq!(time(micros), Ok(Limit::At(Duration::from_micros(250))));
        }
        assert_eq!(time("none"), Ok(Limit::Unlimited));
        assert_eq!(size("64MiB"), Ok(Limit::At(64 << 20)));
        assert_eq!(size("10B"), Ok(Limit::At(10)));
        for wrong in [
            "",
            "5",
            "s",
            "0s",
            "-1s",
            "99999999999999999999h",
            "18446744073709551615ms",
            "8761h",
            "366d",
            "1y",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn suggests_a_unit() {
        for (error, suggestion) in [
            (time("30 Sec").map(drop), "30s"),
            (time("2MIN").map(drop), "2m"),
            (time("3 days").map(drop), "3d"),
            (time("20").map(drop), "20s"),
            (size("64").map(drop), "64MiB"),
            (size("64MB").map(drop), "64MiB"),
            (size("64Mi").map(drop), "64MiB"),
            (size("1g").map(drop), "1GiB"),
        ] {
            let error = error.expect_err("not a value").to_string();
            assert!(
                error.ends_with(&format!("did you mean {suggestion}?")),
                "{error}"
            );
        }
        for error in [
            time("0s").map(drop),
            time("0").map(drop),
            size("0").map(drop),
        ] {
            let error = error.expect_err("not a limit").to_string();
            assert!(error.ends_with("; 0 is not a limit"), "{error}");
        }
        for text in ["", "x5s", "5 parsecs", "0sec"] {
            let error = time(text).expect_err("not a value").to_string();
            assert!(error.ends_with("or none"), "{error}");
        }
    }

    #[test]
    fn is_a_string_in_a_file() {
        let time = |json| serde_json::from_str::<Limit<Duration>>(json);
        assert_eq!(
            time("\"2m\"").expect("a time"),
            Limit::At(Duration::from_mins(2))
        );
        let error = serde_json::from_str::<Limit<u64>>("64").expect_err("not a string");
        let expected = "expected a size such as \"512KiB\", \"64MiB\" or \"1GiB\", or \"none\", found 64; did you mean \"64MiB\"?";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
