//! Suggests the known name that the author probably meant.

/// How similar two names must be, from 0 to 1, for a suggestion.
const MIN_SIMILARITY: f64 = 0.85;
/// How many names a help lists.
const MAX_LISTED_NAMES: usize = 10;

/// The known name that is most similar to `text`, if one is similar enough.
pub(crate) fn nearest<'n>(text: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let text = text.to_lowercase();
    let scored = known.into_iter().map(|name| {
        let likeness = strsim::jaro_winkler(&text, &name.to_lowercase());
        (likeness, name)
    });
    let best = scored.max_by(|one, two| one.0.total_cmp(&two.0))?;
    (best.0 > MIN_SIMILARITY).then_some(best.1)
}

/// The help for a name that is not in `known`: a suggestion, or else the list of names.
pub(crate) fn help(text: &str, known: &[&str], otherwise: impl FnOnce(&str) -> String) -> String {
    match nearest(text, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => otherwise(&listed(known)),
    }
}

/// Names as a list in a sentence.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = &names[..names.len().min(MAX_LISTED_NAMES)];
    let text = format!("`{}`", shown.join("`, `"));
    match names.len() - shown.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_name_for_a_typo() {
        let keys = ["description", "codeSamples", "input", "output"];
        let cases = [
            ("inputs", Some("input")),
            ("ouput", Some("output")),
            ("Output", Some("output")),
            ("codeSample", Some("codeSamples")),
            ("desc", Some("description")),
            ("title", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nearest(text, keys), expected, "{text}");
        }
    }

    #[test]
    fn lists_a_few_names() {
        assert_eq!(listed(&["a", "b"]), "`a`, `b`");
        let many = listed(&["n"; 12]);
        assert!(many.ends_with("`n` and 2 more"), "{many}");
    }
}
