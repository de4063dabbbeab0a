//! The needs that a servlet declares in its wasm.

use e2e::{Profile, fixture, wasm};
use mcp_servlet_runtime::Needs;

use crate::support::module;

#[test]
fn wasm_declares_the_needs_of_the_servlet() {
    let module = module(&fixture("needs"));
    let Needs {
        config,
        hosts,
        paths,
        calls,
        reads,
    } = module.needs();
    let keys: Vec<_> = config
        .iter()
        .map(|key| (&*key.name, key.required, key.secret, key.description()))
        .collect();
    let about = Some("the key of the weather service");
    assert_eq!(
        keys,
        [
            ("api-key", true, true, about),
            ("retries", false, false, Some("retries")),
            ("service", false, false, Some("the URL of the service"))
        ]
    );
    assert_eq!(*hosts, ["api.weather.example", "config.service"]);
    assert_eq!(*paths, ["/data"]);
    assert!(calls.is_empty() && reads.is_empty());
    assert_eq!(module.needs_problem(), None);
}

#[test]
fn a_servlet_that_declares_nothing_has_no_section() {
    let module = module(&wasm("greet", Profile::Servlet));
    assert!(module.needs().is_empty());
    assert!(
        module
            .sections
            .iter()
            .all(|section| section.name != "mcp-servlet:needs")
    );
}
