//! Calls tools of published servers with typed clients, and again without types. `./x clients servers` generates the clients, copies
//! this file next to them, and passes a file with the commands of the servers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use mcp_servlet_client::{CallResult, Command, Options, Session, Target, Timeouts, TypedCallError};
use serde::de::DeserializeOwned;

/// Makes each call both ways, and returns how many there are. `value` has a type, and `result` has none.
macro_rules! calls {
    ($session:ident, $client:expr; $($kind:ident $method:ident $tool:literal: $arguments:expr;)*) => {{
        let client = $client;
        let mut count = 0;
        $(
            let arguments = $arguments;
            let untyped = $session.call($tool, serde_json::to_value(&arguments)?).await?;
            let typed = client.$method(&arguments).await;
            $kind(typed, &untyped).with_context(|| format!("{} {arguments:?}", $tool))?;
            count += 1;
        )*
        Ok(count)
    }};
}

#[tokio::main]
async fn main() -> Result<()> {
    let file = env::args().nth(1).context("a file with commands")?;
    let commands: BTreeMap<String, Vec<String>> = serde_json::from_str(&fs::read_to_string(file)?)?;
    let connect = async |name: &str| {
        let command = &commands[name];
        let target = Target::from(Command::new(&command[0]).args(&command[1..]));
        let mut timeouts = Timeouts::default();
        // Some of the servers load for long on a busy machine.
        timeouts.connect = Duration::from_mins(2);
        let options = Options::new().timeouts(timeouts);
        let session = Session::connect_with(&target, &options).await;
        session.with_context(|| name.to_owned())
    };
    for (name, entries) in servers::ENTRIES {
        let session = connect(name).await?;
        session
            .check(entries)
            .await
            .with_context(|| (*name).to_owned())?;
    }
    println!(
        "{} servers have the entries of their clients",
        servers::ENTRIES.len()
    );
    let counts = [
        everything(&connect("everything").await?).await?,
        filesystem(&connect("filesystem").await?).await?,
        memory(&connect("memory").await?).await?,
        time(&connect("time").await?).await?,
        calculator(&connect("calculator").await?).await?,
        fastmcp(&connect("fastmcp").await?).await?,
        fetch(&connect("fetch").await?).await?,
    ];
    println!("{} calls are equal", counts.iter().sum::<usize>());
    Ok(())
}

fn value<T>(typed: Result<T, TypedCallError>, untyped: &CallResult) -> Result<()>
where
    T: Debug + DeserializeOwned + PartialEq,
{
    match typed {
        Ok(typed) => Ok(ensure!(
            typed == untyped.parse()?,
            "{typed:?} and {}",
            untyped.raw
        )),
        Err(error) => failure(error, untyped),
    }
}

fn result(typed: Result<CallResult, TypedCallError>, untyped: &CallResult) -> Result<()> {
    match typed {
        Ok(typed) => Ok(ensure!(
            typed.raw.get() == untyped.raw.get(),
            "{} and {}",
            typed.raw,
            untyped.raw
        )),
        Err(error) => failure(error, untyped),
    }
}

/// A tool that reports a failure does so both ways.
fn failure(error: TypedCallError, untyped: &CallResult) -> Result<()> {
    let TypedCallError::Tool(failure) = error else {
        return Err(error.into());
    };
    ensure!(
        untyped.is_error && failure.raw.get() == untyped.raw.get(),
        "{} and {}",
        failure.raw,
        untyped.raw
    );
    Ok(())
}

