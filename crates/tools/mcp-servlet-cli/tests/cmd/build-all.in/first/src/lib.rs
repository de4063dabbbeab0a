//! The first of two servlets.

#[unsafe(no_mangle)]
pub extern "C" fn describe() -> i32 {
    library::OK
}

#[unsafe(no_mangle)]
pub extern "C" fn call() -> i32 {
    library::OK
}
