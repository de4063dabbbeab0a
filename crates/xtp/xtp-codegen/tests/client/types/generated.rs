// @generated from the catalog of `travel-desk` 1.2.0 by xtp-codegen. Do not edit.

/// A client of `travel-desk`.
#[derive(Clone, Debug)]
pub struct TravelDesk<C> {
    caller: C,
}

/// What the catalog had, to find out whether the server has changed.
pub const ENTRIES: &[::mcp_caller::Entry] = &[
    ::mcp_caller::Entry::tool(
        "search_flights",
        "444bdf7cce9b96f368288899d5ceaaa7851c77f0ceb9aa183c5eaca1540d8a41",
    ),
    ::mcp_caller::Entry::tool(
        "book",
        "d0a86bf2bf6ec0338cf02f10ce22a01c73579a805d340b55ee8fd8369a8adfb1",
    ),
    ::mcp_caller::Entry::tool(
        "list_places",
        "8167bb4a4c485f6bdb718e57aa65a0520a6469f240bb24051fbb7a919513382b",
    ),
    ::mcp_caller::Entry::tool(
        "move_label",
        "9a5178daa1b12dac5ede83d153f6d9c0c6c980bdb2722fe5d442b3dc073cf370",
    ),
    ::mcp_caller::Entry::tool(
        "query",
        "f0df4eef12c486b8274a278df7ab6ee2c89b0fbcb443ee4930262df21797c9e2",
    ),
    ::mcp_caller::Entry::resource(
        "travel://rules",
        "391cd807ebbec821f5ed3c9c298255bdde71228d1032b8f86cca370acfcce669",
    ),
    ::mcp_caller::Entry::resource_template(
        "travel://hotels/{+place}/{id}{?page,type}",
        "a0e5312944ef2da8db5668f912329263e30a36ba7936930204b4f733c602291d",
    ),
    ::mcp_caller::Entry::prompt(
        "plan-trip",
        "81badce5a49d0df0493b8e823089afd0b76de08813786cc7d62a8ac83c227990",
    ),
    ::mcp_caller::Entry::prompt(
        "greet",
        "c3773e2d794bf2291a35f387fa59683d2405663142c1b813ba2e37ae7f05b633",
    ),
];

impl<C: ::mcp_caller::Caller> TravelDesk<C> {
    /// A client that calls through `caller`.
    #[must_use]
    pub const fn new(caller: C) -> Self {
        Self { caller }
    }

    /// Finds flights.
    ///
    /// The cheapest comes first.
    ///
    /// Tool `search_flights`, read-only.
    #[must_use]
    pub fn search_flights(
        &self,
        arguments: &SearchFlights,
    ) -> C::Answer<'_, SearchFlightsOutput> {
        self.caller.call("search_flights", arguments, ::mcp_caller::Wrap::No)
    }

    /// Books a flight, a room or both.
    ///
    /// Tool `book`, destructive.
    #[must_use]
    pub fn book(&self, arguments: &Book) -> C::Answer<'_, BookOutput> {
        self.caller.call("book", arguments, ::mcp_caller::Wrap::Result)
    }

    /// Tool `list_places`.
    #[must_use]
    pub fn list_places(&self) -> C::Answer<'_, ListPlacesOutput> {
        self.caller
            .call("list_places", &::mcp_caller::NoArguments {}, ::mcp_caller::Wrap::No)
    }

    /// Moves a label, and returns where it is now.
    ///
    /// Tool `move_label`.
    #[must_use]
    pub fn move_label(&self, arguments: &MoveLabel) -> C::Answer<'_, MoveLabelOutput> {
        self.caller.call("move_label", arguments, ::mcp_caller::Wrap::No)
    }

    /// Passes on anything.
    ///
    /// Tool `query`.
    #[must_use]
    pub fn query(&self, arguments: &Query) -> C::Answer<'_, C::Content> {
        self.caller.call_untyped("query", arguments)
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

/// The prompts of [`TravelDesk`].
#[derive(Clone, Copy, Debug)]
pub struct Prompts<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Prompts<'c, C> {
    /// Plans a trip.
    ///
    /// Prompt `plan-trip`.
    #[must_use]
    pub fn plan_trip(&self, arguments: &PlanTrip) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("plan-trip", arguments)
    }

    /// Prompt `greet`.
    #[must_use]
    pub fn greet(&self) -> C::Answer<'c, C::Messages> {
        self.caller.prompt("greet", &::mcp_caller::NoArguments {})
    }
}

/// The resources of [`TravelDesk`].
#[derive(Clone, Copy, Debug)]
pub struct Resources<'c, C> {
    caller: &'c C,
}

impl<'c, C: ::mcp_caller::Caller> Resources<'c, C> {
    /// The rules.
    ///
    /// Resource `travel://rules`.
    #[must_use]
    pub fn rules(&self) -> C::Answer<'c, C::Contents> {
        self.caller.read("travel://rules")
    }

    /// A hotel.
    ///
    /// Template `travel://hotels/{+place}/{id}{?page,type}`.
    #[must_use]
    pub fn hotel(
        &self,
        place: &str,
        id: &str,
        page: Option<&str>,
        type_: Option<&str>,
    ) -> C::Answer<'c, C::Contents> {
        let uri = ::mcp_caller::expand(
            "travel://hotels/{+place}/{id}{?page,type}",
            &[("place", Some(place)), ("id", Some(id)), ("page", page), ("type", type_)],
        );
        self.caller.read(&uri)
    }
}

