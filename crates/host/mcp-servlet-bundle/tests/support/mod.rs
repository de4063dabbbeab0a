//! A handler, and virtual tools from JSON.
#![allow(dead_code, reason = "each test uses a part")]

use mcp_servlet_bundle::{CatchSpec, ErrorSpec, JsonObject, Problem, Spec, StepSpec, VirtualTool};
use serde_json::{Value, json};

/// The definition of the tool `get_weather`.
pub(crate) fn weather() -> JsonObject {
    let tool = json!({
        "name": "get_weather",
        "description": "The weather.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": { "type": "string" },
                "units": { "type": "string" },
                "days": { "type": "integer" },
            },
            "required": ["city", "units"],
        },
        "outputSchema": {
            "type": "object",
            "properties": { "summary": { "type": "string" }, "temperature": { "type": "number" } },
        },
    });
    tool.as_object().cloned().expect("an object")
}

/// Compiles the virtual tool `city_weather` of the bundle `ops`.
pub(crate) fn compile(json: &Value) -> Result<VirtualTool, Vec<Problem>> {
    let mut spec = Spec {
        bundle: "ops".to_owned(),
        name: "city_weather".to_owned(),
        handler: handler_of(json),
        steps: steps_of(json),
        description: json["description"].as_str().map(str::to_owned),
        arguments: json.get("arguments").cloned(),
        inputs: json.get("inputs").and_then(Value::as_object).cloned(),
        set: json.get("set").and_then(Value::as_object).cloned(),
        output: json.get("output").cloned(),
        result: json.get("result").and_then(Value::as_object).cloned(),
        ..Spec::default()
    };
    let catches = json
        .get("catches")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    spec.catches = catches.map(catch).collect();
    VirtualTool::compile(&spec, &mut |text| Ok(text.replace("$$", "$")))
}

fn handler_of(json: &Value) -> Option<String> {
    let handler = json["handler"].as_str();
    let default = || json.get("step").is_none().then_some("weather:get_weather");
    handler.or_else(default).map(str::to_owned)
}

fn steps_of(json: &Value) -> Vec<StepSpec> {
    let steps = json["step"].as_object().into_iter().flatten();
    let step = |(name, json): (&String, &Value)| {
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        StepSpec {
            name: name.clone(),
            handler: text("handler"),
            resource: text("resource"),
            inputs: json["inputs"].as_object().cloned(),
            when: text("when"),
            each: text("each"),
            parallel: json["parallel"].as_i64(),
            most: json["most"].as_i64(),
            after: json["after"].as_array().map(|names| {
                let names = names.iter().filter_map(Value::as_str);
                names.map(str::to_owned).collect()
            }),
            may_fail: json["may_fail"] == true,
            timeout: None,
        }
    };
    steps.map(step).collect()
}

fn catch(json: &Value) -> CatchSpec {
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    let error = &json["error"];
    CatchSpec {
        code: json.get("code").cloned(),
        kind: text("kind"),
        when: text("when"),
        error: ErrorSpec {
            code: error["code"].as_i64().expect("a code"),
            message: error["message"].as_str().map(str::to_owned),
            data: error.get("data").cloned(),
        },
    }
}

/// All problems of a virtual tool.
pub(crate) fn problems(json: &Value) -> Vec<Problem> {
    match compile(json) {
        Ok(tool) => tool.prove(&[&weather()]).expect_err("problems"),
        Err(problems) => problems,
    }
}
