//! Lists: pages, limits, capabilities and entries as the server wrote them.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use mcp_servlet_client::{Error, ErrorKind, Limits, List, Lists, Options, Timeouts, problem_code};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{ERAS, attach, attach_with};

fn names(entries: Option<&Vec<Box<RawValue>>>) -> Vec<String> {
    let entries = entries.expect("a list").iter();
    entries.map(|entry| name(entry)).collect()
}

fn name(entry: &RawValue) -> String {
    let entry: Value = serde_json::from_str(entry.get()).expect("JSON");
    entry["name"].as_str().expect("a name").to_owned()
}

async fn lists(script: &str) -> Result<Lists, Error> {
    attach(script).await.0.lists().await
}

#[tokio::test]
async fn all_four_lists_come_in_both_protocol_generations() {
    for era in ERAS {
        let (session, _) = attach_with("plain", &Options::new().era(era)).await;
        let lists = session.lists().await.expect("lists");
        assert_eq!(names(lists.tools.as_ref()), ["weather"]);
        assert_eq!(names(lists.resources.as_ref()), ["readme"]);
        assert_eq!(names(lists.resource_templates.as_ref()), ["city"]);
        assert_eq!(names(lists.prompts.as_ref()), ["review"]);
        let argument: Value =
            serde_json::from_str(lists.prompts.expect("prompts")[0].get()).expect("JSON");
        assert_eq!(argument["arguments"][0]["default"], "x");
        session.close().await;
    }
}

#[tokio::test]
async fn unknown_capabilities_and_server_info_are_kept_in_both_protocol_generations() {
    for era in ERAS {
        let (session, _) = attach_with("odd-capabilities", &Options::new().era(era)).await;
        let server = session.server();
        assert_eq!(server.is_stateless(), era == ERAS[1]);
        assert!(server.has("weird") && server.has("tools") && !server.has("prompts"));
        assert_eq!(server.text.instructions.as_deref(), Some("Be odd."));
        assert_eq!(server.name(), "odd 1");
        let json = serde_json::to_value(session.lists().await.expect("lists")).expect("JSON");
        assert_eq!(json["server"]["capabilities"]["weird"], json!({ "x": [1] }));
        let extra = json["server"]["info"]["extra"].to_string();
        assert_eq!(extra, r#"{"b":1,"a":2}"#);
        assert_eq!(json["tools"], json!([]));
    }
}

#[tokio::test]
async fn entries_stay_as_the_server_wrote_them() {
    for era in ERAS {
        let (session, _) = attach_with("exact", &Options::new().era(era)).await;
        let lists = session.lists().await.expect("lists");
        let written = r#"{"name":"a", "n":12345678901234567890123,"x":1.50,"\u0061":1}"#;
        assert_eq!(lists.tools.expect("tools")[0].get(), written);
    }
}

#[tokio::test]
async fn all_pages_come_once_and_in_order() {
    let lists = lists("five-pages").await.expect("lists");
    assert_eq!(names(lists.tools.as_ref()), ["a", "b", "c", "d", "e"]);
    let problems: Vec<_> = lists.problems.iter().map(|one| &*one.message).collect();
    assert_eq!(problems, ["`nextCursor` is null; taken as absent"]);
}

#[tokio::test]
async fn an_empty_cursor_goes_on() {
    let lists = lists("empty-cursor").await.expect("lists");
    assert_eq!(names(lists.tools.as_ref()), ["a", "b"]);
}

#[tokio::test]
async fn a_repeated_cursor_ends_the_list_with_a_problem() {
    let (session, puppet) = attach("same-cursor").await;
    let lists = session.lists().await.expect("lists");
    assert_eq!(puppet.received("tools/list"), 2);
    assert_eq!(names(lists.tools.as_ref()), ["a", "b"]);
    let problem = &lists.problems[0];
    assert_eq!(
        (&*problem.code, &*problem.list),
        ("cursor-repeats", "tools/list")
    );
}

/// Runs again in another process, to measure its memory.
#[tokio::test]
async fn pages_that_never_end_are_a_limit() {
    if std::env::var_os(ALONE).is_some() {
        return read_endless_pages().await;
    }
    let program = std::env::current_exe().expect("a path");
    let mut command = std::process::Command::new(program);
    let name = "lists::pages_that_never_end_are_a_limit";
    command
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1");
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("a task").expect("output");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

const ALONE: &str = "PUPPET_TEST_ALONE";

async fn read_endless_pages() {
    let (session, puppet) = attach("endless").await;
    let error = session.lists().await.expect_err("a limit");
    if cfg!(target_os = "linux") {
        let peak = peak_memory();
        assert!(peak < 100 << 10, "{peak} KiB");
    }
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.kind().exit_code(), 24);
    assert_eq!(puppet.received("tools/list"), 100);
    assert!(
        error
            .to_string()
            .contains("more than 100 pages of a list: tools/list"),
        "{error}"
    );
}

/// The most memory that this process has used, in KiB (`proc_pid_status(5)`).
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = line.expect("a peak").trim().trim_end_matches(" kB");
    peak.parse().expect("a number")
}

