//! WASI: output, sleep and panics of a servlet.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use mcp_servlet_call::{CallError, CallErrorKind, Limit};
use mcp_servlet_runtime::LoadOptions;
use tracing::{Level, Subscriber, field::Visit, subscriber::with_default};
use tracing_subscriber::{Layer, layer::SubscriberExt as _};

use crate::{
    assert_works, call,
    support::{Wat, tools},
};

const WRITE: &str = r#"(import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))"#;

/// Writes texts to a stream, each by a call of its own, because a call with several buffers may write only the first. Checks the error codes of
/// WASI and the numbers of written bytes.
fn write(stream: i32, pieces: &[&str]) -> String {
    let mut code = String::new();
    for piece in pieces {
        let length = piece.len();
        let bytes = (50_000..).zip(piece.bytes());
        code.extend(
            bytes.map(|(at, byte)| format!("(i32.store8 (i32.const {at}) (i32.const {byte}))")),
        );
        code.extend([format!(
            "(i32.store (i32.const 60000) (i32.const 50000)) (i32.store (i32.const 60004) (i32.const {length}))
            (if (call $write (i32.const {stream}) (i32.const 60000) (i32.const 1) (i32.const 61000)) (then unreachable))
            (if (i32.ne (i32.load (i32.const 61000)) (i32.const {length})) (then unreachable))"
        )]);
    }
    code
}

/// The level and text of all events with the target `servlet`.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<(Level, String)>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if event.metadata().target() == "servlet" {
            let mut text = Text(String::new());
            event.record(&mut text);
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push((*event.metadata().level(), text.0));
        }
    }
}

/// Calls a tool and returns its log.
fn logged(wat: &Wat) -> (Option<CallError>, Vec<(Level, String)>) {
    let servlet = wat.load().expect("a servlet");
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let error = with_default(subscriber, || call(&servlet, 1).err());
    assert_works(&servlet);
    let lines = lines
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    (error, lines)
}

#[test]
fn standard_output_and_error_are_logged_by_line() {
    let body = [
        write(
            1,
            &["one\ntw", "", "o, which is longer than eight bytes\r\n"],
        ),
        write(2, &["\u{fc}\nlast"]),
    ]
    .concat();
    let (error, lines) = logged(&tools(&[(1, &body)]).import(WRITE));
    assert!(error.is_none(), "{error:?}");
    let expected = [
        (Level::INFO, "one"),
        (Level::INFO, "two, which is longer than eight bytes"),
        (Level::WARN, "\u{fc}"),
        (Level::WARN, "last"),
    ];
    let expected = expected.map(|(level, text)| (level, text.to_owned()));
    assert_eq!(lines, expected);
}

#[test]
fn error_has_the_panic_message() {
    let panic = "\nthread '<unnamed>' (1) panicked at src/lib.rs:3:5:\nout of cheese\n\
        note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
    let body = format!("{} unreachable", write(2, &[panic]));
    let (error, _) = logged(&tools(&[(1, &body)]).import(WRITE));
    assert_eq!(
        error.expect("a panic").to_string(),
        "servlet `test` stopped in `call`: panicked at src/lib.rs:3:5: out of cheese"
    );
    let exit = r#"(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#;
    let body = format!(
        "{} (call $exit (i32.const 2))",
        write(2, &["panic: nil map\n"])
    );
    let (error, _) = logged(&tools(&[(1, &body)]).import(WRITE).import(exit));
    let error = error.expect("a panic").to_string();
    assert_eq!(error, "servlet `test` stopped in `call`: panic: nil map");
}

#[test]
fn functions_keep_their_meaning_where_others_are_imported() {
    // Each function is called by its index: directly, from a table, and by references in a global
    // and in an element segment.
    let parts = r#"(type $t (func (result i32)))
        (func $f (result i32) i32.const 1000)
        (table 4 4 funcref)
        (elem (i32.const 1) func $f)
        (elem (i32.const 2) funcref (ref.func $f) (ref.null func))
        (global $g funcref (ref.func $f))
        (func (export "_initialize") (table.set 0 (i32.const 3) (global.get $g)))"#;
    let calls = (1..4).map(|at| format!("(call_indirect (type $t) (i32.const {at})) i32.add"));
    let body = format!("call $f {} return", calls.collect::<String>());
    let wat = tools(&[(1, &body)]).import(WRITE).after(parts);
    let (error, _) = logged(&wat);
    let error = error.expect("a code").to_string();
    assert!(error.ends_with(" 4000"), "{error}");
}

#[test]
fn output_of_a_module_whose_table_has_initial_values_is_logged() {
    // The values refer to functions by their indices, which change if a function import is added.
    let parts = r"(type $t (func (result i32)))
        (func $f (result i32) i32.const 1000)
        (table $all 2 2 (ref null func) (ref.func $f))";
    let body = format!(
        "{} (return (call_indirect $all (type $t) (i32.const 1)))",
        write(1, &["hello\n"])
    );
    let (error, lines) = logged(&tools(&[(1, &body)]).import(WRITE).after(parts));
    assert_eq!(lines, [(Level::INFO, "hello".to_owned())]);
    let error = error.expect("a code").to_string();
    assert!(error.ends_with(" 1000"), "{error}");
}

#[test]
fn the_time_limit_ends_one_long_write() {
    // 100 MiB of newlines. Each newline is a line of the log, so writing all of them takes much longer than the limit.
    let body = "(memory.fill (i32.const 0) (i32.const 10) (i32.const 104857600))
        (i32.store (i32.const 104857600) (i32.const 0))
        (i32.store (i32.const 104857604) (i32.const 104857600))
        (drop (call $write (i32.const 1) (i32.const 104857600) (i32.const 1) (i32.const 104857608)))";
    let body = format!("(drop (memory.grow (i32.const 1600))) {body}");
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(200));
    let servlet = tools(&[(1, &body)]).import(WRITE).load_with(&options);
    let servlet = servlet.expect("a servlet");
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let error = with_default(subscriber, || call(&servlet, 1).expect_err("a long text"));
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
    let lines = lines.0.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(lines.len() < 104_857_600);
    assert_works(&servlet);
}

#[test]
fn a_sleep_ends_when_it_should_or_with_its_call() {
    let import = r#"(import "wasi_snapshot_preview1" "poll_oneoff"
        (func $poll (param i32 i32 i32 i32) (result i32)))"#;
    let nap = |time: u64| {
        format!(
            "(i64.store (i32.const 60000) (i64.const 7)) (i64.store (i32.const 61008) (i64.const -1))
            (i32.store (i32.const 60016) (i32.const 1)) (i64.store (i32.const 60024) (i64.const {time}))
            (if (call $poll (i32.const 60000) (i32.const 61000) (i32.const 1) (i32.const 62000)) (then unreachable))
            (if (i32.ne (i32.load (i32.const 62000)) (i32.const 1)) (then unreachable))
            (if (i64.ne (i64.load (i32.const 61000)) (i64.const 7)) (then unreachable))
            (if (i32.load16_u (i32.const 61008)) (then unreachable))"
        )
    };
    let wat = tools(&[(1, &nap(200_000_000)), (2, &nap(3_600_000_000_000))]).import(import);
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_secs(2));
    options.instances = mcp_servlet_runtime::Instances::ONE.into();
    let servlet = wat.load_with(&options).expect("a servlet");
    let begin = Instant::now();
    call(&servlet, 1).expect("a short sleep");
    assert!(begin.elapsed() >= Duration::from_millis(200));
    let error = call(&servlet, 2).expect_err("a long sleep");
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
    assert_works(&servlet);
}
