//! The host behind `servlet test`: it runs servlets for the tests of another process.
//!
//! Each connection of a test is a client with its own instance. The protocol consists of lines of
//! JSON; `testing/remote.rs` in `mcp-servlet` defines it.

mod wire;

use std::{
    collections::BTreeMap,
    future::ready,
    hash::{BuildHasher as _, RandomState},
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use mcp_servlet_call::{
    Answering, CallError, Callee, CalleeError, Callees, HttpFailure, HttpRequest, HttpResponse,
    JsonObject, Listener, Notification, RequestMeta, Sending,
};
use mcp_servlet_common::quoted;
use mcp_servlet_host::{LoadError, Servlet};
use mcp_servlet_runtime::{
    Abi, CALL, DESCRIBE, FEATURE_EXPORTS, Instances, LoadOptions, Source, block_on,
};
use mcp_servlet_types::HttpErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::wire::Wire;

/// The environment variable that tells a test the address.
pub(crate) const ADDRESS: &str = "MCP_SERVLET_TEST";

/// A server that gives tests access to servlets.
#[derive(Debug)]
pub(crate) struct Testbed {
    address: String,
    clients: Arc<AtomicUsize>,
}

/// A servlet under test.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The name by which tests select it: the name in its `serverInfo`.
    pub(crate) name: String,
    /// The module.
    pub(crate) wasm: Vec<u8>,
}

impl Candidate {
    /// Loads a servlet from a file.
    ///
    /// # Errors
    ///
    /// [`LoadError`], as for any other servlet.
    pub(crate) fn load(path: &std::path::Path, options: &LoadOptions) -> Result<Self, LoadError> {
        let servlet = Servlet::load(path, options)?;
        let info = servlet.server_info().and_then(|info| info.get("name"));
        let name = info.and_then(Value::as_str).unwrap_or(servlet.name());
        Ok(Self {
            name: name.to_owned(),
            wasm: std::fs::read(path).map_err(|source| mcp_servlet_runtime::LoadError::Read {
                path: path.to_owned(),
                source,
            })?,
        })
    }
}

/// What all connections share.
struct Shared {
    token: String,
    candidates: Vec<Candidate>,
    options: LoadOptions,
    clients: Arc<AtomicUsize>,
}

#[derive(Deserialize)]
struct Hello {
    token: String,
    servlet: String,
    config: BTreeMap<String, String>,
    /// Whether the test answers HTTP requests.
    http: bool,
    /// Whether the test answers calls of tools and reads of resources.
    #[serde(default)]
    tools: bool,
}

#[derive(Deserialize)]
struct Request {
    export: String,
    input: String,
}

/// How a test answers an HTTP request.
#[derive(Deserialize)]
#[serde(untagged)]
enum HttpAnswer {
    Failure { failure: WireFailure },
    Response(HttpResponse),
}

/// How a test answers a call of a tool or a read of a resource.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CalleeAnswer {
    Result(JsonObject),
    Error {
        kind: String,
        message: String,
        code: Option<i64>,
        data: Option<Value>,
    },
}

#[derive(Deserialize)]
struct WireFailure {
    code: u16,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Output(String),
    Fault {
        code: i64,
        message: String,
        data: Option<Value>,
    },
}

/// The test at the other end. It gets the notifications of its servlet and may answer HTTP requests.
#[derive(Debug)]
struct Client {
    wire: Arc<Wire>,
    answers_http: bool,
}

impl Listener for Client {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        let line = match notification {
            Notification::Progress(params) => json!({ "progress": params }),
            Notification::Message(params) => json!({ "message": params }),
            Notification::ElicitationComplete(_) | Notification::Changed(_) => {
                // Tests have no way to expect these notifications.
                tracing::debug!(
                    ?notification,
                    "notification ignored, because tests cannot receive it"
                );
                return Box::pin(ready(()));
            }
        };
        // If the test is gone, the notification is lost. The next line that is sent ends the thread.
        let _ = self.wire.send(&line);
        Box::pin(ready(()))
    }

    fn answers_http(&self) -> bool {
        self.answers_http
    }

    fn answer_http(&self, request: &HttpRequest) -> Option<Result<HttpResponse, HttpFailure>> {
        self.wire.send(&json!({ "http": request })).ok()?;
        Some(match self.wire.receive().ok()??.ok()? {
            HttpAnswer::Response(response) => Ok(response),
            HttpAnswer::Failure { failure } => Err(HttpFailure::new(
                HttpErrorKind::from_code(failure.code),
                failure.message,
            )),
        })
    }
}

