//! Exports from their bodies, with all functions of Extism at hand.

use mcp_servlet_runtime::LoadOptions;

use crate::sides::{Call, Class, Module, Outcome};

/// What the exports can use.
pub(crate) const PRELUDE: &str = include_str!("prelude.wat");

/// An export and what calling it results in.
pub(crate) struct Case {
    /// The name of the export.
    pub(crate) name: &'static str,
    /// The code of the export, which returns an `i32`.
    pub(crate) body: &'static str,
    pub(crate) expected: Expected,
}

pub(crate) const fn case(name: &'static str, body: &'static str, expected: Expected) -> Case {
    Case {
        name,
        body,
        expected,
    }
}

pub(crate) enum Expected {
    /// The numbers that the export passed to `$emit`.
    Numbers(&'static [u64]),
    Output(&'static str),
    Failed(Class, &'static str),
}

/// Exports that are called in turn.
pub(crate) struct Table<'a> {
    /// Imports that the exports use next to those of the prelude.
    pub(crate) imports: &'a str,
    pub(crate) cases: &'a [Case],
    pub(crate) options: LoadOptions,
}

impl Table<'_> {
    pub(crate) fn module(&self) -> Module {
        let exports = self.cases.iter().map(|case| export(case.name, case.body));
        let exports: String = exports.collect();
        let text = format!("(module {} {PRELUDE} {exports})", self.imports);
        module(&text, &self.options)
    }

    /// Calls all exports in one instance, and each one in an instance of its own.
    pub(crate) fn check(&self, input: &[u8]) {
        let module = self.module();
        let calls: Vec<Call<'_>> = self.cases.iter().map(|case| (case.name, input)).collect();
        let outcomes = [
            module.in_one_instance(&calls),
            module.in_new_instances(&calls),
        ];
        for outcomes in outcomes {
            for (case, outcome) in self.cases.iter().zip(outcomes) {
                assert!(case.expected.is(&outcome), "{}: {outcome:?}", case.name);
            }
        }
    }
}

/// A module from its text.
pub(crate) fn module(text: &str, options: &LoadOptions) -> Module {
    let wasm = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    Module::compile(&wasm, options, Vec::new()).expect("Extism compiles it")
}

/// Exports that need nothing else and have the default options.
pub(crate) fn table(cases: &[Case]) -> Table<'_> {
    Table {
        imports: "",
        cases,
        options: LoadOptions::default(),
    }
}

fn export(name: &str, body: &str) -> String {
    format!(
        "(func (export {name:?}) (result i32) (local $a i64) (local $b i64) (local $n i32)
            (global.set $end (i32.const 1024)) {body})\n"
    )
}

impl Expected {
    pub(crate) fn is(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Numbers(numbers), Outcome::Output(output)) => {
                let bytes: Vec<_> = numbers
                    .iter()
                    .flat_map(|number| number.to_le_bytes())
                    .collect();
                bytes == *output
            }
            (Self::Output(text), Outcome::Output(output)) => text.as_bytes() == output,
            (Self::Failed(class, text), Outcome::Failed(found, message)) => {
                class == found && text == message
            }
            _ => false,
        }
    }
}