async fn everything(session: &Session) -> Result<usize> {
    use GetAnnotatedMessageMessageType::{Debug, Error, Success};
    use GetStructuredContentLocation::{Chicago, LosAngeles, NewYork};
    use servers::everything::*;
    let links = |count| GetResourceLinks { count: Some(count) };
    calls! { session, McpServersEverything::new(session);
        result echo "echo": Echo { message: "one".into() };
        result echo "echo": Echo { message: "\u{1f980}\n\"".into() };
        result get_sum "get-sum": GetSum { a: 19.0, b: 23.0 };
        result get_sum "get-sum": GetSum { a: 0.5, b: -1e300 };
        result get_annotated_message "get-annotated-message": GetAnnotatedMessage::new(Error);
        result get_annotated_message "get-annotated-message": GetAnnotatedMessage::new(Success);
        result get_annotated_message "get-annotated-message": GetAnnotatedMessage { message_type: Debug, include_image: Some(true) };
        value get_structured_content "get-structured-content": GetStructuredContent { location: Chicago };
        value get_structured_content "get-structured-content": GetStructuredContent { location: LosAngeles };
        value get_structured_content "get-structured-content": GetStructuredContent { location: NewYork };
        result get_resource_links "get-resource-links": links(1.0);
        result get_resource_links "get-resource-links": links(3.0);
        result get_resource_links "get-resource-links": links(99.0);
        result trigger_long_running_operation "trigger-long-running-operation":
            TriggerLongRunningOperation { duration: Some(0.1), steps: Some(1.0) };
    }
}

async fn filesystem(session: &Session) -> Result<usize> {
    use servers::filesystem::*;
    let head = ReadTextFile {
        head: Some(3.0),
        ..ReadTextFile::new("tools.md")
    };
    let tail = ReadTextFile {
        tail: Some(3.0),
        ..ReadTextFile::new("tools.md")
    };
    calls! { session, SecureFilesystemServer::new(session);
        value read_text_file "read_text_file": ReadTextFile::new("tools.md");
        value read_text_file "read_text_file": head;
        value read_text_file "read_text_file": tail;
        value read_text_file "read_text_file": ReadTextFile::new("no such file");
        value read_file "read_file": ReadFile::new("combine.md");
        value read_multiple_files "read_multiple_files": ReadMultipleFiles { paths: vec!["tools.md".into(), "xtp.md".into()] };
        value list_directory "list_directory": ListDirectory { path: ".".into() };
        value list_directory_with_sizes "list_directory_with_sizes": ListDirectoryWithSizes::new("decisions");
        value directory_tree "directory_tree": DirectoryTree::new(".");
        value search_files "search_files": SearchFiles::new(".", "**/00*");
    }
}

async fn memory(session: &Session) -> Result<usize> {
    use servers::memory::*;
    calls! { session, MemoryServer::new(session);
        value search_nodes "search_nodes": SearchNodes { query: "ada".into() };
        value search_nodes "search_nodes": SearchNodes { query: String::new() };
        value open_nodes "open_nodes": OpenNodes { names: vec!["Ada".into()] };
        value delete_entities "delete_entities": DeleteEntities { entity_names: vec!["nobody".into()] };
    }
}

async fn time(session: &Session) -> Result<usize> {
    use servers::time::*;
    let convert = |time: &str, target: &str| ConvertTime {
        source_timezone: "UTC".into(),
        time: time.into(),
        target_timezone: target.into(),
    };
    calls! { session, McpTime::new(session);
        value convert_time "convert_time": convert("05:40", "Asia/Tokyo");
        value convert_time "convert_time": convert("22:15", "America/Lima");
        value convert_time "convert_time": convert("25:00", "Asia/Tokyo");
        value convert_time "convert_time": convert("12:00", "Asia/Atlantis");
    }
}

async fn fetch(session: &Session) -> Result<usize> {
    use servers::fetch::*;
    calls! { session, McpFetch::new(session);
        result fetch "fetch": Fetch::new("no URL");
    }
}

async fn calculator(session: &Session) -> Result<usize> {
    use servers::calculator::*;
    let of = |expression: &str| Calculate {
        expression: expression.into(),
    };
    calls! { session, Calculator::new(session);
        value calculate "calculate": of("6 * 7");
        value calculate "calculate": of("2 ** 0.5");
        value calculate "calculate": of("1 / 0");
        value calculate "calculate": of("6 *");
    }
}

async fn fastmcp(session: &Session) -> Result<usize> {
    use servers::fastmcp::*;
    calls! { session, Fastmcp::new(session);
        value leaf "leaf": Leaf::new("oak");
        value leaf "leaf": Leaf { times: Some(3), ..Leaf::new("oak") };
        value depth "depth": Depth { tree: Tree::new("oak") };
    }
}
