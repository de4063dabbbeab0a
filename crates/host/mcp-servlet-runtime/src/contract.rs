//! What a servlet says about itself, as a part of its module: the outputs of the exports that list what it offers.
//!
//! `servlet build` and `servlet stamp` write the contract after linking, from what the servlet really returned. So others can
//! read it without running the servlet, and a host can check that nobody has changed it.

use std::{collections::BTreeMap, ops::Range};

use mcp_servlet_call::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wasm_encoder::{CustomSection, Section as _};
use wasmparser::Parser;

use crate::{
    inspect::{MAGIC, Module, Unreadable},
    json::syntax_error,
};

/// The custom section with the contract.
pub(crate) const SECTION: &str = "mcp-servlet:contract";

/// The largest contract, in bytes.
const MAX_CONTRACT: usize = 4 << 20;

/// What a servlet says about itself.
#[derive(Clone, Debug, Default)]
pub struct Contract {
    /// The package that the servlet was built from, such as its `name`, `version` and `license`.
    pub package: JsonObject,
    /// The outputs of the exports that list what the servlet offers, by the names of the exports.
    outputs: BTreeMap<String, Box<RawValue>>,
}

/// The section. Unknown members of later releases are ignored.
#[derive(Serialize, Deserialize)]
struct Written {
    v: u32,
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    package: JsonObject,
    outputs: BTreeMap<String, Box<RawValue>>,
}

/// The only version of the section.
const VERSION: u32 = 1;

impl Contract {
    /// Reads the contents of the section.
    pub(crate) fn parse(section: &[u8]) -> Result<Self, String> {
        if section.len() > MAX_CONTRACT {
            return Err(format!("it is larger than {MAX_CONTRACT} bytes"));
        }
        let written: Written =
            serde_json::from_slice(section).map_err(|error| syntax_error(&error))?;
        if written.v != VERSION {
            return Err(format!(
                "expected version {VERSION}, found version {}",
                written.v
            ));
        }
        Ok(Self {
            package: written.package,
            outputs: written.outputs,
        })
    }

    /// Adds the output of an export.
    ///
    /// # Errors
    /// The output is not JSON.
    pub fn add(&mut self, export: &str, output: &[u8]) -> Result<(), String> {
        let output = serde_json::from_slice(output).map_err(|error| syntax_error(&error))?;
        self.outputs.insert(export.to_owned(), output);
        Ok(())
    }

    /// The output of an export.
    pub fn output(&self, export: &str) -> Option<&str> {
        self.outputs.get(export).map(|output| output.get())
    }

    /// The exports whose outputs it has.
    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.outputs.keys().map(String::as_str)
    }

    /// A module without its contract.
    ///
    /// # Errors
    /// [`Unreadable`] if the bytes are not a module.
    pub fn strip(wasm: &[u8]) -> Result<Vec<u8>, Unreadable> {
        without_section(wasm, SECTION)
    }

    /// A module [without a contract](Self::strip), with this one as its last section.
    pub fn stamp(self, wasm: &[u8]) -> Vec<u8> {
        let written = Written {
            v: VERSION,
            package: self.package,
            outputs: self.outputs,
        };
        let data = serde_json::to_vec(&written).expect("maps of JSON are JSON");
        appended(wasm.to_owned(), SECTION, &data)
    }
}

/// Adds a custom section to a module, and removes other custom sections of this name.
///
/// # Errors
/// [`Unreadable`] if the bytes are not a module.
pub fn with_section(wasm: &[u8], name: &str, data: &[u8]) -> Result<Vec<u8>, Unreadable> {
    Ok(appended(without_section(wasm, name)?, name, data))
}

fn appended(mut wasm: Vec<u8>, name: &str, data: &[u8]) -> Vec<u8> {
    let section = CustomSection {
        name: name.into(),
        data: data.into(),
    };
    section.append_to(&mut wasm);
    wasm
}

