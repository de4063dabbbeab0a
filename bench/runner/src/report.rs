//! The report of a run.

use bench_table::{Row, table};
use serde_json::json;

use crate::exact::Figures;

pub(crate) struct Report {
    pub(crate) validity: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) exact: Figures,
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let table = table("official", &self.rows);
        let validity = self.validity.join("; ");
        format!("{table}\nThe comparison is valid: {validity}.\n")
    }

    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let report = json!({ "validity": self.validity, "rows": self.rows, "exact": self.exact });
        Ok(serde_json::to_string_pretty(&report)?)
    }
}
