//! A store that several processes share: a Redis, or a Valkey.
//!
//! All values are sealed, so that a reader of the store has no session. docs/decisions/0082-shared-sessions.md has the reasons.

use std::{
    fmt, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_servlet_access::{Secret, Trust};
use mcp_servlet_call::{Nursery, chain};
use mcp_servlet_common::hex;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, FromRedisValue, RedisConnectionInfo, RedisError,
    ServerErrorKind, aio::MultiplexedConnection,
};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::Mutex,
};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A store, and how it is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreOptions {
    /// The name in the configuration.
    pub name: String,
    /// Its host, without brackets around an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// TLS, with a file of certificates that are trusted in addition to the public ones.
    pub tls: Option<Option<PathBuf>>,
    /// The user, if it is not the default one.
    pub user: Option<String>,
    /// The password.
    pub password: Option<Secret>,
    /// The number of the database.
    pub database: u32,
    /// How its keys begin.
    pub prefix: String,
    /// How long a command may take.
    pub timeout: Duration,
    /// Whether the process is not ready while the store cannot be reached.
    pub ready: bool,
}

/// The store cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Away;

/// How long opening a connection may take, if a command has less time.
const MIN_CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

async fn in_time<T>(
    time: Duration,
    work: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, RedisError> {
    let late = |_| {
        let late = format!("no answer within {time:?}");
        Err(RedisError::from((ErrorKind::Io, "late", late)))
    };
    tokio::time::timeout(time, work).await.unwrap_or_else(late)
}

/// The connection to a store. It is opened when it is needed.
#[derive(Debug)]
pub(crate) struct Store {
    options: StoreOptions,
    connection: Mutex<Option<Connection>>,
    is_away: AtomicBool,
    nursery: Nursery,
}

#[derive(Clone)]
struct Connection {
    redis: MultiplexedConnection,
    /// Ends the task of the connection when the last clone is dropped.
    task: Arc<DropGuard>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connection")
    }
}

impl Store {
    /// `nursery` gets the task of the connection.
    pub(crate) fn new(options: StoreOptions, nursery: Nursery) -> Self {
        Self {
            options,
            connection: Mutex::default(),
            is_away: AtomicBool::new(false),
            nursery,
        }
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.options
    }

    /// The key for a secret, such as the id of a session: the store only knows its digest.
    pub(crate) fn key(&self, kind: &str, secret: &str) -> String {
        let digest = hex(&Sha256::digest(secret));
        format!("{}:{kind}:{digest}", self.options.prefix)
    }

    pub(crate) async fn get(&self, key: &str) -> Result<Option<String>, Away> {
        self.ask(redis::cmd("GET").arg(key)).await
    }

    /// Sets a value that is forgotten after a time. False if there is one already.
    pub(crate) async fn add(&self, key: &str, value: &str, time: Duration) -> Result<bool, Away> {
        let mut command = redis::cmd("SET");
        command
            .arg(key)
            .arg(value)
            .arg("NX")
            .arg("PX")
            .arg(millis(time));
        let set: Option<String> = self.ask(&command).await?;
        Ok(set.is_some())
    }

    /// Lets a value live for this time from now on.
    pub(crate) async fn keep(&self, key: &str, time: Duration) -> Result<(), Away> {
        let mut command = redis::cmd("PEXPIRE");
        self.ask::<u64>(command.arg(key).arg(millis(time))).await?;
        Ok(())
    }

    pub(crate) async fn remove(&self, key: &str) -> Result<(), Away> {
        self.ask::<u64>(redis::cmd("DEL").arg(key)).await?;
        Ok(())
    }

