//! Times, sizes, hosts, and values from the environment, as people write them.

use std::{net::Ipv6Addr, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};

/// A time such as `500ms`, `30s`, `2m`, `1h`, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Time(pub(super) Option<Duration>);

/// A size such as `512KiB`, `64MiB`, `1GiB`, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Size(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_size(&text).map(Self).map_err(D::Error::custom)
    }
}

/// Reads a time such as `500ms`, `30s`, `2m` or `1h`; `none` is no bound.
///
/// # Errors
/// What was expected instead.
pub fn parse_duration(text: &str) -> Result<Option<Duration>, String> {
    const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
    let limit = parse(text, &UNITS, "500ms, 30s or 2m")?;
    Ok(limit.map(Duration::from_millis))
}

/// Reads a size such as `512KiB`, `64MiB` or `1GiB`, in bytes; `none` is no bound.
///
/// # Errors
/// What was expected instead.
pub fn parse_size(text: &str) -> Result<Option<u64>, String> {
    const UNITS: [(&str, u64); 4] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("B", 1),
    ];
    parse(text, &UNITS, "512KiB, 64MiB or 1GiB")
}

/// Reads a pattern of hosts, `*` and `?` in it, such as `*.example.com`. Addresses of IPv6 get their brackets.
///
/// # Errors
/// What was expected instead of a pattern that no host matches.
pub fn parse_host(text: &str) -> Result<String, String> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse::<Ipv6Addr>() {
        return Ok(url::Host::<&str>::Ipv6(address).to_string());
    }
    // Where there is a colon in a host, there are brackets around it.
    let may_have_colons = text.starts_with(['[', '*', '?'])
        && text.ends_with([']', '*', '?'])
        && !text.contains("]:");
    if text.is_empty() || text.contains('/') || (text.contains(':') && !may_have_colons) {
        return Err(
            "expected a host without scheme, port and path, such as api.example or *.example"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// A whole number with one of the units, which comes first in the list if it ends another one.
fn parse(text: &str, units: &[(&str, u64)], examples: &str) -> Result<Option<u64>, String> {
    if text == "none" {
        return Ok(None);
    }
    let parsed = units.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(*factor).filter(|value| *value > 0)
    });
    parsed
        .map(Some)
        .ok_or_else(|| format!("expected a value such as {examples}, or none"))
}

/// Puts values of the environment for `${NAME}` and `${NAME:-default}`; `$$` is a dollar.
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
            Ok(Some(Duration::from_millis(500)))
        );
        assert_eq!(parse_duration("2m"), Ok(Some(Duration::from_mins(2))));
        assert_eq!(parse_duration("none"), Ok(None));
        assert_eq!(parse_size("64MiB"), Ok(Some(64 << 20)));
        assert_eq!(parse_size("10B"), Ok(Some(10)));
        for wrong in ["", "5", "s", "0s", "-1s", "99999999999999999999h"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_hosts_that_something_can_match() {
        for (text, pattern) in [
            ("api.example", "api.example"),
            ("*.example", "*.example"),
            ("*", "*"),
            ("::1", "[::1]"),
            ("[0:0::1]", "[::1]"),
            ("[fe80:*]", "[fe80:*]"),
            ("*:*", "*:*"),
        ] {
            assert_eq!(parse_host(text).as_deref(), Ok(pattern));
        }
        for wrong in [
            "",
            "https://api.example",
            "api.example/",
            "api.example:443",
            "*.example:443",
            "localhost:*",
            "[::1]:80",
            "[::1]:*",
        ] {
            assert!(parse_host(wrong).is_err(), "{wrong}");
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
