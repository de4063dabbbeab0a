//! Transcripts of the command, in `tests/cmd`. `./x bless` rewrites them.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::{env, fs};

use e2e::{Profile, fixture, root, wasm};

use crate::support::{
    DESCRIPTION, Wat,
    caller::{caller, to_call},
};

/// Runs in a folder with the examples as `greet.wasm` and so on, so that transcripts read like a session.
#[test]
fn commands_do_what_their_transcripts_say() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transcripts");
    fs::create_dir_all(&folder).expect("a folder for the servlets");
    for example in ["greet", "calculator", "catalogue", "kv-notes", "everything"] {
        copy(&wasm(example, Profile::Servlet), &folder);
    }
    for name in ["elicit", "probe", "needs"] {
        copy(&fixture(name), &folder);
    }
    for module in ["careless", "browser"] {
        assemble(module, &folder);
    }
    let calls = r#"{"calls":["weather:get_*"],"reads":["docs:file:///*"]}"#;
    let calls = format!(
        "(@custom \"mcp-servlet:needs\" \"{}\")",
        calls.replace('"', "\\22")
    );
    let planner = caller(&[to_call("weather:get_weather")], "").after(&calls);
    let idle = Wat::new().describe(DESCRIPTION).answer("{}").after(&calls);
    for (name, servlet) in [("planner", planner), ("idle", idle)] {
        let file = folder.join(format!("{name}.wasm"));
        fs::write(file, servlet.wasm()).expect("modules can be written");
    }
    let puppet = folder.join(format!("puppet{}", env::consts::EXE_SUFFIX));
    fs::copy(puppet::program(), puppet).expect("programs can be copied");
    fs::write(folder.join("not-wasm.txt"), "not wasm").expect("the folder can be written to");
    let acme = "[servlet.greet]\nsource = \"greet.wasm\"\n";
    fs::write(folder.join("acme.toml"), acme).expect("the folder can be written to");
    let endpoints = format!(
        "[listener.local]\naddress = \"127.0.0.1:8080\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"local\"\n\
         [endpoint.old]\nkind = \"sse\"\nlistener = \"local\"\n{acme}"
    );
    fs::write(folder.join("endpoints.toml"), endpoints).expect("the folder can be written to");
    let wrong = "\n[limits]\ntiemout = \"3s\"\n";
    fs::write(folder.join("wrong.toml"), wrong).expect("the folder can be written to");
    env::set_current_dir(&folder).expect("the folder is there");

    let transcripts = root().join("crates/tools/mcp-servlet-cli/tests/cmd");
    trycmd::TestCases::new()
        // The width of help.
        .env("COLUMNS", "100")
        .case(transcripts.join("*.trycmd"))
        .case(transcripts.join("*.toml"));
}

fn assemble(module: &str, folder: &Path) {
    let text = root().join(format!(
        "crates/tools/mcp-servlet-cli/tests/modules/{module}.wat"
    ));
    let wasm = wat::parse_file(text).expect("a module as text");
    fs::write(folder.join(format!("{module}.wasm")), wasm).expect("modules can be written");
}

fn copy(wasm: &Path, folder: &Path) {
    let name = wasm.file_name().expect("a file has a name");
    fs::copy(wasm, folder.join(name)).expect("servlets can be copied");
}
