//! `servlet build --explain`: the parts of a servlet by size, with advice.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde_json::{Value, json};

use super::{
    grouped,
    size_report::{Function, Theme},
};

/// How many crates and functions are listed.
const MAX_LISTED: usize = 8;

/// The sizes of the parts of one module.
pub(super) struct SizeReport {
    functions: Vec<Function>,
    data: u64,
}

impl SizeReport {
    pub(super) fn new(functions: Vec<Function>, data: u64) -> Self {
        Self { functions, data }
    }

    /// Writes the table for `--format human`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\n  {} bytes of code and {} of data, without names:\n",
            grouped(self.code()),
            grouped(self.data)
        )?;
        self.table(
            out,
            "by theme",
            sums(&self.functions, |function| {
                function.theme().name().to_owned()
            }),
            usize::MAX,
        )?;
        self.table(
            out,
            "by crate",
            sums(&self.functions, |function| function.krate().to_owned()),
            MAX_LISTED,
        )?;
        let largest = self
            .functions
            .iter()
            .map(|function| (function.name.clone(), function.size));
        self.table(out, "largest functions", largest.collect(), MAX_LISTED)?;
        for (theme, size) in self.large_themes() {
            if let Some(advice) = theme.advice() {
                let size = grouped(size);
                writeln!(out, "  {} ({size} bytes): {advice}", theme.name())?;
            }
        }
        Ok(())
    }

    fn table(
        &self,
        out: &mut impl Write,
        title: &str,
        rows: Vec<(String, u64)>,
        most: usize,
    ) -> io::Result<()> {
        writeln!(out, "  {title}")?;
        for (name, size) in rows.into_iter().take(most) {
            let percent = size * 100 / self.code().max(1);
            writeln!(out, "    {:>9}  {percent:>3} %  {name}", grouped(size))?;
        }
        writeln!(out)
    }

    /// The same data for `--format json`.
    pub(super) fn json(&self) -> Value {
        let object = |rows: Vec<(String, u64)>| {
            rows.into_iter()
                .map(|(name, size)| (name, json!(size)))
                .collect::<Value>()
        };
        json!({
            "code": self.code(),
            "data": self.data,
            "themes": object(sums(&self.functions, |function| function.theme().name().to_owned())),
            "crates": object(sums(&self.functions, |function| function.krate().to_owned())),
        })
    }

    fn code(&self) -> u64 {
        self.functions.iter().map(|function| function.size).sum()
    }

    /// Themes that take more than 1% of the code, the largest first.
    fn large_themes(&self) -> Vec<(Theme, u64)> {
        let mut sizes = BTreeMap::new();
        for function in &self.functions {
            *sizes.entry(function.theme()).or_insert(0) += function.size;
        }
        let mut themes: Vec<_> = sizes
            .into_iter()
            .filter(|(_, size)| size * 100 > self.code())
            .collect();
        themes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        themes
    }
}

/// Sums the sizes of functions by key, the largest first.
fn sums(functions: &[Function], by: impl Fn(&Function) -> String) -> Vec<(String, u64)> {
    let mut sums = BTreeMap::new();
    for function in functions {
        *sums.entry(by(function)).or_insert(0) += function.size;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    sums
}
