//! Durations, memory limits and counts in a configuration, and environment variables in its values.

use std::{borrow::Cow, fmt, net::IpAddr, time::Duration};

use ipnet::IpNet;
use mcp_servlet_call::{Limit, ParseLimitError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Unexpected, Visitor},
};

/// The smallest memory limit: one page of WebAssembly.
const MIN_MEMORY: u64 = 64 << 10;

// The next two are only the schema of a `Limit`.

/// A time such as `500ms`, `30s`, `2m`, `1h`, or `none`.
#[derive(JsonSchema)]
#[schemars(with = "String")]
pub(super) enum Time {}

/// A size such as `512KiB`, `64MiB`, `1GiB`, or `none`.
#[derive(JsonSchema)]
#[schemars(with = "String")]
pub(super) enum Size {}

/// A time of at most a day, such as `500ms`, `30s`, `2m` or `1h`. With `ZERO`, also `0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct ShortTime<const ZERO: bool = false>(pub(super) Duration);

/// As [`ShortTime`], or `0s`.
pub(super) type TimeOrZero = ShortTime<true>;

/// How much memory an instance may take, such as `64MiB`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub(super) struct Memory(pub(super) Limit<u64>);

/// The least version of TLS.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) enum MinVersion {
    #[serde(rename = "1.2")]
    Tls12,
    #[serde(rename = "1.3")]
    Tls13,
}

/// The highest limit for connections, sessions or calls.
pub(super) const MAX_COUNT: usize = 1_000_000;

/// A whole number within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count<const MIN: usize, const MAX: usize>(pub(super) usize);

/// An IP address, or a range of them, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(super) struct Network(pub(super) IpNet);

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(IpNet::from);
        let network = address.or_else(|_| text.parse()).map_err(|_| {
            format!("expected an IP address or a range such as `10.0.0.0/8`, found `{text}`")
        })?;
        Ok(Self(network))
    }
}

impl<'de, const ZERO: bool> Deserialize<'de> for ShortTime<ZERO> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShortTimeVisitor)
    }
}

struct ShortTimeVisitor<const ZERO: bool>;

impl<const ZERO: bool> ShortTimeVisitor<ZERO> {
    const EXPECTED: &str = "a time such as \"500ms\", \"30s\" or \"2m\"";
}

impl<const ZERO: bool> Visitor<'_> for ShortTimeVisitor<ZERO> {
    type Value = ShortTime<ZERO>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        const MAX_TIME: Duration = Duration::from_hours(24);
        if ZERO && text == "0s" {
            return Ok(ShortTime(Duration::ZERO));
        }
        if ZERO && text == "0" {
            let expected = Self::EXPECTED;
            let message = format!("expected {expected}; did you mean \"0s\"?");
            return Err(E::custom(message));
        }
        match text.parse().map_err(E::custom)? {
            Limit::At(time) if time <= MAX_TIME => Ok(ShortTime(time)),
            _ => {
                let hours = MAX_TIME.as_secs() / 3600;
                let message = format!("expected a time of at most {hours}h, such as 30m");
                Err(E::custom(message))
            }
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let expected = Self::EXPECTED;
        let message = format!("expected {expected}, found {number}; did you mean \"{number}s\"?");
        Err(E::custom(message))
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = Limit::deserialize(deserializer)?;
        at_least_a_page(limit).map(Self).map_err(D::Error::custom)
    }
}

/// Parses a memory limit such as `64MiB` or `none`. The minimum is one page of WebAssembly.
///
/// # Errors
/// What was expected instead.
pub fn parse_memory(text: &str) -> Result<Limit<u64>, String> {
    let limit = text.parse();
    limit
        .map_err(|error: ParseLimitError| error.to_string())
        .and_then(at_least_a_page)
}

