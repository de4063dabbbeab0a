//! What a module runs before the first call, as one function.

use wasm_encoder::Encode as _;
use wasmparser::{BinaryReaderError, CompositeInnerType, ExternalKind, FuncType, Payload, TypeRef};

use super::with_item;

/// The export that runs what the module would run at its start.
pub(in crate::engine) const START: &str = "mcp-servlet:start";

/// What a module says about its start.
#[derive(Default)]
pub(super) struct Starts {
    types: Vec<Option<FuncType>>,
    /// The types of all functions, imported ones first.
    functions: Vec<u32>,
    has_functions: bool,
    start: Option<u32>,
    initialize: Option<u32>,
    constructors: Option<u32>,
    haskell: Option<u32>,
}

impl Starts {
    pub(super) fn read(&mut self, payload: &Payload<'_>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types.clone() {
                    let types = group?.into_types();
                    self.types
                        .extend(types.map(|ty| match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some(ty),
                            _ => None,
                        }));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.clone().into_imports() {
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import?.ty {
                        self.functions.push(ty);
                    }
                }
            }
            Payload::FunctionSection(functions) => {
                self.has_functions = true;
                for ty in functions.clone() {
                    self.functions.push(ty?);
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports.clone() {
                    let export = export?;
                    if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) {
                        self.export(export.name, export.index);
                    }
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(*func),
            _ => {}
        }
        Ok(())
    }

    fn export(&mut self, name: &str, index: u32) {
        match name {
            "_initialize" => self.initialize = Some(index),
            "__wasm_call_ctors" => self.constructors = Some(index),
            "hs_init" => self.haskell = Some(index),
            _ => {}
        }
    }

    /// The function that runs what Extism would run, in the same order; none if there is nothing.
    pub(super) fn function(&self) -> Option<Function> {
        let plain = |index: &u32| self.has_type(*index, 0);
        let constructors = self.constructors.or(self.initialize).filter(plain);
        let haskell = self.haskell.filter(|index| self.has_type(*index, 2));
        let initialise = match haskell {
            Some(_) => self.initialize.filter(plain),
            None => constructors,
        };
        let calls: Vec<_> = [self.start, initialise, haskell]
            .into_iter()
            .flatten()
            .collect();
        if calls.is_empty() || !self.has_functions {
            return None;
        }
        let mut body = vec![NO_LOCALS];
        for index in calls {
            let ty = self.type_of(index)?;
            body.extend(ty.params().iter().flat_map(|_| I32_CONST_0));
            body.push(CALL);
            index.encode(&mut body);
            body.extend(ty.results().iter().map(|_| DROP));
        }
        body.push(END);
        Some(Function {
            body,
            ty: u32::try_from(self.types.len()).ok()?,
            index: u32::try_from(self.functions.len()).ok()?,
        })
    }

    /// Whether a function takes so many integers of 32 bits. One that runs at the start and takes others is none of
    /// those that Extism knows.
    fn has_type(&self, function: u32, params: usize) -> bool {
        self.type_of(function).is_some_and(|ty| {
            let integers = ty.params().iter().all(|ty| *ty == wasmparser::ValType::I32);
            integers && ty.params().len() == params && (params > 0 || ty.results().is_empty())
        })
    }

    fn type_of(&self, function: u32) -> Option<&FuncType> {
        let ty = *self.functions.get(function as usize)?;
        self.types.get(ty as usize)?.as_ref()
    }
}

const NO_LOCALS: u8 = 0;
const CALL: u8 = 0x10;
const DROP: u8 = 0x1a;
const END: u8 = 0x0b;
const I32_CONST_0: [u8; 2] = [0x41, 0];

/// A function that is added to a module.
pub(super) struct Function {
    body: Vec<u8>,
    /// Its type, which is added as well.
    ty: u32,
    index: u32,
}

impl Function {
    /// A section with its part of the function; `None` if it has none.
    pub(super) fn added_to(
        &self,
        payload: &Payload<'_>,
        section: &[u8],
    ) -> Result<Option<Vec<u8>>, BinaryReaderError> {
        let mut item = Vec::new();
        Ok(Some(match payload {
            Payload::TypeSection(_) => {
                // The count is of groups, of which one may have several types.
                let groups = wasmparser::BinaryReader::new(section, 0).read_var_u32()?;
                with_item(section, groups, &[0x60, 0, 0])
            }
            Payload::FunctionSection(functions) => {
                self.ty.encode(&mut item);
                with_item(section, functions.count(), &item)
            }
            Payload::ExportSection(exports) => self.exports(exports)?,
            Payload::CodeSectionStart { count, .. } => {
                self.body.encode(&mut item);
                with_item(section, *count, &item)
            }
            _ => return Ok(None),
        }))
    }

    /// The exports without those that Extism would call.
    fn exports(
        &self,
        exports: &wasmparser::ExportSectionReader<'_>,
    ) -> Result<Vec<u8>, BinaryReaderError> {
        let mut items = Vec::new();
        let mut count = 1_u32;
        for export in exports.clone() {
            let export = export?;
            if matches!(export.name, "_initialize" | "__wasm_call_ctors" | "hs_init") {
                continue;
            }
            count += 1;
            export.name.encode(&mut items);
            items.push(kind(export.kind));
            export.index.encode(&mut items);
        }
        let mut data = Vec::new();
        count.encode(&mut data);
        data.extend(items);
        START.encode(&mut data);
        data.push(kind(ExternalKind::Func));
        self.index.encode(&mut data);
        Ok(data)
    }
}

fn kind(kind: ExternalKind) -> u8 {
    match kind {
        ExternalKind::Func => 0x00,
        ExternalKind::Table => 0x01,
        ExternalKind::Memory => 0x02,
        ExternalKind::Global => 0x03,
        ExternalKind::Tag => 0x04,
        ExternalKind::FuncExact => 0x20,
    }
}
