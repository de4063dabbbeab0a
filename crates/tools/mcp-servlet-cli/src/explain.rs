//! `servlet explain`: the documentation of an error or a diagnostic.

use std::io::Write as _;

use clap::Args;
use mcp_servlet_schema::similar;

use crate::{
    failure::{Failure, Kind},
    terminal,
};

const ERRORS: &str = include_str!("../docs/client-errors.md");
const DIAGNOSTICS: &str = include_str!("../docs/catalog.md");
const REGISTRIES: &str = include_str!("../docs/registries.md");

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// The code, such as `connectivity`, `digest-differs` or `hidden-text`; without it, all codes are listed
    code: Option<String>,
}

/// A part of the documentation.
struct Section {
    code: &'static str,
    text: &'static str,
}

impl Explain {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut out = terminal::out();
        let Some(code) = self.code else {
            for section in sections() {
                writeln!(out, "{:<21}  {}", section.code, section.summary())?;
            }
            return Ok(());
        };
        match sections().find(|section| section.code == code) {
            Some(section) => Ok(writeln!(out, "{}", section.text)?),
            None => Err(unknown(&code)),
        }
    }
}

fn unknown(code: &str) -> Failure {
    let message = format!("unknown code `{code}`");
    let help = match similar(code, sections().map(|section| section.code)) {
        Some(similar) => format!("there is a code `{similar}`"),
        None => "`servlet explain` lists all codes".to_owned(),
    };
    Failure::with_help(Kind::Usage, message, help)
}

/// The sections of all codes: errors of servers and of registries, then diagnostics.
fn sections() -> impl Iterator<Item = Section> {
    let errors = ERRORS.split("\n## ").skip(1);
    let registries = subsections(REGISTRIES, "\n## Errors");
    let diagnostics = subsections(DIAGNOSTICS, "\n## Diagnostics");
    let all = errors.chain(registries).chain(diagnostics);
    all.filter_map(|section| {
        let (code, text) = section.split_once('\n')?;
        let text = text.trim();
        Some(Section { code, text })
    })
}

/// The sections below a heading of a page.
fn subsections(page: &'static str, heading: &str) -> impl Iterator<Item = &'static str> + use<> {
    let below = page.split_once(heading).map_or("", |(_, below)| below);
    below.split("\n### ").skip(1)
}

impl Section {
    /// The first sentence.
    fn summary(&self) -> String {
        let paragraph = self
            .text
            .split("\n\n")
            .next()
            .unwrap_or_default()
            .replace('\n', " ");
        let sentence = paragraph.split(". ").next().unwrap_or_default();
        sentence.trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use mcp_servlet_client::ErrorKind;

    use super::*;

    #[test]
    fn every_code_has_a_section_and_every_section_a_code() {
        let errors = ErrorKind::all().map(ErrorKind::code);
        let mut codes: Vec<_> = errors
            .chain(mcp_servlet_oci::Error::CODES)
            .chain(mcp_catalog::code::ALL)
            .collect();
        let mut explained: Vec<_> = sections().map(|section| section.code).collect();
        codes.sort_unstable();
        explained.sort_unstable();
        assert_eq!(explained, codes);
        for section in sections() {
            assert!(!section.summary().is_empty(), "{}", section.code);
        }
    }
}
