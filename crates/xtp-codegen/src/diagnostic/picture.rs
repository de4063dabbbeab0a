//! Problems as pictures: the lines they point at, underlined.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceSpan};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::rules::Severity;

impl Diagnostics {
    /// The problems as a person reads them in a terminal, each with the lines it points at.
    ///
    /// Colors are those of ANSI terminals.
    pub fn to_picture(&self, colors: bool) -> String {
        let theme = if colors {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        let mut text = String::new();
        for problem in self {
            if !text.is_empty() {
                text.push('\n');
            }
            let drawn = handler.render_report(&mut text, &Picture::new(problem));
            drawn.expect("a string takes all that is written to it");
        }
        text
    }
}

/// A problem as miette wants it.
#[derive(Debug)]
struct Picture<'a> {
    problem: &'a Diagnostic,
    source: NamedSource<String>,
}

impl<'a> Picture<'a> {
    fn new(problem: &'a Diagnostic) -> Self {
        let origin = &problem.origin;
        Self {
            problem,
            source: NamedSource::new(origin.to_string(), origin.text().to_owned()),
        }
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Picture<'_> {}

impl miette::Diagnostic for Picture<'_> {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.problem.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.problem.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(&self.problem.help))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span;
        // A whole map is marked by its first line.
        let text = self.problem.origin.text();
        let marked = text.get(span.offset..span.offset + span.len);
        let first = marked.and_then(|marked| marked.lines().next());
        let length = first.map_or(0, |line| line.trim_end().len());
        let place = SourceSpan::new(span.offset.into(), length);
        let label = LabeledSpan::new_with_span(Some(self.problem.pointer.clone()), place);
        Some(Box::new(std::iter::once(label)))
    }
}
