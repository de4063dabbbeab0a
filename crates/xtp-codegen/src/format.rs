//! From items to text.

/// Prints items under a header, with a blank line between any two of them.
pub(crate) fn format(header: &str, items: Vec<syn::Item>) -> String {
    let mut text = String::new();
    for line in header.lines() {
        text.extend(["// ", line, "\n"]);
    }
    for item in items {
        text.push('\n');
        text += &prettyplease::unparse(&syn::parse_quote!(#item));
    }
    text
}
