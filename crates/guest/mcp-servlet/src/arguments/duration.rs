//! Durations as people write them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

use mcp_servlet_json::{write_raw, write_u64};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::arguments::from_text::from_str;
use crate::schema::{Node, Schema};

/// A [`Duration`] that is a string in arguments and results, such as `"30s"` or `"1h 30m"`.
///
/// The units are `ns`, `us` (or `µs`), `ms`, `s`, `m`, `h` and `d`; a number can have a fraction, as in `1.5h`. A plain
/// [`Duration`] is an object of seconds and nanoseconds in serde's JSON.
///
/// ```
/// use mcp_servlet::HumanDuration;
/// use mcp_servlet::prelude::*;
/// use serde_json::json;
///
/// /// Sets a timer.
/// #[tool]
/// fn timer(
///     /// when it ends
///     #[arg(default_str = "5m")]
///     after: HumanDuration,
/// ) -> String {
///     format!("{} seconds", after.0.as_secs())
/// }
///
/// mcp_servlet::export!(static SERVLET = { tools: [timer] });
///
/// # fn main() -> Result<(), Fault> {
/// assert_eq!(SERVLET.call("timer", json!({ "after": "1h 30m" }))?.text(), "5400 seconds");
/// assert_eq!(SERVLET.call("timer", json!({}))?.text(), "300 seconds");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanDuration(pub Duration);

/// The units of seconds, from the longest to the shortest.
const SECONDS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// The shorter units, in nanoseconds.
const NANOS: [(&str, u64); 3] = [("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

impl Schema for HumanDuration {
    const NODE: &'static Node = &Node::parsed()
        .with_description("a duration, such as `30s` or `1h 30m`")
        .with_example("\"30s\"");
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_str(deserializer)
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl Display for HumanDuration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl FromStr for HumanDuration {
    /// The error message.
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err("expected a duration, such as `30s` or `1h 30m`");
        }
        let mut nanos = Some(0_u128);
        while !rest.is_empty() {
            let (term, after) = term(rest)?;
            nanos = nanos
                .zip(term)
                .and_then(|(sum, term)| sum.checked_add(term));
            rest = after;
        }
        nanos
            .and_then(from_nanos)
            .map(Self)
            .ok_or("the duration is too long")
    }
}

/// The duration, unless it is too long.
fn from_nanos(nanos: u128) -> Option<Duration> {
    let seconds = u64::try_from(nanos / 1_000_000_000).ok()?;
    let nanos = u32::try_from(nanos % 1_000_000_000).ok()?;
    Some(Duration::new(seconds, nanos))
}

/// The nanoseconds of the first number with its unit, unless they are too many, and the text after it.
fn term(text: &str) -> Result<(Option<u128>, &str), &'static str> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err("expected a number with a unit, such as `30s`");
    }
    let rest = rest.trim_start();
    let unit = rest.trim_start_matches(char::is_alphabetic);
    let (unit, rest) = rest.split_at(rest.len() - unit.len());
    // The micro sign, and the letter mu.
    let unit = match unit {
        "\u{b5}s" | "\u{3bc}s" => "us",
        _ => unit,
    };
    let seconds = SECONDS.map(|(name, seconds)| (name, seconds * 1_000_000_000));
    let mut units = seconds.into_iter().chain(NANOS);
    let unit = units.find(|(name, _)| *name == unit);
    let (_, unit) =
        unit.ok_or("expected one of the units `ns`, `us`, `ms`, `s`, `m`, `h` and `d`")?;
    let whole = if whole.is_empty() { "0" } else { whole };
    let (mut part, mut nanos) = (unit, 0);
    for digit in fraction.bytes() {
        part /= 10;
        nanos += u128::from(part * u64::from(digit - b'0'));
    }
    // Any `u64` of the longest unit is far below the largest `u128`.
    let count = whole.parse::<u64>().ok();
    let nanos = count.map(|count| u128::from(count) * u128::from(unit) + nanos);
    Ok((nanos, rest.trim_start()))
}

/// The digits at the beginning, and the text after them.
fn digits(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    text.split_at(text.len() - rest.len())
}

impl HumanDuration {
    fn text(self) -> String {
        let mut text = String::new();
        let Self(duration) = self;
        for (units, mut rest) in [
            (&SECONDS[..], duration.as_secs()),
            (&NANOS[..], duration.subsec_nanos().into()),
        ] {
            for (unit, length) in units {
                let count = rest / length;
                rest %= length;
                if count > 0 {
                    text.push_str(if text.is_empty() { "" } else { " " });
                    write_u64(&mut text, count);
                    write_raw(&mut text, unit);
                }
            }
        }
        text.push_str(if text.is_empty() { "0s" } else { "" });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, expected, written) in [
            ("30s", Duration::from_secs(30), "30s"),
            ("1h 30m", Duration::from_secs(5400), "1h 30m"),
            ("1h30m", Duration::from_secs(5400), "1h 30m"),
            (" 90 s ", Duration::from_secs(90), "1m 30s"),
            ("1.5h", Duration::from_secs(5400), "1h 30m"),
            (".5s", Duration::from_millis(500), "500ms"),
            ("0.0000000019s", Duration::from_nanos(1), "1ns"),
            ("3µs 2us", Duration::from_micros(5), "5us"),
            ("3\u{b5}s 2\u{3bc}s", Duration::from_micros(5), "5us"),
            ("300000d", Duration::from_secs(300_000 * 86_400), "300000d"),
            (
                "213503982334601d 7h 15s 999ms 999us 999ns",
                Duration::MAX,
                "213503982334601d 7h 15s 999ms 999us 999ns",
            ),
            ("0m", Duration::ZERO, "0s"),
            ("400d", Duration::from_secs(400 * 86_400), "400d"),
            (
                "1d 2h 3m 4s 5ms 6us 7ns",
                Duration::new(93_784, 5_006_007),
                "1d 2h 3m 4s 5ms 6us 7ns",
            ),
        ] {
            let read = text.parse();
            assert_eq!(read, Ok(HumanDuration(expected)), "{text}");
            assert_eq!(HumanDuration(expected).to_string(), written);
            assert_eq!(written.parse(), read);
        }
    }

    #[test]
    fn other_texts_are_errors() {
        for text in [
            "",
            "  ",
            "30",
            "s",
            "-1s",
            "1 fortnight",
            "1s x",
            "1..5s",
            "1e3s",
            "1,5h",
        ] {
            let error = text.parse::<HumanDuration>().unwrap_err();
            assert!(error.starts_with("expected "), "{text}: {error}");
        }
        for text in [
            "213503982334601d 7h 16s",
            "18446744073709551615d",
            "99999999999999999999s",
        ] {
            let read = text.parse::<HumanDuration>();
            assert_eq!(read, Err("the duration is too long"), "{text}");
        }
    }
}
