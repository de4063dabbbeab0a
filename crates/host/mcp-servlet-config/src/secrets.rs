//! The parts of a configuration that errors must not show: values for servlets and of headers, and
//! credentials in URLs.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::bundle;

/// The byte ranges of the values for servlets and of headers, and of the credentials in sources.
pub(super) fn of_table(table: &DeTable<'_>, text: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    if let Some(requests) = table.get("requests") {
        proxies(requests.get_ref(), requests.span(), text, &mut secrets);
    }
    let endpoints = table
        .get("endpoint")
        .and_then(|value| value.get_ref().as_table());
    let sections = endpoints.into_iter().flatten();
    for section in sections.filter_map(|(_, section)| section.get_ref().as_table()) {
        for key in ["headers", "message_headers"] {
            if let Some(headers) = section.get(key) {
                values(headers.get_ref(), headers.span(), &mut secrets);
            }
        }
        let rejects = section
            .get("reject")
            .and_then(|list| list.get_ref().as_array())
            .into_iter()
            .flat_map(|list| list.iter());
        for reject in rejects.filter_map(|reject| reject.get_ref().as_table()) {
            if let Some(headers) = reject.get("headers") {
                values(headers.get_ref(), headers.span(), &mut secrets);
            }
        }
    }
    let traces = table.get("traces");
    if let Some(traces) = traces.and_then(|value| value.get_ref().as_table()) {
        if let Some(headers) = traces.get("headers") {
            values(headers.get_ref(), headers.span(), &mut secrets);
        }
        if let Some(url) = traces.get("otlp") {
            let span = url.span();
            let parts = of_url(text.get(span.clone()).unwrap_or_default()).into_iter();
            secrets.extend(parts.map(|part| span.start + part.start..span.start + part.end));
        }
    }
    of_stores(table, text, &mut secrets);
    bundle::secrets(table, text, &mut secrets);
    let servlets = table
        .get("servlet")
        .and_then(|value| value.get_ref().as_table());
    let sections = servlets.into_iter().flatten();
    for section in sections.filter_map(|(_, section)| section.get_ref().as_table()) {
        if let Some(config) = section.get("config") {
            values(config.get_ref(), config.span(), &mut secrets);
        }
        if let Some(requests) = section.get("requests") {
            proxies(requests.get_ref(), requests.span(), text, &mut secrets);
        }
        if let Some(source) = section.get("source") {
            let span = source.span();
            let written = text.get(span.clone()).unwrap_or_default();
            let parts = of_url(written).into_iter();
            secrets.extend(parts.map(|part| span.start + part.start..span.start + part.end));
        }
    }
    of_remotes(table, text, &mut secrets);
    credentials(table, &mut secrets);
    secrets
}

/// The credentials in the URLs of stores.
fn of_stores(table: &DeTable<'_>, text: &str, secrets: &mut Vec<Range<usize>>) {
    let stores = table
        .get("store")
        .and_then(|value| value.get_ref().as_table());
    let sections = stores.into_iter().flatten();
    for section in sections.filter_map(|(_, section)| section.get_ref().as_table()) {
        if let Some(url) = section.get("redis") {
            proxies(url.get_ref(), url.span(), text, secrets);
        }
    }
}

/// Headers, variables and arguments of remotes, and the credentials in their URLs.
fn of_remotes(table: &DeTable<'_>, text: &str, secrets: &mut Vec<Range<usize>>) {
    let remotes = table
        .get("remote")
        .and_then(|value| value.get_ref().as_table());
    let sections = remotes.into_iter().flatten();
    for section in sections.filter_map(|(_, section)| section.get_ref().as_table()) {
        for key in ["headers", "env"] {
            if let Some(value) = section.get(key) {
                values(value.get_ref(), value.span(), secrets);
            }
        }
        let login = section
            .get("login")
            .and_then(|value| value.get_ref().as_table());
        if let Some(secret) = login.and_then(|login| login.get("client_secret")) {
            secrets.push(secret.span());
        }
        let command = section.get("command");
        let words = command.and_then(|value| value.get_ref().as_array());
        // The program is not a secret, but its arguments may be.
        let arguments = words.into_iter().flatten().skip(1);
        secrets.extend(arguments.map(toml::Spanned::span));
        secrets.extend(section.get("args").map(toml::Spanned::span));
        // In a string, they follow the program.
        if let Some(DeValue::String(_)) = command.map(toml::Spanned::get_ref) {
            let span = command.map(toml::Spanned::span).unwrap_or_default();
            let written = text.get(span.clone()).unwrap_or_default();
            let program = written.find(char::is_whitespace).unwrap_or(written.len());
            secrets.push(span.start + program..span.end);
        }
        if let Some(url) = section.get("url") {
            let span = url.span();
            let parts = of_url(text.get(span.clone()).unwrap_or_default()).into_iter();
            secrets.extend(parts.map(|part| span.start + part.start..span.start + part.end));
        }
    }
}

