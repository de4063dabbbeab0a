#!/bin/sh
# cargo runs this instead of rustc for the crates of the workspace. Adds what libFuzzer wants to see of a program, but not
# to what runs inside the compiler or before it.
case " $* " in
    *" proc-macro "* | *" build_script_build "*) exec "$@" ;;
esac
exec "$@" --cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
