//! Splits names into words, for properties without a description.

/// The longest name that is split into words; a longer one is cut.
const MAX_NAME_BYTES: usize = 128;

/// A name, split into words.
pub(crate) struct Words {
    bytes: [u8; MAX_NAME_BYTES],
    length: usize,
}

impl Words {
    /// `maxResults` and `max_results` are `max results`; an acronym keeps its case.
    pub(crate) const fn split(name: &str) -> Self {
        let name = name.as_bytes();
        let mut words = Self {
            bytes: [0; MAX_NAME_BYTES],
            length: 0,
        };
        let mut at = 0;
        while at < name.len() {
            if matches!(name[at], b'_' | b'-' | b' ') {
                words.space();
            } else {
                if starts_word(name, at) {
                    words.space();
                }
                let keeps_case = is_in_acronym(name, at);
                words.push(if keeps_case {
                    name[at]
                } else {
                    name[at].to_ascii_lowercase()
                });
            }
            at += 1;
        }
        words
    }

    /// The words, or `name` if there are none.
    pub(crate) const fn or<'a>(&'a self, name: &'a str) -> &'a str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0.trim_ascii()) {
            Ok(words) if !words.is_empty() => words,
            _ => name,
        }
    }

    const fn space(&mut self) {
        if self.length > 0 && self.bytes[self.length - 1] != b' ' {
            self.push(b' ');
        }
    }

    const fn push(&mut self, byte: u8) {
        if self.length < MAX_NAME_BYTES {
            self.bytes[self.length] = byte;
            self.length += 1;
        }
    }
}

/// Whether a new word starts at an upper-case letter.
const fn starts_word(name: &[u8], at: usize) -> bool {
    if at == 0 || !name[at].is_ascii_uppercase() {
        return false;
    }
    let before = name[at - 1];
    before.is_ascii_lowercase()
        || before.is_ascii_digit()
        || (before.is_ascii_uppercase() && is_lowercase(name, at + 1))
}

/// Whether the upper-case letter is next to another one and does not start a word: `ID`, `URLs`.
const fn is_in_acronym(name: &[u8], at: usize) -> bool {
    let after_upper = at > 0 && name[at - 1].is_ascii_uppercase();
    let before_upper = at + 1 < name.len() && name[at + 1].is_ascii_uppercase();
    name[at].is_ascii_uppercase() && (after_upper || before_upper) && !is_lowercase(name, at + 1)
}

const fn is_lowercase(name: &[u8], at: usize) -> bool {
    at < name.len() && name[at].is_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn puts_names_into_words() {
        for (name, words) in [
            ("name", "name"),
            ("max_results", "max results"),
            ("maxResults", "max results"),
            ("max-results", "max results"),
            ("MAX_RESULTS", "MAX RESULTS"),
            ("userID", "user ID"),
            ("ID", "ID"),
            ("URLPath", "URL path"),
            ("HTTPServer", "HTTP server"),
            ("md5Hash", "md5 hash"),
            ("Category", "category"),
            ("x", "x"),
            ("X", "x"),
            ("_id", "id"),
            ("id_", "id"),
            ("foo__bar", "foo bar"),
            ("$ref", "$ref"),
            ("größe", "größe"),
            ("__", "__"),
            ("", ""),
        ] {
            assert_eq!(Words::split(name).or(name), words, "{name}");
        }
    }

    #[test]
    fn cuts_a_name_that_is_too_long_and_never_a_character() {
        let long = "a".repeat(200);
        assert_eq!(Words::split(&long).or(&long), "a".repeat(128));
        let odd = format!("a{}", "ö".repeat(100));
        assert_eq!(Words::split(&odd).or(&odd), odd);
    }
}
