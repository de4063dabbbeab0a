//! A call of a tool of another server by a generated client.

use forecast::{Forecast, GetForecast};
use mcp_servlet::ToolsError;
use mcp_servlet::prelude::*;

#[allow(dead_code, unreachable_pub, reason = "a client has more than one servlet needs")]
#[path = "../../../crates/xtp/xtp-codegen/tests/client/forecast/generated.rs"]
mod forecast;

/// Tells the weather of the next days.
#[tool]
fn week(
    context: &Context,
    /// the name of the city
    city: String,
) -> Result<String, ToolsError> {
    let forecast = Forecast::new(context.tools().member("weather"));
    let found = forecast.get_forecast(&GetForecast { city })?;
    Ok(found.summary)
}

mcp_servlet::export!(static SERVLET = { tools: [week], calls: ["weather:get_forecast"] });
