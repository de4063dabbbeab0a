//! The functions of a program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use object::{File, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

/// The instruction `int3`, which stops a thread.
const BREAKPOINT: u8 = 0xcc;

/// A section of code.
pub(super) struct Section {
    /// Its address in the file.
    pub(super) address: u64,
    pub(super) code: Vec<u8>,
}

/// A function, with all its names.
struct Function {
    names: Vec<String>,
    /// Its first byte.
    original_byte: u8,
}

/// The functions of a program by their addresses in the file.
pub(super) struct Functions {
    sections: Vec<Section>,
    functions: BTreeMap<u64, Function>,
}

impl Functions {
    pub(super) fn read(program: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(program).with_context(|| program.display().to_string())?;
        let file = File::parse(bytes.as_slice())?;
        let mut sections = Vec::new();
        for section in file.sections() {
            if section.name()?.starts_with(".text") {
                sections.push(Section {
                    address: section.address(),
                    code: section.data()?.to_vec(),
                });
            }
        }
        let mut all = Self {
            sections,
            functions: BTreeMap::new(),
        };
        for symbol in file.symbols() {
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                all.add(symbol.address(), symbol.name()?);
            }
        }
        ensure!(
            !all.functions.is_empty(),
            "{} has no symbols",
            program.display()
        );
        Ok(all)
    }

    fn add(&mut self, address: u64, name: &str) {
        let byte = self.sections.iter().find_map(|section| {
            let offset = address.checked_sub(section.address)?;
            section.code.get(usize::try_from(offset).ok()?)
        });
        let Some(&original_byte) = byte else { return };
        let names = Vec::new();
        let function = self.functions.entry(address);
        let function = function.or_insert(Function {
            names,
            original_byte,
        });
        function.names.push(name.to_owned());
    }

    /// The code with a breakpoint at the beginning of each function.
    pub(super) fn with_breakpoints(&self) -> impl Iterator<Item = Section> {
        self.sections.iter().map(|section| {
            let mut code = section.code.clone();
            let end = section.address + code.len() as u64;
            for (address, _) in self.functions.range(section.address..end) {
                let offset = usize::try_from(address - section.address);
                code[offset.expect("it is within the section")] = BREAKPOINT;
            }
            Section {
                address: section.address,
                code,
            }
        })
    }

    /// The names of the function that begins at an address, and its first byte.
    pub(super) fn at(&self, address: u64) -> Option<(&[String], u8)> {
        let function = self.functions.get(&address)?;
        Some((&function.names, function.original_byte))
    }
}
