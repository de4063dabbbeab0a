//! What a module can do, from its imports alone.

use mcp_servlet_runtime::{Module, glob_matches};

/// Each ability, and the functions of the host that give it; `path_*` stands for all that begin with `path_`.
const ABILITIES: [(&[&str], &str); 10] = [
    (&["http_request"], "send HTTP requests"),
    (&["call_tool"], "call tools of other servlets"),
    (&["create_elicitation"], "ask the user"),
    (&["create_message"], "ask the client's model"),
    (&["list_roots"], "read the client's roots"),
    (&["config_get"], "read its configuration"),
    (&["var_set"], "keep variables"),
    (&["path_*", "fd_readdir"], "use files"),
    (&["clock_time_get"], "read the clock"),
    (&["random_get"], "get random numbers"),
];

/// The names of the functions that a module imports.
pub(crate) fn imports(module: &Module) -> impl Iterator<Item = &str> + Clone {
    module.imports.iter().map(|import| import.name.as_str())
}

/// What a module with these imports can do.
pub(crate) fn abilities<'a>(
    imports: impl Iterator<Item = &'a str> + Clone,
) -> impl Iterator<Item = &'static str> {
    ABILITIES.into_iter().filter_map(move |(gives, ability)| {
        let mut names = imports.clone();
        let is_given = names.any(|name| gives.iter().any(|pattern| glob_matches(pattern, name)));
        is_given.then_some(ability)
    })
}

/// A right in a lock. For a function that a module imports, it says what the module can do with it, such as
/// `import http_request: can send HTTP requests`.
pub(crate) fn explain_right(right: String) -> String {
    let import = right.strip_prefix("import ");
    let ability = import.and_then(|import| abilities([import].into_iter()).next());
    match ability {
        Some(ability) => format!("{right}: can {ability}"),
        None => right,
    }
}

/// What a module with these imports can do, in words.
pub(crate) fn in_words<'a>(imports: impl Iterator<Item = &'a str> + Clone) -> String {
    let abilities: Vec<_> = abilities(imports).collect();
    if abilities.is_empty() {
        // Asking the user or the model is left out: every servlet can return such requests, without an import.
        return "compute, without network, files or configuration".to_owned();
    }
    abilities.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_for_files_is_shown() {
        for import in ["path_open", "path_unlink_file", "path_rename", "fd_readdir"] {
            let imports = ["fd_write", import].into_iter();
            assert_eq!(in_words(imports), "use files", "{import}");
        }
        let imports = ["fd_write", "clock_time_get", "random_get"].into_iter();
        assert_eq!(in_words(imports), "read the clock, get random numbers");
    }

    #[test]
    fn a_right_says_what_an_import_gives() {
        for (right, explained) in [
            (
                "import create_elicitation",
                "import create_elicitation: can ask the user",
            ),
            ("import fd_write", "import fd_write"),
            ("host http_request", "host http_request"),
        ] {
            assert_eq!(explain_right(right.to_owned()), explained);
        }
    }

    #[test]
    fn a_module_without_known_imports_only_computes() {
        let words = in_words(["input_length"].into_iter());
        assert_eq!(words, "compute, without network, files or configuration");
    }
}
