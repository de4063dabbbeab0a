//! How good the machine code of a module is.

/// How good the machine code of a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// The baseline compiler compiled it in very little time.
    Baseline,
    /// It is compiled in little time, for modules that the baseline compiler refuses.
    Quick,
    /// It is compiled with optimizations.
    Optimized,
}

impl Quality {
    /// The end of the names of files.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Quick => "quick",
            Self::Optimized => "optimized",
        }
    }
}
