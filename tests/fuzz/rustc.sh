#!/bin/sh
# cargo runs this instead of rustc for the crates of the workspace. It adds the instrumentation for libFuzzer, except
# to build scripts and macros, which run before the program or in the compiler.
case " $* " in
    *" proc-macro "* | *" build_script_build "*) exec "$@" ;;
esac
exec "$@" --cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
