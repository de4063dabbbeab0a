//! The table, for people and for programs.

use serde::Serialize;
use serde_json::json;

use crate::exact::Figures;

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Bytes,
    Instructions,
    Microseconds,
    Milliseconds,
    Kibibytes,
    Seconds,
    Crates,
}

impl Unit {
    fn short(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Instructions => "instr.",
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::Kibibytes => "KiB",
            Self::Seconds => "s",
            Self::Crates => "crates",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Bytes | Self::Instructions | Self::Crates => thousands(value),
            Self::Microseconds => format!("{value:.2}"),
            Self::Milliseconds | Self::Kibibytes | Self::Seconds => format!("{value:.1}"),
        }
    }
}

pub(crate) struct Row {
    pub(crate) label: &'static str,
    pub(crate) unit: Unit,
    pub(crate) ours: f64,
    pub(crate) official: f64,
    /// The highest ratio that is good enough.
    pub(crate) target: Option<f64>,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours / self.official
    }

    fn met(&self) -> Option<bool> {
        self.target.map(|target| self.ratio() <= target)
    }

    fn cells(&self) -> [String; 7] {
        [
            self.label.to_owned(),
            self.unit.short().to_owned(),
            self.unit.show(self.ours),
            self.unit.show(self.official),
            format!("{:.3}", self.ratio()),
            self.target
                .map_or_else(String::new, |target| format!("≤ {target:.2}")),
            match self.met() {
                Some(true) => "✓".to_owned(),
                Some(false) => "✗".to_owned(),
                None => String::new(),
            },
        ]
    }
}

pub(crate) struct Report {
    pub(crate) validity: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) exact: Figures,
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let head = ["figure", "", "ours", "official", "ratio", "target", ""].map(str::to_owned);
        let mut lines = vec![head];
        lines.extend(self.rows.iter().map(Row::cells));
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|column| {
                lines
                    .iter()
                    .map(|line| line[column].chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut text: String = lines.iter().map(|line| aligned(line, &widths)).collect();
        text.push_str("\nThe comparison is valid: ");
        text.push_str(&self.validity.join("; "));
        text + ".\n"
    }

    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let rows: Vec<_> = self.rows.iter().map(|row| {
            json!({
                "figure": row.label, "unit": row.unit, "ours": row.ours, "official": row.official,
                "ratio": row.ratio(), "target": row.target, "met": row.met(),
            })
        }).collect();
        let report = json!({ "validity": self.validity, "rows": rows, "exact": self.exact });
        Ok(serde_json::to_string_pretty(&report)?)
    }
}

/// A line of the table: words stand left, numbers right.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(width - cell.chars().count());
        let (before, after) = if column < 2 { ("", &*gap) } else { (&*gap, "") };
        line.extend([before, cell, after, "  "]);
    }
    line.truncate(line.trim_end().len());
    line + "\n"
}

/// A whole number with commas: 44,536.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.split_at(usize::from(digits.starts_with('-')));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn groups_digits_by_three() {
        let cases = [
            (0.0, "0"),
            (999.0, "999"),
            (44_536.4, "44,536"),
            (-1_234_567.0, "-1,234,567"),
        ];
        for (value, text) in cases {
            assert_eq!(thousands(value), text);
        }
    }
}
