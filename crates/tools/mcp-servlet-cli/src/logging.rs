//! Logs on standard error.

use std::{
    env::{self, VarError},
    fmt,
};

use clap::ValueEnum;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing_subscriber::{
    EnvFilter,
    field::{MakeVisitor, VisitFmt, VisitOutput},
    fmt::{
        format::Writer,
        time::{FormatTime as _, SystemTime},
    },
};

use crate::terminal;

/// Whether log lines have a timestamp.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogTimes {
    /// For servers, which run for a long time.
    Shown,
    /// For commands that run once.
    Hidden,
    /// For `config check`, which prints what it finds itself.
    Reported,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per line, for programs
    Json,
}

/// Starts logging. `RUST_LOG` overrides `-v`.
pub(crate) fn start(verbose: u8, times: LogTimes, format: LogFormat) {
    let level = ["warn", "info", "debug", "trace"][usize::from(verbose.min(3))];
    // rmcp and rustls_platform_verifier log errors that the commands print themselves.
    let quiet = match (verbose, times) {
        // A command that runs once is not about what its server does wrong. `servlet catalog` has it as diagnostics.
        (0, LogTimes::Hidden) => {
            ",rmcp=off,rustls_platform_verifier=off,mcp_servlet_client::mended=off"
        }
        (0, LogTimes::Reported) => {
            ",rmcp=off,rustls_platform_verifier=off,mcp_servlet_client::mended=off,mcp_servlet_remote::supervisor=off"
        }
        (0 | 1, _) => ",rmcp=off,rustls_platform_verifier=off",
        // Its lines have the ids of sessions, which are secrets, and the arguments of calls, which the audit log masks. At the
        // level `trace` it writes whole requests, which may have the constants of a bundle.
        _ => ",rmcp=debug,rmcp::service=info,rmcp::transport::streamable_http_server=off",
    };
    let default = || EnvFilter::new(format!("{level}{quiet}"));
    let chosen = env::var(EnvFilter::DEFAULT_ENV)
        .map(|text| EnvFilter::try_new(text).map_err(|error| error.to_string()));
    let (filter, problem) = match chosen {
        Ok(Ok(filter)) => (filter, None),
        Ok(Err(problem)) => (default(), Some(problem)),
        Err(VarError::NotPresent) => (default(), None),
        Err(error @ VarError::NotUnicode(_)) => (default(), Some(error.to_string())),
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(terminal::log)
        // They are written with `eprintln!`, which panics if standard error is closed.
        .log_internal_errors(false)
        .with_ansi(format == LogFormat::Text && terminal::has_colors());
    if format == LogFormat::Json {
        terminal::note_as_json();
        log.json().with_span_list(false).init();
    } else {
        let log = log.fmt_fields(OneLine);
        match times {
            LogTimes::Shown => log.init(),
            LogTimes::Hidden | LogTimes::Reported => log.without_time().init(),
        }
    }
    if let Some(problem) = problem {
        let problem = terminal::one_line(&problem);
        terminal::note(format_args!("warning: `RUST_LOG` is not used: {problem}"));
    }
}

/// A line for people as one of the log in JSON.
pub(crate) fn json_line(line: &str) -> String {
    let (level, message) = match line.split_once(": ") {
        Some(("error", message)) => ("ERROR", message),
        Some(("warning", message)) => ("WARN", message),
        _ => ("INFO", line),
    };
    let mut time = String::new();
    // Only the writer could fail, and memory takes everything.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    let fields = json!({ "message": message });
    json!({ "timestamp": time, "level": level, "fields": fields, "target": "command" }).to_string()
}

/// Writes each field on one line with [`terminal::one_line`], because servlets choose the text of many fields.
struct OneLine;

impl<'w> MakeVisitor<Writer<'w>> for OneLine {
    type Visitor = Fields<'w>;

    fn make_visitor(&self, out: Writer<'w>) -> Self::Visitor {
        Fields {
            out,
            is_first: true,
            result: Ok(()),
        }
    }
}

/// Visits the fields of one event or span.
struct Fields<'w> {
    out: Writer<'w>,
    is_first: bool,
    result: fmt::Result,
}

impl Fields<'_> {
    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) -> fmt::Result {
        let name = field.name();
        // Fields of the crate `log`, which repeat the event's own.
        if name.starts_with("log.") {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.write_char(' ')?;
        }
        if name != "message" {
            write!(self.out, "{}=", name.trim_start_matches("r#"))?;
        }
        self.out.write_str(&terminal::one_line(&value.to_string()))
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.record_debug(field, &format_args!("{value}"));
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.result.is_ok() {
            self.result = self.write(field, format_args!("{value:?}"));
        }
    }
}

impl VisitOutput<fmt::Result> for Fields<'_> {
    fn finish(self) -> fmt::Result {
        self.result
    }
}

impl VisitFmt for Fields<'_> {
    fn writer(&mut self) -> &mut dyn fmt::Write {
        &mut self.out
    }
}
