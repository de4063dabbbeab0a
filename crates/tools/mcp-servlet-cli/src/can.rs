//! What a module can do, from its imports alone.

/// Each ability, and the function of the host that a module needs for it.
const ABILITIES: [(&str, &str); 9] = [
    ("http_request", "send HTTP requests"),
    ("create_elicitation", "ask the user"),
    ("create_message", "ask the client's model"),
    ("list_roots", "read the client's roots"),
    ("config_get", "read its configuration"),
    ("var_set", "keep variables"),
    ("path_open", "open files"),
    ("clock_time_get", "read the clock"),
    ("random_get", "get random numbers"),
];

/// What a module with these imports can do.
pub(crate) fn abilities<'a>(
    imports: impl Iterator<Item = &'a str> + Clone,
) -> impl Iterator<Item = &'static str> {
    let abilities = ABILITIES.into_iter();
    abilities.filter_map(move |(import, ability)| {
        imports
            .clone()
            .any(|name| name == import)
            .then_some(ability)
    })
}

/// What a module with these imports can do, in words.
pub(crate) fn in_words<'a>(imports: impl Iterator<Item = &'a str> + Clone) -> String {
    let abilities: Vec<_> = abilities(imports).collect();
    if abilities.is_empty() {
        return "compute, and nothing else".to_owned();
    }
    abilities.join(", ")
}
