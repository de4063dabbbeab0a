//! Plays over a pair of streams.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use crate::Puppet;
use crate::player::{Act, begin, pause};

/// How a performance ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client has gone.
    Closed,
    /// The script ended the server with this exit code.
    Exit(i32),
}

impl Puppet {
    /// Plays until the input ends or the script ends the server.
    pub async fn play<R, W>(&self, reader: R, mut writer: W) -> Ended
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let (stage, mut acts) = mpsc::unbounded_channel();
        let start = self.player().script.start.clone();
        begin(&start, &Value::Null, &stage);
        if let Some(code) = start.exit {
            let _ = stage.send(Act::Exit(code));
        }
        let mut lines = BufReader::new(reader).lines();
        loop {
            let act = tokio::select! {
                biased;
                act = acts.recv() => act,
                line = lines.next_line() => {
                    let Ok(Some(line)) = line else { return Ended::Closed };
                    self.receive(&line, &stage);
                    continue;
                }
            };
            match act {
                Some(Act::Message(text)) => {
                    if writer
                        .write_all(format!("{text}\n").as_bytes())
                        .await
                        .is_err()
                    {
                        return Ended::Closed;
                    }
                    let _ = writer.flush().await;
                }
                Some(Act::Wait(time)) => pause(time).await,
                Some(Act::Stderr(line)) => eprintln!("{line}"),
                Some(Act::Exit(code)) => return Ended::Exit(code),
                Some(Act::Stream | Act::Checkpoint(..) | Act::Status(_) | Act::End) | None => {}
            }
        }
    }

    fn receive(&self, line: &str, stage: &mpsc::UnboundedSender<Act>) {
        let message = serde_json::from_str(line);
        let message = message.unwrap_or_else(|_| json!({ "unreadable": line }));
        self.player().play(message, stage.clone());
    }
}
