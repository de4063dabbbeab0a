//! The kernel: blocks of memory, the input, and the output.

use crate::{
    bodies::{
        Case,
        Expected::{Failed, Numbers, Output},
        case, table,
    },
    sides::{Class::OutOfMemory, Outcome},
};

const BLOCKS: &[Case] = &[
    case(
        "alloc of nothing is null",
        "(call $emit (call $alloc (i64.const 0))) (call $numbers)",
        Numbers(&[0]),
    ),
    case(
        "a new block has its length",
        "(local.set $a (call $alloc (i64.const 5)))
        (call $emit_u32 (i64.eqz (local.get $a)))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length_unsafe (local.get $a)))
        (call $numbers)",
        Numbers(&[0, 5, 5]),
    ),
    case(
        "no block begins within or next to another",
        "(local.set $a (call $alloc (i64.const 16)))
        (call $emit (call $length (i64.sub (local.get $a) (i64.const 1))))
        (call $emit (call $length (i64.add (local.get $a) (i64.const 1))))
        (call $emit (call $length (i64.add (local.get $a) (i64.const 8))))
        (call $emit (call $length (i64.add (local.get $a) (i64.const 15))))
        (call $numbers)",
        Numbers(&[0, 0, 0, 0]),
    ),
    case(
        "there is no block at foreign offsets",
        "(call $emit (call $length (i64.const 0)))
        (call $emit (call $length (i64.const 1)))
        (call $emit (call $length (i64.const 7)))
        (call $emit (call $length (i64.const 8)))
        (call $emit (call $length (i64.const 0x80000000)))
        (call $emit (call $length (i64.const 0xffffffff)))
        (call $emit (call $length (i64.const 0x100000000)))
        (call $emit (call $length (i64.const 0x8000000000000000)))
        (call $emit (call $length (i64.const -1)))
        (call $numbers)",
        Numbers(&[0; 9]),
    ),
    case(
        "length_unsafe of foreign offsets is 0",
        "(call $emit (call $length_unsafe (i64.const 0)))
        (call $emit (call $length_unsafe (i64.const 1)))
        (call $emit (call $length_unsafe (i64.const 7)))
        (call $emit (call $length_unsafe (i64.const 8)))
        (call $emit (call $length_unsafe (i64.const 0x80000000)))
        (call $emit (call $length_unsafe (i64.const 0xffffffff)))
        (call $emit (call $length_unsafe (i64.const 0x100000000)))
        (call $emit (call $length_unsafe (i64.const 0x8000000000000000)))
        (call $emit (call $length_unsafe (i64.const -1)))
        (call $numbers)",
        Numbers(&[0; 9]),
    ),
    case(
        "blocks do not overlap",
        "(local.set $a (call $alloc (i64.const 9)))
        (local.set $b (call $alloc (i64.const 9)))
        (call $store_u64 (local.get $a) (i64.const -1))
        (call $store_u64 (i64.add (local.get $a) (i64.const 1)) (i64.const -1))
        (call $store_u64 (local.get $b) (i64.const 7))
        (call $store_u8 (i64.add (local.get $b) (i64.const 8)) (i32.const 8))
        (call $emit (call $load_u64 (i64.add (local.get $a) (i64.const 1))))
        (call $emit (call $load_u64 (local.get $b)))
        (call $emit_u32 (call $load_u8 (i64.add (local.get $b) (i64.const 8))))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length (local.get $b)))
        (call $numbers)",
        Numbers(&[u64::MAX, 7, 8, 9, 9]),
    ),
    case(
        "a freed block has no length",
        "(local.set $a (call $alloc (i64.const 8)))
        (call $free (local.get $a))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length_unsafe (local.get $a)))
        (call $numbers)",
        Numbers(&[0, 0]),
    ),
    case(
        "freeing twice is harmless",
        "(local.set $a (call $alloc (i64.const 8)))
        (local.set $b (call $alloc (i64.const 8)))
        (call $free (local.get $a))
        (call $free (local.get $a))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length (local.get $b)))
        (local.set $a (call $alloc (i64.const 8)))
        (call $emit (call $length (local.get $a)))
        (call $emit_u32 (i64.eq (local.get $a) (local.get $b)))
        (call $numbers)",
        Numbers(&[0, 8, 8, 0]),
    ),
    case(
        "freeing foreign offsets is harmless",
        "(local.set $a (call $alloc (i64.const 8)))
        (call $free (i64.const 0))
        (call $free (i64.const 1))
        (call $free (i64.add (local.get $a) (i64.const 1)))
        (call $free (i64.sub (local.get $a) (i64.const 1)))
        (call $free (i64.const 0x80000000))
        (call $free (i64.const 0x100000000))
        (call $free (i64.add (local.get $a) (i64.const 0x100000000)))
        (call $free (i64.const -1))
        (call $emit (call $length (local.get $a)))
        (call $numbers)",
        Numbers(&[8]),
    ),
    case(
        "freed memory is used again",
        "(loop $next
            (local.set $a (call $alloc (i64.const 100000)))
            (call $store_u8 (i64.add (local.get $a) (i64.const 99999)) (i32.const 7))
            (call $free (local.get $a))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $n) (i32.const 10000))))
        (call $emit_u32 (local.get $n))
        (call $numbers)",
        Numbers(&[10_000]),
    ),
    case(
        "a block that is used again has its new length",
        "(local.set $a (call $alloc (i64.const 100)))
        (call $free (local.get $a))
        (local.set $a (call $alloc (i64.const 50)))
        (local.set $b (call $alloc (i64.const 100)))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $length (local.get $b)))
        (call $emit (call $length_unsafe (local.get $a)))
        (call $numbers)",
        Numbers(&[50, 100, 50]),
    ),
    case(
        "a freed block is cut into small ones",
        "(local.set $b (call $alloc (i64.const 10000)))
        (call $free (local.get $b))
        (loop $next
            (local.set $a (call $alloc (i64.const 20)))
            (call $store_u64 (i64.add (local.get $a) (i64.const 12)) (i64.const -1))
            (call $emit (call $length (local.get $a)))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $n) (i32.const 4))))
        (call $numbers)",
        Numbers(&[20; 4]),
    ),
    case(
        "many blocks live at once",
        "(loop $next
            (local.set $a (call $alloc (i64.extend_i32_u (i32.add (local.get $n) (i32.const 1)))))
            (local.set $b (i64.add (local.get $b) (call $length (local.get $a))))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $n) (i32.const 1000))))
        (call $emit (local.get $b))
        (call $numbers)",
        Numbers(&[500_500]),
    ),
    case(
        "a large block can be used to its end",
        "(local.set $a (call $alloc (i64.const 5000000)))
        (call $store_u64 (i64.add (local.get $a) (i64.const 4999992)) (i64.const 42))
        (call $emit (call $length (local.get $a)))
        (call $emit (call $load_u64 (i64.add (local.get $a) (i64.const 4999992))))
        (call $numbers)",
        Numbers(&[5_000_000, 42]),
    ),
    case(
        "a block begins with zeros, whatever earlier calls wrote",
        "(local.set $a (call $alloc (i64.const 4096)))
        (loop $next
            (local.set $b (i64.or (local.get $b) (call $load_u64 (i64.add (local.get $a) (i64.extend_i32_u (local.get $n))))))
            (local.set $n (i32.add (local.get $n) (i32.const 8)))
            (br_if $next (i32.lt_u (local.get $n) (i32.const 4096))))
        (call $emit (local.get $b))
        (call $numbers)",
        Numbers(&[0]),
    ),
    case("2 GiB are too much", "(drop (call $alloc (i64.const 0x80000000))) (call $numbers)", Failed(OutOfMemory, "oom")),
    case("4 GiB are too much", "(drop (call $alloc (i64.const 0x100000000))) (call $numbers)", Failed(OutOfMemory, "oom")),
    case("nearly 4 GiB are too much", "(drop (call $alloc (i64.const 0xffffffff))) (call $numbers)", Failed(OutOfMemory, "oom")),
    case(
        "blocks fill the memory",
        "(loop $next (br_if $next (i64.ne (call $alloc (i64.const 10000000)) (i64.const 0)))) (call $numbers)",
        Failed(OutOfMemory, "oom"),
    ),
    case(
        "the memory of the module fills up",
        "(loop $next (br_if $next (i32.ne (memory.grow (i32.const 100)) (i32.const -1)))) (call $numbers)",
        Failed(OutOfMemory, "oom"),
    ),
    case("the next call has memory", "(call $output (call $copy (i32.const 16) (i32.const 5)))", Output("value")),
];

