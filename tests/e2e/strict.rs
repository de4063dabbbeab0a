//! Servlets that are built for the first interfaces, read with the types that `xtp-codegen` makes of these interfaces.

use e2e::{Profile, servlet_strict, wasm};
use extism::{Function, Manifest, PTR, Plugin, UserData, Wasm};
use serde_json::{Value, json};
use xtp_goldens::{one_tool, several_tools};

/// A servlet in Extism. The functions of hyper-mcp do nothing.
fn load(wasm: &std::path::Path) -> Plugin {
    let bytes = std::fs::read(wasm).unwrap_or_else(|error| panic!("{}: {error}", wasm.display()));
    let functions = ["notify_logging_message", "notify_progress"];
    let functions = functions.map(|name| {
        Function::new(name, [PTR], [], UserData::new(()), |_, _, _, _| Ok(()))
            .with_namespace("extism:host/user")
    });
    Plugin::new(Manifest::new([Wasm::data(bytes)]), functions, false).expect("an Extism plugin")
}

fn describe(plugin: &mut Plugin) -> String {
    plugin.call("describe", "").expect("a description")
}

fn call(plugin: &mut Plugin, tool: &str) -> Option<String> {
    let input = json!({ "params": { "name": tool, "arguments": {} } });
    plugin.call("call", input.to_string()).ok()
}

#[test]
fn both_interfaces_can_read_the_results_of_all_tools() {
    let mut plugin = load(&servlet_strict("everything"));
    let list: several_tools::ListToolsResult =
        serde_json::from_str(&describe(&mut plugin)).expect("a list of tools");
    let mut resources = 0;
    let mut types = Vec::new();
    for tool in list.tools {
        let Some(result) = call(&mut plugin, &tool.name) else {
            continue;
        };
        let one: one_tool::CallToolResult = serde_json::from_str(&result)
            .unwrap_or_else(|error| panic!("{}: {error}: {result}", tool.name));
        let several: several_tools::CallToolResult = serde_json::from_str(&result)
            .unwrap_or_else(|error| panic!("{}: {error}: {result}", tool.name));
        assert_eq!(one.content.len(), several.content.len());
        for block in one.content {
            if block.r#type == one_tool::ContentType::Resource {
                let resource = block.resource.expect("the key `Resource`");
                assert!(resource.text.is_some() || resource.blob.is_some());
                resources += 1;
            }
            types.push(block.r#type);
        }
    }
    assert!(resources > 0, "{types:?}");
    assert!(types.contains(&one_tool::ContentType::Image), "{types:?}");
}

/// Why the ABI exists: the results of the default ABI have members and types that the interfaces lack.
#[test]
fn the_first_interface_cannot_read_audio_of_the_default_abi() {
    let mut plugin = load(&wasm("everything", Profile::Servlet));
    let audio = call(&mut plugin, "test_audio_content").expect("a result");
    let result = serde_json::from_str::<one_tool::CallToolResult>(&audio);
    let error = result.expect_err("the type is unknown").to_string();
    assert!(error.contains("unknown variant `audio`"), "{error}");
}

#[test]
fn a_servlet_with_one_tool_describes_it_for_both_interfaces() {
    let text = describe(&mut load(&wasm("greet", Profile::Servlet)));
    let tool: one_tool::ToolDescription = serde_json::from_str(&text).expect("a tool");
    let list: several_tools::ListToolsResult = serde_json::from_str(&text).expect("a list");
    assert_eq!(tool.name, list.tools[0].name);
    assert_eq!(
        Value::Object(tool.input_schema),
        Value::Object(list.tools[0].input_schema.clone())
    );
}
