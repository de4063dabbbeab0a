//! Valid and invalid configurations.

use std::time::Duration;

mod limits;
mod remotes;
mod requests;
mod restart;

use mcp_servlet_call::{Limit, Limits};
use mcp_servlet_host::{OnFailure, Prefix};
use mcp_servlet_runtime::{CheckArguments, ErrorTexts, Isolation};

use super::*;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    for name in ["b.wasm", "a.wasm"] {
        fs::write(folder.path().join(name), "").expect("a file");
    }
    folder
}

fn parse(text: &str) -> Result<Config, String> {
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let config = Config::parse(&path, text).map_err(|error| error.to_string());
    config.map_err(|error| error.replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn unknown_arguments_are_dropped_for_all_servlets_or_for_one() {
    let text = "[arguments]\nunknown = \"drop\"\n[servlet.a]\nsource = \"a.wasm\"\n\
        [servlet.b]\nsource = \"b.wasm\"\narguments.unknown = \"refuse\"";
    let config = parse(text).expect("a configuration");
    let unknown = |at: usize| config.entries[at].options.unknown;
    assert_eq!(unknown(0), mcp_servlet_runtime::UnknownArguments::Drop);
    assert_eq!(unknown(1), mcp_servlet_runtime::UnknownArguments::Refuse);
}

#[test]
fn reads_all_keys() {
    let config = parse(include_str!("../../../../../docs/servlet.toml")).expect("a configuration");
    assert_eq!(config.introduction.name.as_deref(), Some("acme"));
    let [first, second] = config.entries.as_slice() else {
        panic!("two servlets, not {:?}", config.entries);
    };
    // Servlets keep the order of the file.
    assert_eq!(first.name.as_deref(), Some("weather"));
    assert_eq!(second.name.as_deref(), Some("archive"));
    let options = &first.options;
    assert_eq!(options.config["units"], "metric");
    assert_eq!(options.resource_cache, Some(Duration::from_mins(1)));
    assert_eq!(options.allowed_hosts, ["api.weather.example"]);
    assert!(!options.allow_private && second.options.allow_private);
    assert_eq!(options.limits.timeout, Limit::At(Duration::from_secs(10)));
    assert_eq!(
        options.limits.http_timeout,
        Limit::At(Duration::from_secs(5))
    );
    assert_eq!(options.http_concurrency, Some(8));
    assert_eq!(
        options.limits.memory,
        Limit::At(64 << 20),
        "from the limits for all"
    );
    assert_eq!(options.arguments, CheckArguments::Coerce);
    let mut forecast = Limits::default();
    forecast.timeout = Limit::At(Duration::from_secs(5));
    forecast.fuel = Limit::At(500_000_000);
    forecast.memory = Limit::At(16 << 20);
    forecast.output = Limit::At(1 << 20);
    forecast.http_requests = Limit::At(1);
    forecast.http_response = Limit::At(4 << 20);
    forecast.http_timeout = Limit::At(Duration::from_secs(2));
    assert_eq!(options.tools["get_forecast"], forecast);
    assert_eq!(first.filter.only, ["get_*"]);
    assert_eq!(first.prefix, Prefix::Name(Some("w".into())));
    assert_eq!(second.options.isolation, Some(Isolation::Call));
    assert_eq!(first.options.errors, ErrorTexts::Shown);
    assert_eq!(second.options.errors, ErrorTexts::Logged);
    assert_eq!(second.on_failure, OnFailure::Fail);
    assert_eq!(second.options.instances.max, Some(2));
    assert_eq!(
        second.options.instances.idle,
        Limit::Inherit,
        "as the servlet needs it"
    );
    let [path] = second.options.allowed_paths.as_slice() else {
        panic!("one path");
    };
    assert!(path.read_only && path.host.ends_with("data"));
}

#[test]
fn reads_the_limits_of_http() {
    let text =
        "[http]\nconnections = 7\nhead_time = \"2s\"\nbody = \"1KiB\"\nsession_idle = \"none\"";
    let http = parse(text).expect("a configuration").settings.http;
    assert_eq!(http.connections, 7);
    assert_eq!(http.head_time, Some(Duration::from_secs(2)));
    assert_eq!((http.body, http.session_idle), (1024, None));
    assert_eq!(
        http.sessions,
        mcp_servlet_server::HttpOptions::default().sessions
    );
}

#[test]
fn the_http_example_has_the_defaults() {
    let shown = parse(include_str!("../../../../../docs/servlet.toml")).expect("a configuration");
    let default = parse("").expect("a configuration");
    assert_eq!(
        format!("{:?}", shown.settings.http),
        format!("{:?}", default.settings.http)
    );
}

#[test]
fn reports_the_problem_and_its_position() {
    for (text, message) in [
        (
            "[servlet.a]\nsource = \"a.wasm\"\n[servlet.a.limits]\ntiemout = \"3s\"",
            "servlet.toml:4:1: unknown key `tiemout`; did you mean `timeout`?",
        ),
        (
            "[servlet.a]\nsource = 7",
            "servlet.toml:2:10: expected a string in quotes, found integer `7`",
        ),
        (
            "[limits]\ntimeout = \"soon\"",
            "servlet.toml:2:11: expected a time such as 500ms, 30s or 2m, or none",
        ),
        (
            "[servlet.a]\nsource = \"c.wasm\"",
            "servlet.toml:2:10: there is no file `c.wasm`\n2 | source = \"c.wasm\"\n  |          ^^^^^^^^",
        ),
        (
            "[http]\nconnections = 0",
            "servlet.toml:2:15: expected a whole number from 1 to 1000000, found integer `0`",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\n[servlet.a.tool.t]\nvars = \"1KiB\"",
            "servlet.toml:4:1: unknown key `vars`, expected one of `timeout`, `memory`, `fuel`, `output`, ",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\nlimits = { isolation = \"shared\", instances = { max = 1 } }\n\
            [servlet.a.tool.t]\nmemory = \"1MiB\"",
            "servlet.toml:5:10: all calls share one instance, so a tool cannot have a memory limit of its own: ",
        ),
        (
            "[limits]\ncache = \"\"",
            "servlet.toml:2:9: expected a directory, or `off`",
        ),
        ("[servlet.a]", "servlet.toml:1:1: missing key `source`"),
        ("[servlet.a\n", "servlet.toml:1:11: "),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.starts_with(message), "{error}\nis not\n{message}");
    }
}

#[test]
fn a_missing_file_only_affects_its_servlet() {
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let there = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(there("empty")).expect("a folder");
    let text = "[servlet.a]\nsource = \"a.wasm\"\nallow.paths = [{ host = \"nowhere\" }]\n\
        [servlet.b]\nsource = \"missing.wasm\"\n[servlet.c]\nsource = \"empty\"\n";
    fs::write(&path, text).expect("a file");
    let config = Config::read(&path).expect("a configuration");
    let sources = config.entries.iter().map(|entry| entry.source.to_string());
    assert!(sources.eq(["a.wasm", "missing.wasm", "empty"].map(there)));
    let skipped = config.load(None).expect("nothing").skipped;
    let errors: Vec<_> = skipped.iter().map(|one| one.error.to_string()).collect();
    assert!(errors[1].contains("missing.wasm") && errors[2].contains("no `.wasm` file"));
    let error = Config::check(&path).expect_err("three").to_string();
    for message in [
        ":3:25: there is no directory",
        ":5:10: there is no file",
        ":7:10: there is no `.wasm` file",
    ] {
        assert!(error.contains(message), "{error}\nhas no\n{message}");
    }
    fs::write(&path, format!("{text}on_failure = \"fail\"\n")).expect("a file");
    let error = Config::read(&path).expect_err("one").to_string();
    assert!(error.contains(":7:10: there is no `.wasm` file"), "{error}");
}

#[test]
fn refuses_keys_for_single_servlets_in_a_directory() {
    assert_problems(
        &format!(
            "[servlet.a]\nsource = \".\"\nsha256 = \"{}\"\ntool.t.timeout = \"1s\"\n",
            "a".repeat(64)
        ),
        &[
            ":2:10: the servlets of a directory have no tools in common",
            ":3:10: a digest needs a single file",
        ],
    );
}

/// Positions and messages of all problems.
#[track_caller]
fn assert_problems(text: &str, expected: &[&str]) {
    let error = parse(text).expect_err(text);
    let messages: Vec<_> = error.split("\n\n").collect();
    assert_eq!(messages.len(), expected.len(), "{error}");
    for (message, expected) in messages.iter().zip(expected) {
        assert!(message.contains(expected), "{error}\nhas no\n{expected}");
    }
}

#[test]
fn reports_all_problems_at_once() {
    assert_problems(
        "colour = 1\n\
        [servlet.a]\nsource = \"c.wasm\"\ntmeout = 1\nconfig = { key = \"${NO_SUCH_VARIABLE_HERE}\" }\n\
        allow = { paths = [{ host = 1, read = true }] }\n\
        [servlet.b]\nsource = 7\n\
        [servlet.c]\n\
        [servlet.d]\nsource = \"a.wasm\"\nlimits.memory = true\nlimits.memry = 3\n\
        allow.paths = [{ host = \"nowhere\" }]\n\
        [servlet.e.limits]\ntimeout = \"soon\"\n\
        [http]\nconnections = 0\n",
        &[
            ":1:1: unknown key `colour`",
            ":3:10: there is no file `c.wasm`",
            ":4:1: unknown key `tmeout`",
            ":5:18: the environment variable",
            ":6:29: expected a string in quotes, found integer `1`",
            ":6:32: unknown key `read`",
            ":8:10: expected a string in quotes, found integer `7`",
            ":9:1: missing key `source`",
            ":12:17: expected a size such as ",
            ":13:8: unknown key `memry`; did you mean `memory`?",
            ":14:25: there is no directory `nowhere`",
            ":15:10: missing key `source`",
            ":16:11: expected a time such as 500ms",
            ":18:15: expected a whole number",
        ],
    );
}

#[test]
fn reports_a_problem_for_each_item() {
    assert_problems(
        "[servlet.a]\nsource = \"data\"\nallow.hosts = [1, \"a\", 2]\n\
        allow.paths = [{}, { host = 1 }, { guest = \"g\" }]\n",
        &[
            ":2:10: there is no `.wasm` file in `data`",
            ":3:16: expected a string in quotes",
            ":3:24: expected a string in quotes",
            ":4:16: missing key `host`",
            ":4:29: expected a string in quotes",
            ":4:34: missing key `host`",
        ],
    );
}

#[test]
fn reports_hosts_and_digests_that_never_match() {
    assert_problems(
        "[servlet.a]\nsource = \"a.wasm\"\nsha256 = \"xyz\"\n\
        allow.hosts = [\"a.example\", \"https://a.example\", \"a.example:443\", \"\"]\n\
        [servlet.b]\nsource = \"https://a.example/b.wasm#sha256=abc\"\n",
        &[
            ":3:10: invalid SHA-256 digest `xyz`: expected 64 hexadecimal digits",
            ":4:29: expected a host without scheme, user, port and path",
            ":4:50: expected a host without scheme, user, port and path",
            ":4:67: expected a host without scheme, user, port and path",
            ":6:10: invalid SHA-256 digest `abc`",
        ],
    );
}

#[test]
fn reports_impossible_limits() {
    assert_problems(
        "[limits]\ninstances = { min = 5, max = 2 }\nqueue = 0\ntimeout = \"366d\"\n\
        memory = \"1KiB\"\ncache = \"servlet.toml/x\"\n\
        [servlet.a]\nsource = \"a.wasm\"\nlimits.instances.max = 0\n\
        [servlet.b]\nsource = \"a.wasm\"\nlimits.instances.max = 1000000000\n\
        [servlet.c]\nsource = \"a.wasm\"\nlimits.instances.min = 1000000\n\
        [servlet.d]\nsource = \"a.wasm\"\ntool.t.memory = \"1B\"\nlimits.cache = \"a.wasm\"\n\
        allow.hosts = [\"user@a.example\"]\nlimits.queue = -1\n",
        &[
            ":2:13: `min` is 5 and `max` is 2: expected `min` to be at most `max`",
            ":4:11: expected at most 365d, or none",
            ":5:10: expected at least 64KiB",
            ":9:24: expected a whole number from 1 to 10000, found integer `0`",
            ":12:24: expected a whole number from 1 to 10000, found integer `1000000000`",
            ":15:24: expected a whole number from 0 to 10000, found integer `1000000`",
            ":18:17: expected at least 64KiB",
            ":19:16: cannot cache compiled modules there",
            ":20:16: expected a host without scheme, user, port and path",
            ":21:16: expected a whole number from 0 to 1000000, found integer `-1`",
        ],
    );
    assert_problems(
        "[limits]\ninstances.max = 2\n[servlet.a]\nsource = \"a.wasm\"\nlimits.instances = { min = 7 }\n",
        &[":5:20: `min` is 7 and `max` is 2"],
    );
    parse("[limits]\nqueue = 0\ninstances.min = 100\n").expect("a call that would wait is refused");
}

#[test]
fn keys_of_other_programs_get_a_hint() {
    let remote = "[remote.a]\nurl = \"https://a.example\"\n";
    for (section, key, hint) in [
        ("[http]\n", "tls", "TLS belongs to a listener"),
        ("[http]\n", "auth", "`[auth.NAME]` says who may call"),
        ("[http]\n", "rate_limit", "the server limits no rates"),
        ("", "tls", "TLS belongs to a listener"),
        ("", "token", "`[auth.NAME]` says who may call"),
        ("", "rate_limit", "the server limits no rates"),
        (remote, "auth", "write a token as `headers"),
        (remote, "token", "write a token as `headers"),
        (remote, "bearer", "write a token as `headers"),
        (remote, "oauth", "write a token as `headers"),
    ] {
        let error = parse(&format!("{section}{key} = {{ a = 1 }}")).expect_err(key);
        let message = format!("unknown key `{key}`; {hint}");
        assert!(error.contains(&message), "{error}\nhas no\n{message}");
    }
}

#[test]
fn near_misses_get_the_right_form() {
    for (text, message) in [
        (
            "limits.instances = 4",
            "expected a table such as { min = 1, max = 4 }, found integer `4`",
        ),
        ("limits.timeout = 30", "found 30; did you mean \"30s\"?"),
        ("limits.memory = 64", "found 64; did you mean \"64MiB\"?"),
        ("limits.timeout = \"30 sec\"", "did you mean 30s?"),
        ("limits.memory = \"64MB\"", "did you mean 64MiB?"),
        ("limits.arguments = true", "expected a string"),
        (
            "limits.arguments = \"chek\"",
            "expected one of `check`, `coerce`, `off`, found `chek`",
        ),
        (
            "servlet.a = \"a.wasm\"",
            "expected a table such as { source = \"a.wasm\" }, found string",
        ),
        (
            "servlet = \"a.wasm\"",
            "expected a table for each servlet, such as [servlet.weather]",
        ),
        (
            "servlets.a.source = \"a.wasm\"",
            "unknown key `servlets`; did you mean `servlet`?",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\nallow = [\"a.example\"]",
            "expected a table such as { hosts = [\"api.example\"] }, found a list",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\nallow.hosts = \"a.example\"",
            "expected a list in brackets, found string",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\nallow.paths = [\"data\"]",
            "expected a table such as { host = ",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\nconfig.port = 80",
            "expected a string in quotes\n",
        ),
        (
            "[servlet.a]\nsource = \"a.wasm\"\non_failure = \"ignore\"",
            "expected one of `skip`, `fail`, `cached`, found `ignore`",
        ),
        ("limits.memory = \"0\"", "; 0 is not a limit"),
        ("limits.timeout = \"0\"", "; 0 is not a limit"),
        ("http.leave = \"0\"", "did you mean \"0s\"?"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(message), "{error}\nhas no\n{message}");
        for internal in ["struct", "enum", "invalid type", "Are"] {
            assert!(!error.contains(internal), "{error}");
        }
    }
}

#[test]
fn a_check_elsewhere_needs_no_variable() {
    let folder = folder();
    let path = folder.path().join("servlet.toml");
    let text = "[servlet.a]\nsource = \"a.wasm\"\nconfig.token = \"${NO_SUCH_VARIABLE_HERE}\"\n";
    fs::write(&path, text).expect("a file");
    Config::check(&path).expect_err("the variable is not set");
    Config::check_without_env(&path).expect("nothing else is wrong");
    fs::write(&path, text.replace("${NO", "$NO")).expect("a file");
    let error = Config::check_without_env(&path).expect_err("not a variable");
    assert!(error.to_string().contains("write `${NAME}`"), "{error}");
}

#[test]
fn many_mistakes_are_counted() {
    let section = |number: usize| format!("[servlet.a{number}]\nsource = \"none.wasm\"\nx = 1\n");
    let text: String = (0..5_000).map(section).collect();
    let error = parse(&text).expect_err("unknown keys");
    assert!(error.ends_with("servlet.toml: 9900 more problems"));
}

#[test]
fn reports_all_syntax_errors() {
    assert_problems("a = \n[b\n", &[":1:5: ", ":2:3: "]);
}

/// The configurations in a page of the guide.
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```toml\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn schema_for_editors_has_the_keys_of_the_reader() {
    let validator = jsonschema::validator_for(&Config::schema()).expect("a schema");
    let value = |text: &str| {
        let table: toml::Table = toml::from_str(text).expect("TOML");
        serde_json::to_value(table).expect("JSON")
    };
    let bundles = examples(include_str!("../../../../../docs/bundles.md"));
    // The first ones continue each other.
    let (bundle, bundles) = bundles.split_at(3);
    let bundle = bundle.concat();
    let guides = [
        examples(include_str!("../../../../../docs/endpoints.md")),
        examples(include_str!("../../../../../docs/remotes.md")),
        bundles.to_vec(),
        vec![include_str!("../../../../../docs/servlet.toml"), &bundle],
    ];
    for text in guides.concat() {
        let value = value(text);
        let problem = validator.validate(&value).err();
        assert!(problem.is_none(), "{text}: {problem:?}");
    }
    for wrong in [
        "[servlet.a]",
        "[limits]\ntiemout = \"3s\"",
        "[limits]\narguments = \"chek\"",
        "[servlet.a]\nsource = 7",
        "[endpoint.e]\nkind = \"pipe\"",
        "[endpoint.e]\nkind = \"stdio\"\nsession = { place = \"memory\" }",
        "[listener.l]",
        "[remote.a]\nurl = 7",
        "[remote.a]\nurl = \"http://a/\"\nwhen_down = \"hid\"",
        "[bundle.a.tool.t]\nhandler = \"a:t\"\ncatches = 7",
        "[servlet.a]\nsource = \"a.wasm\"\ntool = { t = { memory = 7 } }",
    ] {
        assert!(!validator.is_valid(&value(wrong)), "{wrong}");
    }
}

#[test]
fn a_list_is_not_a_table() {
    let servlet = "[servlet.a]\nsource = \"a.wasm\"";
    for list in [
        "server = [\"acme\"]",
        "http = []",
        "tasks = [7]",
        "requests = [\"none\"]",
        "limits = [\"1s\"]",
        "limits.instances = [1, 2]",
        "arguments = [\"drop\"]",
        "servlet.a = [\"a.wasm\"]",
        "listener.l = [\"127.0.0.1:80\"]",
        "endpoint.e = [\"stdio\"]",
        "endpoint.e = { kind = \"stdio\", session = [\"1s\"] }",
        &format!("{servlet}\nresources = [\"60s\"]"),
        &format!("{servlet}\nallow.paths = [[\"data\"]]"),
        &format!("{servlet}\nrequests = [\"none\"]"),
        &format!("{servlet}\nlimits = [\"1s\"]"),
        &format!("{servlet}\narguments = [\"drop\"]"),
        &format!("{servlet}\ntools = [[\"get_*\"]]"),
        &format!("{servlet}\ntool = []"),
        &format!("{servlet}\ntool.t = [\"1s\"]"),
    ] {
        let error = parse(list).expect_err(list);
        assert!(error.contains("expected a table"), "{list}: {error}");
        assert!(error.contains(", found a list\n"), "{list}: {error}");
    }
}

#[test]
fn the_schema_has_the_names_of_the_sections() {
    let schema = Config::schema();
    let section = |key: &str| schema["properties"][key]["$ref"].clone();
    assert_eq!(section("limits"), "#/$defs/ServletLimits");
    assert_eq!(section("http"), "#/$defs/Http");
    let servlet = &schema["$defs"]["ServletSection"]["properties"];
    let tool = &servlet["tool"]["additionalProperties"]["$ref"];
    assert_eq!(tool, "#/$defs/ToolLimits");
}
