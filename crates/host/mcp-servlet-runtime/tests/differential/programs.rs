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
use crate::sides::{Compiler, Module, Outcome, in_extism, in_ours};
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

/// Runs a program in both runtimes. Returns what it results in.
fn run(plugin: &mut Plugin, guest: &Guest, program: &Program) -> Result<Outcome, TestCaseError> {
    let input = program.to_bytes();
    let plain = |outcome| match outcome {
        Outcome::Output(output) => Outcome::Output(program.without_addresses(&output)),
        failed @ Outcome::Failed(..) => failed,
    };
    let extism = plain(in_extism(plugin, "call", &input));
    let ours = plain(in_ours(guest, "call", &input));
    prop_assert!(
        extism.is(&ours),
        "{program:?}extism: {extism:?}\n  ours: {ours:?}"
    );
    Ok(extism)
}

fn plugin(interpreter: &Module) -> Plugin {
    let plugin = interpreter.plugin();
    plugin.expect("Extism links the interpreter")
}

fn guest(interpreter: &Module, isolation: Isolation, compiler: Compiler) -> Guest {
    let guest = interpreter.guest(isolation, compiler);
    guest.expect("the interpreter starts")
}

#[test]
fn programs_in_one_instance() {
    let interpreter = interpreter();
    let result = runner().run(&vec(draft(), 1..4), |drafts| {
        let mut plugin = plugin(&interpreter);
        let guest = guest(&interpreter, Isolation::Shared, Compiler::Cranelift);
        for draft in drafts {
            let outcome = run(&mut plugin, &guest, &program(&draft, true))?;
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
    let guest = guest(&interpreter, Isolation::Call, Compiler::Baseline);
    let result = runner().run(&draft(), |draft| {
        run(&mut plugin(&interpreter), &guest, &program(&draft, false)).map(|_| ())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
