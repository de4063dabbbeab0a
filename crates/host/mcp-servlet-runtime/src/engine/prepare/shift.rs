//! Renumbers the functions of a module.

use wasm_encoder::Encode as _;
use wasmparser::{
    BinaryReaderError, ConstExpr, ElementItems, ElementSectionReader, FunctionBody,
    GlobalSectionReader, Operator, OperatorsReader, TableInit, TableSectionReader,
};

/// How function indices change when imports are added.
#[derive(Clone, Debug, Default)]
pub(super) struct Shift {
    /// How many functions the module imports.
    pub(super) imported: u32,
    /// How many imports are added.
    pub(super) added: u32,
    /// Imported functions whose calls go to another index, as pairs of old and new index.
    pub(super) redirected: Vec<(u32, u32)>,
}

type Result<T> = std::result::Result<T, BinaryReaderError>;

impl Shift {
    pub(super) fn index(&self, function: u32) -> u32 {
        let redirected = self.redirected.iter().find(|(from, _)| *from == function);
        match redirected {
            Some((_, to)) => *to,
            None if function < self.imported => function,
            None => function + self.added,
        }
    }

    /// A function body with new indices; `wasm` is the whole module.
    pub(super) fn body(&self, wasm: &[u8], body: &FunctionBody<'_>) -> Result<Vec<u8>> {
        let reader = body.get_operators_reader()?;
        let mut copy = Copy::new(wasm, body.range().start);
        self.operators(reader, &mut copy)?;
        Ok(copy.until(body.range().end))
    }

    /// The global section with new indices in its initial values.
    pub(super) fn globals(&self, wasm: &[u8], globals: GlobalSectionReader<'_>) -> Result<Vec<u8>> {
        let range = globals.range();
        let mut copy = Copy::new(wasm, range.start);
        for global in globals {
            self.expression(&global?.init_expr, &mut copy)?;
        }
        Ok(copy.until(range.end))
    }

    /// The table section with new indices in its initial values.
    pub(super) fn tables(&self, wasm: &[u8], tables: TableSectionReader<'_>) -> Result<Vec<u8>> {
        let range = tables.range();
        let mut copy = Copy::new(wasm, range.start);
        for table in tables {
            if let TableInit::Expr(value) = table?.init {
                self.expression(&value, &mut copy)?;
            }
        }
        Ok(copy.until(range.end))
    }

    /// The element section with new indices.
    pub(super) fn elements(
        &self,
        wasm: &[u8],
        elements: ElementSectionReader<'_>,
    ) -> Result<Vec<u8>> {
        let range = elements.range();
        let mut copy = Copy::new(wasm, range.start);
        for element in elements {
            match element?.items {
                ElementItems::Functions(functions) => {
                    let end = functions.range().end;
                    let items: Result<Vec<_>> = functions.into_iter_with_offsets().collect();
                    let items = items?;
                    let ends = items.iter().skip(1).map(|(at, _)| *at).chain([end]);
                    for ((at, function), end) in items.iter().zip(ends) {
                        copy.replace(*at, end, self.index(*function));
                    }
                }
                ElementItems::Expressions(_, expressions) => {
                    for expression in expressions {
                        self.expression(&expression?, &mut copy)?;
                    }
                }
            }
        }
        Ok(copy.until(range.end))
    }

    fn expression(&self, expression: &ConstExpr<'_>, copy: &mut Copy<'_>) -> Result<()> {
        self.operators(expression.get_operators_reader(), copy)
    }

    fn operators(&self, mut reader: OperatorsReader<'_>, copy: &mut Copy<'_>) -> Result<()> {
        while !reader.eof() {
            let (operator, at) = reader.read_with_offset()?;
            if let Operator::Call { function_index }
            | Operator::ReturnCall { function_index }
            | Operator::RefFunc { function_index } = operator
            {
                // The opcode of each of these instructions is one byte.
                let end = reader.original_position();
                copy.replace(at + 1, end, self.index(function_index));
            }
        }
        Ok(())
    }
}

/// A copy of a part of the module in which numbers are replaced.
struct Copy<'a> {
    from: &'a [u8],
    copied: u64,
    to: Vec<u8>,
}

impl<'a> Copy<'a> {
    fn new(from: &'a [u8], start: u64) -> Self {
        Self {
            from,
            copied: start,
            to: Vec::new(),
        }
    }

    fn replace(&mut self, start: u64, end: u64, number: u32) {
        self.extend(start);
        number.encode(&mut self.to);
        self.copied = end;
    }

    fn extend(&mut self, end: u64) {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        self.to.extend(&self.from[at(self.copied)..at(end)]);
        self.copied = end;
    }

    fn until(mut self, end: u64) -> Vec<u8> {
        self.extend(end);
        self.to
    }
}
