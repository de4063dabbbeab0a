//! Sets a maximum for tables that can grow.

use wasm_encoder::Encode as _;
use wasmparser::{BinaryReader, BinaryReaderError, RefType, TableSectionReader};

/// The size of a reference in bytes.
const REFERENCE: u64 = 8;

/// All tables together may grow by this fraction (1/16) of the memory limit.
const PART: u64 = 16;

/// The tables of a module.
pub(super) struct Tables {
    memory: Option<u64>,
    list: Vec<Table>,
}

#[derive(Clone, Copy)]
struct Table {
    initial: u64,
    maximum: u64,
}

impl Table {
    fn can_grow(self) -> bool {
        self.maximum > self.initial
    }
}

impl Tables {
    pub(super) fn new(memory: Option<u64>) -> Self {
        Self {
            memory,
            list: Vec::new(),
        }
    }

    pub(super) fn read(
        &mut self,
        section: TableSectionReader<'_>,
    ) -> Result<(), BinaryReaderError> {
        for table in section {
            let ty = table?.ty;
            self.list.push(Table {
                initial: ty.initial,
                maximum: ty.maximum.unwrap_or(u64::MAX),
            });
        }
        Ok(())
    }

    /// Whether a table can grow while memory is limited.
    pub(super) fn can_grow(&self) -> bool {
        self.memory.is_some() && self.list.iter().any(|table| table.can_grow())
    }

    pub(super) fn initial(&self) -> u64 {
        let entries = self.list.iter().map(|table| table.initial);
        entries
            .fold(0, u64::saturating_add)
            .saturating_mul(REFERENCE)
    }

    /// The maximum size of all tables in bytes.
    pub(super) fn maximum(&self) -> u64 {
        let entries = self.list.iter().map(|table| self.bound(*table));
        entries
            .fold(0, u64::saturating_add)
            .saturating_mul(REFERENCE)
    }

    /// The maximum number of entries of a table.
    fn bound(&self, table: Table) -> u64 {
        let Some(memory) = self.memory else {
            return table.maximum;
        };
        let growing = self.list.iter().filter(|table| table.can_grow()).count() as u64;
        let share = memory / PART / REFERENCE / growing.max(1);
        table.maximum.min(table.initial.saturating_add(share))
    }

    /// The table section with a maximum for each table that can grow.
    pub(super) fn bounded(&self, data: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
        let section = TableSectionReader::new(BinaryReader::new(data, 0))?;
        let mut bounded = Vec::new();
        section.count().encode(&mut bounded);
        let items = section.into_iter_with_offsets();
        let offsets: Result<Vec<_>, _> = items.map(|item| Ok(item?.0)).collect();
        let mut ends = offsets?;
        ends.push(data.len() as u64);
        for (table, bounds) in self.list.iter().zip(ends.windows(2)) {
            let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
            let item = &data[at(bounds[0])..at(bounds[1])];
            self.copy(item, *table, &mut bounded)?;
        }
        Ok(bounded)
    }

    /// Copies one table with its new limits.
    fn copy(&self, item: &[u8], table: Table, to: &mut Vec<u8>) -> Result<(), BinaryReaderError> {
        const HAS_MAXIMUM: u8 = 1;
        const INITIAL_VALUE: [u8; 2] = [0x40, 0x00];
        let mut reader = BinaryReader::new(item, 0);
        if item.starts_with(&INITIAL_VALUE) {
            reader.read_bytes(INITIAL_VALUE.len())?;
        }
        reader.read::<RefType>()?;
        let limits = reader.current_position();
        let flags = reader.read_u8()?;
        reader.read_var_u64()?;
        if flags & HAS_MAXIMUM != 0 {
            reader.read_var_u64()?;
        }
        to.extend(&item[..limits]);
        if table.can_grow() && self.memory.is_some() {
            to.push(flags | HAS_MAXIMUM);
            table.initial.encode(to);
            self.bound(table).encode(to);
        } else {
            to.extend(&item[limits..reader.current_position()]);
        }
        to.extend(&item[reader.current_position()..]);
        Ok(())
    }
}
