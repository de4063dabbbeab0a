//! URLs in errors, logs and lists.

use url::Url;

/// A URL without its secrets: `…` replaces the user and the password, and the query.
///
/// The digest after `#sha256=` stays. If the text is not a URL, only its scheme is shown.
pub fn public_url(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else {
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
        return format!("{scheme}://…");
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    let has_query = url.query().is_some();
    // Neither call fails: a URL with a user has a host.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    let fragment = url
        .fragment()
        .filter(|text| text.starts_with("sha256="))
        .map_or(String::new(), |text| format!("#{text}"));
    url.set_fragment(None);
    let mut shown = url.to_string();
    if has_user {
        let start = format!("{}://", url.scheme());
        shown = shown.replacen(&start, &format!("{start}…@"), 1);
    }
    if has_query {
        shown.push_str("?…");
    }
    shown + &fragment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_where_a_url_leads_and_no_secret() {
        for (url, shown) in [
            ("https://a.example/x.wasm", "https://a.example/x.wasm"),
            (
                "https://u:p@a.example/@x/y.wasm",
                "https://…@a.example/@x/y.wasm",
            ),
            ("https://p@a.example:8443/", "https://…@a.example:8443/"),
            ("https://a.example/x?sig=1#z", "https://a.example/x?…"),
            (
                "https://a.example/x?s#sha256=ab",
                "https://a.example/x?…#sha256=ab",
            ),
            ("https://u:p/w@a.example/", "https://…"),
            ("https://", "https://…"),
        ] {
            assert_eq!(public_url(url), shown, "{url}");
        }
    }
}