const ACCESS: &[Case] = &[
    case(
        "numbers are little-endian and need no alignment",
        "(local.set $a (i64.add (call $alloc (i64.const 16)) (i64.const 1)))
        (call $store_u64 (local.get $a) (i64.const 0x0807060504030201))
        (call $emit_u32 (call $load_u8 (local.get $a)))
        (call $emit_u32 (call $load_u8 (i64.add (local.get $a) (i64.const 7))))
        (call $store_u8 (local.get $a) (i32.const 0xfff))
        (call $emit_u32 (call $load_u8 (local.get $a)))
        (call $emit (call $load_u64 (local.get $a)))
        (call $numbers)",
        Numbers(&[1, 8, 255, 0x0807_0605_0403_02ff]),
    ),
    case(
        "foreign offsets read as zero",
        "(call $emit_u32 (call $load_u8 (i64.const 0)))
        (call $emit_u32 (call $load_u8 (i64.const 8)))
        (call $emit_u32 (call $load_u8 (i64.const 0x80000000)))
        (call $emit_u32 (call $load_u8 (i64.const 0xffffffff)))
        (call $emit_u32 (call $load_u8 (i64.const 0x100000000)))
        (call $emit_u32 (call $load_u8 (i64.const 0x8000000000000000)))
        (call $emit_u32 (call $load_u8 (i64.const -1)))
        (call $emit (call $load_u64 (i64.const 0)))
        (call $emit (call $load_u64 (i64.const 8)))
        (call $emit (call $load_u64 (i64.const 0x80000000)))
        (call $emit (call $load_u64 (i64.const 0xfffffff8)))
        (call $emit (call $load_u64 (i64.const 0xffffffff)))
        (call $emit (call $load_u64 (i64.const 0x100000000)))
        (call $emit (call $load_u64 (i64.const 0x8000000000000000)))
        (call $emit (call $load_u64 (i64.const -8)))
        (call $emit (call $load_u64 (i64.const -1)))
        (call $numbers)",
        Numbers(&[0; 16]),
    ),
    case(
        "writing to foreign offsets has no effect",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (call $store_u8 (i64.const 0) (i32.const 1))
        (call $store_u8 (i64.const 8) (i32.const 1))
        (call $store_u8 (i64.const 0xffffffff) (i32.const 1))
        (call $store_u8 (i64.add (local.get $a) (i64.const 0x100000000)) (i32.const 1))
        (call $store_u8 (i64.const -1) (i32.const 1))
        (call $store_u64 (i64.const 0) (i64.const -1))
        (call $store_u64 (i64.const 8) (i64.const -1))
        (call $store_u64 (i64.const 0xfffffff9) (i64.const -1))
        (call $store_u64 (i64.const -1) (i64.const -1))
        (call $store_u64 (i64.add (local.get $a) (i64.const 0x100000000)) (i64.const -1))
        (call $output (local.get $a))",
        Output("value"),
    ),
    case(
        "the output is part of a block",
        "(call $output_set (i64.add (call $copy (i32.const 16) (i32.const 5)) (i64.const 1)) (i64.const 3)) (i32.const 0)",
        Output("alu"),
    ),
    case(
        "the output continues after its block",
        "(call $output_set (call $copy (i32.const 16) (i32.const 5)) (i64.const 7)) (i32.const 0)",
        Output("value\0\0"),
    ),
    case(
        "the output is a freed block",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (call $output_set (local.get $a) (i64.const 5))
        (call $free (local.get $a))
        (i32.const 0)",
        Output("value"),
    ),
    case(
        "the output was freed before",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (call $free (local.get $a))
        (call $output_set (local.get $a) (i64.const 5))
        (i32.const 0)",
        Output("value"),
    ),
    case(
        "the output is written after it was set",
        "(local.set $a (call $alloc (i64.const 5)))
        (call $output_set (local.get $a) (i64.const 5))
        (call $store_u8 (i64.add (local.get $a) (i64.const 4)) (i32.const 33))
        (i32.const 0)",
        Output("\0\0\0\0!"),
    ),
    case(
        "the last output counts",
        "(drop (call $output (call $copy (i32.const 16) (i32.const 5))))
        (call $output (call $copy (i32.const 0) (i32.const 3)))",
        Output("key"),
    ),
    case(
        "an output outside of the memory is ignored",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (drop (call $output (local.get $a)))
        (call $output_set (i64.const 0) (i64.const 5))
        (call $output_set (i64.const 0) (i64.const 0))
        (call $output_set (i64.const 8) (i64.const 1))
        (call $output_set (i64.const 0x80000000) (i64.const 5))
        (call $output_set (i64.const 0x100000000) (i64.const 5))
        (call $output_set (i64.add (local.get $a) (i64.const 0x100000000)) (i64.const 5))
        (call $output_set (i64.const -1) (i64.const 1))
        (call $output_set (local.get $a) (i64.const 0x7fffffff))
        (call $output_set (local.get $a) (i64.const 0xffffffff))
        (call $output_set (local.get $a) (i64.const 0x100000000))
        (call $output_set (local.get $a) (i64.const 0x100000005))
        (call $output_set (local.get $a) (i64.const 0x8000000000000000))
        (i32.const 0)",
        Output("value"),
    ),
    case("no output is set", "(i32.const 0)", Output("")),
    case(
        "an output of no bytes",
        "(local.set $a (call $copy (i32.const 16) (i32.const 5)))
        (drop (call $output (local.get $a)))
        (call $output_set (local.get $a) (i64.const 0))
        (i32.const 0)",
        Output(""),
    ),
];

