//! What the host gives a servlet: memory, exports of its module, and the functions behind `Context`.

#[cfg(target_family = "wasm")]
pub(crate) mod abi;
#[cfg(any(
    test,
    all(
        target_arch = "wasm32",
        not(target_feature = "atomics"),
        feature = "global-allocator"
    )
))]
mod allocator;
pub mod ask;
pub(crate) mod context;
#[cfg(any(test, target_family = "wasm"))]
mod host_memory;
pub(crate) mod level;
#[cfg(feature = "log")]
pub(crate) mod logger;
