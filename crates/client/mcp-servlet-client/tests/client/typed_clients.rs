//! A client that `servlet gen client` generates, and the code of `docs/typed-clients.md`.

use std::error::Error as StdError;
use std::time::Duration;

use mcp_servlet_client::{
    CallOptions, CheckError, Drift, ErrorKind, Options, Session, TypedCallError,
};
use puppet::Puppet;
use serde_json::json;

use self::weather::{GetWeather, Report, Weather};

/// The golden of the generator.
#[allow(dead_code, unreachable_pub, reason = "as `servlet gen client` writes it on top of a file")]
#[rustfmt::skip]
#[path = "../../../../xtp/xtp-codegen/tests/client/weather/generated.rs"]
mod weather;

type Result = std::result::Result<(), Box<dyn StdError>>;

async fn connect(puppet: &Puppet) -> Session {
    let (reader, writer) = puppet.pipe();
    let session = Session::attach(reader, writer, &Options::new()).await;
    session.expect("a session")
}

#[tokio::test]
async fn the_guide_calls_tools() -> Result {
    let session = connect(&Puppet::new("weather")).await;
    let client = Weather::new(&session);
    let report = client.get_weather(&GetWeather::new("Oslo")).await?;
    println!("{} °C", report.temperature);
    assert_eq!(report.conditions.as_deref(), Some("clear"));
    let cities = client.list_cities().await?;
    assert_eq!(cities.text(), "Oslo, Bergen");
    match client.get_weather(&GetWeather::new("Nowhere")).await {
        Ok(report) => println!("{} °C", report.temperature),
        Err(TypedCallError::Tool(failure)) => eprintln!("no weather: {}", failure.text()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[tokio::test]
async fn the_guide_reads_resources_and_prompts() -> Result {
    let session = connect(&Puppet::new("weather")).await;
    let slow = session.with(CallOptions::new().timeout(Duration::from_mins(2)));
    let client = Weather::new(slow);
    let map = client.resources().map("Oslo", Some("12")).await?;
    assert_eq!(map[0].uri, "city://Oslo/map?zoom=12");
    let city = "Oslo".to_owned();
    let prompt = client.prompts().report(&Report { city }).await?;
    assert_eq!(prompt.messages.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_guide_checks_the_server() -> Result {
    let session = connect(&Puppet::new("weather")).await;
    match session.check(weather::ENTRIES).await {
        Err(CheckError::Drift(drift)) => drift.iter().for_each(|one| eprintln!("{one}")),
        checked => checked?,
    }
    session.check(weather::ENTRIES).await?;
    Ok(())
}

#[tokio::test]
async fn a_server_that_has_changed_is_named_item_by_item() {
    let session = connect(&Puppet::new("plain")).await;
    let error = session.check(weather::ENTRIES).await.expect_err("a drift");
    let CheckError::Drift(drift) = &error else {
        panic!("{error}")
    };
    assert_eq!(drift.len(), weather::ENTRIES.len());
    assert!(matches!(drift[0], Drift::Removed(entry) if entry.key == "get_weather"));
    let message = "the server has changed: removed tool `get_weather`, removed tool `list_cities`, \
        removed resource template `city://{name}/map{?zoom}`, removed prompt `report`";
    assert_eq!(error.to_string(), message);

    let mut entries = weather::ENTRIES.to_vec();
    entries[1].sha256 = "0";
    let session = connect(&Puppet::new("weather")).await;
    let error = session.check(&entries).await.expect_err("a drift");
    assert_eq!(
        error.to_string(),
        "the server has changed: changed tool `list_cities`"
    );
}

#[tokio::test]
async fn a_server_that_cannot_be_listed_has_not_changed() {
    let session = connect(&Puppet::new("wrong-list")).await;
    let error = session.check(weather::ENTRIES).await.expect_err("an error");
    assert!(matches!(error, CheckError::Client(_)), "{error}");
}

/// The result of `get_weather` that the server answers like this.
async fn call(
    result: serde_json::Value,
) -> std::result::Result<weather::GetWeatherOutput, TypedCallError> {
    let script = json!({ "replies": { "tools/call": [{ "result": result }] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let session = connect(&puppet).await;
    Weather::new(&session)
        .get_weather(&GetWeather::new("Oslo"))
        .await
}

#[tokio::test]
async fn results_that_do_not_match_name_the_place() {
    let wrong = json!({ "content": [], "structuredContent": { "temperature": "warm" } });
    match call(wrong).await {
        Err(TypedCallError::Client(error)) => {
            assert_eq!(error.kind(), ErrorKind::Schema);
            assert!(error.message().contains("`/temperature`"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
    assert!(matches!(call(failed).await, Err(TypedCallError::Tool(_))));
}

/// `FastMCP` wraps values that are not objects. Its output schema says so, and newer versions say so in each result.
#[tokio::test]
async fn wrapped_values_are_unwrapped() {
    use mcp_caller::{Caller, NoArguments, Wrap};

    let wrapped = json!({ "content": [], "structuredContent": { "result": [1, 2] } });
    let script = json!({ "replies": { "tools/call": [{ "result": wrapped }] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let session = &connect(&puppet).await;
    let value = Caller::call(&session, "list", &NoArguments {}, Wrap::Result).await;
    let numbers: Vec<u64> = value.expect("a value");
    assert_eq!(numbers, [1, 2]);
}
