//! Records what the calls that servlets make return, for the tests of these servlets.

use std::{fs, mem, path::PathBuf, sync::Mutex};

use mcp_servlet_call::{Callee, CalleeError, JsonObject};
use mcp_servlet_common::lock;
use mcp_servlet_host::Recorder;
use serde_json::{Value, json};

use crate::failure::{Failure, cannot_write};

/// The calls, in the order in which they ended.
#[derive(Debug)]
pub(super) struct Recording {
    path: PathBuf,
    calls: Mutex<Vec<Value>>,
}

impl Recording {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            calls: Mutex::default(),
        }
    }

    /// Writes the file.
    pub(super) fn write(&self) -> Result<(), Failure> {
        let mut calls = lock(&self.calls);
        let mut calls = Value::Array(mem::take(&mut *calls));
        // The same calls give the same text.
        calls.sort_all_objects();
        fs::write(&self.path, format!("{calls:#}\n"))
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Recorder for Recording {
    fn ended(&self, callee: &Callee, outcome: &Result<JsonObject, CalleeError>) {
        let mut call = match outcome {
            Ok(result) => json!({ "result": result }),
            Err(error) => error.to_json(),
        };
        match callee {
            Callee::Tool { arguments, .. } => {
                call["name"] = callee.to_string().into();
                call["arguments"] = arguments.clone().unwrap_or_default().into();
            }
            Callee::Resource { member, uri } => {
                call["member"] = member.as_str().into();
                call["uri"] = uri.as_str().into();
            }
        }
        let mut calls = lock(&self.calls);
        calls.push(call);
    }
}