/// With the input `the input`.
const INPUT: &[Case] = &[
    case(
        "the input is the output",
        "(call $output (call $input_offset))",
        Output("the input"),
    ),
    case(
        "the input is a block",
        "(call $emit (call $input_length))
        (call $emit (call $length (call $input_offset)))
        (call $emit_u32 (call $load_u8 (call $input_offset)))
        (call $numbers)",
        Numbers(&[9, 9, 0x74]),
    ),
    case(
        "the input is read by position",
        "(call $emit_u32 (call $input_load_u8 (i64.const 8)))
        (call $emit_u32 (call $input_load_u8 (i64.const 9)))
        (call $emit_u32 (call $input_load_u8 (i64.const 0x100000000)))
        (call $emit_u32 (call $input_load_u8 (i64.const -1)))
        (call $emit (call $input_load_u64 (i64.const 1)))
        (call $emit (call $input_load_u64 (i64.const 2)))
        (call $emit (call $input_load_u64 (i64.const 9)))
        (call $emit (call $input_load_u64 (i64.const 0x100000000)))
        (call $emit (call $input_load_u64 (i64.const 0x8000000000000000)))
        (call $numbers)",
        Numbers(&[0x74, 0, 0, 0, 0x7475_706e_6920_6568, 0, 0, 0, 0]),
    ),
    case(
        "the input can be overwritten",
        "(call $store_u8 (call $input_offset) (i32.const 84))
        (call $emit_u32 (call $input_load_u8 (i64.const 0)))
        (call $numbers)",
        Numbers(&[0x54]),
    ),
    case(
        "a freed input is empty",
        "(local.set $a (call $input_offset))
        (call $free (local.get $a))
        (call $emit (call $input_length))
        (call $emit (call $length (local.get $a)))
        (call $emit_u32 (call $input_load_u8 (i64.const 0)))
        (call $emit (call $input_load_u64 (i64.const 0)))
        (call $emit_u32 (i64.eq (call $input_offset) (local.get $a)))
        (call $numbers)",
        Numbers(&[0, 0, 0, 0, 1]),
    ),
    case(
        "the next call has its input",
        "(call $output (call $input_offset))",
        Output("the input"),
    ),
];

