//! The bytes between host and wasm: the exports of some examples in both ABIs, run without our host.
//!
//! The files in `wire` are conversations, line by line:
//!
//! | line | sender | meaning |
//! |---|---|---|
//! | `> export input` | the host | runs an export |
//! | `? function input` | the servlet | calls a function of the host meanwhile |
//! | `= output` | the host | returns from the function |
//! | `< output`, `! "error"` | the servlet | returns from the export |
//!
//! `./x bless` writes the lines of the servlets.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use e2e::{Profile, hyper_mcp, root, wasm};
use extism::{CurrentPlugin, Function, Manifest, PTR, Plugin, PluginBuilder, UserData, Val, Wasm};

/// The messages while an export runs, and the next responses of the host.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    answers: VecDeque<String>,
}

/// Records a call of the servlet, and returns the next line of the host.
fn hear(
    name: &'static str,
) -> impl Fn(&mut CurrentPlugin, &[Val], &mut [Val], UserData<Said>) -> Result<(), extism::Error> {
    move |plugin, inputs, outputs, said| {
        let input: String = match inputs.first() {
            Some(input) => plugin.memory_get_val(input)?,
            None => String::new(),
        };
        let said = said.get()?;
        let mut said = said.lock().expect("one thread");
        let line = format!("? {name} {input}");
        said.lines.push(line.trim_end().to_owned());
        if let Some(output) = outputs.first_mut() {
            let answer = said.answers.pop_front().expect("the host has an answer");
            said.lines.push(format!("= {answer}"));
            plugin.memory_set_val(output, answer)?;
        }
        Ok(())
    }
}

fn function(name: &'static str, inputs: usize, outputs: usize, said: &UserData<Said>) -> Function {
    let types = [PTR];
    let inputs = types.iter().take(inputs).cloned();
    let outputs = types.iter().take(outputs).cloned();
    Function::new(name, inputs, outputs, said.clone(), hear(name))
        .with_namespace("extism:host/user")
}

/// A servlet with the functions of hyper-mcp that the examples call.
fn load(path: &Path, said: &UserData<Said>) -> Plugin {
    let wasm = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let functions = [
        function("create_elicitation", 1, 1, said),
        function("create_message", 1, 1, said),
        function("list_roots", 0, 1, said),
        function("notify_logging_message", 1, 0, said),
        function("notify_progress", 1, 0, said),
    ];
    let builder = PluginBuilder::new(Manifest::new([Wasm::data(wasm)])).with_functions(functions);
    builder.build().expect("an Extism plugin")
}

/// The actual conversation, with the host's lines from `script`.
fn converse(script: &str, path: &Path) -> String {
    let said = UserData::new(Said::default());
    let mut plugin = load(path, &said);
    let shared = said.get().expect("it is there");
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(run) = line.strip_prefix("> ") else {
            shared
                .lock()
                .expect("one thread")
                .lines
                .push(line.to_owned());
            continue;
        };
        let mut answers = VecDeque::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(['?', '=', '<', '!'])) {
            answers.extend(line.strip_prefix("= ").map(str::to_owned));
        }
        let mut said = shared.lock().expect("one thread");
        said.lines.push(line.to_owned());
        said.answers = answers;
        drop(said);
        let (export, input) = run.split_once(' ').unwrap_or((run, ""));
        let answer = match plugin.call::<_, String>(export, input) {
            Ok(output) => format!("< {output}"),
            Err(error) => format!("! {:?}", error.to_string()),
        };
        let mut said = shared.lock().expect("one thread");
        said.lines.push(answer);
        assert!(
            said.answers.is_empty(),
            "{line}: unexpected {:?}",
            said.answers
        );
    }
    let mut said = shared.lock().expect("one thread").lines.join("\n");
    said.push('\n');
    said
}

fn check(example: &str, interface: &str, wasm: PathBuf) {
    let path = root().join(format!("tests/e2e/wire/{example}.{interface}.txt"));
    let script = std::fs::read_to_string(&path).expect("a conversation");
    let said = converse(&script, &wasm);
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, said).expect("the conversation is writable");
        return;
    }
    for (written, said) in script.lines().zip(said.lines()) {
        assert_eq!(written, said, "{}; see `./x bless`", path.display());
    }
    assert_eq!(script.lines().count(), said.lines().count());
}

#[test]
fn greet_sends_the_recorded_messages() {
    check("greet", "servlet", wasm("greet", Profile::Servlet));
    check("greet", "hyper-mcp-v2", hyper_mcp("greet"));
}

#[test]
fn notes_send_the_recorded_messages() {
    check("kv-notes", "servlet", wasm("kv-notes", Profile::Servlet));
    check("kv-notes", "hyper-mcp-v2", hyper_mcp("kv-notes"));
}

#[test]
fn everything_sends_the_recorded_messages() {
    check(
        "everything",
        "servlet",
        wasm("everything", Profile::Servlet),
    );
    check("everything", "hyper-mcp-v2", hyper_mcp("everything"));
}
