//! A typed client of a real server: what it returns is what calls without types return.

use std::{env, fs, path::Path, process::Command};

use e2e::{Profile, wasm};
use mcp_servlet_client::{Command as Program, Session, Target};
use serde_json::{Value, json};

use self::everything::{Everything, TestCustomHeader, TestPromptWithArguments};

#[path = "typed_client/generated.rs"]
mod everything;

/// The golden is what `servlet gen client` makes of the example today.
#[test]
fn the_client_is_up_to_date() {
    let folder = tempfile::tempdir().expect("a folder");
    let catalog = folder.path().join("everything.json");
    let wasm = wasm("everything", Profile::Servlet);
    let servlet = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
        let output = command.args(arguments).output().expect("the command runs");
        assert!(output.status.success(), "{output:?}");
    };
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    servlet(&["catalog", &text(&wasm), "-o", &text(&catalog)]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/typed_client/generated.rs");
    let written = folder.path().join("everything.rs");
    let only = "test_structured_content,test_custom_header,template,test_prompt_with_arguments";
    let (catalog, output) = (text(&catalog), text(&written));
    let generate = ["gen", "client", &catalog, "--only", only, "-o", &output];
    servlet(&generate);
    servlet(&[&generate[..], &["--check"]].concat());
    let rust = fs::read_to_string(written).expect("a file");
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&golden, &rust).expect("a file");
    }
    let found = fs::read_to_string(golden).expect("a golden");
    assert!(
        found == rust,
        "run with `UPDATE_GOLDENS=1`, then read the diff"
    );
}

async fn connect() -> Session {
    let program = Program::new(env!("CARGO_BIN_EXE_servlet"));
    let wasm = wasm("everything", Profile::Servlet);
    let program = program.args(["serve", wasm.to_str().expect("text")]);
    Session::connect(&Target::from(program))
        .await
        .expect("a session")
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_and_untyped_calls_return_the_same() {
    let session = connect().await;
    session.check(everything::ENTRIES).await.expect("no drift");
    let client = Everything::new(&session);

    let typed = client.test_structured_content().await.expect("a value");
    let untyped = session.call("test_structured_content", json!({})).await;
    let untyped = untyped.expect("a result").structured.expect("content");
    let untyped: Value = serde_json::from_str(untyped.get()).expect("JSON");
    let typed = json!({ "temperature": typed.temperature, "conditions": typed.conditions });
    assert_eq!(typed, untyped);

    let header = TestCustomHeader {
        value: "x".to_owned(),
    };
    let typed = client.test_custom_header(&header).await.expect("a result");
    let untyped = session
        .call("test_custom_header", json!({ "value": "x" }))
        .await;
    assert_eq!(typed.raw.get(), untyped.expect("a result").raw.get());

    let typed = client.resources().template("a b").await.expect("contents");
    let untyped = session.read("test://template/a%20b/data").await;
    assert_eq!(typed, untyped.expect("contents"));

    let arguments = TestPromptWithArguments::new("a");
    let typed = client
        .prompts()
        .test_prompt_with_arguments(&arguments)
        .await;
    let untyped = session
        .prompt("test_prompt_with_arguments", [("arg1", "a")])
        .await;
    let untyped = untyped.expect("messages").raw;
    assert_eq!(typed.expect("messages").raw.get(), untyped.get());
    session.close().await;
}
