//! Commands on servers that are not servlets: over stdio and HTTP, in both protocol generations.

mod catalogs;
mod commands;
mod configurations;
mod errors;
mod support;
