//! Checks that the commands, files and links in the documents exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::{cargo, root, servlet_command};

/// A line of a document.
struct Line {
    /// The document and the line number.
    place: String,
    text: String,
    /// The language of the fenced block around it.
    fence: Option<String>,
}

/// All lines of the documents at the root, in `docs` and in `examples`.
fn lines() -> Vec<Line> {
    let files = files();
    let is_document = |file: &&PathBuf| {
        let folder = file.parent().unwrap_or(Path::new(""));
        let has_text = file.extension().is_some_and(|extension| extension == "md");
        has_text
            && (folder == Path::new("")
                || folder.starts_with("docs")
                || folder.starts_with("examples"))
    };
    files
        .iter()
        .filter(is_document)
        .flat_map(lines_of)
        .collect()
}

fn lines_of(file: &PathBuf) -> Vec<Line> {
    let text = fs::read_to_string(root().join(file)).expect("a document is text");
    let mut fence: Option<String> = None;
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        if let Some(language) = text.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(language.to_owned()),
                Some(_) => None,
            };
            continue;
        }
        let place = format!("{}:{}", file.display(), at + 1);
        let (text, fence) = (text.to_owned(), fence.clone());
        lines.push(Line { place, text, fence });
    }
    lines
}

/// All files of the project, relative to its root.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder") {
            let entry = entry.expect("a file");
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            let path = folder.join(&name);
            match entry.file_type().expect("a type").is_dir() {
                true if hidden || name == "target" => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

/// The code between backticks of a line.
fn code(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The commands in documents, each with its document and line.
fn commands() -> Vec<(String, Vec<String>)> {
    let mut commands = Vec::new();
    for line in lines() {
        let typed = match line.fence.as_deref() {
            Some("console") => line.text.strip_prefix("$ ").into_iter().collect(),
            Some(_) => Vec::new(),
            None => code(&line.text).collect::<Vec<_>>(),
        };
        for command in typed {
            let command = command.split(" #").next().unwrap_or(command);
            let words = command.split_whitespace().map(str::to_owned).collect();
            commands.push((line.place.clone(), words));
        }
    }
    commands
}

/// Fails unless the `--help` of each subcommand has the options that documents use. Runs each `--help` once.
fn assert_known(program: &str, ask: impl Fn(&[&str]) -> Option<String>) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for (place, words) in commands() {
        let [first, subcommand, rest @ ..] = &*words else {
            continue;
        };
        if first != program {
            continue;
        }
        let shown = words.join(" ");
        let help = seen.entry(subcommand.clone()).or_insert_with(|| {
            ask(&[subcommand]).unwrap_or_else(|| panic!("{place}: `{shown}`: no such command"))
        });
        for option in rest.iter().filter(|word| word.starts_with("--")) {
            let option = option.split('=').next().unwrap_or(option);
            // `servlet config check` has its own options.
            let has = |help: String| help.contains(option);
            let below = || rest.first().and_then(|next| ask(&[subcommand, next]));
            let is_known = has(help.clone()) || below().is_some_and(has);
            assert!(is_known, "{place}: `{shown}`: no {option}");
        }
        count += 1;
    }
    assert!(count > 0, "no document names `{program}`");
}

fn output_of(mut command: Command) -> Option<String> {
    let output = command.output().expect("a command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

#[test]
fn commands_named_servlet_exist() {
    assert_known("servlet", |subcommand| {
        let mut command = servlet_command(subcommand);
        command.arg("--help");
        output_of(command)
    });
}

#[test]
fn commands_named_x_exist() {
    assert_known("./x", |subcommand| {
        let mut command = cargo();
        command.arg("xtask").args(subcommand);
        command.arg("--help");
        output_of(command)
    });
}

/// Cargo names the wasm after the library, whose name has no hyphens.
#[test]
fn documents_of_examples_name_the_wasm_that_is_built() {
    let mut count = 0;
    for line in lines().iter().filter(|line| line.fence.is_some()) {
        let Some((example, _)) = line
            .place
            .strip_prefix("examples/")
            .and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        let built = format!("{}.wasm", example.replace('-', "_"));
        let words = line.text.split_whitespace();
        for word in words.filter(|word| Path::new(word).extension() == Some("wasm".as_ref())) {
            assert_eq!(word, built, "{}", line.place);
            count += 1;
        }
    }
    assert!(count > 5, "{count} files");
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for line in lines().iter().filter(|line| line.fence.is_none()) {
        for target in line.text.split("](").skip(1) {
            let target = target.split([')', '#']).next().unwrap_or(target);
            if target.is_empty() || target.contains(':') {
                continue;
            }
            let document = line.place.split(':').next().unwrap_or_default();
            let folder = root().join(document);
            let folder = folder.parent().expect("a document is in a folder");
            assert!(folder.join(target).exists(), "{}: {target}", line.place);
            count += 1;
        }
    }
    assert!(count > 5, "{count} links");
}

/// rustdoc hides such lines, but pages that show the documents do not.
#[test]
fn code_has_no_hidden_lines() {
    let lines = lines();
    let is_rust = |line: &&Line| {
        line.fence
            .as_ref()
            .is_some_and(|fence| fence.starts_with("rust"))
    };
    let code: Vec<_> = lines.iter().filter(is_rust).collect();
    assert!(code.len() > 500, "{} lines", code.len());
    for Line { place, text, .. } in code {
        assert!(!text.starts_with("# ") && text != "#", "{place}: `{text}`");
    }
}

/// `mdbook` copies the folder `docs` alone, so a link to another folder would be broken in the book.
#[test]
fn links_of_the_book_stay_in_it() {
    let book = lines();
    let book = book.iter().filter(|line| is_in_the_book(&line.place));
    let mut count = 0;
    for line in book.filter(|line| line.fence.is_none()) {
        for target in line.text.split("](").skip(1) {
            let leaves = target.starts_with("../");
            assert!(!leaves, "{}: write the path as code: {target}", line.place);
            count += 1;
        }
    }
    assert!(count > 100, "{count} links");
}

/// Whether a place, `file:line`, is in a chapter. The decisions are for people who read the repository.
fn is_in_the_book(place: &str) -> bool {
    place.starts_with("docs/") && !place.starts_with("docs/decisions/")
}

#[test]
fn files_that_documents_name_exist() {
    let files = files();
    let mut count = 0;
    for line in lines().iter().filter(|line| line.fence.is_none()) {
        for path in code(&line.text).filter(|code| names_a_file(code)) {
            let exists = files.iter().any(|file| matches(path, file));
            assert!(exists, "{}: there is no `{path}`", line.place);
            count += 1;
        }
    }
    assert!(count > 20, "{count} files");
}

/// Whether code is a path in this repository: a file name with one of our extensions, or a path in a folder at the
/// root. Paths that begin with `~` or `.` are on the user's computer.
fn names_a_file(code: &str) -> bool {
    let ends = [".rs", ".yaml", ".toml", ".md"];
    let first = code.split('/').next().unwrap_or_default();
    let is_folder = !["", "."].contains(&first) && root().join(first).is_dir();
    !code.contains(' ')
        && !["~/", "."].iter().any(|start| code.starts_with(start))
        && (is_folder && code.contains('/') || ends.iter().any(|end| code.ends_with(end)))
}

/// Whether a file, or a folder that it is in, ends with a path; `*` and `<name>` are any name.
fn matches(path: &str, file: &Path) -> bool {
    let wanted: Vec<_> = path.split('/').collect();
    let found: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let fits = |(want, part): (&&str, &std::borrow::Cow<'_, str>)| {
        *want == "*" || want.starts_with('<') || *want == part
    };
    let mut windows = found.windows(wanted.len());
    windows.any(|window| wanted.iter().zip(window).all(fits))
}

#[test]
fn patterns_match_any_name() {
    let file = Path::new("crates/a/src/tool/tests.rs");
    for path in ["tool/tests.rs", "crates/a", "crates/*/src", "tool/<name>"] {
        assert!(matches(path, file), "{path}");
    }
    for path in ["tool.rs", "crates/b", "tests/tool"] {
        assert!(!matches(path, file), "{path}");
    }
}

#[test]
fn each_crate_has_the_licenses() {
    let crates: Vec<_> = files()
        .into_iter()
        .filter(|file| file.starts_with("crates") && file.ends_with("Cargo.toml"))
        .filter(|file| file.iter().count() == 4)
        .collect();
    assert!(crates.len() > 15, "{crates:?}");
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let text = fs::read_to_string(root().join(license)).expect("a license");
        for manifest in &crates {
            let path = manifest.with_file_name(license);
            let own = fs::read_to_string(root().join(&path));
            assert!(own.is_ok_and(|own| own == text), "{}", path.display());
        }
    }
}
