//! A servlet that gets the time from a crate for browsers.

#[unsafe(no_mangle)]
pub extern "C" fn describe() -> i32 {
    clock::now()
}

#[unsafe(no_mangle)]
pub extern "C" fn call() -> i32 {
    0
}
