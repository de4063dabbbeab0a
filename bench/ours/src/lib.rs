//! Our side of the benchmark: the servlet of `../official`, those of docs/sizes.md, and two for `bench/hosts`. A feature chooses one.

#[macro_use]
mod tools;

#[cfg_attr(feature = "empty", path = "empty.rs")]
#[cfg_attr(feature = "greet", path = "greet.rs")]
#[cfg_attr(feature = "three", path = "three.rs")]
#[cfg_attr(feature = "many", path = "many.rs")]
#[cfg_attr(feature = "structured", path = "structured.rs")]
#[cfg_attr(feature = "float", path = "float.rs")]
#[cfg_attr(feature = "config", path = "config.rs")]
#[cfg_attr(feature = "vars", path = "vars.rs")]
#[cfg_attr(feature = "http", path = "http.rs")]
#[cfg_attr(feature = "calls", path = "calls.rs")]
#[cfg_attr(feature = "client", path = "client.rs")]
#[cfg_attr(feature = "spin", path = "spin.rs")]
#[cfg_attr(feature = "weather", path = "weather.rs")]
mod servlet;
