//! WASI: what a module without files gets, and how it exits.

use crate::{
    bodies::{
        Case,
        Expected::{Failed, Numbers, Output},
        Table, case, table,
    },
    sides::Class::{Panic, Trap},
};

const IMPORTS: &str = r#"
    (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
    (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_prestat_get" (func $fd_prestat_get (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $fd_fdstat_get (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "path_open"
      (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "sched_yield" (func $sched_yield (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))"#;

/// The memory from 2048 on is free for the functions of WASI.
const CASES: &[Case] = &[
    case(
        "there are no arguments and no variables",
        "(call $emit_u32 (call $args_sizes_get (i32.const 2048) (i32.const 2052)))
        (call $emit (i64.load (i32.const 2048)))
        (call $emit_u32 (call $environ_sizes_get (i32.const 2048) (i32.const 2052)))
        (call $emit (i64.load (i32.const 2048)))
        (call $numbers)",
        Numbers(&[0; 4]),
    ),
    case(
        "clocks and random numbers work",
        "(call $emit_u32 (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 2048)))
        (call $emit_u32 (i64.eqz (i64.load (i32.const 2048))))
        (call $emit_u32 (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 2048)))
        (call $emit_u32 (call $random_get (i32.const 2048) (i32.const 8)))
        (call $emit_u32 (i64.eqz (i64.load (i32.const 2048))))
        (call $emit_u32 (call $sched_yield))
        (call $numbers)",
        Numbers(&[0; 6]),
    ),
    case(
        "output is written",
        "(i32.store (i32.const 2048) (i32.const 16))
        (i32.store (i32.const 2052) (i32.const 5))
        (call $emit_u32 (call $fd_write (i32.const 1) (i32.const 2048) (i32.const 1) (i32.const 2064)))
        (call $emit_u32 (i32.load (i32.const 2064)))
        (call $emit_u32 (call $fd_write (i32.const 2) (i32.const 2048) (i32.const 1) (i32.const 2064)))
        (call $emit_u32 (i32.load (i32.const 2064)))
        (call $emit_u32 (call $fd_write (i32.const 9) (i32.const 2048) (i32.const 1) (i32.const 2064)))
        (call $numbers)",
        Numbers(&[0, 5, 0, 5, 8]),
    ),
    case(
        "standard input is empty",
        "(i32.store (i32.const 2048) (i32.const 4096))
        (i32.store (i32.const 2052) (i32.const 5))
        (i32.store (i32.const 2064) (i32.const 7))
        (call $emit_u32 (call $fd_read (i32.const 0) (i32.const 2048) (i32.const 1) (i32.const 2064)))
        (call $emit_u32 (i32.load (i32.const 2064)))
        (call $numbers)",
        Numbers(&[0, 0]),
    ),
    case(
        "there are no files",
        "(call $emit_u32 (call $fd_prestat_get (i32.const 3) (i32.const 2048)))
        (call $emit_u32 (call $fd_fdstat_get (i32.const 3) (i32.const 2048)))
        (call $emit_u32 (call $fd_close (i32.const 3)))
        (call $emit_u32 (call $path_open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 3) (i32.const 0)
            (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 2048)))
        (call $numbers)",
        Numbers(&[8; 4]),
    ),
    case(
        "a sleep ends",
        "(i64.store (i32.const 2048) (i64.const 7))
        (i32.store8 (i32.const 2056) (i32.const 0))
        (i32.store (i32.const 2064) (i32.const 1))
        (i64.store (i32.const 2072) (i64.const 1000000))
        (i64.store (i32.const 2080) (i64.const 1))
        (i32.store16 (i32.const 2088) (i32.const 0))
        (call $emit_u32 (call $poll_oneoff (i32.const 2048) (i32.const 4096) (i32.const 1) (i32.const 2064)))
        (call $emit_u32 (i32.load (i32.const 2064)))
        (call $emit (i64.load (i32.const 4096)))
        (call $numbers)",
        Numbers(&[0, 1, 7]),
    ),
    case(
        "an exit with 0 keeps the output",
        "(drop (call $output (call $copy (i32.const 16) (i32.const 5)))) (call $proc_exit (i32.const 0)) (unreachable)",
        Output("value"),
    ),
    case("an exit with 0", "(call $proc_exit (i32.const 0)) (unreachable)", Output("")),
    case(
        "an exit with 3",
        "(call $proc_exit (i32.const 3)) (unreachable)",
        Failed(Trap, "Exited with i32 exit status 3"),
    ),
    case(
        "an exit with 0 and an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12))) (call $proc_exit (i32.const 0)) (unreachable)",
        Failed(Panic, "it is broken"),
    ),
    case(
        "an exit with 3 and an error",
        "(call $error_set (call $copy (i32.const 48) (i32.const 12))) (call $proc_exit (i32.const 3)) (unreachable)",
        Failed(Panic, "it is broken"),
    ),
    case(
        "the next call works",
        "(call $output (call $copy (i32.const 16) (i32.const 5)))",
        Output("value"),
    ),
];

#[test]
fn wasi() {
    let table = Table {
        imports: IMPORTS,
        ..table(CASES)
    };
    table.check(b"");
}
