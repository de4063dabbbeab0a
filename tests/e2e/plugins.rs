//! XTP plugins with other schemas in Extism: payloads between host and plugin, in both directions.

mod conformance;
mod host;
mod names;
mod parcels;
