//! The needs that a servlet declares.

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

/// What the weather service wants.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
#[allow(dead_code, reason = "only its schema matters here")]
struct Settings {
    /// the key of the weather service
    #[schema(secret)]
    api_key: String,
    retries: Option<u8>,
    #[serde(flatten)]
    service: Service,
}

#[derive(Deserialize, Schema)]
#[allow(dead_code, reason = "only its schema matters here")]
struct Service {
    /// where the service is
    base_url: String,
}

/// Tells the weather.
#[tool]
fn weather() -> &'static str {
    "rain"
}

mod with_needs {
    use super::*;
    mcp_servlet::export!(pub(super) static SERVLET = {
        hosts: ["api.example", config.base_url, "*.cdn.example", "[::1]"],
        tools: [weather],
        config: Settings,
        paths: ["/data"],
    });
}

mod with_calls {
    use super::*;
    const AIR: &str = "air:*";
    mcp_servlet::export!(pub(super) static SERVLET = {
        reads: ["docs:file:///*"],
        tools: [weather],
        hosts: ["api.example"],
        calls: ["weather:get_weather", AIR],
    });
}

mod with_reads {
    use super::*;
    mcp_servlet::export!(pub(super) static SERVLET = { tools: [weather], calls: [], reads: ["docs:*"] });
}

mod without_needs {
    use super::*;
    mcp_servlet::export!(pub(super) static SERVLET = { tools: [weather] });
}

#[test]
fn a_servlet_declares_its_configuration_its_hosts_and_its_directories() {
    let needs: Value = serde_json::from_str(with_needs::SERVLET.needs()).unwrap();
    let config = &needs["config"];
    assert_eq!(config["description"], "What the weather service wants.");
    assert_eq!(config["required"], json!(["api-key", "base_url"]));
    assert_eq!(
        config["properties"]["api-key"],
        json!({ "type": "string", "description": "the key of the weather service", "writeOnly": true })
    );
    assert_eq!(config["properties"]["retries"]["maximum"], 255);
    assert_eq!(
        needs["hosts"],
        json!(["api.example", "config.base_url", "*.cdn.example", "[::1]"])
    );
    assert_eq!(needs["paths"], json!(["/data"]));
}

#[test]
fn a_servlet_declares_the_tools_and_resources_of_other_servers() {
    assert_eq!(
        with_calls::SERVLET.needs(),
        r#"{"hosts":["api.example"],"calls":["weather:get_weather","air:*"],"reads":["docs:file:///*"]}"#
    );
    assert_eq!(with_reads::SERVLET.needs(), r#"{"reads":["docs:*"]}"#);
}

#[test]
fn servlet_without_declared_needs_has_none() {
    assert_eq!(without_needs::SERVLET.needs(), "");
}
