//! Lists of servers, good and bad, and the catalogs that are made of them.

mod anything;
mod documents;
mod goldens;
mod openapi;
mod support;
