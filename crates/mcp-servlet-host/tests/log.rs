//! Logs of servlets, as a subscriber gets them.

mod support;

use std::{
    io,
    sync::{Arc, Mutex},
};

use support::{DESCRIPTION, Wat};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn log_lines_carry_the_name_of_their_servlet() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter("servlet=info")
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let log = |name: &str| {
        format!(r#"(import "extism:host/env" "log_{name}" (func ${name} (param i64)))"#)
    };
    let both = "(call $info (call $block {})) (call $debug (call $block {})) \
        (call $info (i64.const 0)) (i32.const 1)";
    let servlet = Wat::new()
        .import(&log("info"))
        .import(&log("debug"))
        .describe(DESCRIPTION);
    let servlet = servlet.export("call", "on my way", both);
    tracing::subscriber::with_default(subscriber, || {
        servlet
            .load()
            .expect("a servlet")
            .call("t", None)
            .expect_err("a code");
    });
    let text = String::from_utf8(lines.0.lock().expect("no panic").clone()).expect("text");
    let expected = " INFO servlet: on my way servlet=\"test\"\n INFO servlet:  servlet=\"test\"\n";
    assert_eq!(text, expected);
}
