//! What a server may ask of its client: input of the user, text of a model, and folders.

use std::fmt;

use futures_util::future::{BoxFuture, FutureExt as _, ready};
use serde_json::{Value, json};

/// Answers the requests of servers. Every method has a default that refuses.
///
/// ```
/// use mcp_servlet_client::{Answers, Elicitation, Input, Offers, Options};
/// use serde_json::json;
///
/// struct Oslo;
///
/// impl Answers for Oslo {
///     fn offers(&self) -> Offers {
///         Offers { elicitation: true, ..Offers::default() }
///     }
///
///     fn elicit(&self, request: Elicitation) -> futures_util::future::BoxFuture<'_, Input> {
///         println!("{}", request.message);
///         Box::pin(async { Input::Accept(json!({ "city": "Oslo" })) })
///     }
/// }
/// let options = Options::new().answers(Oslo);
/// ```
pub trait Answers: Send + Sync + 'static {
    /// What the server may ask for. The server learns it when the connection opens.
    fn offers(&self) -> Offers {
        Offers::default()
    }

    /// Asks the user: `elicitation/create`.
    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, Input> {
        let _ = request;
        ready(Input::Decline).boxed()
    }

    /// Asks a model: the parameters and the result of `sampling/createMessage`. None refuses.
    fn sample(&self, request: Value) -> BoxFuture<'_, Option<Value>> {
        let _ = request;
        ready(None).boxed()
    }

    /// Answers a request as the server wrote it, by its method and parameters. None leaves it to the other methods.
    fn relay<'a>(&'a self, method: &'a str, params: &'a Value) -> Option<Relayed<'a>> {
        let _ = (method, params);
        None
    }

    /// The folders that the server may use: `roots/list`.
    fn roots(&self) -> BoxFuture<'_, Vec<Root>> {
        ready(Vec::new()).boxed()
    }
}

/// Refuses every request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decline;

impl Answers for Decline {}

/// What a server may ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Input of the user.
    pub elicitation: bool,
    /// Text of a model.
    pub sampling: bool,
    /// Folders.
    pub roots: bool,
}

/// What a server wants to know from the user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Elicitation {
    /// The question.
    pub message: String,
    /// The JSON Schema of the answer, unless the user shall open a URL.
    pub schema: Option<Value>,
    /// The URL that the user shall open.
    pub url: Option<String>,
    /// All parameters of the request.
    pub params: Value,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The input, which matches the schema. It is not sent if the user had to open a URL.
    Accept(Value),
    /// The user refuses.
    Decline,
    /// The user has closed the question.
    Cancel,
}

/// A folder that a server may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its URI, which begins with `file://`.
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
}

/// The result of a request that is relayed, or the error that the server gets.
pub type Relayed<'a> = BoxFuture<'a, Result<Value, Refusal>>;

/// The JSON-RPC error for a request that is refused. By default, it has the code that MCP's documentation has for a user who refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// More about it.
    pub data: Option<Value>,
}

impl Default for Refusal {
    fn default() -> Self {
        Self {
            code: -1,
            message: "the client refuses".to_owned(),
            data: None,
        }
    }
}

/// Why a request of a server has no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Unanswered {
    /// There is no such method.
    UnknownMethod,
    /// It was refused.
    Refused(Refusal),
}

impl Offers {
    /// The capabilities of the client.
    pub(crate) fn capabilities(self) -> Value {
        let mut capabilities = json!({});
        let offers = [
            (
                "elicitation",
                self.elicitation,
                json!({ "form": {}, "url": {} }),
            ),
            (
                "sampling",
                self.sampling,
                json!({ "context": {}, "tools": {} }),
            ),
            ("roots", self.roots, json!({})),
        ];
        for (name, is_offered, capability) in offers {
            if is_offered {
                capabilities[name] = capability;
            }
        }
        capabilities
    }
}

impl fmt::Debug for dyn Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers").field(&self.offers()).finish()
    }
}

/// The result of a request of a server, of either protocol generation.
pub(crate) async fn answer(
    answers: &dyn Answers,
    method: &str,
    params: Value,
) -> Result<Value, Unanswered> {
    if let Some(relayed) = answers.relay(method, &params) {
        return relayed.await.map_err(Unanswered::Refused);
    }
    match method {
        "elicitation/create" => Ok(elicit(answers, params).await),
        "sampling/createMessage" => {
            let refused = || Unanswered::Refused(Refusal::default());
            answers.sample(params).await.ok_or_else(refused)
        }
        "roots/list" => {
            let roots: Vec<_> = answers
                .roots()
                .await
                .into_iter()
                .map(Root::into_json)
                .collect();
            Ok(json!({ "roots": roots }))
        }
        _ => Err(Unanswered::UnknownMethod),
    }
}

async fn elicit(answers: &dyn Answers, params: Value) -> Value {
    let text = |key: &str| params[key].as_str().map(str::to_owned);
    let request = Elicitation {
        message: text("message").unwrap_or_default(),
        schema: params.get("requestedSchema").cloned(),
        url: text("url"),
        params: params.clone(),
    };
    let is_url = request.url.is_some();
    match answers.elicit(request).await {
        Input::Accept(_) if is_url => json!({ "action": "accept" }),
        Input::Accept(content) => json!({ "action": "accept", "content": content }),
        Input::Decline => json!({ "action": "decline" }),
        Input::Cancel => json!({ "action": "cancel" }),
    }
}

impl Root {
    fn into_json(self) -> Value {
        let mut root = json!({ "uri": self.uri });
        if let Some(name) = self.name {
            root["name"] = name.into();
        }
        root
    }
}
