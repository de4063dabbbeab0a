//! Modules that try to keep the compiler busy or to use memory.

use std::time::Duration;

use mcp_servlet_call::{CallErrorKind, Limit, chain};
use mcp_servlet_host::{LoadError, Servlet};
use mcp_servlet_runtime::{CompileCache, LoadError as ModuleError, LoadOptions, Source};

use crate::{assert_works, support::tools};

/// The error for a servlet that contains this part.
#[track_caller]
fn refusal(part: &str) -> String {
    refusal_of(tools(&[]).after(part).wasm())
}

#[track_caller]
fn refusal_of(wasm: Vec<u8>) -> String {
    let source = Source::Bytes {
        name: "test".to_owned(),
        wasm,
    };
    let error = Servlet::load(source, &LoadOptions::default()).expect_err("it is refused");
    chain(&error)
}

#[track_caller]
fn assert_refused(part: &str, expected: &str) {
    let error = refusal(part);
    assert!(error.contains(expected), "{error}");
}

#[test]
fn too_many_functions_are_refused() {
    assert_refused(
        &"(func)".repeat(100_000),
        "cannot load `test`: the module has too many functions: expected at most 80000, found 100005",
    );
}

#[test]
fn too_many_locals_are_refused() {
    let locals = format!("(func (local {}))", "i32 ".repeat(50_000));
    assert_refused(
        &locals,
        "function 5 has too many locals: expected at most 10000, found 50000",
    );
}

#[test]
fn blocks_that_nest_too_deeply_are_refused() {
    let nested =
        |open: &str, depth| format!("(func {} {})", open.repeat(depth), "end ".repeat(depth));
    assert_refused(
        &nested("block ", 200_000),
        "function 5 has too many nested blocks: expected at most 10000, found 10001",
    );
    // The cost of nested loops grows with the square of their depth.
    assert_refused(
        &nested("loop ", 9_000),
        "function 5 has too many loops, branches and locals",
    );
}

/// The joined texts for the numbers from 0 to `count`, exclusive.
fn repeat(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

#[test]
fn loops_over_many_locals_are_refused() {
    // Each loop keeps all locals alive: these 5 KB took half a minute to compile.
    let set = repeat(500, |local| {
        format!("(local.set {local} (i32.add (local.get {local}) (i32.const 1)))")
    });
    let nested = format!(
        "(func (local {}) {} {set} {})",
        "i32 ".repeat(500),
        "loop ".repeat(400),
        "(br_if 0 (local.get 0)) end ".repeat(400)
    );
    assert_refused(&nested, "too many loops, branches and locals");
}

#[test]
fn refuses_modules_that_compile_slowly() {
    let indirect = "(call_indirect (i32.const 0))".repeat(60_000);
    assert_refused(
        &format!("(table 1 funcref) (func {indirect})"),
        "too many loops, branches",
    );
    let targets = "0 ".repeat(60_000);
    assert_refused(
        &format!(
            "(func (local {}) loop (br_table {targets} (i32.const 0)) end)",
            "i32 ".repeat(100)
        ),
        "too many loops, branches and locals",
    );
    let values = "i32 ".repeat(999);
    assert_refused(
        &format!("(type (func (result {values})))"),
        "too many results in a type",
    );
    assert_refused(
        &format!("(type (func (param {values})))"),
        "too many parameters in a type: expected at most 256, found 999",
    );
    assert_refused(
        &format!("(func {})", "nop ".repeat(2 << 20)),
        "function 5 has too many bytes",
    );
}

#[test]
fn long_lists_are_refused() {
    assert_refused(
        &repeat(30_000, |at| format!("(export \"e{at}\" (func 5))")),
        "the module has too many exports",
    );
    assert_refused(
        &"(global i32 (i32.const 0))".repeat(100_001),
        "too many globals",
    );
    assert_refused(&"(table 0 funcref)".repeat(101), "too many tables");
    assert_refused("(table 10000001 funcref)", "too many table entries");
    let elements = "0 ".repeat(1_000_001);
    assert_refused(
        &format!("(elem func {elements})"),
        "too many table elements",
    );
    assert_refused(
        &"(data \"\")".repeat(100_001),
        "too many data segments: expected at most 100000, found 100002",
    );
    let types: String = (0..20_001).map(|_| "(type (func))").collect();
    assert_refused(&types, "the module has too many types");
    let imports = repeat(20_000, |at| {
        format!("(import \"wasi_snapshot_preview1\" \"f{at}\" (func))")
    });
    let error = refusal_of(tools(&[]).import(&imports).wasm());
    assert!(error.contains("the module has too many imports"), "{error}");
}

#[test]
fn a_large_file_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.wasm");
    std::fs::write(&path, tools(&[]).wasm()).expect("a file");
    // Half a gigabyte of names in a sparse file.
    let file = std::fs::OpenOptions::new().append(true).open(&path);
    let file = file.expect("a file");
    file.set_len(500 << 20).expect("a sparse file");
    let error = Servlet::load(&path, &LoadOptions::default()).expect_err("it is refused");
    assert_eq!(
        chain(&error),
        "cannot load `large`: the module has too many bytes: expected at most 67108864, found 524288000"
    );
    assert_eq!(
        error.help().as_deref(),
        Some("remove debug information: `wasm-opt --strip-debug`")
    );
    let error = Servlet::load("/dev/zero", &LoadOptions::default()).expect_err("it has no end");
    assert!(
        chain(&error).contains("not a WebAssembly module"),
        "{error}"
    );
}

