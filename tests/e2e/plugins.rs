//! XTP plugins with other schemas in Extism: payloads through a host and back, in both directions.

mod conformance;
mod host;
mod names;
mod parcels;
