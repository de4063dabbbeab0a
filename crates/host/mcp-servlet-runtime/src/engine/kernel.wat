;; The functions of Extism that servlets call most: they read their input, and read and write messages, one or eight
;; bytes at a time. `merge.rs` adds this module to each servlet.
;;
;; Offsets below 64 belong to no message. Reads out of bounds give 0, and writes out of bounds have no effect.
(module
  (memory (export "kernel.memory") 16)
  (global $input (export "kernel.input") (mut i64) (i64.const 0))
  (global $input_length (export "kernel.input_length") (mut i64) (i64.const 0))
  (global $output (export "kernel.output") (mut i64) (i64.const 0))
  (global $output_length (export "kernel.output_length") (mut i64) (i64.const 0))
  (global $error (export "kernel.error") (mut i64) (i64.const 0))

  ;; The size of the memory in bytes.
  (func $size (result i64)
    (i64.shl (i64.extend_i32_u (memory.size)) (i64.const 16)))

  ;; Whether a byte at this offset can belong to a message.
  (func $holds (param $at i64) (result i32)
    (i32.and
      (i64.ge_u (local.get $at) (i64.const 64))
      (i64.lt_u (local.get $at) (call $size))))

  (func (export "load_u8") (param $at i64) (result i32)
    (if (result i32) (call $holds (local.get $at))
      (then (i32.load8_u (i32.wrap_i64 (local.get $at))))
      (else (i32.const 0))))

  (func (export "load_u64") (param $at i64) (result i64)
    (if (result i64) (call $holds (i64.add (local.get $at) (i64.const 7)))
      (then (i64.load (i32.wrap_i64 (local.get $at))))
      (else (i64.const 0))))

  (func (export "store_u8") (param $at i64) (param $value i32)
    (if (call $holds (local.get $at))
      (then (i32.store8 (i32.wrap_i64 (local.get $at)) (local.get $value)))))

  (func (export "store_u64") (param $at i64) (param $value i64)
    (if (call $holds (i64.add (local.get $at) (i64.const 7)))
      (then (i64.store (i32.wrap_i64 (local.get $at)) (local.get $value)))))

  (func (export "input_offset") (result i64)
    (global.get $input))

  (func (export "input_length") (result i64)
    (global.get $input_length))

  (func (export "input_load_u8") (param $at i64) (result i32)
    (if (result i32) (i64.lt_u (local.get $at) (global.get $input_length))
      (then (i32.load8_u (i32.wrap_i64 (i64.add (global.get $input) (local.get $at)))))
      (else (i32.const 0))))

  (func (export "input_load_u64") (param $at i64) (result i64)
    (if (result i64) (i32.and
        (i64.ge_u (global.get $input_length) (i64.const 8))
        (i64.le_u (local.get $at) (i64.sub (global.get $input_length) (i64.const 8))))
      (then (i64.load (i32.wrap_i64 (i64.add (global.get $input) (local.get $at)))))
      (else (i64.const 0))))

  (func (export "output_set") (param $at i64) (param $length i64)
    (if (i32.and
        (call $holds (local.get $at))
        (call $holds (i64.sub (i64.add (local.get $at) (local.get $length)) (i64.const 1))))
      (then
        (global.set $output (local.get $at))
        (global.set $output_length (local.get $length)))))

  (func (export "error_set") (param $at i64)
    (if (i32.or (i64.eqz (local.get $at)) (call $holds (local.get $at)))
      (then (global.set $error (local.get $at))))))
