//! Problems with the lines that they point at, underlined.

mod excerpt;

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan};

use self::excerpt::Excerpt;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::rules::Severity;

impl Diagnostics {
    /// The problems for a terminal, each with the lines that it points at.
    ///
    /// Shows the first of very many problems, errors before warnings, and how many more there are. Colors are ANSI
    /// escapes.
    pub fn to_picture(&self, colors: bool) -> String {
        let theme = if colors {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme).with_links(false);
        let mut text = String::new();
        for problem in self.shown() {
            if !text.is_empty() {
                text.push('\n');
            }
            let drawn = handler.render_report(&mut text, &Picture::new(problem));
            drawn.expect("a string takes all that is written to it");
        }
        if let Some(more) = self.more() {
            text.extend(["\n", &more, "\n"]);
        }
        text
    }
}

/// A problem in the form that miette takes.
#[derive(Debug)]
struct Picture<'a> {
    problem: &'a Diagnostic,
    excerpt: Excerpt,
}

impl<'a> Picture<'a> {
    fn new(problem: &'a Diagnostic) -> Self {
        Self {
            problem,
            excerpt: Excerpt::new(&problem.origin, problem.span),
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
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let pointer = Some(self.problem.pointer.clone());
        let label = LabeledSpan::new_with_span(pointer, self.excerpt.marked());
        Some(Box::new(std::iter::once(label)))
    }
}
