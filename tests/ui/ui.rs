//! Code that the macros accept, and the compiler's errors for code that they reject.

#[test]
fn ui() {
    let tests = trybuild::TestCases::new();
    tests.pass("pass/*.rs");
    tests.compile_fail("fail/*.rs");
}

/// Each fixture has one mistake, and the compiler reports one error.
#[test]
fn every_failure_is_short_and_has_one_error() {
    let fixtures: Vec<_> = std::fs::read_dir("fail")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let sources: Vec<_> = fixtures
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    assert!(!sources.is_empty());
    for source in sources {
        let lines = std::fs::read_to_string(source).unwrap().lines().count();
        assert!(lines <= 15, "{} has {lines} lines", source.display());
        let output = std::fs::read_to_string(source.with_extension("stderr")).unwrap();
        let errors = output
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        assert_eq!(errors, 1, "{} gives {errors} errors", source.display());
    }
}
