//! Errors in a configuration, with their positions.

use std::{fmt, io, ops::Range, path::PathBuf};

use mcp_servlet_call::chain;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The path of the configuration.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The lock of the configuration cannot be used.
    #[error("cannot use `{}`: {problem}", path.display())]
    Lock {
        /// The path of the lock.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A servlet that must be there could not be loaded.
    #[error("{position}: {}", chain(&**error))]
    Load {
        /// The path, the line and the column of its section.
        position: Position,
        /// Why it could not be loaded.
        error: Box<mcp_servlet_host::LoadError>,
    },
    /// The configuration is invalid.
    #[error("{}", Shown { path, text, problems })]
    Wrong {
        /// The path of the configuration.
        path: PathBuf,
        /// The text of the configuration, with secrets masked by asterisks.
        text: String,
        /// The problems, at least one.
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    /// A configuration, by its path and its text without secrets, with problems in any order.
    pub(super) fn wrong((path, text): (PathBuf, String), mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.start);
        Self::Wrong {
            path,
            text,
            problems,
        }
    }

    /// How to fix it, if there is general advice.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Load { error, .. } => error.help(),
            Self::Read { .. } | Self::Lock { .. } | Self::Wrong { .. } => None,
        }
    }

    /// The problems with their positions, for programs; none if the error is not about the text.
    pub fn located(&self) -> Vec<Located> {
        let Self::Wrong { text, problems, .. } = self else {
            return Vec::new();
        };
        problems
            .iter()
            .map(|problem| located(text, problem))
            .collect()
    }
}

/// A problem with its position. Lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The line.
    pub line: usize,
    /// The column of the first character.
    pub column: usize,
    /// The column behind the last character in this line.
    pub end: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

pub(super) fn located(text: &str, problem: &Problem) -> Located {
    let start = text.floor_char_boundary(problem.span.start);
    let (line, column) = position(text, start);
    let line_end = text[start..]
        .lines()
        .next()
        .map_or(start, |rest| start + rest.len());
    let end = problem.span.end.min(line_end);
    let width = text.get(start..end).map_or(0, |text| text.chars().count());
    Located {
        line,
        column,
        end: column + width,
        message: problem.message.clone(),
    }
}

/// A position in a configuration. Its text is `servlet.toml:3:1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The path of the configuration.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of an offset of a configuration.
    pub(super) fn of((path, text): &(PathBuf, String), offset: usize) -> Self {
        let (line, column) = position(text, offset);
        Self {
            path: path.clone(),
            line,
            column,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column } = self;
        write!(f, "{}:{line}:{column}", path.display())
    }
}

/// One problem in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The byte range in the text.
    pub span: Range<usize>,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// The line of an offset, from 1.
pub(super) fn line(text: &str, offset: usize) -> usize {
    position(text, offset).0
}

/// The line and the column of an offset.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    (line, column)
}

/// A position in words, for messages about a second place.
pub(super) fn position_in_words(text: &str, offset: usize) -> String {
    let (line, column) = position(text, offset);
    format!("line {line}, column {column}")
}

/// How many problems are shown at most.
const MAX_SHOWN: usize = 100;

/// How many characters of a long line are shown around a problem.
const MAX_WIDTH: usize = 160;

/// Writes each problem with the line that it is in.
pub(super) struct Shown<'a> {
    pub(super) path: &'a PathBuf,
    pub(super) text: &'a str,
    pub(super) problems: &'a [Problem],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.text.match_indices('\n').map(|(at, _)| at + 1);
        let lines: Vec<_> = std::iter::once(0).chain(ends).collect();
        for (at, problem) in self.problems.iter().take(MAX_SHOWN).enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            self.problem(problem, &lines, f)?;
        }
        match self.problems.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\n{}: {more} more problems", self.path.display()),
        }
    }
}

/// Where the content of a string begins, if it is written without escapes.
pub(super) fn inside(content: &str, span: &Range<usize>, text: &str) -> Option<usize> {
    let written = text.get(span.clone())?;
    let found = written.find(content)?;
    Some(span.start + found)
}

impl Shown<'_> {
    /// `lines` are the offsets at which lines begin.
    fn problem(
        &self,
        problem: &Problem,
        lines: &[usize],
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let start = self.text.floor_char_boundary(problem.span.start);
        let number = lines.partition_point(|line| *line <= start);
        let line_start = lines[number - 1];
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let column = self.text[line_start..start].chars().count();
        // Marks at least one character, and none past the end of the line.
        let width = self
            .text
            .get(start..problem.span.end.min(line_start + line.len()))
            .map_or(1, |text| text.chars().count());
        let marks = "^".repeat(width.clamp(1, MAX_WIDTH));
        let path = self.path.display();
        // Later lines are indented, so that text from the configuration cannot pass for another problem.
        let message = problem.message.trim_end().replace('\n', "\n  ");
        writeln!(f, "{path}:{number}:{}: {message}", column + 1)?;
        let margin = number.to_string();
        let left_out = column.saturating_sub(MAX_WIDTH / 2);
        let shown: String = line.chars().skip(left_out).take(MAX_WIDTH).collect();
        writeln!(f, "{margin} | {shown}")?;
        write!(
            f,
            "{:width$} | {:column$}{marks}",
            "",
            "",
            width = margin.len(),
            column = column - left_out
        )
    }
}
