//! Checks what the types of a document need to exist in Rust, and the rules of XTP beyond the shape of a document.
//! Finds every problem once.

mod collisions;
mod cycles;
mod everywhere;
mod identifiers;
mod keywords;
mod lists;
mod refs;
mod unions;

use crate::diagnostic::Report;
use crate::document::Document;
use crate::read::Cursor;

/// Reports the problems of a document that was read from `root`.
pub(crate) fn check(root: &Cursor<'_>, document: &Document, report: &mut Report) {
    identifiers::check(document, report);
    keywords::check(document, report);
    collisions::check(document, report);
    lists::check(document, report);
    refs::check(document, report);
    unions::check(document, report);
    cycles::check(root, document, report);
    everywhere::check(root, document, report);
}
