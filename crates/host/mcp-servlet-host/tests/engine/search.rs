//! Hosts with a search.

use mcp_servlet_host::{
    CALL_READ_ONLY_TOOL, CALL_TOOL, Entry, FIND_TOOLS, Host, Loaded, NAMES_OF_SEARCH, Prefix,
    Search, SearchCall, Tool,
};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_schema::Provider;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::support::Wat;

/// A host with the tools of servlets that have these names.
fn host(servlets: &[(&str, &[&str], Prefix)]) -> Host {
    let entries = servlets.iter().map(|(name, tools, prefix)| {
        let tools = tools.iter();
        let tools = tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
        let describe = json!({ "tools": tools.collect::<Vec<_>>() }).to_string();
        let wasm = Wat::new().describe(&describe).answer(r#"{"content":[]}"#);
        let source = Source::Bytes {
            name: (*name).to_owned(),
            wasm: wasm.wasm(),
        };
        let mut entry = Entry::of(source, LoadOptions::default());
        entry.prefix = prefix.clone();
        entry
    });
    let entries: Vec<_> = entries.collect();
    Loaded::load(&entries, None).expect("a host").host
}

fn search(always: &[&str]) -> Search {
    let mut search = Search::default();
    search.always = always.iter().map(|one| (*one).to_owned()).collect();
    search
}

fn names<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Vec<&'t str> {
    tools.into_iter().map(Tool::name).collect()
}

#[test]
fn tools_with_the_names_of_a_search_get_a_prefix_or_are_left_out() {
    let tools = ["find_tools", "greet"];
    let host = host(&[
        ("a", &tools, Prefix::Auto),
        ("b", &["call_tool"], Prefix::Never),
        ("call", &["tool"], Prefix::Name(None)),
    ]);
    assert_eq!(
        names(host.listed_tools()),
        ["find_tools", "greet", "call_tool"]
    );
    let host = host.with_search(Some(search(&["gr*"])));
    assert_eq!(names(host.tools()), ["a_find_tools", "greet"]);
    let listed = [&NAMES_OF_SEARCH[..], &["greet"]].concat();
    assert_eq!(names(host.listed_tools()), listed);
    let problems: Vec<_> = host.problems().map(ToString::to_string).collect();
    let problem = |member: &str| {
        format!(
            "a tool `call_tool` of servlet `{member}` has the name of a tool of `search`; give that servlet a prefix"
        )
    };
    assert_eq!(problems, [problem("b"), problem("call")]);
    let host = host.relisted();
    assert_eq!(names(host.listed_tools()), listed);
    let host = host.with_search(None);
    assert_eq!(
        names(host.listed_tools()),
        ["find_tools", "greet", "call_tool"]
    );
}

#[test]
fn a_name_comes_first_and_hidden_tools_do_not_come() {
    let tools = ["page_get_page", "get_page", "page"];
    let host = host(&[("a", &tools, Prefix::Never)]).with_search(Some(search(&[])));
    let find = |query: &str, hidden: &str| {
        let found = host.find_tools(query, |tool| tool.name() != hidden);
        names(found).join(" ")
    };
    assert_eq!(find("get_page", ""), "get_page page_get_page page");
    assert_eq!(find(" page_get_page ", ""), "page_get_page get_page page");
    assert_eq!(find("page_get_page", "page_get_page"), "get_page page");
    assert_eq!(find("", ""), "");
}

fn call(host: &Host, tool: &str, arguments: &Value) -> Option<Result<SearchCall, String>> {
    host.search_call(tool, arguments.as_object())
}

#[test]
fn schemas_for_a_provider_can_express_all_calls() {
    let called = |arguments: Option<Value>| SearchCall::Call {
        name: "t".to_owned(),
        arguments: arguments.and_then(|arguments| arguments.as_object().cloned()),
        must_be_read_only: false,
    };
    for provider in [None].into_iter().chain(Provider::ALL.map(Some)) {
        let host = host(&[])
            .with_search(Some(search(&[])))
            .with_schemas_for(provider);
        let [_, _, tool] = host.search_tools() else {
            panic!("three tools");
        };
        let is_text = tool.input_schema()["properties"]["arguments"]["type"] != "object";
        assert_eq!(is_text, provider == Some(Provider::OpenAi), "{provider:?}");
        let inner = json!({ "a": null, "b": [1] });
        for arguments in [inner.clone(), inner.to_string().into()] {
            let arguments = json!({ "name": "t", "arguments": arguments });
            let found = call(&host, CALL_TOOL, &arguments);
            assert_eq!(found, Some(Ok(called(Some(inner.clone())))), "{provider:?}");
        }
        let found = call(&host, CALL_TOOL, &json!({ "name": "t" }));
        assert_eq!(found, Some(Ok(called(None))), "{provider:?}");
        if provider == Some(Provider::OpenAi) {
            // Its models send null for what they leave out.
            let found = call(&host, CALL_TOOL, &json!({ "name": "t", "arguments": null }));
            assert_eq!(found, Some(Ok(called(None))));
        }
        let found = call(&host, FIND_TOOLS, &json!({ "query": "q" }));
        let find = |most| SearchCall::Find {
            query: "q".to_owned(),
            most,
        };
        assert_eq!(found, Some(Ok(find(5))), "{provider:?}");
        let found = call(&host, FIND_TOOLS, &json!({ "query": "q", "most": 20 }));
        assert_eq!(found, Some(Ok(find(20))), "{provider:?}");
        let long = json!({ "query": "q".repeat(1_001) });
        let refused = call(&host, FIND_TOOLS, &long).expect("a tool of the search");
        assert!(refused.is_err_and(|text| text.contains("/query")));
    }
    assert_eq!(call(&host(&[]), FIND_TOOLS, &json!({ "query": "q" })), None);
}

/// Any JSON, and JSON texts of it.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"{}:]{0,6}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("name"),
        Just("arguments"),
        Just("query"),
        Just("most"),
        Just("x")
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let object = vec((key.clone(), inner.clone()), 0..4);
        let object = object.prop_map(|members| {
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Value>()
        });
        prop_oneof![
            object.clone(),
            object.prop_map(|object| object.to_string().into()),
            vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

proptest! {
    #[test]
    fn calls_are_understood_or_refused(
        tool in prop_oneof![Just(FIND_TOOLS), Just(CALL_READ_ONLY_TOOL), Just(CALL_TOOL)],
        arguments in any_json(),
        is_for_openai: bool,
    ) {
        let provider = is_for_openai.then_some(Provider::OpenAi);
        let host = host(&[]).with_search(Some(search(&[]))).with_schemas_for(provider);
        match call(&host, tool, &arguments) {
            None => prop_assert!(false, "it is a tool of the search"),
            Some(Err(problem)) => prop_assert!(problem.starts_with("invalid arguments: "), "{problem}"),
            Some(Ok(SearchCall::Find { query, most })) => {
                prop_assert_eq!(tool, FIND_TOOLS);
                prop_assert_eq!(&arguments["query"], &Value::from(query));
                prop_assert!((1..=20).contains(&most));
            }
            Some(Ok(SearchCall::Call { name, arguments: inner, .. })) => {
                prop_assert_ne!(tool, FIND_TOOLS);
                prop_assert_eq!(&arguments["name"], &Value::from(name));
                let sent = &arguments["arguments"];
                let text = sent.as_str().and_then(|text| serde_json::from_str(text).ok());
                prop_assert_eq!(inner.map_or(Value::Null, Value::from), text.unwrap_or_else(|| sent.clone()));
            }
        }
    }
}
