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
pub(crate) fn check_document(root: &Cursor<'_>, document: &Document, report: &mut Report) {
    identifiers::check_identifiers(document, report);
    keywords::check_keywords(document, report);
    collisions::check_collisions(document, report);
    lists::check_lists(document, report);
    refs::check_refs(document, report);
    unions::check_unions(document, report);
    cycles::check_cycles(root, document, report);
    everywhere::check_everywhere(root, document, report);
}