/// A module without the custom sections of this name.
fn without_section(wasm: &[u8], name: &str) -> Result<Vec<u8>, Unreadable> {
    // This refuses components.
    Module::read(wasm)?;
    let mut kept = Vec::with_capacity(wasm.len());
    let mut start = 0;
    for section in sections(wasm, name) {
        let (is_named, whole) = section.map_err(|error| Unreadable::damaged(&error))?;
        if is_named {
            kept.extend(&wasm[start..whole.start]);
            start = whole.end;
        }
    }
    kept.extend(&wasm[start..]);
    Ok(kept)
}

/// Each section with its header, and whether it is a custom section of this name.
fn sections(
    wasm: &[u8],
    name: &str,
) -> impl Iterator<Item = Result<(bool, Range<usize>), wasmparser::BinaryReaderError>> {
    let mut end = usize::try_from(MAGIC).expect("it is 8");
    Parser::new(0).parse_all(wasm).filter_map(move |payload| {
        let payload = match payload {
            Ok(payload) => payload,
            Err(error) => return Some(Err(error)),
        };
        let (_, contents) = payload.as_section()?;
        let next = usize::try_from(contents.end).expect("it is in memory");
        let start = std::mem::replace(&mut end, next);
        let is_named = matches!(
            &payload,
            wasmparser::Payload::CustomSection(section) if section.name() == name
        );
        Some(Ok((is_named, start..next)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"{"tools": [{"name":"a", "n":1.0}]}"#;

    fn stamped(wasm: &[u8]) -> Vec<u8> {
        let mut contract = Contract::default();
        contract.add("describe", OUTPUT.as_bytes()).expect("JSON");
        contract.stamp(&Contract::strip(wasm).expect("a module"))
    }

    fn module() -> Vec<u8> {
        let text =
            r#"(module (@custom "first" "x") (func (export "describe")) (@custom "last" "y"))"#;
        wat::parse_str(text).expect("valid text")
    }

    fn with_section(data: &str) -> Module {
        let mut wasm = module();
        let section = CustomSection {
            name: SECTION.into(),
            data: data.as_bytes().into(),
        };
        section.append_to(&mut wasm);
        Module::read(&wasm).expect("a module")
    }

    #[test]
    fn a_stamped_module_has_the_output_as_the_servlet_wrote_it() {
        let wasm = stamped(&module());
        assert!(wasm.starts_with(&module()));
        let module = Module::read(&wasm).expect("a module");
        let contract = module.contract().expect("a contract");
        assert_eq!(contract.output("describe"), Some(OUTPUT));
        assert_eq!(contract.exports().collect::<Vec<_>>(), ["describe"]);
    }

    #[test]
    fn a_second_stamp_replaces_the_first_one() {
        let once = stamped(&module());
        assert_eq!(stamped(&once), once);
        let mut between = once.clone();
        between.extend_from_slice(b"\0\x05\x03endz");
        let expected = [&module()[..], b"\0\x05\x03endz", &once[module().len()..]].concat();
        assert_eq!(stamped(&between), expected);
    }

    #[test]
    fn a_section_that_is_no_contract_is_a_problem() {
        for (data, problem) in [
            ("", "EOF while parsing a value"),
            (
                r#"{"v":2,"outputs":{}}"#,
                "expected version 1, found version 2",
            ),
            (r#"{"v":1}"#, "missing field `outputs`"),
            (r#"{"v":1,"outputs":{}} x"#, "trailing characters"),
        ] {
            let module = with_section(data);
            assert!(module.contract().is_none(), "{data}");
            assert_eq!(module.contract_problem(), Some(problem), "{data}");
        }
        let later = with_section(r#"{"v":1,"outputs":{},"later":[]}"#);
        assert!(later.contract().is_some(), "members of later releases");
    }

    #[test]
    fn a_module_with_two_contracts_has_none() {
        let mut wasm = stamped(&module());
        wasm.extend_from_slice(&stamped(&module())[module().len()..]);
        let module = Module::read(&wasm).expect("a module");
        assert!(module.contract().is_none());
        assert_eq!(module.contract_problem(), Some("there are two of them"));
    }
}
