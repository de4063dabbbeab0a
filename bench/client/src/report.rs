//! What the tool returns.

use serde::{Deserialize, Serialize};

/// What the tool gets.
#[derive(Deserialize, Serialize)]
pub(crate) struct Arguments {
    pub(crate) stations: usize,
}

/// The structured content of its result.
#[derive(Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) stations: Vec<Station>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Station {
    id: usize,
    name: String,
    country: String,
    latitude: f64,
    longitude: f64,
    temperature: f64,
    active: bool,
}

/// A report of this many stations, as JSON.
pub(crate) fn text(stations: usize) -> serde_json::Result<String> {
    let stations = (0..stations).map(station).collect();
    serde_json::to_string(&Report { stations })
}

fn station(id: usize) -> Station {
    Station {
        id,
        name: format!("Station {id}"),
        country: "Norway".to_owned(),
        latitude: 59.913,
        longitude: 10.739,
        temperature: -3.5,
        active: true,
    }
}
