//! A session that is opened when it is needed, and closed when it is idle.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::error::Error;
use crate::options::Options;
use crate::session::Session;
use crate::target::Target;
use crate::task::spawn;

/// A server whose session is opened when it is needed, and closed after a time without use.
///
/// All users share one session, because a session runs several requests at once. A session whose connection has ended is
/// replaced by a new one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let address = puppet::Puppet::new("plain").http().await;
/// # let url = format!("http://{address}/mcp");
/// use std::time::Duration;
/// use mcp_servlet_client::{Options, Pool};
///
/// let pool = Pool::new(url.parse()?, Options::new(), Duration::from_secs(60));
/// let lists = pool.session().await?.lists().await?;
/// pool.close().await;
/// # assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pool(Arc<Shared>);

/// A use of the session of a [`Pool`]. The session stays open at least until this is dropped.
pub struct Lease {
    session: Arc<Session>,
    /// Counts the uses. Each change starts the time without use again.
    uses: watch::Sender<usize>,
}

#[derive(Debug)]
struct Shared {
    target: Target,
    options: Options,
    idle: Duration,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    session: Arc<Session>,
    uses: watch::Sender<usize>,
}

impl Pool {
    /// A pool for a server. `idle` is how long a session stays open without use.
    pub fn new(target: Target, options: Options, idle: Duration) -> Self {
        Self(Arc::new(Shared {
            target,
            options,
            idle,
            open: Mutex::default(),
        }))
    }

    /// The open session, or a new one.
    ///
    /// # Errors
    /// As [`Session::connect_with`].
    pub async fn session(&self) -> Result<Lease, Error> {
        let mut slot = self.0.open.lock().await;
        if let Some(open) = slot.as_ref().filter(|open| !open.session.has_ended()) {
            return Ok(open.lease());
        }
        let session = Session::connect_with(&self.0.target, &self.0.options).await?;
        let open = Open {
            session: Arc::new(session),
            uses: watch::Sender::new(0),
        };
        let lease = open.lease();
        spawn(close_when_idle(
            Arc::downgrade(&self.0),
            open.uses.subscribe(),
        ));
        *slot = Some(open);
        Ok(lease)
    }

    /// Closes the session, and waits for that unless it is in use. Then it is closed after its last use.
    pub async fn close(self) {
        let open = self.0.open.lock().await.take();
        close(open).await;
    }
}

impl Open {
    fn lease(&self) -> Lease {
        self.uses.send_modify(|uses| *uses += 1);
        Lease {
            session: Arc::clone(&self.session),
            uses: self.uses.clone(),
        }
    }
}

/// Closes the session of a pool when nothing has used it for the pool's time.
async fn close_when_idle(pool: Weak<Shared>, mut uses: watch::Receiver<usize>) {
    loop {
        if uses.wait_for(|uses| *uses == 0).await.is_err() {
            return;
        }
        let Some(idle) = pool.upgrade().map(|pool| pool.idle) else {
            return;
        };
        match timeout(idle, uses.changed()).await {
            Ok(Ok(())) => continue,
            // The session was replaced or closed.
            Ok(Err(_)) => return,
            Err(_) => {}
        }
        let Some(pool) = pool.upgrade() else { return };
        let mut slot = pool.open.lock().await;
        // The session may have been taken, or replaced, while this waited.
        let is_idle = |open: &mut Open| {
            let is_same = open.uses.subscribe().same_channel(&uses);
            is_same && *open.uses.borrow() == 0
        };
        if let Some(open) = slot.take_if(is_idle) {
            drop(slot);
            return close(Some(open)).await;
        }
    }
}

async fn close(open: Option<Open>) {
    let session = open.and_then(|open| Arc::into_inner(open.session));
    if let Some(session) = session {
        session.close().await;
    }
}

impl Deref for Lease {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.uses.send_modify(|uses| *uses -= 1);
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.session).finish()
    }
}
