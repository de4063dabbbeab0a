//! What an operator can do about errors that servlets report in the words of their language.

/// How Rust's library says that there is no such file, or none that the servlet may open. The numbers are those of WASI.
const NOT_OPENED: [&str; 5] = [
    "pre-opened file descriptor",
    "(os error 44)",
    "(os error 76)",
    "Os { code: 44,",
    "Os { code: 76,",
];

/// What an operator can do where a servlet says that it cannot open a file.
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
