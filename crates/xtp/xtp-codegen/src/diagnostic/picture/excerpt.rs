//! The lines of a source around a problem.
//!
//! miette would count lines from the start for each problem, and it panics if a mark is behind 65,535 columns, as in
//! JSON without line breaks, because it passes the column to `format!` as a width
//! (<https://github.com/rust-lang/rust/pull/136932>). So it gets an excerpt: the line of the problem and its neighbours,
//! cut to a readable length.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::span::{Origin, Span};

/// How many characters of a line are shown on either side of a mark.
const MAX_CONTEXT_CHARS: usize = 100;
/// How many characters are marked.
const MAX_MARKED_CHARS: usize = 100;

/// A few lines of a source, with one range marked.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    /// The line of the source where the excerpt starts, counted from 0.
    first_line: usize,
    marked: SourceSpan,
    /// The line and column of the mark in the whole source, both counted from 0.
    place: (usize, usize),
}

impl Excerpt {
    pub(super) fn new(origin: &Origin, span: Span) -> Self {
        let text = origin.text();
        let offset = span.offset.min(text.len());
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = line_at(text, start);
        // The mark of a map is its first line.
        let end = (offset + span.len).min(start + line.len()).max(offset);
        let marked = text[offset..end].trim_end();

        let mut excerpt = String::new();
        let before = text[..start].strip_suffix('\n');
        if let Some(line) = before.and_then(|before| before.rsplit('\n').next()) {
            excerpt.extend([head(line.trim_end_matches('\r')).as_str(), "\n"]);
        }
        excerpt += &tail(&text[start..offset]);
        let at = excerpt.len();
        let shown: String = marked.chars().take(MAX_MARKED_CHARS).collect();
        excerpt += &shown;
        excerpt += &head(&line[(offset + shown.len() - start).min(line.len())..]);
        let next = text[start..].find('\n').map(|at| start + at + 1);
        if let Some(next) = next.filter(|next| *next < text.len()) {
            excerpt.extend(["\n", &head(line_at(text, next)), "\n"]);
        }
        Self {
            name: origin.to_string(),
            text: excerpt,
            first_line: span.line.saturating_sub(1 + usize::from(before.is_some())),
            marked: SourceSpan::new(at.into(), shown.len()),
            place: (span.line.saturating_sub(1), span.column.saturating_sub(1)),
        }
    }

    /// The marked range in the excerpt.
    pub(super) fn marked(&self) -> SourceSpan {
        self.marked
    }
}

impl SourceCode for Excerpt {
    /// Returns the whole excerpt, or only the mark if no lines around it are wanted.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        _context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = SourceSpan::new(0.into(), self.text.len());
        let (part, line, column) = match context_lines_before {
            0 => (*span, self.place.0, self.place.1),
            _ => (whole, self.first_line, 0),
        };
        let data = self
            .text
            .as_bytes()
            .get(part.offset()..part.offset() + part.len())
            .ok_or(MietteError::OutOfBounds)?;
        let lines = self.text.lines().count();
        let name = self.name.clone();
        let contents = MietteSpanContents::new_named(name, data, part, line, column, lines);
        Ok(Box::new(contents))
    }
}

/// The line that starts at an offset, without its line break.
fn line_at(text: &str, start: usize) -> &str {
    text[start..].lines().next().unwrap_or_default()
}

/// The start of a line, cut to the length that is shown.
fn head(line: &str) -> String {
    match line.char_indices().nth(MAX_CONTEXT_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// The end of a line, cut to the length that is shown.
fn tail(line: &str) -> String {
    match line.char_indices().rev().nth(MAX_CONTEXT_CHARS) {
        Some((at, c)) => format!("…{}", &line[at + c.len_utf8()..]),
        None => line.to_owned(),
    }
}
