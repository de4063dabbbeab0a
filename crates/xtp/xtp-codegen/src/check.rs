//! Checks what the types of a document need to exist in Rust, and the rules of XTP beyond the shape of a document.
//! Finds every problem once.

mod collisions;
mod cycles;
mod identifiers;
mod keywords;
mod lists;
mod refs;
mod unions;

pub(crate) use self::identifiers::is_identifier;
use crate::diagnostic::Report;
use crate::document::Document;

/// Reports the problems of a document that was read.
pub(crate) fn check(document: &Document, report: &mut Report) {
    identifiers::check(document, report);
    keywords::check(document, report);
    collisions::check(document, report);
    lists::check(document, report);
    refs::check(document, report);
    unions::check(document, report);
    cycles::check(document, report);
}
