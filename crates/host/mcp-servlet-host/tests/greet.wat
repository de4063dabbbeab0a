;; The servlet of the examples in the documentation: one tool, which greets Ada.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (memory 1)
  (data (i32.const 0) "{\"tools\":[{\"name\":\"greet\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}}]}")
  (data (i32.const 256) "{\"content\":[{\"type\":\"text\",\"text\":\"Hello, Ada!\"}]}")
  ;; Copies bytes of the memory to the output.
  (func $answer (param $at i32) (param $length i32) (result i32)
    (local $block i64) (local $done i32)
    (local.set $block (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $next
      (call $store
        (i64.add (local.get $block) (i64.extend_i32_u (local.get $done)))
        (i32.load8_u (i32.add (local.get $at) (local.get $done))))
      (local.set $done (i32.add (local.get $done) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $done) (local.get $length))))
    (call $output (local.get $block) (i64.extend_i32_u (local.get $length)))
    (i32.const 0))
  (func (export "describe") (result i32) (call $answer (i32.const 0) (i32.const 120)))
  (func (export "call") (result i32) (call $answer (i32.const 256) (i32.const 50))))
