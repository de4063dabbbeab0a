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
struct Transcript {
    lines: Vec<String>,
    answers: VecDeque<String>,
}

/// Records a call of the servlet, and returns the next line of the host.
fn record(
    name: &'static str,
) -> impl Fn(&mut CurrentPlugin, &[Val], &mut [Val], UserData<Transcript>) -> Result<(), extism::Error>
{
    move |plugin, inputs, outputs, transcript| {
        let input: String = match inputs.first() {
            Some(input) => plugin.memory_get_val(input)?,
            None => String::new(),
        };
        let transcript = transcript.get()?;
        let mut transcript = transcript.lock().expect("one thread");
        let line = format!("? {name} {input}");
        transcript.lines.push(line.trim_end().to_owned());
        if let Some(output) = outputs.first_mut() {
            let answer = transcript
                .answers
                .pop_front()
                .expect("the host has an answer");
            transcript.lines.push(format!("= {answer}"));
            plugin.memory_set_val(output, answer)?;
        }
        Ok(())
    }
}

fn function(
    name: &'static str,
    inputs: usize,
    outputs: usize,
    transcript: &UserData<Transcript>,
) -> Function {
    let types = [PTR];
    let inputs = types.iter().take(inputs).cloned();
    let outputs = types.iter().take(outputs).cloned();
    Function::new(name, inputs, outputs, transcript.clone(), record(name))
        .with_namespace("extism:host/user")
}

/// A servlet with the functions of hyper-mcp that the examples call.
fn load(path: &Path, transcript: &UserData<Transcript>) -> Plugin {
    let wasm = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let functions = [
        function("create_elicitation", 1, 1, transcript),
        function("create_message", 1, 1, transcript),
        function("list_roots", 0, 1, transcript),
        function("notify_logging_message", 1, 0, transcript),
        function("notify_progress", 1, 0, transcript),
    ];
    let builder = PluginBuilder::new(Manifest::new([Wasm::data(wasm)])).with_functions(functions);
    builder.build().expect("an Extism plugin")
}

/// The actual conversation, with the host's lines from `script`.
fn converse(script: &str, path: &Path) -> String {
    let transcript = UserData::new(Transcript::default());
    let mut plugin = load(path, &transcript);
    let shared = transcript.get().expect("it is there");
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
        let mut transcript = shared.lock().expect("one thread");
        transcript.lines.push(line.to_owned());
        transcript.answers = answers;
        drop(transcript);
        let (export, input) = run.split_once(' ').unwrap_or((run, ""));
        let answer = match plugin.call::<_, String>(export, input) {
            Ok(output) => format!("< {output}"),
            Err(error) => format!("! {:?}", error.to_string()),
        };
        let mut transcript = shared.lock().expect("one thread");
        transcript.lines.push(answer);
        assert!(
            transcript.answers.is_empty(),
            "{line}: unexpected {:?}",
            transcript.answers
        );
    }
    let mut transcript = shared.lock().expect("one thread").lines.join("\n");
    transcript.push('\n');
    transcript
}

fn check(example: &str, abi: &str, wasm: PathBuf) {
    let path = root().join(format!("tests/e2e/wire/{example}.{abi}.txt"));
    let script = std::fs::read_to_string(&path).expect("a conversation");
    let transcript = converse(&script, &wasm);
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        std::fs::write(path, transcript).expect("the conversation is writable");
        return;
    }
    for (written, transcript) in script.lines().zip(transcript.lines()) {
        assert_eq!(written, transcript, "{}; see `./x bless`", path.display());
    }
    assert_eq!(script.lines().count(), transcript.lines().count());
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
