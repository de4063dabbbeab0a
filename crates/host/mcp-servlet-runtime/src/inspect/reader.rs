//! Reads the sections of a module.

use std::sync::Arc;

use mcp_servlet_types::{ContentFeature, InputRequestKind};
use wasmparser::{ExternalKind, FuncType, Parser, Payload, TypeRef};

use super::{Export, Import, Module, Section};
use crate::{
    contract::{self, Contract},
    needs::{self, Needs},
};

/// Collects a [`Module`] and the function types that its exports refer to.
#[derive(Default)]
pub(super) struct Reader {
    module: Module,
    types: Vec<Option<FuncType>>,
    functions: Vec<u32>,
}

impl Reader {
    pub(super) fn read(mut self, wasm: &[u8]) -> Result<Module, wasmparser::BinaryReaderError> {
        self.module.size = wasm.len();
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload?;
            self.section(&payload);
            self.contents(payload)?;
        }
        Ok(self.module)
    }

    fn section(&mut self, payload: &Payload<'_>) {
        let name = match payload {
            Payload::CustomSection(section) => section.name(),
            Payload::TypeSection(_) => "type",
            Payload::ImportSection(_) => "import",
            Payload::FunctionSection(_) => "function",
            Payload::TableSection(_) => "table",
            Payload::MemorySection(_) => "memory",
            Payload::GlobalSection(_) => "global",
            Payload::ExportSection(_) => "export",
            Payload::StartSection { .. } => "start",
            Payload::ElementSection(_) => "element",
            Payload::CodeSectionStart { .. } => "code",
            Payload::DataSection(_) => "data",
            _ => return,
        };
        if let Some((_, range)) = payload.as_section() {
            let (name, size) = (name.to_owned(), range.end.saturating_sub(range.start));
            self.module.sections.push(Section { name, size });
        }
    }

    fn contents(&mut self, payload: Payload<'_>) -> Result<(), wasmparser::BinaryReaderError> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types {
                    for ty in group?.into_types() {
                        self.types.push(match ty.composite_type.inner {
                            wasmparser::CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.import(import?);
                }
            }
            Payload::FunctionSection(functions) => {
                for ty in functions {
                    self.functions.push(ty?);
                }
            }
            Payload::TableSection(tables) => {
                for table in tables {
                    let entries = table?.ty.maximum.unwrap_or(u64::MAX);
                    self.module.largest_table = self.module.largest_table.max(entries);
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    self.export(export?);
                }
            }
            Payload::DataSection(segments) => {
                for segment in segments {
                    self.data(segment?.data);
                }
            }
            Payload::CustomSection(section) if section.name() == needs::SECTION => {
                match Needs::parse(section.data()) {
                    Ok(needs) => self.module.needs = needs,
                    Err(problem) => self.module.needs_problem = Some(problem),
                }
            }
            Payload::CustomSection(section) if section.name() == contract::SECTION => {
                self.contract(section.data());
            }
            _ => {}
        }
        Ok(())
    }

    fn contract(&mut self, section: &[u8]) {
        let module = &mut self.module;
        let is_second = module.contract.is_some() || module.contract_problem.is_some();
        let contract = match Contract::parse(section) {
            _ if is_second => Err("there are two of them".to_owned()),
            contract => contract,
        };
        module.contract_problem = contract.as_ref().err().cloned();
        module.contract = contract.ok().map(Arc::new);
    }

    fn data(&mut self, data: &[u8]) {
        // All of them begin like this. Most bytes are no `{`, so the search takes a microsecond for each kilobyte.
        let objects = data.iter().enumerate().filter(|(_, byte)| **byte == b'{');
        for (at, _) in objects {
            let begins = |marker: &str| data[at..].starts_with(marker.as_bytes());
            let mut requests = InputRequestKind::ALL.into_iter();
            let request = requests.find(|kind| begins(kind.marker()));
            add(&mut self.module.input_requests, request);
            let mut features = ContentFeature::ALL.into_iter();
            let feature = features.find(|feature| begins(feature.marker()));
            add(&mut self.module.content_features, feature);
        }
    }

    fn import(&mut self, import: wasmparser::Import<'_>) {
        if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import.ty {
            self.functions.push(ty);
        }
        self.module.imports.push(Import {
            module: import.module.to_owned(),
            name: import.name.to_owned(),
        });
    }

    fn export(&mut self, export: wasmparser::Export<'_>) {
        let function = matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact);
        self.module.exports.push(Export {
            name: export.name.to_owned(),
            callable: function && self.is_callable(export.index),
            function,
        });
    }

    fn is_callable(&self, function: u32) -> bool {
        let ty = self
            .functions
            .get(function as usize)
            .and_then(|ty| self.types.get(*ty as usize));
        let Some(Some(ty)) = ty else { return false };
        ty.params().is_empty() && matches!(ty.results(), [] | [wasmparser::ValType::I32])
    }
}

/// Adds a value that is not yet in the list.
fn add<T: PartialEq>(list: &mut Vec<T>, value: Option<T>) {
    list.extend(value.filter(|value| !list.contains(value)));
}
