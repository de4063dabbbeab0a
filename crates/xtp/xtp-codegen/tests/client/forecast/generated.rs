// @generated from the catalog of `forecast` 1.0.0 by xtp-codegen. Do not edit.

/// A client of `forecast`.
#[derive(Clone, Debug)]
pub struct Forecast<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "get_forecast",
        "51804db10816a1c5694ab667f205c6afbf57f7828a58cd440ff03ba5e78f1861",
    ),
];

impl<C: ::mcp_caller::Caller> Forecast<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// The weather of the next days.
    ///
    /// Tool `get_forecast`.
    #[must_use]
    pub fn get_forecast(
        &self,
        arguments: &GetForecast,
    ) -> C::Answer<'_, GetForecastOutput> {
        self.caller.call("get_forecast", arguments, ::mcp_caller::Wrap::No)
    }
}

/// Arguments of the tool `get_forecast`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct GetForecast {
    pub city: String,
}

/// Result of the tool `get_forecast`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct GetForecastOutput {
    pub summary: String,
    pub rain: Option<bool>,
}