#[tokio::test]
async fn each_limit_of_lists_is_enforced() {
    let with = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        Options::new().limits(limits)
    };
    for (script, options, text) in [
        (
            "five-pages",
            with(|limits| limits.entries = 3),
            "more than 3 entries of a list",
        ),
        (
            "five-pages",
            with(|limits| limits.lists = 20),
            "more than 20 bytes of all lists",
        ),
        (
            "five-pages",
            with(|limits| limits.pages = 4),
            "more than 4 pages of a list",
        ),
        (
            "long-cursor",
            Options::new(),
            "cursor of more than 65536 bytes",
        ),
    ] {
        let (session, _) = attach_with(script, &options).await;
        let pages = session.pages(List::Tools).try_collect::<Vec<_>>().await;
        let (session, _) = attach_with(script, &options).await;
        let errors = [
            session.lists().await.expect_err("a limit"),
            pages.expect_err("a limit"),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
    let (session, _) = attach_with("five-pages", &with(|limits| limits.entries = 5)).await;
    assert!(session.lists().await.is_ok());
}

#[tokio::test]
async fn all_lists_together_have_a_time() {
    let mut timeouts = Timeouts::default();
    timeouts.lists = Duration::from_millis(50);
    let (session, _) = attach_with("silent-lists", &Options::new().timeouts(timeouts)).await;
    let pages = session.pages(List::Tools).try_collect::<Vec<_>>().await;
    let errors = [
        session.lists().await.expect_err("a timeout"),
        pages.expect_err("a timeout"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::RequestTimeout);
        assert!(error.message().contains("within 50ms"), "{error}");
    }
}

#[tokio::test]
async fn pages_end_at_a_repeated_cursor() {
    let (session, puppet) = attach("same-cursor").await;
    let pages: Vec<_> = session
        .pages(List::Tools)
        .try_collect()
        .await
        .expect("pages");
    let entries = pages.iter().flat_map(|page| &page.entries);
    let names: Vec<_> = entries.map(|entry| name(entry)).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(puppet.received("tools/list"), 2);
}

#[tokio::test]
async fn the_first_page_is_there_before_the_second_is_asked_for() {
    let (session, puppet) = attach("five-pages").await;
    let mut pages = std::pin::pin!(session.pages(List::Tools));
    let first = pages.try_next().await.expect("a page").expect("the first");
    assert_eq!(first.entries.len(), 2);
    assert_eq!(puppet.received("tools/list"), 1);
    let rest: Vec<_> = pages.try_collect().await.expect("pages");
    assert_eq!(rest.len(), 4);
}

#[tokio::test]
async fn a_list_without_its_capability_is_not_asked_for() {
    let (session, puppet) = attach("no-prompts").await;
    let lists = session.lists().await.expect("lists");
    assert!(lists.tools.is_some() && lists.prompts.is_none() && lists.resources.is_none());
    let log = puppet.log();
    let asked: Vec<_> = log
        .iter()
        .filter_map(|one| one["method"].as_str())
        .collect();
    assert_eq!(asked, ["server/discover", "tools/list"]);
}

#[tokio::test]
async fn empty_lists_are_empty() {
    let lists = lists("empty").await.expect("lists");
    for list in [
        lists.tools,
        lists.resources,
        lists.resource_templates,
        lists.prompts,
    ] {
        assert_eq!(list.map(|list| list.len()), Some(0));
    }
}

#[tokio::test]
async fn a_server_without_the_method_for_templates_has_no_templates() {
    let lists = lists("no-templates").await.expect("lists");
    assert_eq!(names(lists.resources.as_ref()), ["b"]);
    assert_eq!(lists.resource_templates.map(|list| list.len()), Some(0));
}

#[tokio::test]
async fn a_list_that_the_server_refuses_hides_no_other_list() {
    let lists = lists("broken-templates").await.expect("lists");
    assert_eq!(lists.resources.map(|list| list.len()), Some(0));
    assert_eq!(lists.resource_templates.map(|list| list.len()), Some(0));
    let [problem] = &lists.problems[..] else {
        panic!("one problem: {:?}", lists.problems);
    };
    assert_eq!(problem.code, problem_code::BAD_LIST);
    assert_eq!(problem.list, "resources/templates/list");
    assert_eq!(problem.message, "out of order");
}

#[tokio::test]
async fn wrong_entries_hide_no_other_entries() {
    let lists = lists("bad-entries").await.expect("lists");
    let tools = lists.tools.expect("tools");
    let texts: Vec<_> = tools.iter().map(|tool| tool.get()).collect();
    assert_eq!(texts.len(), 7);
    assert_eq!(
        (texts[2], texts[3], texts[5]),
        ("true", "[]", r#"{"name":1}"#)
    );
}

#[tokio::test]
async fn a_result_without_a_list_is_a_protocol_error() {
    let error = lists("wrong-list").await.expect_err("no list");
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(
        error
            .message()
            .contains("invalid list: expected an array in `tools`"),
        "{error}"
    );
}
