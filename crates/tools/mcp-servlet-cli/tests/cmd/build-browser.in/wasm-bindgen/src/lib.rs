//! A fake wasm-bindgen: it imports functions that only the real crate's JavaScript provides.

#[link(wasm_import_module = "__wbindgen_placeholder__")]
unsafe extern "C" {
    safe fn __wbindgen_now() -> i32;
}

pub fn now() -> i32 {
    __wbindgen_now()
}
