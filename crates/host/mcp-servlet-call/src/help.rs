//! Advice for operators about errors that a servlet reports in the wording of its language.

/// Messages of Rust's standard library for a file that does not exist or that the servlet may not
/// open. The numbers are WASI error codes.
const NOT_OPENED: [&str; 5] = [
    "pre-opened file descriptor",
    "(os error 44)",
    "(os error 76)",
    "Os { code: 44,",
    "Os { code: 76,",
];

/// Advice for the operator if `text` says that the servlet cannot open a file.
pub fn file_help(text: &str) -> Option<String> {
    let is_about_files = NOT_OPENED.iter().any(|words| text.contains(words));
    is_about_files.then(|| {
        "let the servlet open the directory: `--allow-path DIR`, or `allow.paths` in a configuration".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_not_opened_are_known_by_the_words_of_rust() {
        for text in [
            "failed to find a pre-opened file descriptor through which \"/x\" could be opened",
            "No such file or directory (os error 44)",
            "called `Result::unwrap()` on an `Err` value: Os { code: 76, kind: Uncategorized, message: \"\" }",
        ] {
            assert!(file_help(text).is_some(), "{text}");
        }
        assert_eq!(file_help("there is no city 44"), None);
    }
}
