//! Expressions and values that try to take much time or memory.

#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use mcp_servlet_bundle::{
    Budget, CheckArguments, FailureKind, JsonObject, Proven, Request, Session, Thrown,
};
use peak_alloc::PeakAlloc;
use proptest::{collection, prelude::*, sample};
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

/// Expressions over any values `$a` and `$b`, which use every function and every macro. Each begins with the types of values
/// that they take, so that most cases do not end with an error at once.
const EXPRESSIONS: &str = include_str!("expressions.txt");

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

/// A length below `most`. Short ones are as frequent as long ones.
fn length(most: usize) -> impl Strategy<Value = usize> {
    (0..most, 0..most.ilog2()).prop_map(|(length, halvings)| length >> halvings)
}

fn text() -> impl Strategy<Value = String> {
    (0..6_usize, length(1_100_000)).prop_map(|(kind, length)| {
        let piece = ["a", "ab", "é,", "1", "\u{1}", "[],"][kind];
        piece.repeat(length / piece.len())
    })
}

/// A text, and the beginning of it.
fn text_and_piece() -> impl Strategy<Value = (Value, Value)> {
    (text(), 0..9_usize).prop_map(|(text, length)| {
        let piece: String = text.chars().take(length).collect();
        (text.into(), piece.into())
    })
}

fn json_text() -> impl Strategy<Value = String> {
    (0..4_usize, length(200_000)).prop_map(|(kind, length)| {
        let item = ["[],", "0,", r#"{"a":0},"#, r#""","#][kind];
        format!("[{}0]", item.repeat(length / item.len()))
    })
}

fn list() -> impl Strategy<Value = Value> {
    let same = (0..5_usize, length(70_000)).prop_map(|(kind, length)| {
        let item = [json!(1), json!([]), json!({ "a": 0 }), json!({}), json!("")];
        Value::from(vec![item[kind].clone(); length])
    });
    let numbers = length(20_000).prop_map(|length| Value::from((0..length).collect::<Vec<_>>()));
    prop_oneof![4 => same, 1 => numbers]
}

fn texts() -> impl Strategy<Value = Value> {
    (text(), length(1000)).prop_map(|(text, length)| {
        let text: String = text.chars().take(1000).collect();
        vec![text; length].into()
    })
}

fn object() -> impl Strategy<Value = Value> {
    length(60_000).prop_map(|length| {
        let members = (0..length).map(|number| (number.to_string(), json!([])));
        let x = ("x".to_owned(), json!(length));
        Value::Object(members.chain([x]).collect())
    })
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-9..9_i64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from),
        json_text().prop_map(Value::from),
        list(),
        object(),
    ];
    leaf.prop_recursive(2, 4, 3, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            collection::vec(("[a-z]{1,3}", inner), 0..3)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// Values of a type in the list of expressions.
fn of_type(name: &str) -> BoxedStrategy<Value> {
    match name {
        "any" => any_json().boxed(),
        "json" => json_text().prop_map(Value::from).boxed(),
        "list" => list().boxed(),
        "number" => number().boxed(),
        "object" => object().boxed(),
        "text" => text().prop_map(Value::from).boxed(),
        "texts" => texts().boxed(),
        name => panic!("there is no type `{name}`"),
    }
}

/// Values of two types in the list of expressions.
fn of_types(names: &str) -> BoxedStrategy<(Value, Value)> {
    if names == "text piece" {
        return prop_oneof![text_and_piece(), of_types("text text")].boxed();
    }
    let (a, b) = names.split_once(' ').expect("two types");
    (of_type(a), of_type(b)).boxed()
}

/// An expression and two values, which have the types that it takes in four of five cases.
fn any_case() -> impl Strategy<Value = (&'static str, Value, Value)> {
    let lines: Vec<_> = EXPRESSIONS.lines().collect();
    sample::select(lines).prop_flat_map(|line| {
        let (types, expression) = line.split_once(": ").expect("types and an expression");
        let values = prop_oneof![4 => of_types(types), 1 => of_types("any any")];
        values.prop_map(move |(a, b)| (expression, a, b))
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
    let tool = tool.prove(&[handler.as_object().expect("an object")]);
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
                kind: FailureKind::Fault,
                code: "FULL".to_owned(),
                number: -32000,
                message: String::new(),
                data: Some(json),
                step: None,
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
    let inputs = tool.inputs(0, None, &request, &none, CheckArguments::Off, budget);
    let inputs = inputs.ok()?;
    match place {
        "inputs" => inputs.map(Value::Object),
        "result" => {
            let result = tool.result(&request, &returned.result, budget);
            result.ok()?.map(Value::Object)
        }
        _ => tool.caught(&request, &returned.error, budget)?.data,
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
    fn no_values_cost_more_than_the_budget((expression, a, b) in any_case(), (place, root) in sample::select(PLACES.to_vec())) {
        let expression = expression
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
