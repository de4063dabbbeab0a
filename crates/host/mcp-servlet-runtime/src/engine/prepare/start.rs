//! The functions of a module, and the code that runs before its first call.

use wasm_encoder::Encode as _;
use wasmparser::{
    BinaryReaderError, CompositeInnerType, ExportSectionReader, ExternalKind, FuncType, Payload,
    TypeRef, ValType,
};

use super::{length, shift::Shift, wasi::Replaced};
use crate::inspect::WASI;

/// The export that runs the start function and the initialisers of the module.
pub(in crate::engine) const START: &str = "mcp-servlet:start";

/// The exports that Extism calls after it has made an instance.
const INITIALISERS: [&str; 3] = ["_initialize", "__wasm_call_ctors", "hs_init"];

/// What a module declares about its functions.
#[derive(Default)]
pub(super) struct Facts {
    types: Vec<Option<FuncType>>,
    /// The types of all functions, imported ones first.
    functions: Vec<u32>,
    imported: u32,
    replaced: Vec<(Replaced, u32)>,
    has_memory: bool,
    start: Option<u32>,
    initialize: Option<u32>,
    constructors: Option<u32>,
    haskell: Option<u32>,
}

impl Facts {
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
                    self.import(&import?);
                }
            }
            Payload::FunctionSection(functions) => {
                for ty in functions.clone() {
                    self.functions.push(ty?);
                }
            }
            Payload::MemorySection(memories) => {
                let first = memories.clone().into_iter().next().transpose()?;
                self.has_memory = first.is_some_and(|memory| !memory.memory64);
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

    fn import(&mut self, import: &wasmparser::Import<'_>) {
        let (TypeRef::Func(ty) | TypeRef::FuncExact(ty)) = import.ty else {
            return;
        };
        let mut replaced = Replaced::ALL.into_iter();
        let replaced = replaced.find(|function| function.name() == import.name);
        if let Some(replaced) = replaced.filter(|_| import.module == WASI) {
            self.replaced.push((replaced, self.imported));
        }
        self.functions.push(ty);
        self.imported += 1;
    }

    fn export(&mut self, name: &str, index: u32) {
        match name {
            "_initialize" => self.initialize = Some(index),
            "__wasm_call_ctors" => self.constructors = Some(index),
            "hs_init" => self.haskell = Some(index),
            _ => {}
        }
    }

    pub(super) fn types(&self) -> u32 {
        length(&self.types)
    }

    pub(super) fn functions(&self) -> u32 {
        length(&self.functions)
    }

    pub(super) fn imported(&self) -> u32 {
        self.imported
    }

    /// Whether the module defines functions.
    pub(super) fn has_functions(&self) -> bool {
        self.functions() > self.imported
    }

    /// The WASI functions that can be replaced, each with its index and its type.
    pub(super) fn replaced(&self) -> Vec<(Replaced, u32, u32)> {
        let usable = |(replaced, index): &(Replaced, u32)| {
            let is_right = self.has_type(*index, 4, &[ValType::I32]);
            let ty = *self.functions.get(*index as usize)?;
            (is_right && self.has_memory).then_some((*replaced, *index, ty))
        };
        self.replaced.iter().filter_map(usable).collect()
    }

    /// The body of a function that runs the start function and the initialisers in Extism's order.
    /// `None` if there are none.
    pub(super) fn start(&self, index: impl Fn(u32) -> u32) -> Option<Vec<u8>> {
        let plain = |function: &u32| self.has_type(*function, 0, &[]);
        let haskell = self.haskell.filter(|function| {
            self.has_type(*function, 2, &[]) || self.has_type(*function, 2, &[ValType::I32])
        });
        let initialise = match haskell {
            Some(_) => self.initialize,
            None => self.constructors.or(self.initialize),
        };
        let calls = [self.start, initialise.filter(plain), haskell];
        let calls: Vec<_> = calls.into_iter().flatten().collect();
        if calls.is_empty() {
            return None;
        }
        let mut function = wasm_encoder::Function::new([]);
        let mut code = function.instructions();
        for called in calls {
            let ty = self.type_of(called)?;
            for _ in ty.params() {
                code.i32_const(0);
            }
            code.call(index(called));
            for _ in ty.results() {
                code.drop();
            }
        }
        code.end();
        Some(function.into_raw_body())
    }

    /// Whether a function takes `params` 32-bit integers and has these results.
    fn has_type(&self, function: u32, params: usize, results: &[ValType]) -> bool {
        self.type_of(function).is_some_and(|ty| {
            let integers = ty.params().iter().all(|ty| *ty == ValType::I32);
            integers && ty.params().len() == params && ty.results() == results
        })
    }

    fn type_of(&self, function: u32) -> Option<&FuncType> {
        let ty = *self.functions.get(function as usize)?;
        self.types.get(ty as usize)?.as_ref()
    }
}

/// The export section with new function indices. [`START`] replaces the exports that Extism would call.
pub(super) fn exports(
    exports: &ExportSectionReader<'_>,
    shift: &Shift,
    start: Option<u32>,
) -> Result<Vec<u8>, BinaryReaderError> {
    let mut items = Vec::new();
    let mut count = 0_u32;
    let mut add = |name: &str, kind, index: u32| {
        count += 1;
        name.encode(&mut items);
        items.push(code(kind));
        index.encode(&mut items);
    };
    for export in exports.clone() {
        let export = export?;
        if start.is_some() && INITIALISERS.contains(&export.name) {
            continue;
        }
        let index = match export.kind {
            ExternalKind::Func | ExternalKind::FuncExact => shift.index(export.index),
            _ => export.index,
        };
        add(export.name, export.kind, index);
    }
    if let Some(start) = start {
        add(START, ExternalKind::Func, start);
    }
    let mut data = Vec::new();
    count.encode(&mut data);
    data.extend(items);
    Ok(data)
}

fn code(kind: ExternalKind) -> u8 {
    match kind {
        ExternalKind::Func => 0x00,
        ExternalKind::Table => 0x01,
        ExternalKind::Memory => 0x02,
        ExternalKind::Global => 0x03,
        ExternalKind::Tag => 0x04,
        ExternalKind::FuncExact => 0x20,
    }
}
