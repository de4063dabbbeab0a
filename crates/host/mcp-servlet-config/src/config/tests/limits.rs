//! Limits of a server: tasks, compile time, number of servlets.

use super::*;

#[test]
fn tasks_and_compiling_have_limits() {
    let text = "[tasks]\nmax = 7\nmax_per_connection = 3\nafter = \"5s\"\nttl = \"1h\"\nresults = \"1MiB\"\n\
        [limits]\ncompile_timeout = \"9s\"\n[servlet.a]\nsource = \"a.wasm\"\n\
        [servlet.b]\nsource = \"b.wasm\"\nlimits.compile_timeout = \"none\"\n";
    let config = parse(text).expect("a configuration");
    let tasks = &config.settings.tasks;
    assert_eq!((tasks.max, tasks.max_per_connection), (7, 3));
    assert_eq!(tasks.after, Duration::from_secs(5));
    assert_eq!(tasks.ttl, Duration::from_hours(1));
    assert_eq!(tasks.results, Some(1 << 20));
    let compile = |at: usize| config.entries[at].options.compile;
    assert_eq!(compile(0), Some(Duration::from_secs(9)));
    assert_eq!(compile(1), None);
    for (text, problem) in [
        (
            "max = 1000001",
            ":2:7: expected a whole number from 0 to 1000000",
        ),
        (
            "max_per_connection = 0",
            ":2:22: expected a whole number from 1 to 1000000",
        ),
        (
            "ttl = \"25h\"",
            ":2:7: expected a time of at most 24h, such as 30m",
        ),
        (
            "ttl = \"none\"",
            ":2:7: expected a time of at most 24h, such as 30m",
        ),
        (
            "after = 2",
            ":2:9: expected a time such as \"500ms\", \"30s\" or \"2m\", found 2; did you mean \"2s\"?",
        ),
        (
            "results = \"1 GB\"",
            ":2:11: expected a size such as 512KiB, 64MiB or 1GiB, or none; did you mean 1GiB?",
        ),
        (
            "result = \"1MiB\"",
            ":2:1: unknown key `result`; did you mean `results`?",
        ),
    ] {
        assert_problems(&format!("[tasks]\n{text}"), &[problem]);
    }
}

#[test]
fn the_tasks_example_has_the_defaults() {
    let shown =
        parse(include_str!("../../../../../../docs/servlet.toml")).expect("a configuration");
    let default = parse("").expect("a configuration");
    assert_eq!(
        format!("{:?}", shown.settings.tasks),
        format!("{:?}", default.settings.tasks)
    );
}

#[test]
fn number_of_servlets_is_limited() {
    let section = |number: usize| format!("[servlet.a{number}]\nsource = \"a.wasm\"\n");
    let text: String = (0..10_000).map(section).collect();
    assert_eq!(parse(&text).expect("a configuration").entries.len(), 10_000);
    let text = text + "[servlet.b]\nsource = \"a.wasm\"\nx = 1\n[servlet.a10000]\n";
    assert_problems(
        &text,
        &[":20001:10: expected at most 10000 servlets, found 10002; name a directory"],
    );
    let text = "#\n".repeat(5 << 20);
    assert_problems(
        &text,
        &[":1:1: expected at most 8388608 bytes, found 10485760; name a directory"],
    );
}
