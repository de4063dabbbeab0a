//! Reads the corpus with both libraries.

use std::collections::BTreeSet;

use crate::corpus::{DOCUMENTS, deep};
use crate::types::assert_agreement;

#[test]
fn both_read_the_same_from_every_document() {
    for (name, bytes) in DOCUMENTS {
        assert_agreement(name, bytes);
    }
}

#[test]
fn both_read_the_same_from_deep_documents() {
    for (name, bytes) in deep() {
        assert_agreement(&name, &bytes);
    }
}

#[test]
fn both_read_the_same_from_every_document_in_an_array_and_in_an_object() {
    for (name, bytes) in DOCUMENTS {
        assert_agreement(
            &format!("{name} in an array"),
            &[b"[", *bytes, b"]"].concat(),
        );
        assert_agreement(
            &format!("{name} in an object"),
            &[b"{\"id\":1,\"x\":", *bytes, b"}"].concat(),
        );
    }
}

#[test]
fn both_read_the_same_from_every_document_cut_short() {
    for (name, bytes) in DOCUMENTS {
        for end in 0..bytes.len() {
            assert_agreement(&format!("{name} cut at {end}"), &bytes[..end]);
        }
    }
}

#[test]
fn documents_are_unique() {
    let mut names = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for (name, bytes) in DOCUMENTS {
        assert!(names.insert(name) && texts.insert(bytes), "{name} twice");
    }
}
