//! The example of the guide.

use crate::site::{Site, Way, servlet, tools};

#[tokio::test(flavor = "multi_thread")]
async fn the_example_of_the_guide_runs() {
    let guide = include_str!("../../../../../docs/endpoints.md");
    let (_, example) = guide.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("the end of the example");
    // A free port.
    let config = example.replace("127.0.0.1:8080", "127.0.0.1:0");
    let weather = servlet(&["get_weather", "get_alerts"], "sunny");
    let files = [
        ("weather.wasm", weather),
        ("notes.wasm", servlet(&["add_note"], "added")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(&config, &files).await;
    let all = ["get_weather", "get_alerts", "add_note"];
    let expected: [(Way, &str, &[&str]); 5] = [
        (Way::HttpModern, "team", &all),
        (Way::HttpLegacy, "team", &all),
        (Way::HttpModern, "public", &all[..2]),
        (Way::Sse, "old", &all[..2]),
        (Way::PipeModern, "pipe", &all),
    ];
    for (way, endpoint, names) in expected {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, names, "{endpoint}");
    }
}
