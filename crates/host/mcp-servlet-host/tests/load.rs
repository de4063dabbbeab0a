//! Loading a servlet, and all the reasons why it can fail.

mod support;

use std::time::Duration;

use mcp_servlet_call::{JsonObject, Limit, chain};
use mcp_servlet_host::{LoadError, Servlet};
use mcp_servlet_runtime::{Abi, AllowedPath, LoadOptions, Source, block_on};
use serde_json::json;
use support::{DESCRIPTION, Wat};

fn error(wasm: Vec<u8>) -> String {
    let source = Source::Bytes {
        name: "test".into(),
        wasm,
    };
    let error = Servlet::load(source, &LoadOptions::default()).expect_err("no servlet");
    match error.help() {
        Some(help) => format!("{}; {help}", chain(&error)),
        None => chain(&error),
    }
}

#[test]
fn reads_name_tools_and_text_of_a_servlet() {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer("{}")
        .load()
        .expect("a servlet");
    assert_eq!(servlet.name(), "test");
    assert_eq!(servlet.description(), DESCRIPTION);
    assert_eq!(servlet.tools()[0].description(), Some("d"));
    assert!(servlet.module().size > 100);
}

#[test]
fn reads_the_description_of_a_single_tool() {
    let single = r#"{"name":"only","description":"d","inputSchema":{"type":"object"}}"#;
    let servlet = Wat::new()
        .describe(single)
        .answer("{}")
        .load()
        .expect("a servlet");
    assert_eq!(servlet.tools()[0].name(), "only");
}

#[test]
fn error_names_a_missing_file() {
    let error = Servlet::load("no/such/file.wasm", &LoadOptions::default()).expect_err("no file");
    assert_eq!(error.to_string(), "cannot read `no/such/file.wasm`");
}

#[test]
fn error_says_that_a_file_is_not_a_module() {
    assert_eq!(
        error(b"<html>".to_vec()),
        "cannot load `test`: this is not a WebAssembly module: it does not begin with `\\0asm`; \
         give the `.wasm` file that `servlet build` prints"
    );
}

#[test]
fn error_names_missing_exports() {
    let text = r#"(module (func (export "describe")) (func (export "run")))"#;
    assert_eq!(
        error(wat::parse_str(text).expect("text")),
        "`test` is not a servlet: it does not export `call`; it exports `describe`, `run`"
    );
}