fn values(value: &DeValue<'_>, span: Range<usize>, secrets: &mut Vec<Range<usize>>) {
    match value {
        DeValue::Table(table) => {
            for (_, value) in table {
                values(value.get_ref(), value.span(), secrets);
            }
        }
        DeValue::Array(items) => {
            for item in items {
                values(item.get_ref(), item.span(), secrets);
            }
        }
        _ => secrets.push(span),
    }
}

/// The credentials in the URLs of proxies. They count as secret even without a scheme or under the wrong key.
fn proxies(value: &DeValue<'_>, span: Range<usize>, text: &str, secrets: &mut Vec<Range<usize>>) {
    if let DeValue::Table(table) = value {
        for (_, value) in table {
            proxies(value.get_ref(), value.span(), text, secrets);
        }
        return;
    }
    let written = text.get(span.clone()).unwrap_or_default();
    let start = written.find("://").map_or(0, |at| at + 3);
    let end = match written.rfind('@') {
        _ if written.contains('\\') => written.len(),
        at => at.unwrap_or(start),
    };
    secrets.push(span.start + start.min(end)..span.start + end);
}

/// User, password and query of a URL, as byte ranges of the literal with its quotes.
pub(super) fn of_url(written: &str) -> Vec<Range<usize>> {
    let Some(start) = written.find("://").map(|at| at + 3) else {
        return Vec::new();
    };
    let end = written.len();
    if written.contains('\\') {
        return std::iter::once(start..end).collect();
    }
    let rest = &written[start..];
    let query = rest.find('?').map_or(end, |at| start + at + 1);
    // An unencoded password may contain `@`, `/` or `#`.
    let user = written[start..query]
        .rfind('@')
        .map_or(start, |at| start + at);
    vec![start..user, query..end]
}

/// Every byte range that may be a secret, in a text that is not TOML. `known` says whether a key is one of configurations.
///
/// The value of such a key is shown if it is on the same line and no table, unless the key or its section has secrets.
pub(super) fn of_garbled(text: &str, known: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut start = 0;
    let mut is_secret_section = false;
    // A secret that goes on in the next lines, for all that is known.
    let mut is_open = false;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(header) = header(line) {
            is_secret_section = header.split('.').any(has_secrets);
            is_open = false;
        } else if line.trim_start().starts_with('#') || !line.contains(char::is_alphanumeric) {
        } else if let Some((key, value)) = entry(line).filter(|_| !is_open) {
            let at = end - value.len();
            if known(key) && !has_secrets(key) && !is_secret_section && is_plain(value) {
                let parts = of_url(value).into_iter();
                secrets.extend(parts.map(|part| at + part.start..at + part.end));
            } else {
                secrets.push(at..end);
                is_open = goes_on(value);
            }
        } else {
            secrets.push(start..end);
        }
        start = end;
    }
    secrets
}

/// The name in the header of a section.
fn header(line: &str) -> Option<&str> {
    let name = line.trim().trim_matches(['[', ']']);
    let is_name = |one: char| one.is_ascii_alphanumeric() || "_-. ".contains(one);
    let is_header = line.trim_start().starts_with('[') && line.trim_end().ends_with(']');
    (is_header && name.chars().all(is_name)).then_some(name)
}

/// The last part of the key and the value in a line. A line such as `c2VjcmV0==` has none.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim();
    let is_key = |one: char| one.is_ascii_alphanumeric() || "_-.".contains(one);
    let is_entry = !key.is_empty() && key.chars().all(is_key) && !value.trim_end().is_empty();
    let key = key.rsplit('.').next().unwrap_or(key);
    (is_entry && !value.starts_with('=')).then_some((key, value))
}

/// Whether a value is a string, a number or a list, without another entry behind it.
fn is_plain(value: &str) -> bool {
    let is_url = value.contains("://");
    !value.contains(['{', '}']) && (is_url || !value.contains(['=', '@']))
}

/// Whether a value may end in a later line.
fn goes_on(value: &str) -> bool {
    let count = |one: &str| value.matches(one).count();
    let is_quoted = |quote| count(quote) % 2 == 1;
    count("{") != count("}")
        || count("[") != count("]")
        || ["\"", "'"].into_iter().any(is_quoted)
        || value.contains("\"\"\"")
        || value.contains("'''")
}

