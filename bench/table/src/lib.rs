//! A table of figures for two sides, with their ratio and its target.

/// The unit of a figure.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unit {
    Bytes,
    Instructions,
    Microseconds,
    Milliseconds,
    Mebibytes,
    PerSecond,
}

impl Unit {
    fn short(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Instructions => "instr.",
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::Mebibytes => "MiB",
            Self::PerSecond => "1/s",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Bytes | Self::Instructions => thousands(value),
            Self::PerSecond if value >= 1000.0 => thousands(value),
            Self::Microseconds => format!("{value:.2}"),
            _ => format!("{value:.1}"),
        }
    }
}

/// The target for the ratio of our figure to the peer's.
#[derive(Clone, Copy)]
pub enum Target {
    /// At most this, for costs.
    AtMost(f64),
    /// At least this, for benefits.
    AtLeast(f64),
    /// From the first to the second, for what should not change.
    Between(f64, f64),
}

impl Target {
    fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(limit) => ratio <= limit,
            Self::AtLeast(limit) => ratio >= limit,
            Self::Between(least, most) => (least..=most).contains(&ratio),
        }
    }

    fn show(self) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit:.2}"),
            Self::AtLeast(limit) => format!("≥ {limit:.2}"),
            Self::Between(least, most) => format!("{least:.2}–{most:.2}"),
        }
    }
}

/// One figure of both sides.
pub struct Row {
    label: &'static str,
    unit: Unit,
    figures: Pair<f64>,
    ratio: f64,
    target: Option<Target>,
}

/// What both sides have, ours first.
pub type Pair<T> = [T; 2];

impl Row {
    /// A figure that was measured once, or a median of one side. The target is that of the ratio.
    pub fn new(
        label: &'static str,
        unit: Unit,
        figures: Pair<f64>,
        target: impl Into<Option<Target>>,
    ) -> Self {
        Self {
            label,
            unit,
            figures,
            ratio: figures[0] / figures[1],
            target: target.into(),
        }
    }

    /// The medians of both sides, with the median of the ratios of the rounds.
    pub fn of_rounds(
        label: &'static str,
        unit: Unit,
        rounds: &[Pair<f64>],
        target: Option<Target>,
    ) -> Self {
        let middle = |figure: fn(&Pair<f64>) -> f64| median(rounds.iter().map(figure));
        let figures = [middle(|pair| pair[0]), middle(|pair| pair[1])];
        Self {
            ratio: middle(|pair| pair[0] / pair[1]),
            ..Self::new(label, unit, figures, target)
        }
    }

    /// Whether the ratio meets the target. None without a target.
    pub fn met(&self) -> Option<bool> {
        self.target.map(|target| target.holds(self.ratio))
    }

    fn cells(&self) -> [String; 7] {
        [
            self.label.to_owned(),
            self.unit.short().to_owned(),
            self.unit.show(self.figures[0]),
            self.unit.show(self.figures[1]),
            format!("{:.3}", self.ratio),
            self.target.map_or_else(String::new, Target::show),
            match self.met() {
                Some(true) => "✓".to_owned(),
                Some(false) => "✗".to_owned(),
                None => String::new(),
            },
        ]
    }
}

/// The rows, aligned, below a header that names the peer.
pub fn table(peer: &str, rows: &[Row]) -> String {
    let head = ["figure", "", "ours", peer, "ratio", "target", ""].map(str::to_owned);
    let mut lines = vec![head];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    lines.iter().map(|line| aligned(line, &widths)).collect()
}

/// A line of the table. Text is left-aligned, numbers are right-aligned.
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

/// The value in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A whole number with commas, such as 44,536.
pub fn thousands(value: f64) -> String {
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
    use super::{Row, Target, Unit, median, table, thousands};

    #[test]
    #[allow(clippy::float_cmp, reason = "they are the same floats")]
    fn a_median_is_a_value_that_was_measured() {
        assert_eq!(median([5.0, 1.0, 4.0, 2.0, 3.0]), 3.0);
        assert_eq!(median([2.0, 1.0]), 2.0);
    }

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

    #[test]
    fn a_target_has_a_direction() {
        let row = |target| Row::new("calls", Unit::PerSecond, [1500.0, 1000.0], target);
        let rows = [
            row(None),
            row(Some(Target::AtLeast(1.8))),
            row(Some(Target::AtMost(1.5))),
            row(Some(Target::Between(0.95, 1.05))),
        ];
        assert_eq!(
            table("peer", &rows),
            "figure        ours   peer  ratio     target\n\
             calls   1/s  1,500  1,000  1.500\n\
             calls   1/s  1,500  1,000  1.500     ≥ 1.80  ✗\n\
             calls   1/s  1,500  1,000  1.500     ≤ 1.50  ✓\n\
             calls   1/s  1,500  1,000  1.500  0.95–1.05  ✗\n"
        );
    }
}
