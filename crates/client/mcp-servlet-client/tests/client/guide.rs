//! The code of `docs/client.md`, run against servers.

use std::error::Error as StdError;

use puppet::{AuthorizationServer, Puppet};

type Result = std::result::Result<(), Box<dyn StdError>>;

/// The URL of a server that plays a script.
async fn serve(script: &str) -> String {
    format!("http://{}/mcp", Puppet::new(script).http().await)
}

#[tokio::test]
async fn connects_and_lists() -> Result {
    use mcp_servlet_client::Session;

    let url = serve("plain").await;
    let session = Session::connect(&url.parse()?).await?;
    let lists = session.lists().await?;
    session.close().await;
    assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
    Ok(())
}

#[test]
fn a_target_has_options() -> Result {
    use mcp_servlet_client::{Http, Target};

    let http = Http::new("https://mcp.example.com")?.header("X-Path", "${PATH}")?;
    let target = Target::from(http);
    assert_eq!(target.to_string(), "https://mcp.example.com/mcp");
    Ok(())
}

#[tokio::test]
async fn sends_the_token_of_a_login() -> Result {
    use mcp_servlet_client::Http;
    use mcp_servlet_client::{OAuth, Options, Session};

    let server = AuthorizationServer::default().start().await;
    let (url, folder) = (server.url(), tempfile::tempdir()?);
    let oauth = OAuth::new();
    let oauth = oauth.folder(folder.path());
    oauth.login(&Http::new(&url)?, puppet::browse).await?;
    let options = Options::new().oauth(oauth);
    let session = Session::connect_with(&url.parse()?, &options).await?;
    assert!(session.lists().await.is_ok());
    Ok(())
}

#[tokio::test]
async fn calls_a_tool() -> Result {
    use mcp_servlet_client::CallOptions;
    use serde_json::json;
    use std::time::Duration;

    let session = mcp_servlet_client::Session::connect(&serve("plain").await.parse()?).await?;
    let options = CallOptions::new()
        .timeout(Duration::from_mins(2))
        .on_progress(|progress| println!("{progress}"));
    let result = session
        .call_with("weather", json!({ "city": "Oslo" }), &options)
        .await?;
    assert_eq!(result.text(), "Oslo");
    Ok(())
}

#[tokio::test]
async fn calls_a_tool_with_types() -> Result {
    use mcp_servlet_client::{CallOptions, TypedCallError};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize)]
    struct City {
        city: &'static str,
    }

    #[derive(Deserialize)]
    struct Weather {
        temperature: f64,
    }

    let session = mcp_servlet_client::Session::connect(&serve("typed").await.parse()?).await?;
    let (city, options) = (City { city: "Oslo" }, CallOptions::new());
    match session.call_as("weather", &city, &options).await {
        Ok(Weather { temperature }) => println!("{temperature} °C"),
        Err(TypedCallError::Tool(failure)) => eprintln!("no weather: {}", failure.text()),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[tokio::test]
async fn a_pool_shares_a_session() -> Result {
    use mcp_servlet_client::{Options, Pool};
    use std::time::Duration;

    let url = serve("plain").await;
    let pool = Pool::new(url.parse()?, Options::new(), Duration::from_mins(1));
    let lists = pool.session().await?.lists().await?;
    assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
    Ok(())
}

#[tokio::test]
async fn waits_for_a_server() -> Result {
    use mcp_servlet_client::{Options, Retry, Session};
    use std::time::Duration;

    let url = serve("plain").await;
    let options = Options::new().retry(Retry::times(30, Duration::from_secs(1)));
    let session = Session::connect_with(&url.parse()?, &options).await?;
    let pong = session.ping().await?;
    println!("the server answers in {:?}", pong.latency);
    Ok(())
}

mod errors {
    use mcp_servlet_client::{Error, ErrorKind};

    fn is_worth_another_try(error: &Error) -> bool {
        use ErrorKind::{Connectivity, RequestTimeout};
        matches!(error.kind(), Connectivity | RequestTimeout)
    }

    #[tokio::test]
    async fn tell_whether_to_try_again() {
        let target = "http://127.0.0.1:1/mcp".parse().expect("a URL");
        let error = mcp_servlet_client::Session::connect(&target).await;
        assert!(is_worth_another_try(&error.expect_err("nobody listens")));
    }
}
