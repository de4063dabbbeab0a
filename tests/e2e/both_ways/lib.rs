//! A servlet that uses everything that the client of a test can prepare.

use mcp_servlet::ask::{elicit, roots, sample};
use mcp_servlet::prelude::*;
use mcp_servlet::{HttpErrorKind, HttpRequest};

#[derive(Deserialize, Schema)]
struct Dates {
    /// the first night
    from: String,
    nights: u8,
}

/// The configured user, and the client.
#[tool]
fn who(context: &Context) -> Result<String, ToolError> {
    let user = context.config_value("user");
    let user = user.ok_or_else(|| ToolError::new("`user` is not set"))?;
    let client = context.client().map(|client| client.name);
    Ok(format!("{user}, {client:?}"))
}

/// The weather, from the network.
#[tool]
fn weather(context: &Context, city: String) -> Result<String, ToolError> {
    let request = HttpRequest::post("https://weather.example/", "{}")
        .with_segment(&city)?
        .with_query("days", 1)
        .with_header("x-user", "ada");
    let answer = match context.http(&request) {
        Err(error) if error.kind() == HttpErrorKind::Connect => return Ok(format!("offline: {error}")),
        answer => answer?,
    };
    let kind = answer.header("Content-Type").unwrap_or("nothing").to_owned();
    let page = answer.success()?;
    Ok(format!("{} {kind}: {}", page.status, page.text()?))
}

/// Sends a request that no host sends.
#[tool]
fn smuggle(context: &Context, header: String) -> Result<u16, ToolError> {
    let request = HttpRequest::get("https://weather.example/").with_header(header, "1");
    Ok(context.http(&request)?.status)
}

/// Plans a trip, and asks in two rounds.
#[tool]
fn plan(context: &Context) -> Result<String, ToolError> {
    context.progress(1, Some(2), "asking");
    let number = context.once("number", || 41)? + 1;
    let dates = context.elicit::<Dates>("dates", "When?")?;
    let dates = dates.accepted().map(|dates| format!("{} nights from {}", dates.nights, dates.from));
    let (name, poem, places) = context.ask((
        elicit::<Name>("name", "Who?"),
        sample("poem", "Write a line."),
        roots("places"),
    ))?;
    context.log_to_client(Level::Info, "planned");
    let name = name.accepted().map(|name| name.name);
    Ok(format!("{number}: {dates:?}, {name:?}, {}, {} places", poem.text(), places.len()))
}

#[derive(Deserialize, Schema)]
struct Name {
    name: String,
}

/// Counts its calls.
#[tool]
fn count(context: &Context) -> Result<u32, ToolError> {
    let count = context.var_json("count")?.unwrap_or(0) + 1;
    context.set_var_json("count", &count)?;
    Ok(count)
}

#[derive(Serialize)]
struct Place<'a> {
    city: &'a str,
}

/// Asks other servers.
#[tool]
fn forecast(context: &Context, city: String) -> Result<String, ToolError> {
    let tools = context.tools();
    let rules = tools.read("docs", "file:///rules.md")?;
    let rules = rules.into_iter().find_map(|contents| contents.text);
    let degrees: i16 = tools.call("weather:degrees", Place { city: &city })?;
    let whole = tools.call_raw("weather:words", ())?;
    Ok(format!("{degrees}, {rules:?}, {}, {:?}", whole.text(), whole.is_error))
}

/// Refuses, with data.
#[tool]
fn refuse() -> Result<(), Fault> {
    Err(Fault::new(-32_000, "no").with_data(RawJson::parse("{\"why\":1}").unwrap_or_default()))
}

/// A picture.
#[resource(uri = "trip://picture", mime_type = "image/png")]
fn picture() -> &'static [u8] {
    b"\x89PNG"
}

/// One city.
#[resource_template(uri_template = "trip://city/{name}")]
fn city(name: String) -> Option<String> {
    (name != "Atlantis").then_some(name)
}

/// Asks for a plan.
#[prompt]
fn ask(context: &Context, city: String) -> Result<String, ToolError> {
    let name = context.elicit::<Name>("name", "Who?")?.accepted();
    Ok(format!("{city} for {}", name.map_or_else(String::new, |name| name.name)))
}

#[completion(of = ask.city)]
fn cities() -> [&'static str; 3] {
    ["Paris", "Prague", "Rome"]
}

#[completion(of = city.name)]
fn names(name: String) -> Vec<String> {
    vec![name.to_uppercase()]
}

mcp_servlet::export!(pub static SERVLET = {
    tools: [who, weather, smuggle, plan, count, forecast, refuse],
    resources: [picture, city],
    prompts: [ask],
    completions: [cities, names],
    calls: ["weather:*"],
    reads: ["docs:file:///*"],
});
