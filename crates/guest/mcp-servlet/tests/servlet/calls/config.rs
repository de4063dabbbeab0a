//! Configuration as a struct.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use mcp_servlet::prelude::*;
use mcp_servlet::testing::Client;
use serde_json::json;

#[derive(Deserialize, Schema, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Slow,
}

#[derive(Deserialize, Schema, Debug, PartialEq)]
struct Limits {
    most: u16,
}

#[derive(Deserialize, Schema, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
struct Settings {
    api_key: String,
    retries: u8,
    offset: Option<i64>,
    huge: Option<u64>,
    largest: Option<NonZeroU64>,
    ratio: Option<f64>,
    #[serde(default)]
    verbose: bool,
    mode: Option<Mode>,
    hosts: Option<Vec<String>>,
    labels: Option<BTreeMap<String, String>>,
    mark: Option<char>,
    any: Option<RawJson>,
    #[serde(flatten)]
    limits: Limits,
}

fn full() -> Client {
    SERVLET
        .client()
        .with_config("api-key", "\"quoted\" 7")
        .with_config("retries", " 3 ")
        .with_config("offset", "-5")
        .with_config("huge", "18446744073709551615")
        .with_config("largest", "18446744073709551615")
        .with_config("ratio", "0.5")
        .with_config("verbose", "true")
        .with_config("mode", "slow")
        .with_config("hosts", r#"["a","b"]"#)
        .with_config("labels", r#"{"a":"b"}"#)
        .with_config("mark", "ä")
        .with_config("any", "just text")
        .with_config("most", "9")
}

#[test]
fn each_key_is_read_by_the_type_of_its_field() {
    let settings: Settings = full().context().config().unwrap();
    assert_eq!(settings.api_key, "\"quoted\" 7");
    assert_eq!((settings.retries, settings.offset), (3, Some(-5)));
    assert_eq!((settings.huge, settings.ratio), (Some(u64::MAX), Some(0.5)));
    assert_eq!(settings.largest, Some(NonZeroU64::MAX));
    assert_eq!((settings.verbose, settings.mode), (true, Some(Mode::Slow)));
    assert_eq!(settings.hosts.unwrap(), ["a", "b"]);
    assert_eq!(settings.labels.unwrap()["a"], "b");
    assert_eq!(settings.mark, Some('ä'));
    assert_eq!(settings.any.unwrap().get(), "\"just text\"");
    assert_eq!(settings.limits.most, 9);
}

#[test]
fn optional_keys_can_be_missing() {
    let client = SERVLET
        .client()
        .with_config("api-key", "k")
        .with_config("retries", "1")
        .with_config("most", "1");
    let settings: Settings = client.context().config().unwrap();
    assert_eq!(
        (settings.offset, settings.verbose, settings.mode),
        (None, false, None)
    );
}

#[test]
fn reports_all_problems_at_once_without_values() {
    let client = SERVLET
        .client()
        .with_config("retries", "secret")
        .with_config("offset", "1.5")
        .with_config("ratio", "1,5")
        .with_config("verbose", "yes")
        .with_config("mode", "secret")
        .with_config("hosts", "secret")
        .with_config("labels", "[]")
        .with_config("mark", "secret");
    let fault = client.context().config::<Settings>().unwrap_err();
    assert_eq!(fault.code(), Fault::INTERNAL_ERROR);
    assert_eq!(
        fault.message(),
        "the servlet is not configured: `api-key` is not set; \
         `retries` must be an integer from 0 to 255; `offset` must be an integer; `ratio` must be a number; \
         `verbose` must be `true` or `false`; `mode` must be one of `fast`, `slow`; `hosts` must be a JSON array; \
         `labels` must be a JSON object; `mark` must be one character; `most` is not set"
    );
}

#[test]
fn reports_errors_of_the_type_by_key() {
    let fault = full()
        .with_config("hosts", "[1]")
        .context()
        .config::<Settings>()
        .unwrap_err();
    assert_eq!(
        fault.message(),
        "the servlet is not configured: `/hosts/0` does not fit"
    );
}

#[derive(Debug, Deserialize, Schema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Wing {
    East,
    #[serde(other)]
    Other,
}

#[derive(Deserialize, Schema)]
struct Door {
    #[schema(json = r#"{ "type": "string", "minLength": 4 }"#)]
    pin: String,
    wing: Wing,
}

#[test]
fn text_that_looks_like_a_number_stays_text() {
    let client = SERVLET.client().with_config("pin", "1234");
    let door: Door = client.with_config("wing", "7").context().config().unwrap();
    assert_eq!((&*door.pin, door.wing), ("1234", Wing::Other));
}

/// A range that only its own check can judge.
#[derive(Debug, Deserialize, Schema)]
#[serde(try_from = "Bounds")]
struct Range;

#[derive(Deserialize, Schema)]
struct Bounds {
    from: u8,
    to: u8,
}

impl TryFrom<Bounds> for Range {
    type Error = &'static str;

    fn try_from(bounds: Bounds) -> Result<Self, Self::Error> {
        (bounds.from < bounds.to).then_some(Self).ok_or("empty")
    }
}

#[test]
fn configuration_refused_by_its_own_check_is_an_error() {
    let client = SERVLET.client().with_config("from", "2");
    let fault = client.with_config("to", "1").context().config::<Range>();
    assert_eq!(
        fault.unwrap_err().message(),
        "the servlet is not configured: it does not fit"
    );
}

#[tool]
fn mode(context: &Context) -> Result<String, ToolError> {
    let settings: Settings = context.config()?;
    Ok(format!("{:?}", settings.mode))
}

mcp_servlet::export!(static SERVLET = { tools: [mode] });

#[test]
fn servlet_without_configuration_can_be_described() {
    assert_eq!(SERVLET.client().describe().unwrap().tools.unwrap().len(), 1);
    let fault = SERVLET.call("mode", json!({})).unwrap_err();
    assert!(
        fault.message().starts_with("the servlet is not configured"),
        "{fault}"
    );
    let result = full().call("mode", json!({})).unwrap();
    assert_eq!(result.text(), "Some(Slow)");
}
