//! Large schemas: the work does not grow with the square of the size, and the output stays readable.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;

use xtp_codegen::{Input, Options, Schema};

thread_local! {
    /// The bytes that this thread has allocated, whether or not they are freed.
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// The allocator of the system, which counts.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe to implement")]
// SAFETY: the allocator of the system does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size());
        // SAFETY: the caller keeps the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the same contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn schemas(entries: impl IntoIterator<Item = String>) -> String {
    let mut text = "version: v1-draft\nexports: {}\ncomponents:\n  schemas:\n".to_owned();
    for entry in entries {
        writeln!(text, "    {entry}").expect("a string takes it");
    }
    text
}

fn reference(to: &str) -> String {
    format!("{{$ref: '#/components/schemas/{to}'}}")
}

/// A schema that is large in one way.
fn schema(what: &str, size: usize) -> String {
    match what {
        "properties" => {
            let names: Vec<_> = (0..size).map(|n| format!("p{n}")).collect();
            let property = |name: &String| format!("{name}: {{type: string, nullable: true}}");
            let properties: Vec<_> = names.iter().map(property).collect();
            let (properties, required) = (properties.join(", "), names.join(", "));
            schemas([format!(
                "A: {{required: [{required}], properties: {{{properties}}}}}"
            )])
        }
        "values of an enum" => {
            let values: Vec<_> = (0..size).map(|n| format!("v{n}")).collect();
            schemas([format!("A: {{enum: [{}]}}", values.join(", "))])
        }
        "names that collide" => {
            let signs = |n: usize| format!("{n:016b}").replace('0', "_").replace('1', "$");
            schemas((0..size).map(|n| format!("a{}: {{type: string}}", signs(n))))
        }
        "enums and their uses" => {
            let choices = (0..size).map(|n| format!("E{n}: {{enum: [a]}}"));
            let objects = (0..size).map(|n| {
                let enum_ = reference(&format!("E{n}"));
                format!("S{n}: {{properties: {{e: {enum_}, s: {{type: string}}}}}}")
            });
            schemas(choices.chain(objects))
        }
        "a chain of aliases" => {
            let links = (0..size).map(|n| format!("L{n}: {}", reference(&format!("L{}", n + 1))));
            schemas(links.chain([format!("L{size}: {{type: string}}")]))
        }
        "a circle of objects" => schemas((0..size).map(|n| {
            let next = reference(&format!("L{}", (n + 1) % size));
            let first = reference("L0");
            format!("L{n}: {{properties: {{next: {next}, first: {first}}}}}")
        })),
        _ => unreachable!("no such schema"),
    }
}

/// How many bytes the generator allocates for a schema.
fn allocated(text: &str) -> usize {
    let before = ALLOCATED.get();
    let schema = Schema::parse(&Input::new("schema.yaml", text)).expect("a schema");
    drop((
        schema.warnings().to_picture(false),
        schema.warnings().to_string(),
    ));
    schema.to_plugin(&Options::for_plugin()).expect("Rust");
    ALLOCATED.get() - before
}

/// Four times the size allocates about four times as much, not sixteen times.
#[test]
fn allocates_in_proportion() {
    let all = [
        "properties",
        "values of an enum",
        "names that collide",
        "enums and their uses",
        "a chain of aliases",
        "a circle of objects",
    ];
    for what in all {
        let [small, large] = [60, 240].map(|size| allocated(&schema(what, size)));
        println!("{what}: {small} and {large} bytes");
        assert!(large < 6 * small, "{what}: {small}, {large}");
    }
}

#[test]
fn shows_the_first_of_very_many_problems_and_how_many_more_there_are() {
    let entries = (0..5_000).map(|n| format!("T{n}: {{properties: {{a: {{type: nonsense}}}}}}"));
    let yaml = schemas(entries);
    let each: Vec<_> = (0..5_000)
        .map(|n| format!(r#""T{n}":{{"properties":{{"a":{{"type":"nonsense"}}}}}}"#))
        .collect();
    let members = each.join(",");
    let json = format!(
        r#"{{"version":"v1-draft","exports":{{}},"components":{{"schemas":{{{members}}}}}}}"#
    );
    for text in [yaml, json] {
        let problems = Schema::parse(&Input::new("schema.yaml", &text)).expect_err("problems");
        assert_eq!(problems.iter().count(), 5_000);
        assert_eq!(problems.to_json().matches("\"code\"").count(), 5_000);
        for shown in [problems.to_picture(false), problems.to_string()] {
            assert!(shown.contains("4950 more problems"), "{shown}");
            assert_eq!(shown.matches("XTP201").count(), 50);
            assert!(shown.len() < 60_000, "{} bytes", shown.len());
            assert!(shown.lines().all(|line| line.chars().count() < 400));
        }
    }
}
