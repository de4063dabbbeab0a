// @generated from the catalog of `weather` 1.0.0 by xtp-codegen. Do not edit.

/// A client of `weather`.
#[derive(Clone, Debug)]
pub struct Weather<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "get_weather",
        "0a5cce5c965f8b899d2ec2b1a2d8b4541053b61b8dcf694d44849af3876d07cf",
    ),
    ::mcp_caller::Entry::tool(
        "list_cities",
        "7a6a29617f4dbe24cf3a827d14ab67b898363876a5cf174feee7fc00eeb5f4e3",
    ),
    ::mcp_caller::Entry::resource_template(
        "city://{name}/map{?zoom}",
        "a0b997528db7b1232b0bc7d803fa5f12ef654390bc715e626f8db53170efd6a2",
    ),
    ::mcp_caller::Entry::prompt(
        "report",
        "b7fd3606781d602cd9d0bb17a679141beaa7a2f6e41557a8e864ff5de188f28c",
    ),
];

impl<C: ::mcp_caller::Caller> Weather<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// The weather of a city.
    ///
    /// Tool `get_weather`, read-only.
    #[must_use]
    pub fn get_weather(
        &self,
        arguments: &GetWeather,
    ) -> C::Answer<'_, GetWeatherOutput> {
        self.caller.call("get_weather", arguments, ::mcp_caller::Wrap::No)
    }

    /// The cities that have a station.
    ///
    /// Tool `list_cities`.
    #[must_use]
    pub fn list_cities(&self) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("list_cities", &::mcp_caller::NoArguments {})
    }

    /// The prompts.
    #[must_use]
    pub const fn prompts(&self) -> Prompts<'_, C> {
        let caller = &self.caller;
        Prompts { caller }
    }

    /// The resources.
    #[must_use]
    pub const fn resources(&self) -> Resources<'_, C> {
        let caller = &self.caller;
        Resources { caller }
    }
}

/// The prompts of [`Weather`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Prompts<'c, C> {
    /// Asks for a report.
    ///
    /// Prompt `report`.
    #[must_use]
    pub fn report(&self, arguments: &Report) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("report", arguments)
    }
}

/// The resources of [`Weather`].
#[derive(Clone, Copy, Debug)]
pub struct Resources<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Resources<'c, C> {
    /// A map.
    ///
    /// Template `city://{name}/map{?zoom}`.
    #[must_use]
    pub fn map(&self, name: &str, zoom: Option<&str>) -> C::Answer<'c, C::Contents> {
        let uri = ::mcp_caller::expand(
            "city://{name}/map{?zoom}",
            &[("name", Some(name)), ("zoom", zoom)],
        );
        self.caller.read(&uri)
    }
}

/// Arguments of the tool `get_weather`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct GetWeather {
    /// where
    pub city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<GetWeatherUnits>,
}

impl GetWeather {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(city: impl Into<String>) -> Self {
        Self {
            city: city.into(),
            units: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, ::serde::Serialize)]
pub enum GetWeatherUnits {
    /// `metric` in JSON.
    #[serde(rename = "metric")]
    Metric,
    /// `imperial` in JSON.
    #[serde(rename = "imperial")]
    Imperial,
}

/// Result of the tool `get_weather`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct GetWeatherOutput {
    pub temperature: f64,
    pub conditions: Option<String>,
}

/// Arguments of the prompt `report`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct Report {
    pub city: String,
}