#[test]
fn names_imports_that_no_host_provides() {
    let wat = Wat::new()
        .import(r#"(import "env" "now" (func))(import "__wbindgen_placeholder__" "x" (func))"#)
        .describe(DESCRIPTION)
        .answer("{}");
    assert_eq!(
        error(wat.wasm()),
        "`test` imports functions that this host does not provide: `env::now`, `__wbindgen_placeholder__::x`; \
         a dependency is built for browsers (wasm-bindgen); `servlet build` names it"
    );
}

#[test]
fn error_suggests_a_replacement_for_hyper_mcp_secrets() {
    let import =
        r#"(import "extism:host/user" "get_keyring_secret" (func (param i64) (result i64)))"#;
    let wat = Wat::new()
        .import(import)
        .export("list_tools", "", "(i32.const 0)");
    assert_eq!(
        error(wat.wasm()),
        "`test` imports functions that this host does not provide: `extism:host/user::get_keyring_secret`; \
         this host does not store secrets or access tokens for servlets; set them in the servlet's configuration"
    );
}

/// Outputs the text of the export.
const OUTPUT: &str = "(call $output {}) (i32.const 0)";

#[test]
fn servlets_for_hyper_mcp_have_the_features_of_their_exports() {
    let only_tools = Wat::new().export("list_tools", DESCRIPTION, OUTPUT);
    assert_eq!(
        error(only_tools.wasm()),
        "`test` is not a servlet: it does not export `call_tool`; it exports `list_tools`"
    );
    let servlet = only_tools.export("call_tool", r#"{"content":[]}"#, OUTPUT);
    let servlet = servlet.load().expect("a servlet");
    assert_eq!(servlet.abi(), Abi::HyperMcpV2);
    assert_eq!(servlet.tools()[0].name(), "t");
    assert!(
        !block_on(servlet.call("t", None))
            .expect("a result")
            .is_error()
    );

    let no_tools = Wat::new().export("read_resource", "{}", OUTPUT).load();
    let no_tools = no_tools.expect("a servlet");
    assert!(no_tools.tools().is_empty() && no_tools.reads_resources());

    let wrong = Wat::new().export("list_tools", "[]", OUTPUT);
    assert_eq!(
        error(wrong.wasm()),
        "`test` has an invalid description: output of `list_tools`, top level: expected an object, found an array"
    );
}

#[test]
fn servlet_with_both_abis_is_called_by_the_default_one() {
    let both = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[]}"#)
        .export("list_tools", "[]", OUTPUT)
        .export("call_tool", "[]", OUTPUT);
    let servlet = both.load().expect("a servlet");
    assert_eq!(servlet.abi(), Abi::Servlet);
    assert!(
        !block_on(servlet.call("t", None))
            .expect("a result")
            .is_error()
    );
}

#[test]
fn functions_for_input_requests_need_a_client() {
    let ask = "(drop (call $roots)) (i32.const 0)";
    let wat = Wat::new()
        .import(r#"(import "extism:host/user" "list_roots" (func $roots (result i64)))"#)
        .export("list_tools", DESCRIPTION, OUTPUT)
        .export("call_tool", "", ask)
        .export("complete", "", ask);
    let servlet = wat.load().expect("a servlet");
    let asked = block_on(servlet.call("t", None))
        .expect("an input request")
        .into_json();
    assert_eq!(asked["resultType"], "input_required");
    let error = block_on(servlet.complete(&JsonObject::new())).expect_err("there is no client");
    let message = chain(&error);
    assert!(
        message.contains("`list_roots`: there is no client to ask here"),
        "{message}"
    );
}

#[test]
fn reports_imports_of_another_type() {
    let wat = Wat::new()
        .import(r#"(import "extism:host/env" "config_get" (func (param i32)))"#)
        .describe(DESCRIPTION)
        .answer("{}");
    let error = error(wat.wasm());
    assert!(error.starts_with("cannot compile `test`: "), "{error}");
    assert!(error.contains("config_get"), "{error}");
}

#[test]
fn reports_a_servlet_that_cannot_describe_itself() {
    let wat = Wat::new()
        .export("describe", "", "unreachable")
        .answer("{}");
    assert_eq!(
        error(wat.wasm()),
        "cannot get the description of `test`: servlet `test` trapped in `describe`: \
         wasm trap: wasm `unreachable` instruction executed"
    );
}

#[test]
fn reports_a_description_that_is_wrong() {
    let wat = Wat::new()
        .describe(r#"{"tools":[{"name":"a"}]}"#)
        .answer("{}");
    assert_eq!(
        error(wat.wasm()),
        "`test` has an invalid description: output of `describe`, /tools/0/inputSchema: \
         expected an object, found nothing"
    );
}

#[test]
fn bounds_code_that_runs_before_the_first_call() {
    let wat = Wat::new()
        .describe(DESCRIPTION)
        .answer("{}")
        .import("(func $spin (loop $l (br $l))) (start $spin)");
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_secs(1));
    let error = wat.load_with(&options).expect_err("it never ends");
    assert_eq!(
        chain(&error),
        "`test` does not start: the code that it runs before the first call took longer than 1s"
    );
}

#[test]
fn gives_wasi_to_modules_that_import_it() {
    let clock = r#"(import "wasi_snapshot_preview1" "clock_time_get"
        (func $clock (param i32 i64 i32) (result i32)))"#;
    let told_time = "(call $clock (i32.const 0) (i64.const 1) (i32.const 512))";
    let wat = Wat::new().import(clock).describe(DESCRIPTION);
    let servlet = wat.export("call", "", told_time).load().expect("a servlet");
    assert!(servlet.module().uses_wasi());
    // The clock function returns 0 for success. So does `call`, which then has no output.
    let error = block_on(servlet.call("t", None)).expect_err("no output");
    assert!(error.to_string().contains("EOF while parsing"), "{error}");
}

#[test]
fn reports_functions_that_wasi_does_not_have() {
    let wat = Wat::new()
        .import(r#"(import "wasi_snapshot_preview1" "brew_coffee" (func))"#)
        .describe(DESCRIPTION)
        .answer("{}");
    let error = error(wat.wasm());
    assert!(
        error.contains("wasi_snapshot_preview1::brew_coffee"),
        "{error}"
    );
}

#[test]
fn names_a_directory_that_does_not_exist() {
    let mut options = LoadOptions::default();
    options.allowed_paths = vec![AllowedPath {
        host: "no/such/dir".into(),
        guest: "/d".into(),
        read_only: true,
    }];
    let error = Wat::new()
        .describe(DESCRIPTION)
        .answer("{}")
        .load_with(&options)
        .expect_err("no directory");
    assert_eq!(
        error.to_string(),
        "cannot open the directory `no/such/dir` for `test`"
    );
}

#[test]
fn refuses_two_tools_of_one_name() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let describe = json!({ "tools": [tool, tool] }).to_string();
    let error = Wat::new().describe(&describe).answer("{}").load();
    let error = error.expect_err("two tools");
    assert!(matches!(error, LoadError::DuplicateTool { .. }));
    assert_eq!(error.to_string(), "`test` lists two tools called `t`");
}
