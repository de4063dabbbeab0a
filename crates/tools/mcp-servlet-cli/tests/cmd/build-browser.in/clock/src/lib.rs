//! A fake crate that gets the time from the browser.

pub fn now() -> i32 {
    wasm_bindgen::now()
}
