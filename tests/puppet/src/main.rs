//! `puppet SCRIPT [--log FILE] [--ignore-end]` plays a script over standard input and output. SCRIPT is a name or a path.
//! `puppet --issuer URL` is an authorization server for the MCP server at this URL. It asks no user.

use std::process::ExitCode;

use puppet::{AuthorizationServer, Ended, Puppet};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().expect("the name or path of a script");
    if name == "--issuer" {
        issue(arguments.next().expect("the URL of a server")).await;
    }
    let mut log = None;
    let mut stays = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--log" => log = arguments.next(),
            "--ignore-end" => stays = true,
            other => panic!("unknown option {other}"),
        }
    }
    let puppet = Puppet::new(&name);
    let ended = puppet.play(tokio::io::stdin(), tokio::io::stdout()).await;
    if let Some(path) = log {
        append(&path, &puppet);
    }
    match ended {
        Ended::Exit(code) => std::process::exit(code),
        Ended::Closed if stays => std::future::pending().await,
        // Not by returning, which would wait for the thread that reads standard input.
        Ended::Closed => std::process::exit(0),
    }
}

/// Issues tokens for a server until the process is killed.
async fn issue(url: String) -> ! {
    let rules = AuthorizationServer {
        protects: Some(url),
        ..Default::default()
    };
    let server = rules.start().await;
    eprintln!("listening on {}", server.issuer());
    std::future::pending().await
}

/// Adds what has arrived to a file, one message per line.
fn append(path: &str, puppet: &Puppet) {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    let file = options.create(true).append(true).open(path);
    let mut file = file.expect("a file that can be written");
    for message in puppet.log() {
        writeln!(file, "{message}").expect("space for a line");
    }
}
