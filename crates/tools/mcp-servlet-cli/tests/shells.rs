//! Completions for shells, and manual pages.

use std::{fs, process::Command};

/// The command under test.
fn servlet() -> Command {
    Command::new(env!("CARGO_BIN_EXE_servlet"))
}

/// The standard output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_shell_gets_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = output(servlet().args(["completions", shell]));
        for word in ["describe", "allow-host"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        assert!(!script.contains("\\u{"), "{shell}: an escaped character");
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_subcommands_and_options() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("servlet.bash");
    fs::write(&file, output(servlet().args(["completions", "bash"]))).expect("a file");
    for (words, expected) in [
        ("servlet desc", "describe"),
        ("servlet call --allow-ho", "--allow-host"),
    ] {
        let last = words.split(' ').count() - 1;
        let complete = format!(
            "source {}\nCOMP_WORDS=({words}); COMP_CWORD={last}\n\
             _servlet servlet \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{last}-1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let found = output(Command::new("bash").args(["-c", &complete]));
        assert_eq!(found.trim(), expected, "{words}");
    }
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    output(servlet().arg("man").arg(folder.path()));
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let mut pages: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("a page")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    pages.sort();
    for page in ["servlet.1", "servlet-call.1", "servlet-config-check.1"] {
        assert!(pages.iter().any(|one| one == page), "{page}: {pages:?}");
    }
    let hidden = pages
        .iter()
        .any(|page| page.starts_with("servlet-man") || page.contains("help"));
    assert!(!hidden, "{pages:?}");
    let page = fs::read_to_string(folder.path().join("servlet-call.1")).expect("a page");
    assert!(page.contains("\\-\\-allow\\-host"), "{page}");
    let folder = folder.path().join("missing");
    let failed = servlet()
        .arg("man")
        .arg(&folder)
        .output()
        .expect("the command starts");
    assert_eq!(failed.status.code(), Some(5), "{failed:?}");
}
