//! Hosts such as hyper-mcp and Extism's SDKs keep an instance after a call that failed: the next calls must not notice.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use e2e::{fixture, hyper_mcp_fixture};
use extism::{Function, Manifest, PTR, Plugin, UserData, Wasm};
use serde_json::{Value, json};

/// The failures that the fixtures know, and what the error of the host says about them.
const FAILURES: [(&str, &str); 7] = [
    ("panic", "as requested"),
    ("trap", "wasm `unreachable` instruction executed"),
    ("recursion", "out of bounds memory access"),
    ("allocation", "oom"),
    ("memory", "oom"),
    ("time", "timeout"),
    ("host", "the host failed"),
];
/// The calls that must succeed after a failure.
const ROUNDS: usize = 12;

/// Whether the function of the host fails.
static HOST_FAILS: AtomicBool = AtomicBool::new(false);

/// An instance that is kept, with limits that the failures exceed.
fn instance(wasm: &Path) -> Plugin {
    let bytes = std::fs::read(wasm).unwrap_or_else(|error| panic!("{}: {error}", wasm.display()));
    let manifest = Manifest::new([Wasm::data(bytes)])
        .with_memory_max(512)
        .with_timeout(Duration::from_millis(300));
    let name = "notify_logging_message";
    let notify = Function::new(name, [PTR], [], UserData::new(()), |_, _, _, _| {
        if HOST_FAILS.load(Ordering::Relaxed) {
            return Err(extism::Error::msg("the host failed"));
        }
        Ok(())
    });
    Plugin::new(manifest, [notify], false)
        .unwrap_or_else(|error| panic!("{}: {error:?}", wasm.display()))
}

/// The output of an export, or the error with its causes.
fn run(plugin: &mut Plugin, export: &str, input: &str) -> Result<String, String> {
    let output = plugin.call::<_, String>(export, input);
    output.map_err(|error| format!("{error:?}"))
}

/// An ABI: the fixture built for it, and the names and forms that it uses.
struct Abi {
    instance: Plugin,
    describe: &'static str,
    call: &'static str,
    prompt: &'static str,
    wrap: fn(Value) -> Value,
}

impl Abi {
    fn servlet() -> Self {
        Self {
            instance: instance(&fixture("kept")),
            describe: "describe",
            call: "call",
            prompt: "ref/prompt",
            wrap: |params| json!({ "params": params }),
        }
    }

    fn hyper_mcp() -> Self {
        Self {
            instance: instance(&hyper_mcp_fixture("kept")),
            describe: "list_tools",
            call: "call_tool",
            prompt: "prompt",
            wrap: |request| json!({ "context": { "id": 1, "_meta": {} }, "request": request }),
        }
    }

    /// The exports that take a request, with one that fails in this way.
    fn requests(&self, how: &str) -> Vec<(&'static str, String)> {
        let tool = |name: &str| json!({ "name": name, "arguments": { "how": how } });
        let prompt = json!({ "type": self.prompt, "name": "get" });
        let requests = [
            (self.call, tool("notify")),
            (self.call, tool("fail")),
            ("read_resource", json!({ "uri": format!("kept://{how}") })),
            ("get_prompt", tool("get")),
            (
                "complete",
                json!({ "ref": prompt, "argument": { "name": "how", "value": how } }),
            ),
        ];
        requests
            .map(|(export, request)| (export, (self.wrap)(request).to_string()))
            .into()
    }

    /// The results of all exports for calls that succeed.
    fn results(&mut self) -> Vec<String> {
        let lists = [
            self.describe,
            "list_resources",
            "list_resource_templates",
            "list_prompts",
        ];
        let lists = lists.map(|export| (export, String::new()));
        let calls = lists.into_iter().chain(self.requests("none"));
        calls
            .map(|(export, input)| {
                run(&mut self.instance, export, &input)
                    .unwrap_or_else(|error| panic!("`{export}` {input}: {error}"))
            })
            .collect()
    }

    /// Lets each export fail in each way.
    fn assert_survives(&mut self) {
        let expected = self.results();
        for (how, reason) in FAILURES {
            let is_host = how == "host";
            let requests = self.requests(if is_host { "none" } else { how });
            // Only the first of them calls a function of the host.
            let count = if is_host { 1 } else { requests.len() };
            for (export, input) in &requests[..count] {
                HOST_FAILS.store(is_host, Ordering::Relaxed);
                let error = run(&mut self.instance, export, input);
                HOST_FAILS.store(false, Ordering::Relaxed);
                let error = error.expect_err(how);
                assert!(error.contains(reason), "{export} {how}: {error}");
                for _ in 0..ROUNDS {
                    assert_eq!(self.results(), expected, "{export} {how}");
                }
            }
        }
    }

    /// An export without an input is an error that the servlet itself returns.
    fn assert_needs_input(&mut self) {
        let expected = self.results();
        for (export, _) in self.requests("none") {
            let error = run(&mut self.instance, export, "").expect_err(export);
            assert!(error.contains("mcp-fault: {\"code\":-32700}"), "{error}");
            assert_eq!(self.results(), expected);
        }
    }

    /// Each panic leaves some hundred bytes of the stack's megabyte behind.
    fn assert_survives_often(&mut self) {
        let expected = self.results();
        for _ in 0..5000 {
            let (export, input) = &self.requests("panic")[1];
            let error = run(&mut self.instance, export, input).expect_err("a panic");
            assert!(error.contains("as requested"), "{error}");
        }
        assert_eq!(self.results(), expected);
    }
}

#[test]
fn an_instance_works_after_each_export_failed_in_each_way() {
    for mut abi in [Abi::servlet(), Abi::hyper_mcp()] {
        abi.assert_survives();
        abi.assert_needs_input();
    }
}

#[test]
fn an_instance_works_after_more_failures_than_its_stack_has_room_for() {
    Abi::servlet().assert_survives_often();
}

#[test]
fn an_instance_of_a_plugin_works_after_its_exports_failed() {
    let mut plugin = instance(&fixture("kept_plugin"));
    for (how, reason) in FAILURES.into_iter().filter(|(how, _)| *how != "host") {
        let error = run(&mut plugin, "run", how).expect_err(how);
        assert!(error.contains(reason), "{how}: {error}");
        for _ in 0..ROUNDS {
            assert_eq!(run(&mut plugin, "run", "none").as_deref(), Ok("fine"));
            assert_eq!(run(&mut plugin, "fine", "").as_deref(), Ok("fine"));
        }
    }
}
