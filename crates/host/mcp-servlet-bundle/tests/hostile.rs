//! Expressions and arguments that try to take much time or memory.

mod support;

use std::time::{Duration, Instant};

use mcp_servlet_bundle::{Budget, CheckArguments, JsonObject, Proven, Request, Session};
use peak_alloc::PeakAlloc;
use proptest::{collection, prelude::*};
use serde_json::{Value, json};
use support::compile;

/// Counts the memory of this program, in which there is one test.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The maximum memory of the expressions of a call, in bytes.
const MAX_MEMORY: usize = 64 << 20;

/// The budget allows 250 ms. This limit is higher, because converting values to JSON does not count there and this build is not
/// optimized.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The maximum length of the arguments that an expression makes, in bytes: 100,000 steps of 64 bytes, escaped.
const MAX_LENGTH: usize = 4 * 64 * 100_000;

/// Expressions over any arguments: `a` and `b` are any JSON.
const ANY: [&str; 40] = [
    "request.arguments.a + request.arguments.b",
    "request.arguments.a == request.arguments.b",
    "request.arguments.a < request.arguments.b",
    "request.arguments.a in request.arguments.b",
    "request.arguments.a[request.arguments.b]",
    "request.arguments.a.size() + request.arguments.b.size()",
    "request.arguments.a.map(x, x)",
    "request.arguments.a.map(x, request.arguments.a)",
    "request.arguments.a.map(x, request.arguments.a.map(y, request.arguments.a.map(z, request.arguments.b)))",
    "request.arguments.a.filter(x, x == request.arguments.b)",
    "request.arguments.a.all(x, request.arguments.a.all(y, x == y))",
    "request.arguments.a.exists(x, request.arguments.b.exists(y, x == y))",
    "request.arguments.a.exists_one(x, x == request.arguments.b)",
    "request.arguments.a.all(x, x > 0) || request.arguments.b.all(x, x > 0)",
    "request.arguments.a.contains(request.arguments.b)",
    "request.arguments.a.startsWith(request.arguments.b) ? request.arguments.a : request.arguments.b",
    "request.arguments.a.replace(request.arguments.b, request.arguments.a)",
    "request.arguments.a.replace('', request.arguments.a)",
    "request.arguments.a.split(request.arguments.b)",
    "request.arguments.a.split('').join(request.arguments.a)",
    "request.arguments.a.map(x, string(x)).join(request.arguments.b)",
    "request.arguments.a.indexOf(request.arguments.b)",
    "request.arguments.a.lastIndexOf(request.arguments.b)",
    "request.arguments.a.substring(0, request.arguments.a.size() / 2)",
    "request.arguments.a.charAt(0) + request.arguments.b.reverse()",
    "request.arguments.a.lowerAscii().upperAscii().trim()",
    "request.arguments.a.matches('(a+)+$')",
    "request.arguments.a.matches('[a-z]{1,100}x')",
    "json(request.arguments.a)",
    "json(text(request.arguments.a))",
    "text([request.arguments.a, request.arguments.b, request.arguments.a])",
    "'%s %s'.format([request.arguments.a, request.arguments.b])",
    "[request.arguments.a, request.arguments.b, request.arguments.a, request.arguments.b].map(x, [x, x, x, x])",
    "{'a': request.arguments.a, 'b': {'c': request.arguments.b}}",
    "request.arguments.?a.orValue(request.arguments.b)",
    "has(request.arguments.a.x) ? request.arguments.a.x : request.arguments.b",
    "int(request.arguments.a) * int(request.arguments.b)",
    "double(request.arguments.a) / double(request.arguments.b)",
    "bytes(request.arguments.a).size()",
    "strings.quote(request.arguments.a) + string(request.arguments.b)",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..4_usize, 0..60_000_usize)
            .prop_map(|(kind, length)| ["a", "ab", "é,", "1"][kind].repeat(length).into()),
        (0..20_000_usize).prop_map(|length| (0..length).collect::<Vec<_>>().into()),
    ];
    leaf.prop_recursive(3, 32, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            collection::vec(("[a-z]{1,3}", inner), 0..6).prop_map(|members| members
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

/// A virtual tool whose only input is this expression.
fn tool(expression: &str) -> Proven {
    let spec = json!({ "inputs": { "any": format!("${{{{ {expression} }}}}") }, "arguments": {} });
    let tool = compile(&spec).unwrap_or_else(|problems| panic!("{expression}: {problems:?}"));
    let handler = json!({ "name": "get_weather", "inputSchema": { "properties": { "any": {} } } });
    let handler = handler.as_object().expect("an object");
    let tool = tool.prove(handler);
    tool.unwrap_or_else(|problems| panic!("{expression}: {problems:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_arguments_cost_more_than_the_budget(a in any_json(), b in any_json(), number in 0..ANY.len()) {
        let tool = tool(ANY[number]);
        let arguments = json!({ "a": a, "b": b });
        let (meta, session) = (JsonObject::new(), Session::default());
        let request = Request {
            name: "city_weather",
            arguments: arguments.as_object(),
            meta: &meta,
            session: &session,
        };
        MEMORY.reset_peak_usage();
        let (before, begins) = (MEMORY.current_usage(), Instant::now());
        let result = tool.prepare(&request, CheckArguments::Check, &mut Budget::default());
        let took = begins.elapsed();
        let memory = MEMORY.peak_usage().saturating_sub(before);
        prop_assert!(took < MAX_TIME, "{} took {took:?}", ANY[number]);
        prop_assert!(memory < MAX_MEMORY, "{} took {memory} bytes", ANY[number]);
        if let Ok(prepared) = result {
            let length = json!(prepared.arguments).to_string().len();
            prop_assert!(length <= MAX_LENGTH, "{} made {length} bytes", ANY[number]);
        }
    }
}
