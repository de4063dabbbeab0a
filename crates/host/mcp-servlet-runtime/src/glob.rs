//! Patterns in which `*` matches any text and `?` matches one byte.

/// Whether a name matches a pattern. ASCII case is ignored.
///
/// For any pattern, the time is at most proportional to the product of both lengths.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where to continue if the text after the last `*` does not match.
    let mut retry = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at, from));
                at += 1;
                continue;
            }
            Some(one) if *one == b'?' || one.eq_ignore_ascii_case(&name[from]) => {
                at += 1;
                from += 1;
                continue;
            }
            _ => {}
        }
        let Some((star, start)) = retry else {
            return false;
        };
        at = star + 1;
        from = start + 1;
        retry = Some((star, from));
    }
    pattern[at..].iter().all(|one| *one == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn matches_names() {
        for (pattern, name, expected) in [
            ("example.com", "example.com", true),
            ("Example.com", "example.com", true),
            ("example.com", "example.com.evil", false),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("10.0.0.?", "10.0.0.7", true),
            ("*", "anything", true),
            ("*", "", true),
            ("", "x", false),
            ("get_*_by_*", "get_user_by_id", true),
            ("get_*_by_*", "get_user", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b", "ab", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!matches(&pattern, &"a".repeat(2000)));
    }
}
