//! Tools whose results have a shape, for clients of each transport.

use mcp_servlet_client::CallResult;
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way, definitions},
    support::Wat,
};

/// What `search_issues` returns: 214 issues.
fn found() -> Value {
    let items = (1..=214).map(|number| {
        json!({ "title": format!("issue {number}"), "html_url": format!("https://x/{number}"), "body": "long" })
    });
    json!({ "total_count": 214, "items": items.collect::<Vec<_>>() })
}

/// A servlet with tools that return issues, with an output schema, and lines of text.
fn issues() -> Vec<u8> {
    let found = found();
    let answer = json!({
        "content": [{ "type": "text", "text": found.to_string() }, { "type": "text", "text": "one\ntwo\nthree" }],
        "structuredContent": found,
    });
    let tool = |name: &str| {
        json!({
            "name": name,
            "inputSchema": { "type": "object", "properties": { "page": { "type": "integer" } } },
            "outputSchema": {
                "type": "object",
                "properties": { "total_count": { "type": "integer" }, "items": { "type": "array" } },
            },
        })
    };
    let tools = ["search_issues", "list_issues"].map(tool);
    let wat = Wat::new().describe(&json!({ "tools": tools }).to_string());
    wat.answer(&answer.to_string()).wasm()
}

async fn site(config: &str) -> Site {
    Site::start(config, &[("issues.wasm", &issues())]).await
}

/// The first items of the issues, with these members only.
fn first(count: usize, members: &[&str]) -> Value {
    let mut found = found();
    let items = found["items"].as_array_mut().expect("a list");
    items.truncate(count);
    for item in items {
        let item = item.as_object_mut().expect("an object");
        item.retain(|key, _| members.contains(&&**key));
    }
    found
}

/// The structured content, the texts and what was cut.
fn parts(result: &CallResult) -> (Value, Vec<String>, Value) {
    let raw = json!(result.raw);
    let blocks = raw["content"].as_array().expect("content");
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let texts = texts.map(str::to_owned).collect();
    let cut = raw["_meta"]["mcp-servlet/cut"].clone();
    (raw["structuredContent"].clone(), texts, cut)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_a_shape_runs() {
    let page = include_str!("../../../../../docs/serving.md");
    let (_, chapter) = page.split_once("## Shape of results").expect("a chapter");
    let block = |begin: &str| {
        let (_, rest) = chapter.split_once(begin).expect("a block");
        rest.split("\n```").next().expect("its end")
    };
    let bundle = "[bundle.b.tool.count]\nhandler = \"issues:search_issues\"\n\
        result = { content = [], structuredContent = { count = \"${{ size(result.structuredContent.items) }}\" } }\n";
    let config = format!("{WEB}{OLD}{PIPE}{}\n{bundle}", block("```toml\n"));
    let site = site(&config).await;
    let left = first(20, &["title", "html_url"]);
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let tools = definitions(&session).await;
        assert_eq!(tools[0].get("outputSchema"), None, "{way:?}");
        assert!(tools[1].get("outputSchema").is_some(), "{way:?}");
        let result = session.call("search_issues", json!({})).await;
        let (structured, texts, cut) = parts(&result.expect("a result"));
        assert_eq!(structured, left, "{way:?}");
        let said = block("```text\n");
        assert_eq!(
            texts,
            [&*left.to_string(), "one\ntwo\nthree", said],
            "{way:?}"
        );
        assert_eq!(cut, json!({ "/items": 194 }), "{way:?}");
        let counted = session.call("count", json!({})).await.expect("a result");
        assert_eq!(parts(&counted).0, json!({ "count": 20 }), "{way:?}");
        // Other tools stay whole.
        let result = session.call("list_issues", json!({})).await;
        assert_eq!(parts(&result.expect("a result")).0, found(), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_shape_applies_at_once() {
    let shape = |shape: &str| {
        format!(
            "{WEB}[servlet.issues]\nsource = \"issues.wasm\"\ntool.search_issues.shape = {shape}\n"
        )
    };
    let site = site(&shape("{ chars = 9 }")).await;
    let session = site.connect(Way::HttpLegacy, "web").await;
    let call = async || {
        let result = session.call("search_issues", json!({})).await;
        parts(&result.expect("a result"))
    };
    let (structured, texts, cut) = call().await;
    assert_eq!(structured, found());
    let more = found().to_string().len() - 9;
    let said = "13,292 more characters were cut; ask for less";
    assert_eq!(texts, [r#"{"total_c"#, "one\ntwo", said]);
    assert_eq!(
        cut,
        json!({ "/content/0/text": more, "/content/1/text": 6 })
    );
    site.write("servlet.toml", shape("{ most = 1 }"));
    eventually("the new shape applies", async || {
        call().await.2 == json!({ "/items": 213 })
    })
    .await;
    site.write("servlet.toml", shape("{ take = [\"/total_count\"] }"));
    eventually("the new shape applies", async || {
        call().await.0 == json!({ "total_count": 214 })
    })
    .await;
    assert_eq!(definitions(&session).await[0].get("outputSchema"), None);
}
