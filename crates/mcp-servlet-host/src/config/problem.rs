//! What is wrong with a configuration, and where.

use std::{fmt, io, ops::Range, path::PathBuf};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something in it is wrong.
    #[error("{}", Shown { path, text, problems })]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What stands in it.
        text: String,
        /// What is wrong, at least one thing.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// All problems, each with its line.
struct Shown<'a> {
    path: &'a PathBuf,
    text: &'a str,
    problems: &'a [Problem],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.problems.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            self.problem(problem, f)?;
        }
        Ok(())
    }
}

impl Shown<'_> {
    fn problem(&self, problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = problem.span.start.min(self.text.len());
        let before = self.text.get(..start).unwrap_or_default();
        let number = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        // At least one mark, and none beyond the line.
        let width = self
            .text
            .get(start..problem.span.end.min(line_start + line.len()));
        let marks = "^".repeat(width.map_or(1, |text| text.chars().count()).max(1));
        let path = self.path.display();
        writeln!(
            f,
            "{path}:{number}:{}: {}",
            column + 1,
            problem.message.trim_end()
        )?;
        let margin = number.to_string();
        writeln!(f, "{margin} | {line}")?;
        write!(
            f,
            "{:width$} | {:column$}{marks}",
            "",
            "",
            width = margin.len()
        )
    }
}