/// Whether the value of a key, or of one in it, may be a secret.
fn has_secrets(key: &str) -> bool {
    const KEYS: [&str; 13] = [
        "args",
        "arguments",
        "bundle",
        "catches",
        "command",
        "config",
        "env",
        "headers",
        "inputs",
        "message_headers",
        "proxy",
        "requests",
        "set",
    ];
    KEYS.contains(&key) || is_credential(key)
}

/// Whether a key sounds as if its value were a secret, whether or not configurations have it.
fn is_credential(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let words = [
        "state_key",
        "auth",
        "token",
        "secret",
        "passw",
        "bearer",
        "credential",
        "api_key",
        "apikey",
    ];
    words.iter().any(|word| key.contains(word))
}

/// The keys of `[[auth.NAME.key]]`. Any other one may have the key itself as its value.
const KEY: [&str; 5] = ["header", "name", "scopes", "sha256", "until"];

/// The values of all keys that sound like credentials.
fn credentials(table: &DeTable<'_>, secrets: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        match value.get_ref() {
            // The sections and the keys of this name refer to credentials, but have none.
            DeValue::Table(table) if key.get_ref() == "auth" => credentials(table, secrets),
            DeValue::String(_) if key.get_ref() == "auth" => {}
            DeValue::Array(items) if key.get_ref() == "key" => {
                let keys = items.iter().filter_map(|item| item.get_ref().as_table());
                let secret = keys
                    .flatten()
                    .filter(|(name, _)| !KEY.contains(&&**name.get_ref()));
                secrets.extend(secret.map(|(_, value)| value.span()));
            }
            _ if is_credential(key.get_ref()) => values(value.get_ref(), value.span(), secrets),
            DeValue::Table(table) => credentials(table, secrets),
            _ => {}
        }
    }
}

/// Replaces each byte of a secret with an asterisk, so that all other offsets stay the same.
pub(super) fn masked(text: &str, secrets: &[Range<usize>]) -> String {
    let mut masked = text.as_bytes().to_vec();
    for secret in secrets {
        for byte in masked.get_mut(secret.clone()).into_iter().flatten() {
            if !byte.is_ascii_whitespace() && !b"\"'".contains(byte) {
                *byte = b'*';
            }
        }
    }
    // Secrets start and end at character boundaries, so the text stays valid UTF-8.
    String::from_utf8_lossy(&masked).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_values_and_credentials_as_stars() {
        let text = "[servlet.a]\nsource = \"https://u:p@h/x.wasm?sig=1\"\nconfig = { a = \"sé\", n = 12 }\n";
        let table = DeTable::parse(text).expect("TOML");
        let shown = masked(text, &of_table(table.get_ref(), text));
        let expected = "[servlet.a]\nsource = \"https://***@h/x.wasm?*****\"\nconfig = { a = \"***\", n = ** }\n";
        assert_eq!(shown, expected);
        let text = "requests.proxy = \"http://u:p@h:1\"\n[servlet.a]\nrequests = { prxy = 'u:p@s@h:1', proxy = \"http://h\" }\n";
        let table = DeTable::parse(text).expect("TOML");
        let shown = masked(text, &of_table(table.get_ref(), text));
        let expected = "requests.proxy = \"http://***@h:1\"\n[servlet.a]\nrequests = { prxy = '*****@h:1', proxy = \"http://h\" }\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_text_that_is_not_toml_shows_what_is_no_secret() {
        let known = |key: &str| ["name", "kind", "source", "headers"].contains(&key);
        for (text, expected) in [
            (
                "[servlet.a]\n# note\ntoken = \"se[cret\nmore secret\n",
                "[servlet.a]\n# note\ntoken = \"*******\n**** ******\n",
            ),
            ("kind = sse\nname = \"acme\n", "kind = sse\nname = \"acme\n"),
            (
                "kind = sse, headers = { a = \"s3cret\" }\n",
                "kind = **** ******* * * * * \"******\" *\n",
            ),
            (
                "source = \"https://u:p@h/x?k=1\"\n",
                "source = \"https://***@h/x?***\"\n",
            ),
            (
                "[servlet.a.config]\nname = \"s3cret\"\n",
                "[servlet.a.config]\nname = \"******\"\n",
            ),
            (
                "config = {\nname = \"s3cret\"\n}\n[server]\nname = 1\n",
                "config = *\n**** * \"******\"\n}\n[server]\nname = 1\n",
            ),
            (
                "a = \"\"\"\nc2VjcmV0==\n[\"s3cret\"]\n",
                "a = \"\"\"\n**********\n*\"******\"*\n",
            ),
            ("{\n  \"key\": \"s3cret\"\n", "{\n  \"***\"* \"******\"\n"),
        ] {
            assert_eq!(masked(text, &of_garbled(text, known)), expected);
        }
    }
}
