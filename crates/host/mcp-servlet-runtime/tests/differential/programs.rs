//! Random programs of calls to the kernel and to host functions.

mod program;
mod writer;

use extism::Plugin;
use mcp_servlet_runtime::{Guest, Isolation, LoadOptions};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngSeed, TestCaseError, TestRunner},
};

use crate::bodies::module;
use crate::sides::{Code, Module, Outcome, in_extism, in_ours};
use program::Program;
use writer::{Choice, Writer};

/// Random numbers that make a program: its instructions and its ending.
type Draft = (Vec<Choice>, u16);

fn draft() -> impl Strategy<Value = Draft> {
    (vec(any::<Choice>(), 0..40), any::<u16>())
}

fn program((choices, ending): &Draft, variables: bool) -> Program {
    let mut writer = Writer::new(variables);
    for choice in choices {
        writer.add(*choice);
    }
    writer.finish(*ending)
}

fn interpreter() -> Module {
    let config = [
        ("", "nothing"),
        ("a", "one"),
        ("aaaaaaa", "seven"),
        ("bbbbbbbb", ""),
    ];
    let mut options = LoadOptions::default();
    options.config = config
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    options.vars = 2_000;
    module(include_str!("programs/interpreter.wat"), &options)
}

/// The same programs in every run, unless the environment has a seed.
fn runner() -> TestRunner {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    TestRunner::new(config)
}

/// Runs a program in both runtimes, in this one with each code. Returns what it results in.
fn run(
    plugin: &mut Plugin,
    guests: &[Guest; 3],
    program: &Program,
) -> Result<Outcome, TestCaseError> {
    let input = program.to_bytes();
    let plain = |outcome| match outcome {
        Outcome::Output(output) => Outcome::Output(program.without_addresses(&output)),
        failed @ Outcome::Failed(..) => failed,
    };
    let extism = plain(in_extism(plugin, "call", &input));
    for (code, guest) in Code::ALL.iter().zip(guests) {
        let ours = plain(in_ours(guest, "call", &input));
        prop_assert!(
            extism.is(&ours),
            "{program:?}extism: {extism:?}\n  ours: {ours:?}, {code:?}"
        );
    }
    Ok(extism)
}

fn plugin(interpreter: &Module) -> Plugin {
    let plugin = interpreter.plugin();
    plugin.expect("Extism links the interpreter")
}

fn guests(interpreter: &Module, isolation: Isolation) -> [Guest; 3] {
    Code::ALL.map(|code| {
        let guest = interpreter.guest(isolation, code);
        guest.expect("the interpreter starts")
    })
}

#[test]
fn programs_in_one_instance() {
    let interpreter = interpreter();
    let result = runner().run(&vec(draft(), 1..4), |drafts| {
        let mut plugin = plugin(&interpreter);
        let guests = guests(&interpreter, Isolation::Shared);
        for draft in drafts {
            let outcome = run(&mut plugin, &guests, &program(&draft, true))?;
            // This runtime goes on with another instance, which may have other variables.
            if !matches!(outcome, Outcome::Output(_)) {
                break;
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn programs_in_new_instances() {
    let interpreter = interpreter();
    let guests = guests(&interpreter, Isolation::Call);
    let result = runner().run(&draft(), |draft| {
        run(&mut plugin(&interpreter), &guests, &program(&draft, false)).map(|_| ())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
