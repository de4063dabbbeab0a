//! Adds the kernel to a module: its functions take the place of imports, and its memory and its globals are exported.
//!
//! So a servlet calls them directly, and an instance of the servlet is the only one of a call.

use std::{collections::HashMap, convert::Infallible};

use wasm_encoder::{
    CodeSection, DataCountSection, DataSection, ElementSection, ExportSection, FunctionSection,
    GlobalSection, ImportSection, MemorySection, StartSection, TableSection, TagSection,
    TypeSection,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{
    CompositeInnerType, ExportSectionReader, ExternalKind, FuncType, ImportSectionReader, Parser,
    Payload, TypeRef,
};

use crate::inspect::EXTISM;

/// The kernel, assembled from `kernel.wat`.
pub(super) const KERNEL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernel.wasm"));

/// The source of this file. It is part of the digest of compiled modules, so that a change of it
/// makes older ones invalid.
pub(super) const MERGE: &str = include_str!("merge.rs");

type Result<T> = std::result::Result<T, Error<Infallible>>;

/// Adds the kernel to a module.
pub(super) fn merge(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut sections = Sections::default();
    let mut servlet = Servlet::new(kernel_functions()?);
    sections.append(&mut servlet, wasm)?;
    let mut kernel = Kernel {
        types: count(&servlet.types),
        functions: servlet.kernel,
        memories: servlet.memories + sections.memories.len(),
        globals: servlet.globals + sections.globals.len(),
    };
    sections.append(&mut kernel, KERNEL)?;
    Ok(sections.finish())
}

/// The functions of the kernel by name, with their indices and types.
fn kernel_functions() -> Result<HashMap<&'static str, (u32, FuncType)>> {
    let (mut types, mut functions, mut exports) = (Vec::new(), Vec::new(), HashMap::new());
    for payload in Parser::new(0).parse_all(KERNEL) {
        match payload? {
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    types.push(ty?);
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section {
                    functions.push(ty?);
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        let ty = &types[functions[export.index as usize] as usize];
                        exports.insert(export.name, (export.index, ty.clone()));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(exports)
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).expect("a module has fewer items")
}

/// The sections of the new module.
#[derive(Default)]
struct Sections {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    tables: TableSection,
    memories: MemorySection,
    tags: TagSection,
    globals: GlobalSection,
    exports: ExportSection,
    start: Option<StartSection>,
    elements: ElementSection,
    data_count: Option<DataCountSection>,
    code: CodeSection,
    data: DataSection,
}

impl Sections {
    /// Appends a module, except for its custom sections.
    fn append<R: Reencode<Error = Infallible>>(
        &mut self,
        module: &mut R,
        wasm: &[u8],
    ) -> Result<()> {
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(types) => module.parse_type_section(&mut self.types, types),
                Payload::ImportSection(imports) => {
                    module.parse_import_section(&mut self.imports, imports)
                }
                Payload::FunctionSection(functions) => {
                    module.parse_function_section(&mut self.functions, functions)
                }
                Payload::TableSection(tables) => {
                    module.parse_table_section(&mut self.tables, tables)
                }
                Payload::MemorySection(memories) => {
                    module.parse_memory_section(&mut self.memories, memories)
                }
                Payload::TagSection(tags) => module.parse_tag_section(&mut self.tags, tags),
                Payload::GlobalSection(globals) => {
                    module.parse_global_section(&mut self.globals, globals)
                }
                Payload::ExportSection(exports) => {
                    module.parse_export_section(&mut self.exports, exports)
                }
                Payload::StartSection { func, .. } => {
                    module.start_section(func).map(|function_index| {
                        self.start = Some(StartSection { function_index });
                    })
                }
                Payload::ElementSection(elements) => {
                    module.parse_element_section(&mut self.elements, elements)
                }
                Payload::DataCountSection { count, .. } => module.data_count(count).map(|count| {
                    self.data_count = Some(DataCountSection { count });
                }),
                Payload::CodeSectionEntry(body) => module.parse_function_body(&mut self.code, body),
                Payload::DataSection(data) => module.parse_data_section(&mut self.data, data),
                _ => Ok(()),
            }?;
        }
        Ok(())
    }

    fn finish(&self) -> Vec<u8> {
        let mut module = wasm_encoder::Module::new();
        module
            .section(&self.types)
            .section(&self.imports)
            .section(&self.functions);
        module.section(&self.tables).section(&self.memories);
        // The baseline compiler refuses even an empty section of tags.
        if !self.tags.is_empty() {
            module.section(&self.tags);
        }
        module.section(&self.globals).section(&self.exports);
        if let Some(start) = &self.start {
            module.section(start);
        }
        module.section(&self.elements);
        if let Some(count) = &self.data_count {
            module.section(count);
        }
        module.section(&self.code).section(&self.data);
        module.finish()
    }
}

/// The indices of the servlet: imports that the kernel provides are left out.
struct Servlet {
    provided: HashMap<&'static str, (u32, FuncType)>,
    types: Vec<Option<FuncType>>,
    imports: Vec<Imported>,
    /// How many functions are still imported.
    imported: u32,
    /// The index of the kernel's first function.
    kernel: u32,
    /// How many memories and globals are imported.
    memories: u32,
    globals: u32,
}

/// An imported function of the servlet.
#[derive(Clone, Copy)]
enum Imported {
    /// It is imported, with this index.
    Import(u32),
    /// It is this function of the kernel.
    Kernel(u32),
}

