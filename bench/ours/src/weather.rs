//! One tool with a structured result.

use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Metric,
    Imperial,
}

#[derive(Serialize, Schema)]
struct Forecast {
    /// the forecast in one sentence
    summary: String,
    days: Vec<Day>,
}

#[derive(Serialize, Schema)]
struct Day {
    low: i64,
    high: i64,
}

/// Returns the weather forecast of a city.
#[tool]
fn get_forecast(
    /// the name of the city
    city: String,
    /// how many days
    days: u8,
    units: Units,
) -> Json<Forecast> {
    let degrees = |celsius: i64| match units {
        Units::Metric => celsius,
        Units::Imperial => celsius * 9 / 5 + 32,
    };
    let day = |number: i64| Day {
        low: degrees(8 + number % 3),
        high: degrees(17 + number % 5),
    };
    Json(Forecast {
        summary: format!("{city} will be mild for {days} days."),
        days: (0..i64::from(days)).map(day).collect(),
    })
}

mcp_servlet::export!(static SERVLET = { tools: [get_forecast] });
