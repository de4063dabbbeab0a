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
(import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
(import "extism:host/env" "http_status_code" (func $http_status_code (result i32)))
(import "extism:host/env" "http_headers" (func $http_headers (result i64)))
(import "extism:host/env" "log_trace" (func $log_trace (param i64)))
(import "extism:host/env" "log_debug" (func $log_debug (param i64)))
(import "extism:host/env" "log_info" (func $log_info (param i64)))
(import "extism:host/env" "log_warn" (func $log_warn (param i64)))
(import "extism:host/env" "log_error" (func $log_error (param i64)))
(import "extism:host/env" "get_log_level" (func $get_log_level (result i32)))

(memory (export "memory") 1)
(table $table 2 funcref)
(elem (i32.const 0) $length)
;; Texts for `$text`, each 16 bytes apart: 0, 16, 32, …
(data (i32.const 0) "key")
(data (i32.const 16) "value")
(data (i32.const 32) "\ff\fe")
(data (i32.const 48) "it is broken")
(data (i32.const 64) "unknown")
(data (i32.const 80) "empty")
(data (i32.const 96) "{\"url\":\"http://api.example/\"}")

;; Where the next number of `$emit` goes.
(global $end (mut i32) (i32.const 1024))

;; Appends a number to the output that `$numbers` sets.
(func $emit (param i64)
  (i64.store (global.get $end) (local.get 0))
  (global.set $end (i32.add (global.get $end) (i32.const 8))))

(func $emit_u32 (param i32)
  (call $emit (i64.extend_i32_u (local.get 0))))

;; Copies bytes of the memory into a new block.
(func $copy (param $from i32) (param $length i32) (result i64) (local $block i64) (local $at i32)
  (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
  (loop $next
    (if (i32.lt_u (local.get $at) (local.get $length)) (then
      (call $store_u8
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next))))
  (local.get $block))

;; Makes the numbers the output. Returns 0, as an export does that succeeds.
(func $numbers (result i32) (local $length i32)
  (local.set $length (i32.sub (global.get $end) (i32.const 1024)))
  (call $output_set
    (call $copy (i32.const 1024) (local.get $length))
    (i64.extend_i32_u (local.get $length)))
  (i32.const 0))

;; Makes a block the output. Returns 0.
(func $output (param $block i64) (result i32)
  (call $output_set (local.get $block) (call $length (local.get $block)))
  (i32.const 0))

(func $recurse (call $recurse))

(func (export "describe") (result i32) (i32.const 0))
(func (export "call") (result i32) (i32.const 0))