    /// Whether the store takes what is written: a replica would answer a PING.
    pub(crate) async fn takes_writes(&self) -> bool {
        let nothing = self.key("none", "");
        self.remove(&nothing).await.is_ok()
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Away> {
        let outcome = self.ask_twice(command).await;
        let (store, was_away) = (&self.options.name, &self.is_away);
        match outcome {
            Ok(value) => {
                if was_away.swap(false, Ordering::Relaxed) {
                    tracing::info!(store, "the store can be reached again");
                }
                Ok(value)
            }
            Err(error) => {
                if !was_away.swap(true, Ordering::Relaxed) {
                    tracing::warn!(store, "the store cannot be reached: {}", chain(&error));
                }
                Err(Away)
            }
        }
    }

    /// Asks over the connection that is open, and over a new one if the store has closed it or is no longer the primary.
    async fn ask_twice<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        let (connection, is_new) = self.connected().await?;
        match self.ask_over(&connection, command).await {
            Err(error) if !is_new && is_over(&error) => {
                let (connection, _) = self.connected().await?;
                self.ask_over(&connection, command).await
            }
            outcome => outcome,
        }
    }

    /// Asks over this connection, and forgets it if it is of no more use.
    async fn ask_over<T: FromRedisValue>(
        &self,
        connection: &Connection,
        command: &Cmd,
    ) -> Result<T, RedisError> {
        let mut redis = connection.redis.clone();
        let answer = command.query_async(&mut redis);
        let outcome = in_time(self.options.timeout, answer).await;
        if let Err(error) = &outcome
            && (is_over(error) || error.kind() == ErrorKind::Io)
        {
            self.drop_connection(connection);
        }
        outcome
    }

    /// The connection, and whether it was opened just now.
    async fn connected(&self) -> Result<(Connection, bool), RedisError> {
        let locked = async { Ok(self.connection.lock().await) };
        let mut connection = in_time(self.options.timeout, locked).await?;
        if let Some(open) = &*connection {
            return Ok((open.clone(), false));
        }
        // The time is its own, so that the one whose turn it is can connect after others have waited.
        let opened = in_time(
            self.options.timeout.max(MIN_CONNECT_TIMEOUT),
            self.connect(),
        )
        .await?;
        *connection = Some(opened.clone());
        Ok((opened, true))
    }

    /// Forgets a connection, unless another one has taken its place.
    fn drop_connection(&self, broken: &Connection) {
        // Whoever holds the lock is opening another connection.
        let Ok(mut connection) = self.connection.try_lock() else {
            return;
        };
        let is_same = |open: &Connection| Arc::ptr_eq(&open.task, &broken.task);
        if connection.as_ref().is_some_and(is_same) {
            *connection = None;
        }
    }

    async fn connect(&self) -> Result<Connection, RedisError> {
        let options = &self.options;
        let stream = TcpStream::connect((&*options.host, options.port)).await?;
        stream.set_nodelay(true)?;
        let Some(ca) = &options.tls else {
            return self.greet(stream).await;
        };
        let trust = Trust::of_operator(ca.as_deref()).map_err(io::Error::other)?;
        let name = ServerName::try_from(options.host.clone()).map_err(io::Error::other)?;
        let stream = trust.connector().connect(name, stream).await?;
        self.greet(stream).await
    }

    async fn greet(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Connection, RedisError> {
        // `in_time` limits the time of connecting and of commands.
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(None);
        let identity = self.identity();
        let opened = MultiplexedConnection::new_with_config(&identity, stream, config);
        let (redis, task) = opened.await?;
        let end = CancellationToken::new();
        let guard = end.clone().drop_guard();
        self.nursery.spawn(end.run_until_cancelled_owned(task));
        Ok(Connection {
            redis,
            task: Arc::new(guard),
        })
    }

    /// Who logs in, and the database.
    fn identity(&self) -> RedisConnectionInfo {
        let options = &self.options;
        let mut identity = RedisConnectionInfo::default().set_db(options.database.into());
        if let Some(user) = &options.user {
            identity = identity.set_username(user);
        }
        if let Some(Secret(password)) = &options.password {
            identity = identity.set_password(password);
        }
        identity
    }
}

/// Whether only another connection helps: this one is closed, or leads to a server that became a replica, which keeps it open.
fn is_over(error: &RedisError) -> bool {
    let is_replica = matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown | ServerErrorKind::BusyLoading
        )
    );
    is_replica || error.is_unrecoverable_error()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
