;; A servlet by someone who wrote its description by hand.
(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)
  (data (i32.const 0)
    "{\"tools\":["
    "{\"name\":\"add numbers\",\"description\":\"Adds.\",\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"sum\",\"title\":\"Sum\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"numbers\":{\"type\":\"array\",\"description\":\"what to add\"},"
    "\"how\":{\"enum\":[\"fast\",\"exact\"],\"description\":\"how\"},"
    "\"rest\":true},\"required\":[\"numbers\",\"amount\"]}},"
    "{\"name\":\"sum\",\"description\":\"Adds.\",\"inputSchema\":{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
    "\"$ref\":\"#/$defs/Tree\",\"$defs\":{\"Tree\":{\"type\":\"object\","
    "\"properties\":{\"left\":{\"$ref\":\"#/$defs/Tree\",\"description\":\"what is smaller\"}}}}}}"
    "]}\00")
  (func $length (result i32) (local $at i32)
    (loop $next
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.load8_u (local.get $at))))
    (local.get $at))
  (func (export "describe") (result i32) (local $to i64) (local $at i32) (local $length i32)
    (local.set $length (call $length))
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $next
      (call $store
        (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $length))))
    (call $output_set (local.get $to) (i64.extend_i32_u (local.get $length)))
    (i32.const 0))
  (func (export "call") (result i32) (i32.const 0)))
