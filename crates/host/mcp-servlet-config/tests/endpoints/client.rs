//! What clients answer, and what they hear during a call.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::BoxFuture;
use mcp_servlet_client::{Answers, CallOptions, Elicitation, Event, Input, Offers, Session};
use puppet::eventually;
use serde_json::{Value, json};

/// Lives in Oslo.
pub(crate) struct Oslo;

impl Answers for Oslo {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            ..Offers::default()
        }
    }

    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, Input> {
        assert_eq!(request.message, "Which city?");
        Box::pin(std::future::ready(Input::Accept(json!({ "city": "Oslo" }))))
    }
}

/// Options of a call that wants log messages, and the progress that it reports.
pub(crate) fn with_reports() -> (CallOptions, Arc<Mutex<Vec<String>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&reports);
    let level = json!({ "io.modelcontextprotocol/logLevel": "info" });
    let options = CallOptions::new()
        .meta(level.as_object().cloned().expect("an object"))
        .on_progress(move |report| kept.lock().expect("no panic").push(report.to_string()));
    (options, reports)
}

/// Calls a tool with arguments, and returns the text of its result. `1/2 half` must have come as progress, and a warning of this logger with the
/// data `{ "at": 1 }`.
pub(crate) async fn reported(
    session: &Session,
    (tool, arguments): (&str, Value),
    logger: &str,
    case: &str,
) -> String {
    let mut events = session.events();
    let (options, reports) = with_reports();
    let called = session.call_with(tool, arguments, &options).await;
    let reports = || reports.lock().expect("no panic").clone();
    eventually(case, async || !reports().is_empty()).await;
    assert_eq!(reports(), ["1/2 half"], "{case}");
    let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
    let event = event.unwrap_or_else(|_| panic!("{case}: no log message"));
    let expected = Event::Log {
        level: "warning".to_owned(),
        logger: Some(logger.to_owned()),
        data: json!({ "at": 1 }),
    };
    assert_eq!(event.expect("open").expect("an event"), expected, "{case}");
    called.expect("a result").text()
}