impl Servlet {
    fn new(provided: HashMap<&'static str, (u32, FuncType)>) -> Self {
        Self {
            provided,
            types: Vec::new(),
            imports: Vec::new(),
            imported: 0,
            kernel: 0,
            memories: 0,
            globals: 0,
        }
    }

    /// The function of the kernel that an import refers to.
    fn provided(&self, import: &wasmparser::Import<'_>, ty: u32) -> Option<u32> {
        let (function, provided) = self.provided.get(import.name)?;
        let ty = self.types.get(ty as usize)?.as_ref()?;
        (import.module == EXTISM && ty == provided).then_some(*function)
    }
}

impl Reencode for Servlet {
    type Error = Infallible;

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: wasmparser::TypeSectionReader<'_>,
    ) -> Result<()> {
        for group in section.clone() {
            self.types
                .extend(group?.into_types().map(|ty| match ty.composite_type.inner {
                    CompositeInnerType::Func(ty) => Some(ty),
                    _ => None,
                }));
        }
        utils::parse_type_section(self, types, section)
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<()> {
        for import in section.into_imports() {
            let import = import?;
            match import.ty {
                TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                    if let Some(function) = self.provided(&import, ty) {
                        self.imports.push(Imported::Kernel(function));
                        continue;
                    }
                    self.imports.push(Imported::Import(self.imported));
                    self.imported += 1;
                }
                TypeRef::Memory(_) => self.memories += 1,
                TypeRef::Global(_) => self.globals += 1,
                _ => {}
            }
            self.parse_import(imports, import)?;
        }
        // Unless the module defines functions.
        self.kernel = self.imported;
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<()> {
        self.kernel = self.imported + section.count();
        utils::parse_function_section(self, functions, section)
    }

    fn function_index(&mut self, function: u32) -> Result<u32> {
        Ok(match self.imports.get(function as usize) {
            Some(Imported::Import(index)) => *index,
            Some(Imported::Kernel(index)) => self.kernel + index,
            None => function - count(&self.imports) + self.imported,
        })
    }
}

/// The indices of the kernel, after those of the servlet.
struct Kernel {
    types: u32,
    functions: u32,
    memories: u32,
    globals: u32,
}

impl Reencode for Kernel {
    type Error = Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32> {
        Ok(self.types + ty)
    }

    fn function_index(&mut self, function: u32) -> Result<u32> {
        Ok(self.functions + function)
    }

    fn memory_index(&mut self, memory: u32) -> Result<u32> {
        Ok(self.memories + memory)
    }

    fn global_index(&mut self, global: u32) -> Result<u32> {
        Ok(self.globals + global)
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<()> {
        for export in section {
            let export = export?;
            if export.kind != ExternalKind::Func {
                self.parse_export(exports, export)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Linker, Module, Store};

    use super::*;

    fn merged(text: &str) -> (Engine, Module) {
        let wasm = wat::parse_str(text).expect("valid text");
        let engine = Engine::default();
        let module = Module::new(&engine, merge(&wasm).expect("a module"));
        (engine, module.expect("a valid module"))
    }

    /// The result of the export `call`.
    fn call(text: &str) -> i64 {
        let (engine, module) = merged(text);
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("other", "seven", || 7_i64)
            .expect("a function");
        let instance: Instance = linker
            .instantiate(&mut store, &module)
            .expect("an instance");
        let call = instance.get_typed_func::<(), i64>(&mut store, "call");
        call.expect("an export")
            .call(&mut store, ())
            .expect("a number")
    }

    #[test]
    fn the_servlet_keeps_its_functions_and_memories() {
        let found = call(
            r#"(module
                (import "extism:host/env" "store_u64" (func $store (param i64 i64)))
                (import "other" "seven" (func $seven (result i64)))
                (import "extism:host/env" "load_u64" (func $load (param i64) (result i64)))
                (type $none (func (result i64)))
                (table funcref (elem $load $seven $own))
                (memory 1)
                (global $own funcref (ref.func $own))
                (global $count (mut i64) (i64.const 1000))
                (data (i32.const 100) "\09")
                (func $start (call $store (i64.const 100) (i64.const 60)))
                (start $start)
                (func $own (result i64) (i64.load8_u (i32.const 100)))
                (func (export "call") (result i64)
                    (i64.add (global.get $count) (i64.add
                        (call_indirect (param i64) (result i64) (i64.const 100) (i32.const 0))
                        (i64.add
                            (call_indirect (type $none) (i32.const 1))
                            (call_indirect (type $none) (i32.const 2)))))))"#,
        );
        assert_eq!(found, 1000 + 60 + 7 + 9);
    }

    #[test]
    fn a_module_without_anything_gets_the_kernel() {
        let (_, module) = merged("(module)");
        assert_eq!(module.imports().len(), 0);
        let exports: Vec<_> = module.exports().map(|export| export.name()).collect();
        assert_eq!(exports.len(), 6);
        assert!(
            exports.iter().all(|name| name.starts_with("kernel.")),
            "{exports:?}"
        );
    }

    #[test]
    fn an_import_of_another_type_stays_an_import() {
        let (_, module) =
            merged(r#"(module (import "extism:host/env" "load_u8" (func (param i32))))"#);
        assert_eq!(module.imports().len(), 1);
    }
}
