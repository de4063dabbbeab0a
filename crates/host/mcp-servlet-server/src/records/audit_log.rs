//! Writes the audit log.
//!
//! A call reserves its line before it runs, so that each call that has run has a line. One thread writes the lines, several at once.
//! While it cannot write, reservations fail, or lines are lost and counted. The operator chooses between these two.

use std::{
    fmt, io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use mcp_servlet_access::audit::{AuditOptions, Event, Fields, Line, WhenFull};
use mcp_servlet_common::{hex, lock};
use prometheus_client::metrics::counter::Counter;
use time::OffsetDateTime;
use tokio::sync::oneshot;

use super::audit_file::AuditFile;
use crate::session_id::random_bytes;

/// How many lines may be reserved or wait.
const MAX_WAITING: usize = 4096;
/// At how many of them lines that nobody has reserved are lost: a flood of refusals must not refuse calls.
const MAX_UNRESERVED: usize = MAX_WAITING / 2;
/// How long the writer waits for more lines after the first one, so that a busy server does not wake it for each line.
const GATHERING: Duration = Duration::from_millis(2);
/// How many lines are written at once.
const MAX_AT_ONCE: usize = 256;
/// After which time a line is tried again that could not be written.
const RETRY: Duration = Duration::from_secs(1);
/// How long the process waits at its end for lines to be written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The audit log of a process.
pub(crate) struct AuditLog {
    pub(super) options: AuditOptions,
    to_writer: Mutex<Sender<Message>>,
    state: Arc<State>,
}

/// What the writer tells those who write.
struct State {
    /// Lines that are reserved or wait.
    waiting: AtomicUsize,
    is_failing: AtomicBool,
    /// Lost lines that the log does not mention yet.
    lost: AtomicU64,
    lost_total: Counter,
}

/// The right to write one line.
pub(crate) struct Reserved {
    log: Arc<AuditLog>,
    is_used: bool,
}

/// The audit log cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CannotWrite;

enum Message {
    Line(Box<Waiting>),
    Reopen,
    Stop(oneshot::Sender<()>),
}

/// A line without its number.
struct Waiting {
    time: String,
    event: Event,
    fields: Fields,
}

impl AuditLog {
    /// Starts to write. `lost_total` counts lost lines.
    ///
    /// # Errors
    /// The operating system has no thread.
    pub(super) fn start(
        options: AuditOptions,
        file: AuditFile,
        lost_total: Counter,
    ) -> io::Result<Arc<Self>> {
        let (sender, messages) = channel();
        let state = Arc::new(State {
            waiting: AtomicUsize::new(0),
            is_failing: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            lost_total,
        });
        let writer = Writer {
            file,
            name: options.to.name(),
            full: options.full,
            process: hex(&random_bytes::<4>()),
            number: 0,
            state: Arc::clone(&state),
            batch: Batch::default(),
        };
        // A thread of its own: a disk that does not answer must not take one of tokio's.
        let thread = std::thread::Builder::new().name("audit".to_owned());
        thread.spawn(move || writer.run(&messages))?;
        Ok(Arc::new(Self {
            options,
            to_writer: Mutex::new(sender),
            state,
        }))
    }

    /// Reserves a line. With [`WhenFull::Drop`], a line that finds no room is counted when it is written.
    ///
    /// # Errors
    /// [`CannotWrite`] if nothing may run without its line.
    pub(super) fn reserve(self: &Arc<Self>) -> Result<Option<Reserved>, CannotWrite> {
        if self.refuses_calls() {
            return Err(CannotWrite);
        }
        if self.state.take_place(MAX_WAITING) {
            return Ok(Some(Reserved {
                log: Arc::clone(self),
                is_used: false,
            }));
        }
        match self.options.full {
            WhenFull::Refuse => Err(CannotWrite),
            WhenFull::Drop => Ok(None),
        }
    }

    /// Writes a line about something that has happened. It is lost, and counted, if there is no room.
    pub(super) fn write(self: &Arc<Self>, event: Event, fields: Fields) {
        if self.state.take_place(MAX_UNRESERVED) {
            self.send(event, fields);
        } else {
            self.state.lose(1);
        }
    }

    /// Counts a line for which there was no room.
    pub(super) fn lose(&self) {
        self.state.lose(1);
    }

    /// Whether calls are refused, because lines cannot be written.
    pub(super) fn refuses_calls(&self) -> bool {
        self.options.full == WhenFull::Refuse && self.state.is_failing.load(Ordering::Relaxed)
    }

    fn send(&self, event: Event, fields: Fields) {
        let line = Box::new(Waiting {
            time: now(),
            event,
            fields,
        });
        if lock(&self.to_writer).send(Message::Line(line)).is_err() {
            self.state.lose(1);
        }
    }

    /// Opens the file again, which another program has renamed.
    pub(super) fn reopen(&self) {
        let _ = lock(&self.to_writer).send(Message::Reopen);
    }

    /// Writes the lines that wait, and a last one. Calls that still run have none.
    pub(super) async fn close(&self) {
        let (written, stopped) = oneshot::channel();
        let _ = lock(&self.to_writer).send(Message::Stop(written));
        if tokio::time::timeout(CLOSE_TIMEOUT, stopped).await.is_err() {
            tracing::error!("the last lines of the audit log were not written within 5 s");
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuditLog").field(&self.options).finish()
    }
}

impl State {
    fn take_place(&self, most: usize) -> bool {
        let more = |waiting| (waiting < most).then_some(waiting + 1);
        let relaxed = Ordering::Relaxed;
        self.waiting.fetch_update(relaxed, relaxed, more).is_ok()
    }

    fn leave(&self, lines: usize) {
        self.waiting.fetch_sub(lines, Ordering::Relaxed);
    }

    fn lose(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
        self.lost_total.inc_by(lines);
    }
}

impl Reserved {
    /// Writes the line.
    pub(super) fn write(mut self, event: Event, fields: Fields) {
        self.is_used = true;
        self.log.send(event, fields);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_used {
            self.log.state.leave(1);
        }
    }
}

/// The time in UTC, as in RFC 3339.
fn now() -> String {
    let now = OffsetDateTime::now_utc();
    let (year, month, day) = (now.year(), u8::from(now.month()), now.day());
    let (hour, minute, second, milli) = now.to_hms_milli();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The thread that writes.
struct Writer {
    file: AuditFile,
    /// The name of the file, for the log.
    name: String,
    full: WhenFull,
    process: String,
    /// The number of the last line.
    number: u64,
    state: Arc<State>,
    batch: Batch,
}

/// Lines that are being written.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// How many bytes are in the file.
    written: usize,
    lines: usize,
    /// How many of the lines had a place.
    places: usize,
    /// How many lost lines they mention.
    mentioned: u64,
}

impl Batch {
    /// Goes back to the beginning of a line that was written in part: another file needs all of it.
    fn restart_line(&mut self) {
        let written = &self.bytes[..self.written];
        let start = written.iter().rposition(|byte| *byte == b'\n');
        self.bytes.drain(..start.map_or(0, |at| at + 1));
        self.written = 0;
    }
}

impl Writer {
    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let first = if self.batch.lines == 0 {
                messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                messages.recv_timeout(RETRY)
            };
            let mut stop = None;
            match first {
                Ok(message) => {
                    stop = self.take(message);
                    if stop.is_none() {
                        std::thread::sleep(GATHERING);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while stop.is_none()
                && self.batch.lines < MAX_AT_ONCE
                && let Ok(message) = messages.try_recv()
            {
                stop = self.take(message);
            }
            self.write();
            if self.mention_lost() {
                self.write();
            }
            if let Some(stopped) = stop {
                self.file.sync();
                self.give_up();
                let _ = stopped.send(());
                return;
            }
        }
    }

    fn take(&mut self, message: Message) -> Option<oneshot::Sender<()>> {
        match message {
            Message::Line(line) => {
                let Waiting {
                    time,
                    event,
                    fields,
                } = *line;
                self.add(time, event, fields);
                self.batch.places += 1;
            }
            Message::Reopen => {
                self.batch.restart_line();
                self.file.reopen();
            }
            Message::Stop(stopped) => {
                // A place that no line of the batch has is that of a call that still runs.
                let waiting = self.state.waiting.load(Ordering::Relaxed);
                let running = waiting.saturating_sub(self.batch.places) as u64;
                let fields = Fields {
                    running,
                    ..Fields::default()
                };
                self.add(now(), Event::Stop, fields);
                return Some(stopped);
            }
        }
        None
    }

    fn add(&mut self, time: String, event: Event, fields: Fields) {
        self.number += 1;
        let place = (self.process.clone(), self.number);
        let line = Line::new(place, time, event, fields).to_json();
        self.batch.bytes.extend_from_slice(line.as_bytes());
        self.batch.lines += 1;
    }

    /// Adds a line with the number of lost ones, as soon as lines can be written again. Returns whether there is one.
    fn mention_lost(&mut self) -> bool {
        if self.state.is_failing.load(Ordering::Relaxed) {
            return false;
        }
        let lost = self.state.lost.swap(0, Ordering::Relaxed);
        let fields = Fields {
            lost,
            ..Fields::default()
        };
        if lost > 0 {
            self.add(now(), Event::Lost, fields);
            self.batch.mentioned += lost;
        }
        lost > 0
    }

    fn write(&mut self) {
        let batch = &mut self.batch;
        if batch.lines == 0 {
            return;
        }
        match self.file.append(&batch.bytes, &mut batch.written) {
            Ok(()) => {
                self.state.leave(batch.places);
                *batch = Batch::default();
                if self.state.is_failing.swap(false, Ordering::Relaxed) {
                    // The default level has its beginning, so it must have its end.
                    tracing::warn!("the audit log is written again");
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &io::Error) {
        if !self.state.is_failing.swap(true, Ordering::Relaxed) {
            let path = &self.name;
            match self.full {
                WhenFull::Refuse => tracing::error!(
                    path,
                    %error,
                    "the audit log cannot be written, so new calls are refused"
                ),
                WhenFull::Drop => {
                    tracing::error!(path, %error, "the audit log cannot be written, so lines are lost");
                }
            }
        }
        if self.full == WhenFull::Drop {
            let batch = std::mem::take(&mut self.batch);
            self.file.cut_off(&batch.bytes[..batch.written]);
            self.state.leave(batch.places);
            self.state.lose(batch.lines as u64);
            self.state
                .lost
                .fetch_add(batch.mentioned, Ordering::Relaxed);
        }
    }

    /// Counts the lines that the last attempt did not write.
    fn give_up(&mut self) {
        let lines = self.batch.lines as u64;
        if lines > 0 {
            self.state.lose(lines);
            let path = &self.name;
            tracing::error!(
                path,
                lines,
                "lines of the audit log are lost: the last attempt to write them failed"
            );
        }
    }
}
