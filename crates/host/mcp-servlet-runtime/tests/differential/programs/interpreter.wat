;; Runs the program that is its input. See `program.rs`.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "length_unsafe" (func $length_unsafe (param i64) (result i64)))
  (import "extism:host/env" "load_u8" (func $load_u8 (param i64) (result i32)))
  (import "extism:host/env" "load_u64" (func $load_u64 (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  (import "extism:host/env" "input_load_u64" (func $input_load_u64 (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/env" "http_headers" (func $http_headers (result i64)))

  ;; The program is in the first page. The results of its instructions begin at 65536; the first
  ;; one is 0 and belongs to no instruction.
  (memory 2)
  (global $code (mut i32) (i32.const 0))
  (global $result (mut i32) (i32.const 0))

  (type $operation (func (param i64 i64) (result i64)))
  ;; In the order of `Operation`.
  (table funcref (elem
    $do_alloc $do_free $do_length $do_length_unsafe $do_load_u8 $do_load_u64 $do_store_u8 $do_store_u64
    $do_input_length $do_input_offset $do_input_load_u8 $do_input_load_u64 $do_output_set $do_error_set
    $do_config_get $do_var_get $do_var_set $do_log $do_http_headers $do_digest
    $do_results $do_return $do_trap))

  ;; Allocates a block and fills it.
  (func $do_alloc (type $operation) (local $block i64) (local $at i64)
    (local.set $block (call $alloc (local.get 0)))
    (loop $next
      (if (i64.lt_u (local.get $at) (local.get 0)) (then
        (call $store_u8 (i64.add (local.get $block) (local.get $at)) (i32.wrap_i64 (local.get 1)))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next))))
    (local.get $block))
  (func $do_free (type $operation) (call $free (local.get 0)) (i64.const 0))
  (func $do_length (type $operation) (call $length (local.get 0)))
  (func $do_length_unsafe (type $operation) (call $length_unsafe (local.get 0)))
  (func $do_load_u8 (type $operation) (i64.extend_i32_u (call $load_u8 (local.get 0))))
  (func $do_load_u64 (type $operation) (call $load_u64 (local.get 0)))
  (func $do_store_u8 (type $operation)
    (call $store_u8 (local.get 0) (i32.wrap_i64 (local.get 1))) (i64.const 0))
  (func $do_store_u64 (type $operation) (call $store_u64 (local.get 0) (local.get 1)) (i64.const 0))
  (func $do_input_length (type $operation) (call $input_length))
  (func $do_input_offset (type $operation) (call $input_offset))
  (func $do_input_load_u8 (type $operation) (i64.extend_i32_u (call $input_load_u8 (local.get 0))))
  (func $do_input_load_u64 (type $operation) (call $input_load_u64 (local.get 0)))
  (func $do_output_set (type $operation) (call $output_set (local.get 0) (local.get 1)) (i64.const 0))
  (func $do_error_set (type $operation) (call $error_set (local.get 0)) (i64.const 0))
  (func $do_config_get (type $operation) (call $config_get (local.get 0)))
  (func $do_var_get (type $operation) (call $var_get (local.get 0)))
  (func $do_var_set (type $operation) (call $var_set (local.get 0) (local.get 1)) (i64.const 0))
  (func $do_log (type $operation) (call $log_info (local.get 0)) (i64.const 0))
  (func $do_http_headers (type $operation) (call $http_headers))
  ;; A number that depends on all bytes of a block.
  (func $do_digest (type $operation) (local $at i64) (local $digest i64)
    (loop $next
      (if (i64.lt_u (local.get $at) (call $length_unsafe (local.get 0))) (then
        (local.set $digest (i64.add
          (i64.mul (local.get $digest) (i64.const 31))
          (i64.extend_i32_u (call $load_u8 (i64.add (local.get 0) (local.get $at))))))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next))))
    (local.get $digest))
  ;; Makes all results so far the output.
  (func $do_results (type $operation) (local $block i64) (local $at i32) (local $length i64)
    (local.set $at (i32.const 65544))
    (local.set $length (i64.extend_i32_u (i32.sub (global.get $result) (local.get $at))))
    (local.set $block (call $alloc (local.get $length)))
    (call $output_set (local.get $block) (local.get $length))
    (loop $next
      (if (i32.lt_u (local.get $at) (global.get $result)) (then
        (call $store_u64 (local.get $block) (i64.load (local.get $at)))
        (local.set $block (i64.add (local.get $block) (i64.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next))))
    (i64.const 0))
  (func $do_return (type $operation) (global.set $code (i32.wrap_i64 (local.get 0))) (i64.const 0))
  (func $do_trap (type $operation) unreachable)

  ;; The sum of an earlier result and a constant.
  (func $operand (param $at i32) (result i64)
    (i64.add
      (i64.load offset=65536 (i32.shl (i32.load (local.get $at)) (i32.const 3)))
      (i64.load offset=8 (local.get $at))))

  (func (export "describe") (result i32) (i32.const 0))
  (func (export "call") (result i32) (local $at i32) (local $end i32)
    (global.set $code (i32.const 0))
    (global.set $result (i32.const 65536))
    (local.set $end (i32.wrap_i64 (call $input_length)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (i64.store (local.get $at) (call $input_load_u64 (i64.extend_i32_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next))))
    (local.set $at (i32.const 0))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (global.set $result (i32.add (global.get $result) (i32.const 8)))
        (i64.store (global.get $result)
          (call_indirect (type $operation)
            (call $operand (i32.add (local.get $at) (i32.const 8)))
            (call $operand (i32.add (local.get $at) (i32.const 24)))
            (i32.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 40)))
        (br $next))))
    (global.get $code)))
