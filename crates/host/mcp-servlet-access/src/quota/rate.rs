//! How much there is in a time.

use std::{fmt, str::FromStr, time::Duration};

/// An amount per time, such as `60/m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How much, at least 1.
    pub amount: u64,
    /// In which time.
    pub period: Period,
}

/// The time of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// `s`
    Second,
    /// `m`
    Minute,
    /// `h`
    Hour,
    /// `d`
    Day,
}

/// The units of sizes.
const UNITS: [(&str, u64); 4] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

impl Rate {
    /// As it is written in a configuration, with a unit of size.
    pub(super) fn in_units(self) -> String {
        let mut units = UNITS.iter().rev();
        match units.find(|(_, size)| self.amount.is_multiple_of(*size)) {
            Some((name, size)) => format!("{}{name}/{}", self.amount / size, self.period.unit()),
            None => self.to_string(),
        }
    }

    /// How much of it there is in a time.
    pub(super) fn in_time(self, time: Duration) -> f64 {
        time.as_secs_f64() / self.period.time().as_secs_f64() * self.exact()
    }

    /// The time in which there is this much of it.
    pub(super) fn time_for(self, amount: f64) -> Duration {
        let seconds = amount / self.exact() * self.period.time().as_secs_f64();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a quota of more than 2^53 need not be exact"
    )]
    pub(super) fn exact(self) -> f64 {
        self.amount as f64
    }
}

impl Period {
    fn time(self) -> Duration {
        match self {
            Self::Second => Duration::from_secs(1),
            Self::Minute => Duration::from_mins(1),
            Self::Hour => Duration::from_hours(1),
            Self::Day => Duration::from_hours(24),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "m",
            Self::Hour => "h",
            Self::Day => "d",
        }
    }
}

/// The time in words.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "a second",
            Self::Minute => "a minute",
            Self::Hour => "an hour",
            Self::Day => "a day",
        })
    }
}

/// As it is written in a configuration, without a unit of size.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.amount, self.period.unit())
    }
}

/// Reads a number with a unit of size or an exponent, and a period: `60/m`, `1GiB/h` or `1e12/d`.
impl FromStr for Rate {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (amount, period) = text.split_once('/').ok_or(())?;
        let periods = [Period::Second, Period::Minute, Period::Hour, Period::Day];
        let period = periods.into_iter().find(|one| one.unit() == period);
        let amount = read_amount(amount).filter(|amount| *amount > 0);
        Ok(Self {
            amount: amount.ok_or(())?,
            period: period.ok_or(())?,
        })
    }
}

fn read_amount(text: &str) -> Option<u64> {
    let number = |digits: &str| -> Option<u64> {
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_plain)
    };
    for (unit, size) in UNITS {
        if let Some(digits) = text.strip_suffix(unit) {
            return number(digits)?.checked_mul(size);
        }
    }
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let exponent = u32::try_from(number(exponent)?).ok()?;
            number(digits)?.checked_mul(10_u64.checked_pow(exponent)?)
        }
        None => number(text),
    }
}
