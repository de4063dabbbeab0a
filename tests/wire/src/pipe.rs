//! Lines over any stream.

use std::{fmt::Display, io};

use puppet::PATIENCE;
use serde_json::Value;
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, Lines, split,
    },
    time::timeout,
};

use crate::message::parse;

/// A client that writes and reads one line at a time.
pub struct Pipe {
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Pipe {
    /// A client with a stream in both directions.
    pub fn new(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (reader, writer) = split(stream);
        let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
        Self {
            lines: BufReader::new(reader).lines(),
            writer: Box::new(writer),
        }
    }

    /// Writes a line.
    pub async fn send(&mut self, message: impl Display) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Writes bytes, whatever they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        in_time(self.writer.write_all(bytes)).await;
    }

    /// Ends what the server reads.
    pub async fn close(&mut self) {
        in_time(self.writer.shutdown()).await;
    }

    /// The next message. None at the end of the stream.
    pub async fn try_next(&mut self) -> Option<Value> {
        let line = in_time(self.lines.next_line()).await?;
        Some(parse(&line))
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        self.try_next().await.expect("the stream is open")
    }

    /// Writes a line, and returns the next message.
    pub async fn ask(&mut self, message: impl Display) -> Value {
        self.send(message).await;
        self.next().await
    }

    /// The messages until the end of the stream.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.try_next().await {
            rest.push(message);
        }
        rest
    }
}

async fn in_time<T>(done: impl Future<Output = io::Result<T>>) -> T {
    let done = timeout(PATIENCE, done).await;
    done.expect("the server in time").expect("an open stream")
}
