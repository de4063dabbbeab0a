//! An MCP server that plays scripts: JSON files that say what it answers, in which order, and how it misbehaves.
//!
//! A script lists replies by method. The first request of a method gets the first reply, the second one the second,
//! and the last reply repeats. `initialize`, `server/discover` and `ping` need no replies. See [`Script`].
//!
//! Tests that poll use [`eventually`]. Those that need the server as a process run [`program`], and those that
//! need a program of another project ask [`is_installed`].

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod authorization;
mod http;
mod player;
mod programs;
mod proxy;
mod redis;
mod script;
mod stdio;
mod waiting;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

pub use crate::authorization::{
    AuthorizationServer, ProtectedServer, ROBOT, ROBOT_SECRET, SECRET, browse, visit,
};
use crate::player::Player;
pub use crate::programs::{cargo, is_installed, program};
pub use crate::proxy::Proxy;
pub use crate::redis::Redis;
pub use crate::script::{FailingPosts, Reply, Script, Sessions};
pub use crate::stdio::Ended;
pub use crate::waiting::{PATIENCE, Polled, eventually, eventually_blocking};

/// A server that plays one script.
#[derive(Clone, Debug)]
pub struct Puppet {
    player: Arc<Mutex<Player>>,
}

impl Puppet {
    /// The script `scripts/NAME.json`. A name with a `/` is the path of a script.
    ///
    /// # Panics
    /// If there is no such script, or if it is invalid.
    pub fn new(name: &str) -> Self {
        Self::with(Script::read(name))
    }

    /// A script of the caller.
    pub fn with(script: Script) -> Self {
        Self {
            player: Arc::new(Mutex::new(Player::new(script))),
        }
    }

    /// Everything that has arrived: messages, and HTTP requests without one as `{"http": "DELETE"}`.
    pub fn log(&self) -> Vec<Value> {
        self.player().log.clone()
    }

    /// How many messages with this method have arrived.
    pub fn received(&self, method: &str) -> usize {
        let log = self.log();
        log.iter().filter(|one| one["method"] == method).count()
    }

    /// Finishes all replies that wait for the client's answer to `ask`, without that answer.
    pub fn give_up(&self) {
        self.player().give_up();
    }

    /// Starts the server on one end of a pipe and returns the other end.
    pub fn pipe(&self) -> (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let puppet = self.clone();
        tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(ours);
            puppet.play(reader, writer).await
        });
        tokio::io::split(theirs)
    }

    fn player(&self) -> std::sync::MutexGuard<'_, Player> {
        self.player.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
