//! Bundles of virtual tools: problems with their lines and columns, and secrets.

use std::fs;

use mcp_servlet_server::config::Config;

fn parse(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), "").expect("a file");
    let config = Config::parse(&folder.path().join("servlet.toml"), text);
    let root = format!("{}/", folder.path().display());
    config.map_err(|error| error.to_string().replace(&root, ""))
}

const SERVLETS: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// The lines of the message that have a position.
fn problems(bundles: &str) -> Vec<String> {
    let error = parse(&format!("{SERVLETS}{bundles}")).expect_err("a problem");
    let lines = error
        .lines()
        .filter_map(|line| line.strip_prefix("servlet.toml:"));
    lines.map(str::to_owned).collect()
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
#[test]
fn a_problem_has_its_line_and_column() {
    let tool = |lines: &str| format!("[bundle.ops.tool.t]\nhandler = \"a:x\"\n{lines}\n");
    let mut wrong = Vec::new();
    for (text, expected) in [
        (
            tool("set = { city = \"${{ requst.name }}\" }"),
            "5:21: there is no `requst` here; `set` can read `request`",
        ),
        (
            tool("set = { city = \"é${{ request.args }}\" }"),
            "5:31: `request` has no `args`; it has `name`, `arguments`, `meta` and `session`",
        ),
        (
            tool("set = { city = \"${{ lower('A') }}\" }"),
            "5:21: there is no function `lower`; there is `lowerAscii`",
        ),
        (
            tool("set = { city = \"${{ 1 == }}\" }"),
            "5:25: invalid expression: expected a value after `==`",
        ),
        (
            tool("set = { city = \"${BUNDLE_TEST_UNSET}\" }"),
            "5:17: the environment variable `BUNDLE_TEST_UNSET` is not set",
        ),
        (
            tool("set = {}\ninputs = {}"),
            "5:7: `inputs` has all arguments of the handler, and `set` only those that are fixed: use one of them",
        ),
        (
            tool("[[bundle.ops.tool.t.catches]]\nerror = { code = -32050 }"),
            "6:18: -32050 is reserved by JSON-RPC and MCP; use -32000 to -32019, or a code outside -32768 to -32000",
        ),
        (
            tool("[[bundle.ops.tool.t.catches]]\nkind = \"timout\"\nerror = { code = -32001 }"),
            "6:8: there is no kind `timout`; there is `timeout`",
        ),
        (
            tool("[bundle.ops.tool.t.result]\nisError = true"),
            "5:1: a result needs `content`, a list of content blocks",
        ),
        (
            tool("descripton = \"x\""),
            "5:1: unknown key `descripton`; did you mean `description`?",
        ),
        (
            tool("description = 7"),
            "5:15: expected a string in quotes, found integer `7`",
        ),
        (
            tool("arguments = \"gone.json\""),
            "5:13: cannot read `gone.json`: No such file or directory (os error 2)",
        ),
        (
            "[bundle.ops.tool.t]\nhandler = \"a\"\n".to_owned(),
            "4:11: expected a member and its tool, such as \"weather:get_weather\"",
        ),
        (
            "[bundle.ops.tool.t]\nhandler = \"aa:x\"\n".to_owned(),
            "4:11: there is no servlet or remote `aa`; there is `a`",
        ),
        (
            "[bundle.ops.tool.t]\nhandler = \"ops:x\"\n".to_owned(),
            "4:11: `ops` is a bundle; a handler is a tool of a servlet or remote",
        ),
        (
            "[bundle.ops.tool.\"a b\"]\nhandler = \"a:x\"\n".to_owned(),
            "3:18: invalid name `a b`: it contains ' '; clients accept only letters, digits, `_`, `-` and `.`",
        ),
        (
            "[bundle.a.tool.t]\nhandler = \"a:x\"\n".to_owned(),
            "3:9: `a` is a bundle here, and a servlet in line 1",
        ),
        (
            "[bundle.b.tool.t]\nhandler = \"a:x\"\n[bundle.c.tool.t]\nhandler = \"a:x\"\n"
                .to_owned(),
            "5:16: there are two tools `t`: of bundle `c` here, and of bundle `b` in line 3",
        ),
        (
            "[bundle.ops]\ntols = 1\n".to_owned(),
            "4:1: unknown key `tols`, expected `tool`",
        ),
        (
            tool("set = { most = inf }"),
            "5:16: JSON has no such number",
        ),
        (
            "[bundle.ops]\n".to_owned(),
            "3:1: expected a tool, such as [bundle.ops.tool.search]",
        ),
        (
            "[bundle]\nops = 1\n".to_owned(),
            "4:7: expected a table, such as [bundle.ops.tool.search]",
        ),
    ] {
        let found = problems(&text);
        if found != [expected] {
            wrong.push(format!("{text}\nexpected {expected}\nfound {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_show_no_constants() {
    let text = format!(
        "{SERVLETS}[bundle.ops.tool.t]\nhandler = \"a:x\"\nset = {{ key = \"s3cret-1\", list = [7331], url = \"s3cret-2${{{{ requst }}}}s3cret-3\" }}\n"
    );
    let error = parse(&text).expect_err("a problem");
    assert!(error.contains("${{ requst }}"), "{error}");
    assert!(
        !error.contains("s3cret") && !error.contains("7331"),
        "{error}"
    );
    let config = parse(&text.replace("requst", "request.name")).expect("a configuration");
    assert!(!format!("{config:?}").contains("s3cret"), "{config:?}");
}