#[test]
fn compiling_has_a_deadline() {
    let mut options = LoadOptions::default();
    options.cache = CompileCache::Off;
    options.compile = Some(Duration::from_millis(1));
    let add = "local.get 0 i32.const 7 i32.add local.set 0 ".repeat(20);
    let functions = repeat(2000, |_| format!("(func (param i32) {add})"));
    let servlet = tools(&[]).after(&functions);
    let error = servlet.load_with(&options).expect_err("it takes longer");
    assert!(
        matches!(error, LoadError::Module(ModuleError::Compile { .. })),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(
            "it takes longer than 1ms; make the module smaller, or raise `compile_timeout`"
        ),
        "{error}"
    );
}

#[test]
fn compiles_large_programs() {
    // A switch as in an interpreter: many cases as nested blocks, in one loop, with many locals.
    let cases = 300;
    let switch = format!(
        "(func (param i32) (local {}) loop {} (br_table {} (local.get 0)) {} end)",
        "i64 ".repeat(100),
        "block ".repeat(cases),
        repeat(cases, |case| format!("{case} ")),
        repeat(cases, |case| format!(
            "end (local.set {} (i64.const {case})) ",
            1 + case % 100
        )),
    );
    let servlet = tools(&[]).after(&switch).load();
    assert_works(&servlet.expect("a servlet"));
}

/// Grows table 0 as far as possible, 10,000 entries at a time, and returns its size in thousands.
const GROW: &str =
    "(loop $l (br_if $l (i32.ge_s (table.grow 0 (ref.null func) (i32.const 10000)) (i32.const 0))))
    (return (i32.div_u (table.size 0) (i32.const 1000)))";

fn grown(table: &str) -> u64 {
    let servlet = tools(&[(1, GROW)]).import(table).load().expect("a servlet");
    let code = crate::call(&servlet, 1).expect_err("a code").to_string();
    let thousands = code.rsplit(' ').next().unwrap_or_default();
    1000 * thousands.parse::<u64>().expect("a number")
}

#[test]
fn tables_take_a_part_of_the_memory() {
    // A sixteenth of 256 MiB, in references of 8 bytes.
    let most = (256 << 20) / 16 / 8;
    for table in ["(table 1 funcref)", "(table 1 100000000 funcref)"] {
        let entries = grown(table);
        assert!((most / 2..=most).contains(&entries), "{entries}");
    }
    let entries = grown("(table 1 funcref) (table 1 externref)");
    assert!((most / 2..=most).contains(&entries), "{entries}");
    let mut lifted = LoadOptions::default();
    lifted.limits.memory = Limit::Unlimited;
    let fixed = tools(&[]).after("(table 5000000 5000000 funcref)");
    assert!(fixed.load_with(&lifted).is_ok());
    let mut small = LoadOptions::default();
    small.limits.memory = Limit::At(16 << 20);
    let error = fixed.load_with(&small).expect_err("40 MB of tables");
    assert_eq!(
        error.to_string(),
        "`test` does not start: its tables begin with 40000000 bytes; the memory limit is 16777216 bytes"
    );
}

#[test]
fn tables_grow_in_a_start_function_as_in_a_call() {
    // 20 MB of references are more than a sixteenth of the memory, and the second table has a maximum.
    let wat = tools(&[(1, "(return (global.get $grown))")]).after(
        "(table $empty 0 funcref) (table $bounded 0 10 funcref)
        (global $grown (mut i32) (i32.const 0))
        (func $begin
            (if (i32.ge_s (table.grow $empty (ref.null func) (i32.const 2500000)) (i32.const 0))
                (then (global.set $grown (i32.const 1))))
            (if (i32.ge_s (table.grow $bounded (ref.null func) (i32.const 11)) (i32.const 0))
                (then (global.set $grown (i32.const 2)))))
        (start $begin)",
    );
    let mut options = LoadOptions::default();
    options.isolation = Some(mcp_servlet_runtime::Isolation::Call);
    let servlet = wat.load_with(&options).expect("a servlet");
    // The tool returns 0, which is not an error, but it has no output.
    let error = crate::call(&servlet, 1).expect_err("no output");
    assert!(
        matches!(error.kind, CallErrorKind::BadOutput { .. }),
        "{error:?}"
    );
}

#[test]
fn tables_count_as_memory() {
    // The table takes 48 of 64 MiB.
    let mut options = LoadOptions::default();
    options.limits.memory = Limit::At(64 << 20);
    let table = "(table 6000000 6000000 funcref)";
    let grow = |pages| format!("(drop (memory.grow (i32.const {pages})))");
    let wat = tools(&[(1, &grow(100)), (2, &grow(400))]).import(table);
    let servlet = wat.load_with(&options).expect("a servlet");
    assert!(crate::call(&servlet, 1).is_ok());
    let error = crate::call(&servlet, 2).expect_err("too much");
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { .. }),
        "{error:?}"
    );
    assert_works(&servlet);
}

#[test]
fn objects_of_a_garbage_collector_count_as_memory() {
    let types = "(type $a (array (mut i64))) (global $kept (mut (ref null $a)) (ref.null $a))";
    let make = "(global.set $kept (array.new_default $a (i32.const 50000000)))";
    let mut options = LoadOptions::default();
    options.limits.memory = Limit::At(32 << 20);
    let wat = tools(&[(1, make)]).import(types);
    let servlet = wat.load_with(&options).expect("a servlet");
    crate::call(&servlet, 1).expect_err("400 MB of objects");
    assert_works(&servlet);
}
