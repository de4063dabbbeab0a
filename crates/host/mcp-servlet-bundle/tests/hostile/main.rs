//! Expressions and values that try to take much time or memory.

#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use mcp_servlet_bundle::{
    Budget, CheckArguments, JsonObject, Kind, Proven, Request, Session, Thrown,
};
use peak_alloc::PeakAlloc;
use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};
use support::compile;

/// Counts the memory of this program, in which there is one test.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The maximum memory of an expression, in bytes.
const MAX_MEMORY: usize = 64 << 20;

/// The maximum time of an expression, which only counts while a processor runs it.
const MAX_TIME: Duration = Duration::from_millis(300);

/// The maximum length of a value that an expression makes, in bytes: 100,000 steps of 64 bytes, escaped.
const MAX_LENGTH: usize = 4 * 64 * 100_000;

/// Expressions over any values `$a` and `$b`, which use every function and every macro.
const EXPRESSIONS: &str = include_str!("expressions.txt");
const EXPRESSION_COUNT: usize = 41;

/// The place of an expression and the values that it reads.
const PLACES: [(&str, &str); 4] = [
    ("inputs", "request.arguments"),
    ("result", "result.structuredContent"),
    ("when", "error.data"),
    ("data", "error.data"),
];

/// The time for which processors have run this program. It does not grow while other programs run.
#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("time grows")
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    use std::{sync::LazyLock, time::Instant};
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed()
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = (0..6_usize, 0..1_100_000_usize).prop_map(|(kind, length)| {
        let piece = ["a", "ab", "é,", "1", "\u{1}", "[],"][kind];
        piece.repeat(length / piece.len())
    });
    let json_text = (0..4_usize, 0..200_000_usize).prop_map(|(kind, length)| {
        let item = ["[],", "0,", r#"{"a":0},"#, r#""","#][kind];
        format!("[{}0]", item.repeat(length / item.len()))
    });
    let list = (0..5_usize, 0..70_000_usize).prop_map(|(kind, length)| {
        let item = [json!(1), json!([]), json!({ "a": 0 }), json!({}), json!("")];
        Value::from(vec![item[kind].clone(); length])
    });
    let object = (0..60_000_usize).prop_map(|length| {
        let members = (0..length).map(|number| (number.to_string(), json!([])));
        Value::Object(members.collect())
    });
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
        json_text.prop_map(Value::from),
        list,
        object,
        (0..20_000_usize).prop_map(|length| (0..length).collect::<Vec<_>>().into()),
    ];
    leaf.prop_recursive(2, 4, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            collection::vec(("[a-z]{1,3}", inner), 0..3)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// A virtual tool with this expression in one place.
fn tool(place: &str, expression: &str) -> Proven {
    let expression = format!("${{{{ {expression} }}}}");
    let spec = match place {
        "inputs" => json!({ "inputs": { "any": expression }, "arguments": {} }),
        "result" => {
            let result = json!({ "content": [], "structuredContent": { "any": expression } });
            json!({ "inputs": {}, "arguments": {}, "result": result })
        }
        "when" => {
            let catch = json!({ "when": expression, "error": { "code": -32001 } });
            json!({ "inputs": {}, "arguments": {}, "catches": [catch] })
        }
        _ => {
            let error = json!({ "code": -32001, "data": expression });
            json!({ "inputs": {}, "arguments": {}, "catches": [{ "error": error }] })
        }
    };
    let tool = compile(&spec).unwrap_or_else(|problems| panic!("{expression}: {problems:?}"));
    let handler = json!({ "name": "get_weather", "inputSchema": { "properties": { "any": {} } } });
    let tool = tool.prove(handler.as_object().expect("an object"));
    tool.unwrap_or_else(|problems| panic!("{expression}: {problems:?}"))
}

/// What the handler returns.
struct Returned {
    values: JsonObject,
    result: JsonObject,
    error: Thrown,
}

impl Returned {
    fn new(values: JsonObject) -> Self {
        let json = Value::Object(values.clone());
        Self {
            result: Map::from_iter([("structuredContent".to_owned(), json.clone())]),
            error: Thrown {
                kind: Kind::Fault,
                code: "FULL".to_owned(),
                number: -32000,
                message: String::new(),
                data: Some(json),
            },
            values,
        }
    }
}

/// What the expression in this place makes of the values.
fn run(tool: &Proven, place: &str, returned: &Returned) -> Option<Value> {
    let (meta, session, none) = (JsonObject::new(), Session::default(), JsonObject::new());
    let request = Request {
        name: "city_weather",
        arguments: Some(if place == "inputs" {
            &returned.values
        } else {
            &none
        }),
        meta: &meta,
        session: &session,
    };
    let budget = &mut Budget::default();
    let prepared = tool.prepare(&request, CheckArguments::Off, budget).ok()?;
    match place {
        "inputs" => prepared.arguments.map(Value::Object),
        "result" => {
            let result = tool.result(&request, &prepared, &returned.result, budget);
            result.ok()?.map(Value::Object)
        }
        _ => {
            tool.caught(&request, &prepared, &returned.error, budget)?
                .data
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(400),
        // The values are large.
        max_shrink_iters: 50,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_values_cost_more_than_the_budget(a in any_json(), b in any_json(), number in 0..EXPRESSION_COUNT, place in 0..PLACES.len()) {
        let expressions: Vec<_> = EXPRESSIONS.lines().collect();
        prop_assert_eq!(expressions.len(), EXPRESSION_COUNT);
        let (place, root) = PLACES[place];
        let expression = expressions[number]
            .replace("$a", &format!("{root}.a"))
            .replace("$b", &format!("{root}.b"));
        let tool = tool(place, &expression);
        let values = Map::from_iter([("a".to_owned(), a), ("b".to_owned(), b)]);
        let returned = Returned::new(values);
        MEMORY.reset_peak_usage();
        let (memory, time) = (MEMORY.current_usage(), processor_time());
        let made = run(&tool, place, &returned);
        let time = processor_time().saturating_sub(time);
        let memory = MEMORY.peak_usage().saturating_sub(memory);
        prop_assert!(time < MAX_TIME, "{place}: {expression} took {time:?}");
        prop_assert!(memory < MAX_MEMORY, "{place}: {expression} took {memory} bytes");
        if let Some(made) = made {
            let length = made.to_string().len();
            prop_assert!(length <= MAX_LENGTH, "{place}: {expression} made {length} bytes");
        }
    }
}