const NO_INPUT: &[Case] = &[case(
    "an empty input is null",
    "(call $emit (call $input_length))
    (call $emit (call $input_offset))
    (call $emit_u32 (call $input_load_u8 (i64.const 0)))
    (call $emit (call $input_load_u64 (i64.const 0)))
    (call $numbers)",
    Numbers(&[0; 4]),
)];

const ECHO: &[Case] = &[case(
    "echo",
    "(call $output (call $input_offset))",
    Output("x"),
)];

#[test]
fn blocks() {
    table(BLOCKS).check(b"");
}

#[test]
fn access_and_output() {
    table(ACCESS).check(b"");
}

#[test]
fn input() {
    table(INPUT).check(b"the input");
    table(NO_INPUT).check(b"");
    table(ECHO).check(b"x");
}

#[test]
fn inputs_of_any_size() {
    let module = table(ECHO).module();
    let input: Vec<u8> = (0..1u32 << 20).map(|at| at.to_le_bytes()[1]).collect();
    let sizes = [0, 1, 7, 8, 65_535, 65_536, 1 << 20, 3];
    let calls: Vec<_> = sizes.iter().map(|size| ("echo", &input[..*size])).collect();
    for outcomes in [
        module.in_one_instance(&calls),
        module.in_new_instances(&calls),
    ] {
        for ((_, input), outcome) in calls.iter().zip(outcomes) {
            assert!(outcome.is(&Outcome::Output(input.to_vec())), "{outcome:?}");
        }
    }
}
