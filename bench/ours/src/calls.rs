//! A call of a tool of another server.

use mcp_servlet::ToolsError;
use mcp_servlet::prelude::*;

#[derive(Serialize)]
struct Place {
    city: String,
    days: u8,
    units: &'static str,
}

#[derive(Deserialize)]
struct Forecast {
    summary: String,
}

/// Tells the weather of the next week.
#[tool]
fn week(
    context: &Context,
    /// the name of the city
    city: String,
) -> Result<String, ToolsError> {
    let (days, units) = (7, "metric");
    let place = Place { city, days, units };
    let forecast: Forecast = context.tools().call("weather:get_forecast", place)?;
    Ok(forecast.summary)
}

mcp_servlet::export!(static SERVLET = { tools: [week], calls: ["weather:get_forecast"] });
