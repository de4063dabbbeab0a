//! Servlets of a few lines, written in the WebAssembly text format.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod caller;
pub(crate) mod proxy;

use mcp_servlet_host::{LoadError, Servlet};
use mcp_servlet_runtime::{LoadOptions, Source};

/// The description of a servlet with one tool, `t`.
pub(crate) const DESCRIPTION: &str =
    r#"{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}"#;

/// Builds a module whose exports run the given WebAssembly text.
///
/// The text can use `$output` and `$error` with the offset and length of a constant in memory;
/// [`Wat::text`] adds such a constant.
pub(crate) struct Wat {
    imports: String,
    data: Vec<u8>,
    exports: String,
}

impl Wat {
    pub(crate) fn new() -> Self {
        Self {
            imports: String::new(),
            data: Vec::new(),
            exports: String::new(),
        }
    }

    /// Appends a text to the constants.
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.constant(text);
        self
    }

    /// Appends a text to the constants, and returns its offset and length.
    pub(crate) fn constant(&mut self, text: &str) -> String {
        let place = format!("(i32.const {}) (i32.const {})", self.data.len(), text.len());
        self.data.extend(text.as_bytes());
        place
    }

    /// Adds a field to the module, after its functions.
    pub(crate) fn after(mut self, field: &str) -> Self {
        self.exports.push_str(field);
        self
    }

    pub(crate) fn import(mut self, import: &str) -> Self {
        self.imports.push_str(import);
        self
    }

    /// An export that runs `body`. In it, `{}` stands for the offset and length of `text`.
    pub(crate) fn export(mut self, name: &str, text: &str, body: &str) -> Self {
        let place = self.constant(text);
        let body = body.replace("{}", &place);
        self.exports
            .extend(["(func (export \"", name, "\") (result i32) ", &body, ")"]);
        self
    }

    pub(crate) fn describe(self, json: &str) -> Self {
        self.export("describe", json, "(call $output {}) (i32.const 0)")
    }

    pub(crate) fn answer(self, json: &str) -> Self {
        self.export("call", json, "(call $output {}) (i32.const 0)")
    }

    /// Returns the first text in the first call, and so on. The last text is repeated.
    pub(crate) fn answers(self, texts: &[&str]) -> Self {
        self.each("call", texts)
    }

    /// The same for any export. A module can have only one such export.
    pub(crate) fn each(mut self, export: &str, texts: &[&str]) -> Self {
        let answers = texts.iter().enumerate().map(|(at, text)| {
            let place = self.constant(text);
            format!(
                "(if (i32.gt_s (global.get $calls) (i32.const {at})) (then (call $output {place})))"
            )
        });
        let answers: String = answers.collect();
        let count = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))";
        self.export(export, "", &format!("{count} {answers} (i32.const 0)"))
    }

    pub(crate) fn wasm(&self) -> Vec<u8> {
        let data: Vec<_> = self
            .data
            .iter()
            .map(|byte| format!("\\{byte:02x}"))
            .collect();
        let data = data.concat();
        let text = format!(
            r#"(module
                (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
                (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
                (import "extism:host/env" "load_u8" (func $load (param i64) (result i32)))
                (import "extism:host/env" "input_length" (func $input_length (result i64)))
                (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
                (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
                (import "extism:host/env" "error_set" (func $error_set (param i64)))
                {}
                (memory (export "memory") 1)
                (data (i32.const 0) "{data}")
                (global $calls (mut i32) (i32.const 0))
                (func $block (param $from i32) (param $length i32) (result i64)
                    (local $to i64) (local $i i32)
                    (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
                    (block $done (loop $next
                        (br_if $done (i32.ge_u (local.get $i) (local.get $length)))
                        (call $store
                            (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
                            (i32.load8_u (i32.add (local.get $from) (local.get $i))))
                        (local.set $i (i32.add (local.get $i) (i32.const 1)))
                        (br $next)))
                    (local.get $to))
                (func $output (param i32 i32)
                    (call $output_set
                        (call $block (local.get 0) (local.get 1))
                        (i64.extend_i32_u (local.get 1))))
                (func $error (param i32 i32)
                    (call $error_set (call $block (local.get 0) (local.get 1))))
                {})"#,
            self.imports, self.exports
        );
        wat::parse_str(&text).expect("valid WebAssembly text")
    }

    pub(crate) fn load(&self) -> Result<Servlet, LoadError> {
        self.load_with(&LoadOptions::default())
    }

    pub(crate) fn load_with(&self, options: &LoadOptions) -> Result<Servlet, LoadError> {
        let source = Source::Bytes {
            name: "test".into(),
            wasm: self.wasm(),
        };
        Servlet::load(source, options)
    }
}

/// Tools with actions that are selected by a number: `{"do": 1}`.
///
/// An action can use `$what`, which is the number, and `$calls`, which is the number of calls of
/// the instance.
pub(crate) fn tools(actions: &[(i32, &str)]) -> Wat {
    tools_named(&["t"], actions)
}

/// The same tools under several names of one letter each.
pub(crate) fn tools_named(names: &[&str], actions: &[(i32, &str)]) -> Wat {
    let tool = |name| {
        serde_json::json!({
            "name": name, "description": "d",
            "inputSchema": { "type": "object", "properties": { "do": { "type": "integer" } } },
        })
    };
    let tools: Vec<_> = names.iter().map(tool).collect();
    let describe = serde_json::json!({ "tools": tools });
    let cases = actions.iter().map(|(number, body)| {
        format!("(if (i32.eq (local.get $what) (i32.const {number})) (then {body}))")
    });
    // The part of every request before the number.
    let before = r#"{"params":{"name":"t","arguments":{"do":"#.len();
    let body = format!(
        "(local $what i32)
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (local.set $what (i32.sub
            (call $input (i64.const {before}))
            (i32.const 48)))
        {}
        (call $output {{}})
        (i32.const 0)",
        cases.collect::<Vec<_>>().concat()
    );
    let answer = r#"{"content":[{"type":"text","text":"ok"}]}"#;
    Wat::new()
        .describe(&describe.to_string())
        .export("call", answer, &body)
}
