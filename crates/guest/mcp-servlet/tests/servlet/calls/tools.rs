//! Calls of tools of other servers, with prepared results.

// A client that `xtp-codegen` has generated.
#[rustfmt::skip]
#[allow(dead_code, unreachable_pub, reason = "the test uses a part of it")]
#[path = "../../../../../xtp/xtp-codegen/tests/client/weather/generated.rs"]
mod generated;

use std::cell::Cell;
use std::rc::Rc;

use mcp_caller::{Caller as _, NoArguments, Wrap};
use mcp_servlet::prelude::*;
use mcp_servlet::testing::Client;
use mcp_servlet::{CallToolResult, ToolsError, ToolsErrorKind};
use serde_json::{Value, json};

use self::generated::{GetWeather, Report, Weather as WeatherClient};

#[derive(Debug, Serialize)]
struct Place {
    city: String,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Weather {
    temperature: f64,
    wind: Option<u8>,
}

#[tool]
fn weather(context: &Context, city: String) -> Result<f64, ToolError> {
    let weather: Weather = context
        .tools()
        .call("weather:get_weather", &Place { city })?;
    Ok(weather.temperature)
}

mcp_servlet::export!(static SERVLET = {
    tools: [weather],
    calls: ["weather:get_weather", "air:*"],
    reads: ["docs:file:///*"],
});

/// A client whose tool `air:search` has this result, as MCP's JSON.
fn answering(result: Value) -> Client {
    SERVLET.client().with_tool_result("air:search", move |_| {
        Ok(serde_json::from_value(result.clone()).unwrap())
    })
}

fn search<T: serde::de::DeserializeOwned>(result: Value) -> Result<T, ToolsError> {
    answering(result).context().tools().call("air:search", ())
}

#[test]
fn a_result_is_read_as_the_requested_type() {
    let client = SERVLET.client().with_tool("weather:get_weather", |_| {
        Ok(json!({ "temperature": 21.5 }))
    });
    let result = client.call("weather", json!({ "city": "Oslo" })).unwrap();
    assert_eq!(result.text(), "21.5");
    assert_eq!(
        weather(client.context(), "Rome".to_owned())
            .unwrap()
            .to_string(),
        "21.5"
    );
    let calls = client.calls();
    assert_eq!(
        calls,
        [
            ("weather:get_weather", json!({ "city": "Oslo" })),
            ("weather:get_weather", json!({ "city": "Rome" })),
        ]
    );
    assert_ne!(calls[0], ("weather:get_weather", json!({ "city": "Rome" })));
    assert_ne!(calls[0], ("weather:forecast", json!({ "city": "Oslo" })));
}

#[test]
fn a_tool_of_a_test_gets_the_arguments_and_keeps_state() {
    let times = Rc::new(Cell::new(0));
    let counted = Rc::clone(&times);
    let client = SERVLET
        .client()
        .with_tool("weather:get_weather", move |arguments| {
            counted.set(counted.get() + 1);
            let arguments: Value = serde_json::from_str(arguments.get()).unwrap();
            match arguments["city"].as_str() {
                Some("Oslo") => Ok(json!({ "temperature": counted.get() })),
                city => Err(ToolsError::new(format!("no city {city:?}"))),
            }
        });
    assert_eq!(
        weather(client.context(), "Oslo".to_owned())
            .unwrap()
            .to_string(),
        "1"
    );
    assert_eq!(
        weather(client.context(), "Oslo".to_owned())
            .unwrap()
            .to_string(),
        "2"
    );
    let error = weather(client.context(), "Rome".to_owned()).unwrap_err();
    assert_eq!(
        error.message(),
        r#"weather:get_weather: no city Some("Rome")"#
    );
    assert_eq!(times.get(), 3);
}

#[test]
fn a_call_without_arguments_sends_none() {
    let client = SERVLET.client().with_tool("air:list", |_| Ok(["a1"]));
    let list: Vec<String> = client.context().tools().call("air:list", ()).unwrap();
    assert_eq!(list, ["a1"]);
    assert_eq!(client.calls(), [("air:list", json!({}))]);
}

#[test]
fn the_value_is_structured_content_or_a_single_text() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    for result in [
        json!({ "content": [text("warm")], "structuredContent": { "temperature": 21.5, "wind": 3 } }),
        json!({ "content": [text(r#"{"temperature": 21.5, "wind": 3}"#)] }),
        json!({ "content": [text(r#"{"temperature":21.5,"wind":3}"#)], "structuredContent": null }),
        json!({
            "content": [],
            "structuredContent": { "result": { "temperature": 21.5, "wind": 3 } },
            "_meta": { "fastmcp": { "wrap_result": true } },
        }),
    ] {
        let weather = search::<Weather>(result.clone());
        let expected = Weather {
            temperature: 21.5,
            wind: Some(3),
        };
        assert_eq!(weather.unwrap(), expected, "{result}");
    }
}

#[test]
fn a_result_of_another_type_says_where() {
    let no_value = "the result has no structured content, and no single text that is JSON";
    let text = |text: &str| json!({ "type": "text", "text": text });
    for (result, message) in [
        (
            json!({ "content": [], "structuredContent": { "temperature": "hot" } }),
            "the result is not the expected JSON: wrong type, expected a number at offset 15 in `/temperature`",
        ),
        (
            json!({ "content": [], "structuredContent": {} }),
            "the result is not the expected JSON: missing field `temperature` at offset 0",
        ),
        (
            json!({ "content": [text("It is warm.")] }),
            "the result is not the expected JSON: expected a value at offset 0",
        ),
        (json!({ "content": [] }), no_value),
        (json!({ "content": [text("{}"), text("{}")] }), no_value),
        (
            json!({ "content": [{ "type": "image", "data": "", "mimeType": "image/png" }] }),
            no_value,
        ),
        (
            json!({ "content": [], "structuredContent": {}, "_meta": { "fastmcp": { "wrap_result": true } } }),
            no_value,
        ),
    ] {
        let error = search::<Weather>(result).unwrap_err();
        assert_eq!(error.kind(), ToolsErrorKind::Mismatch, "{error}");
        assert_eq!(error.message(), message);
        assert_eq!(error.to_string(), format!("air:search: {message}"));
    }
}

#[test]
fn a_tool_that_fails_is_an_error_of_a_typed_call() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    for (content, message) in [
        (json!([text("no flights")]), "no flights"),
        (
            json!([text("no flights"), text("try Rome")]),
            "no flights\ntry Rome",
        ),
        (json!([]), "the tool reports a failure without a text"),
    ] {
        let result = json!({ "content": content, "structuredContent": {}, "isError": true });
        let error = search::<Value>(result.clone()).unwrap_err();
        assert_eq!(error.kind(), ToolsErrorKind::Tool);
        assert_eq!(error.message(), message);
        assert_eq!(error.tool(), "air:search");
        let client = answering(result);
        let raw = client.context().tools().call_raw("air:search", ());
        assert_eq!(raw.unwrap().is_error, Some(true));
    }
}

#[test]
fn the_model_reads_the_name_of_the_tool_and_the_message() {
    let client = SERVLET.client().with_tool("weather:get_weather", |_| {
        Err::<(), _>(ToolsError::new("no city `Olso`").with_kind(ToolsErrorKind::Tool))
    });
    let result = client.call("weather", json!({ "city": "Olso" })).unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(result.text(), "weather:get_weather: no city `Olso`");
}

#[test]
fn an_error_of_the_host_has_its_kind_its_code_and_its_data() {
    for kind in ToolsErrorKind::ALL {
        let client = SERVLET.client().with_tool("air:search", move |_| {
            let data = RawJson::parse(r#"{"left": 0}"#).unwrap();
            let error = ToolsError::new("it broke").with_code(-32000);
            Err::<(), _>(error.with_data(data).with_kind(kind))
        });
        let context = client.context();
        let error = context.tools().call::<Value>("air:search", ()).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.to_string(), "air:search: it broke");
        // A tool that fails has a result, and results have no code.
        let is_result = kind == ToolsErrorKind::Tool;
        assert_eq!(error.code(), (!is_result).then_some(-32000));
        let data = error.data().map(RawJson::into_string);
        assert_eq!(data.as_deref(), (!is_result).then_some(r#"{"left": 0}"#));
    }
    let error = ToolsError::new("it broke");
    assert_eq!(error.kind(), ToolsErrorKind::Other);
    assert_eq!((error.code(), error.data()), (None, None));
    assert_eq!(error.to_string(), "it broke");
}

#[test]
fn arguments_without_json_are_an_error_before_the_call() {
    let client = SERVLET.client();
    let arguments = std::collections::BTreeMap::from([((), 1)]);
    let context = client.context();
    let error = context
        .tools()
        .call_raw("air:search", arguments)
        .unwrap_err();
    assert_eq!(error.kind(), ToolsErrorKind::Arguments);
    let message = error.message();
    assert!(
        message.starts_with("the arguments have no JSON: "),
        "{message}"
    );
}

#[test]
fn a_raw_result_has_all_blocks() {
    let result = json!({
        "content": [
            { "type": "text", "text": "a map" },
            { "type": "image", "data": "R0lG", "mimeType": "image/gif" },
            { "type": "resource_link", "uri": "file:///a", "name": "a" },
        ],
        "structuredContent": [1],
        "_meta": { "a": 1 },
    });
    let client = answering(result.clone());
    let raw: CallToolResult = client
        .context()
        .tools()
        .call_raw(
            "air:search",
            &Place {
                city: "Oslo".into(),
            },
        )
        .unwrap();
    assert_eq!(serde_json::to_value(&raw).unwrap(), result);
    assert_eq!(
        client.calls(),
        [(
            "air:search",
            &Place {
                city: "Oslo".into()
            }
        )]
    );
}

#[test]
fn a_resource_has_its_contents() {
    let client = SERVLET
        .client()
        .with_resource("docs", "file:///rules.md", "Be \"polite\".");
    let tools = client.context().tools();
    let contents = tools.read("docs", "file:///rules.md").unwrap();
    assert_eq!(
        contents,
        [ResourceContents::text("file:///rules.md", "Be \"polite\".")]
    );
    assert!(client.calls().is_empty());
}

#[test]
fn a_generated_client_calls_a_member() {
    let client = SERVLET
        .client()
        .with_tool("north:get_weather", |_| {
            Ok(json!({ "temperature": 4.5, "unit": "celsius" }))
        })
        .with_tool_result("north:list_cities", |_| {
            Ok(CallToolResult::new(vec![Content::text("Oslo")]))
        })
        .with_resource("north", "city://Oslo/map?zoom=3", "a map");
    let weather = WeatherClient::new(client.context().tools().member("north"));
    let oslo = weather.get_weather(&GetWeather::new("Oslo")).unwrap();
    assert_eq!(oslo.temperature.to_string(), "4.5");
    assert_eq!(weather.list_cities().unwrap().text(), "Oslo");
    let map = weather.resources().map("Oslo", Some("3")).unwrap();
    assert_eq!(map[0].text.as_deref(), Some("a map"));
    let city = "Oslo".to_owned();
    let error = weather.prompts().report(&Report { city }).unwrap_err();
    assert_eq!(error.kind(), ToolsErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "north:report: a servlet cannot get prompts of other servers"
    );
    assert_eq!(
        client.calls(),
        [
            ("north:get_weather", json!({ "city": "Oslo" })),
            ("north:list_cities", json!({})),
        ]
    );
}

#[test]
fn a_member_unwraps_values() {
    let client = answering(json!({ "content": [], "structuredContent": { "result": [1, 2] } }));
    let air = client.context().tools().member("air");
    let numbers: Vec<u8> = air.call("search", &NoArguments {}, Wrap::Result).unwrap();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn recorded_calls_answer_by_name_and_arguments() {
    let client = SERVLET
        .client()
        .with_recorded_tools("tests/servlet/calls/recorded.json");
    let tools = client.context().tools();
    let to = |city: &str| Place { city: city.into() };
    let rome: Vec<String> = tools.call("air:search", to("Rome")).unwrap();
    assert_eq!(rome, ["a1"]);
    let oslo: Vec<String> = tools.call("air:search", to("Oslo")).unwrap();
    assert_eq!(oslo, ["a2", "a3"]);
    let booking = json!({ "seats": 2, "id": "a1" });
    let error = tools.call::<Value>("air:book", booking).unwrap_err();
    assert_eq!(error.kind(), ToolsErrorKind::NotAllowed);
    assert_eq!(error.code(), Some(-32603));
    assert_eq!(tools.call::<u8>("air:count", ()).unwrap(), 3);
    assert_eq!(client.calls().len(), 4);
    let rules = tools.read("docs", "file:///rules.md").unwrap();
    assert_eq!(rules[0].text.as_deref(), Some("Be polite."));
    let gone = tools.read("docs", "file:///gone.md").unwrap_err();
    assert_eq!(gone.kind(), ToolsErrorKind::Unknown);
}

#[test]
#[should_panic(
    expected = "the test has no call of `air:search` with {\"city\":\"Bern\"}; the recorded ones are in tests/servlet/calls/recorded.json"
)]
fn a_call_with_other_arguments_than_the_recorded_ones_ends_the_test() {
    let client = SERVLET
        .client()
        .with_recorded_tools("tests/servlet/calls/recorded.json");
    let _ = client
        .context()
        .tools()
        .call_raw("air:search", json!({ "city": "Bern" }));
}

#[test]
#[should_panic(expected = "tests/servlet/main.rs is no list of recorded calls: expected a value")]
fn a_file_without_recorded_calls_ends_the_test() {
    let _ = SERVLET
        .client()
        .with_recorded_tools("tests/servlet/main.rs");
}

#[test]
#[should_panic(expected = "the test has no tool `air:book`")]
fn a_call_of_a_tool_that_is_not_prepared_ends_the_test() {
    let client = SERVLET.client().with_tool("air:search", |_| Ok(json!([])));
    let _ = client.context().tools().call_raw("air:book", ());
}

#[test]
#[should_panic(expected = "the test has no resource `docs:file:///b.md`")]
fn reading_a_resource_that_is_not_prepared_ends_the_test() {
    let client = SERVLET.client().with_resource("docs", "file:///a.md", "");
    let _ = client.context().tools().read("docs", "file:///b.md");
}