/// The test answers what its servlet calls.
impl Callees for Client {
    fn call<'a>(&'a self, callee: &'a Callee, _: &'a RequestMeta) -> Answering<'a> {
        let answer = self
            .wire
            .send(&json!({ "call": callee.to_request() }))
            .and_then(|()| self.wire.receive());
        let gone = || CalleeError::new("connectivity", "the test has no answer".to_owned());
        Box::pin(ready(match answer {
            Ok(Some(Ok(CalleeAnswer::Result(result)))) => Ok(result),
            Ok(Some(Ok(CalleeAnswer::Error {
                kind,
                message,
                code,
                data,
            }))) => Err(CalleeError {
                kind: kind.into(),
                message,
                code,
                data: data.map(Box::new),
            }),
            Ok(Some(Err(_)) | None) | Err(_) => Err(gone()),
        }))
    }

    fn are_all_allowed(&self) -> bool {
        true
    }

    fn is_known(&self, _: &Callee) -> bool {
        true
    }

    fn is_read_only(&self, _: &Callee) -> bool {
        false
    }
}

impl Testbed {
    /// Listens on a local port for as long as the process lives.
    ///
    /// # Errors
    ///
    /// If no port is free.
    pub(crate) fn start(candidates: Vec<Candidate>, options: LoadOptions) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let token = token();
        let address = format!("{}/{token}", listener.local_addr()?);
        let clients = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Shared {
            token,
            candidates,
            options,
            clients: Arc::clone(&clients),
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                // If the client disconnects, its thread ends.
                thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Ok(Self { address, clients })
    }

    /// The value of the environment variable [`ADDRESS`].
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// How many clients have connected.
    pub(crate) fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }
}

/// A secret, so that other programs on this machine cannot call servlets with the rights of this process.
fn token() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", random(), random())
}

fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let wire = Arc::new(Wire::new(stream));
    let Some(hello) = wire.receive::<Hello>()?.and_then(Result::ok) else {
        return Ok(());
    };
    if hello.token != shared.token {
        return Ok(());
    }
    shared.clients.fetch_add(1, Ordering::Relaxed);
    let servlet = instance(&hello, shared);
    let listener = Arc::new(Client {
        wire: Arc::clone(&wire),
        answers_http: hello.http,
    });
    let callees = hello.tools.then(|| Arc::clone(&listener));
    while let Some(request) = wire.receive::<Request>()? {
        let answer = match (&servlet, request) {
            (Ok(servlet), Ok(request)) => {
                answer(servlet, &request, Arc::clone(&listener), callees.clone())
            }
            (Err(problem), _) => internal(problem.clone()),
            (_, Err(error)) => internal(format!("invalid request: {error}")),
        };
        wire.send(&answer)?;
    }
    Ok(())
}

/// Loads the servlet that a test asks for. The test has it to itself.
fn instance(hello: &Hello, shared: &Shared) -> Result<Servlet, String> {
    let mut candidates = shared.candidates.iter();
    let Some(candidate) = candidates.find(|one| one.name == hello.servlet) else {
        let names = shared.candidates.iter().map(|one| &one.name);
        return Err(format!(
            "`servlet test` did not build the servlet `{}`, but {}",
            hello.servlet,
            quoted(names)
        ));
    };
    let mut options = shared.options.clone();
    options.config.extend(hello.config.clone());
    // State that a test leaves behind must be visible in its next call.
    options.instances = Instances::ONE.into();
    let source = Source::Bytes {
        name: candidate.name.clone(),
        wasm: candidate.wasm.clone(),
    };
    let servlet = Servlet::load(source, &options).map_err(|error| error.to_string())?;
    if servlet.abi() != Abi::Servlet {
        return Err(format!(
            "the wasm is built for `{}`: tests need it without that feature of mcp-servlet",
            servlet.abi()
        ));
    }
    Ok(servlet)
}

fn answer(
    servlet: &Servlet,
    request: &Request,
    client: Arc<Client>,
    callees: Option<Arc<Client>>,
) -> Answer {
    let mut exports = [DESCRIBE, CALL].into_iter().chain(FEATURE_EXPORTS);
    let known = exports.find(|name| *name == request.export);
    let Some(export) = known.filter(|export| servlet.module().can_call(export)) else {
        return internal(format!("the servlet does not export `{}`", request.export));
    };
    let mut job = servlet
        .guest()
        .job(export, request.input.clone().into_bytes());
    job.listener = Some(client);
    job.request_meta = callees.map(|callees| {
        let mut request_meta = RequestMeta::default();
        request_meta.callees = Some(callees);
        Box::new(request_meta)
    });
    match block_on(servlet.guest().run(job)) {
        Ok(output) => match String::from_utf8(output) {
            Ok(output) => Answer::Output(output),
            Err(_) => internal(format!("the output of `{export}` is not UTF-8")),
        },
        Err(error) => fault(servlet, export, &error),
    }
}

/// The fault as the servlet raised it, without the servlet and export that the host adds: a native
/// test does not see them.
fn fault(servlet: &Servlet, export: &str, error: &CallError) -> Answer {
    let fault = error.to_rpc_error();
    let place = json!({ "servlet": servlet.name(), "export": export });
    Answer::Fault {
        code: fault.code.into(),
        message: fault.message,
        data: fault.data.filter(|data| *data != place),
    }
}

fn internal(message: String) -> Answer {
    Answer::Fault {
        code: mcp_servlet_call::RpcError::INTERNAL.into(),
        message,
        data: None,
    }
}