fn at_least_a_page(limit: Limit<u64>) -> Result<Limit<u64>, String> {
    match limit {
        Limit::At(size) if size < MIN_MEMORY => {
            Err("expected at least 64KiB, one page of WebAssembly memory".to_owned())
        }
        limit => Ok(limit),
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
        let count = usize::try_from(number)
            .ok()
            .filter(|count| (MIN..=MAX).contains(count));
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

/// Expands `${NAME}` and `${NAME:-default}` from the environment, and `${file:PATH}` from a file. `$$` is a literal dollar sign.
/// `value_of` has the value of a name such as `NAME` or `file:/PATH`, if there is one.
pub(super) fn expand(
    text: &str,
    mut value_of: impl FnMut(&str) -> Result<Option<String>, String>,
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
        if inside.starts_with('{') {
            let message =
                "this value takes no expression; write `${NAME}` for an environment variable";
            return Err(message.to_owned());
        }
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let Some(value) = value_of(name)?.or_else(|| default.map(str::to_owned)) else {
            return Err(without_value(name));
        };
        out += &value;
        rest = after;
    }
    Ok(out + rest)
}

/// The path in `file:PATH`. Other names are those of variables: the path begins with `/` or `./`.
pub(super) fn path_of_secret(name: &str) -> Option<&str> {
    let path = name.strip_prefix("file:")?;
    (path.starts_with('/') || path.starts_with("./")).then_some(path)
}

fn without_value(name: &str) -> String {
    if let Some(path) = path_of_secret(name) {
        return format!("cannot read the secret `{path}`: there is no such file");
    }
    // Other programs write it so.
    let bare = name.strip_prefix("env:");
    let hint = match (bare, name.strip_prefix("file:")) {
        (Some(bare), _) => format!("; write `${{{bare}}}`"),
        (None, Some(path)) => format!("; write `${{file:./{path}}}` for a file"),
        (None, None) => String::new(),
    };
    format!("the environment variable `{name}` is not set{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_other_programs_has_a_hint() {
        let expanded = expand("${env:TOKEN}", |_| Ok(None));
        let message = "the environment variable `env:TOKEN` is not set; write `${TOKEN}`";
        assert_eq!(expanded, Err(message.to_owned()));
    }

    #[test]
    fn a_secret_that_is_missing_is_named() {
        let expand = |text| expand(text, |_| Ok(None));
        let message = "cannot read the secret `/run/x`: there is no such file";
        assert_eq!(expand("${file:/run/x}"), Err(message.to_owned()));
        assert_eq!(expand("${file:./x:-none}"), Ok("none".to_owned()));
        let message =
            "the environment variable `file:x` is not set; write `${file:./x}` for a file";
        assert_eq!(expand("${file:x}"), Err(message.to_owned()));
        assert_eq!(expand("${file:-x}"), Ok("x".to_owned()));
    }

    #[test]
    fn memory_is_at_least_a_page() {
        assert!(parse_memory("1KiB").is_err() && parse_memory("64KiB").is_ok());
        assert_eq!(parse_memory("none"), Ok(Limit::Unlimited));
        let error = parse_memory("64MB").expect_err("not a unit");
        assert!(error.ends_with("did you mean 64MiB?"), "{error}");
    }

    #[test]
    fn takes_secrets_from_the_environment() {
        let variable = |name: &str| Ok((name == "KEY").then(|| "s3cret".to_owned()));
        let expand = |text| expand(text, variable);
        assert_eq!(expand("Bearer ${KEY}!"), Ok("Bearer s3cret!".into()));
        assert_eq!(expand("${NONE:-x}$$5"), Ok("x$5".into()));
        assert!(expand("${NONE}").is_err_and(|text| text.contains("`NONE`")));
        let error = expand("Bearer ${{ secrets.KEY }}").expect_err("no variable");
        assert!(
            error.starts_with("this value takes no expression"),
            "{error}"
        );
        assert!(expand("$KEY").is_err());
        assert!(expand("${KEY").is_err());
    }
}