/// Arguments of the tool `search_flights`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct SearchFlights {
    /// an airport
    pub from: String,
    /// an airport
    pub to: String,
    /// whether there is a way back
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<SearchFlightsType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats: Option<u64>,
    #[serde(rename = "maxPrice", skip_serializing_if = "Option::is_none")]
    pub max_price: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flexible: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<SearchFlightsWhen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airlines: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extras: Option<::std::collections::BTreeMap<String, i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<::mcp_caller::Value>,
}

impl SearchFlights {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            to: to.into(),
            type_: None,
            seats: None,
            max_price: None,
            stops: None,
            flexible: None,
            when: None,
            airlines: None,
            extras: None,
            note: None,
        }
    }
}

/// whether there is a way back
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, ::serde::Serialize)]
pub enum SearchFlightsType {
    /// `one-way` in JSON.
    #[serde(rename = "one-way")]
    OneWay,
    /// `return` in JSON.
    #[serde(rename = "return")]
    Return,
}

#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[serde(untagged)]
pub enum SearchFlightsWhen {
    /// A string.
    String(String),
    /// An object.
    Object(Period),
}

/// Some days.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct Period {
    pub first: String,
    pub last: String,
}

/// Result of the tool `search_flights`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct SearchFlightsOutput {
    pub flights: Vec<Flight>,
    #[serde(deserialize_with = "::serde::Deserialize::deserialize")]
    pub next: Option<String>,
    pub currency: Option<SearchFlightsOutputCurrency>,
    #[serde(default, deserialize_with = "present")]
    pub hint: Option<::mcp_caller::Value>,
}

#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct Flight {
    pub number: String,
    pub price: f64,
    pub legs: Option<Vec<Flight>>,
    pub seat: Option<FlightSeat>,
}

#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct FlightSeat {
    pub row: i64,
    pub letter: String,
    /// All further properties.
    #[serde(flatten)]
    pub extra: ::std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, ::serde::Deserialize)]
pub enum SearchFlightsOutputCurrency {
    /// `EUR` in JSON.
    #[serde(rename = "EUR")]
    Eur,
    /// `NOK` in JSON.
    #[serde(rename = "NOK")]
    Nok,
}

/// Arguments of the tool `book`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct Book {
    pub what: BookWhat,
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub for_: Option<BookFor>,
    pub payment: Option<::std::collections::BTreeMap<String, ::mcp_caller::Value>>,
}

impl Book {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(
        what: BookWhat,
        payment: Option<::std::collections::BTreeMap<String, ::mcp_caller::Value>>,
    ) -> Self {
        Self { what, for_: None, payment }
    }
}

#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[serde(tag = "kind")]
pub enum BookWhat {
    /// `kind` is `flight` in JSON.
    #[serde(rename = "flight")]
    Flight(BookWhatFlight),
    /// `kind` is `room` in JSON.
    #[serde(rename = "room")]
    Room(Room),
}

#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct BookWhatFlight {
    pub number: String,
}

#[derive(Clone, Debug, Default, PartialEq, ::serde::Serialize)]
pub struct Room {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beds: Option<i64>,
}

/// Some days.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct BookFor {
    pub first: String,
    pub last: String,
    pub guests: u64,
}

/// Result of the tool `book`.
pub type BookOutput = Vec<String>;

#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct Place {
    pub name: String,
    pub inside: Option<Box<Place>>,
}

/// Result of the tool `list_places`.
pub type ListPlacesOutput = Place;

/// Arguments of the tool `move_label`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct MoveLabel {
    pub to: Spot,
}

#[derive(Clone, Debug, PartialEq, ::serde::Deserialize, ::serde::Serialize)]
pub struct Spot {
    pub x: i64,
    pub y: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Spot {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(x: i64, y: i64) -> Self {
        Self { x, y, note: None }
    }
}

/// Result of the tool `move_label`.
#[derive(Clone, Debug, PartialEq, ::serde::Deserialize)]
pub struct MoveLabelOutput {
    pub at: Spot,
}

#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[serde(untagged)]
pub enum QueryValue {
    /// A string.
    String(String),
    /// A number.
    Number(f64),
    /// An array.
    Array(Vec<::mcp_caller::Value>),
}

/// Arguments of the tool `query`.
pub type Query = ::std::collections::BTreeMap<String, QueryValue>;

/// Arguments of the prompt `plan-trip`.
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
pub struct PlanTrip {
    /// where to
    pub city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<String>,
}

impl PlanTrip {
    /// With the required fields and nothing else.
    #[must_use]
    pub fn new(city: impl Into<String>) -> Self {
        Self {
            city: city.into(),
            days: None,
        }
    }
}

/// Reads a value that is there, be it null.
fn present<'de, D: ::serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<::mcp_caller::Value>, D::Error> {
    ::serde::Deserialize::deserialize(from).map(Some)
}
