//! Conditions over new sessions.
//!
//! See `docs/decisions/0081-sessions-begin-with-a-question.md`.

use std::collections::HashSet;

use http::HeaderName;
use mcp_servlet_expression::{Budget, Condition, Mistake, Part, Path, Scope, Truth};
use mcp_servlet_schema::JsonObject;

use crate::{
    caller::Caller,
    names::{compile, member, unknown_member, unknown_of_caller},
    options::AuthOptions,
};

/// What conditions can read.
const ROOTS: [&str; 4] = ["caller", "client", "headers", "session"];
const CLIENT: [&str; 3] = ["name", "version", "title"];

/// A condition over a client that begins a session: an expression in the Common Expression Language.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionCondition(Condition);

/// A client that begins a session.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// The id of the session. It is empty if the server chooses it later, and for protocol versions without sessions.
    pub id: String,
    /// What the client says about itself.
    pub client: JsonObject,
    /// The caller, as expressions read it.
    pub caller: JsonObject,
    /// The headers of the request by their names in lower case, without credentials.
    pub headers: JsonObject,
}

impl SessionCondition {
    /// Compiles a condition such as `${{ client.name == 'old-bot' }}`. `auth` says which claims callers can have. `credentials` are
    /// headers that it cannot read.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(
        text: &str,
        auth: Option<&AuthOptions>,
        credentials: &HashSet<HeaderName>,
    ) -> Result<Self, Vec<Mistake>> {
        let condition = compile(text, |path| unknown(path, auth, credentials))?;
        let operands = condition.untyped().into_iter().flatten();
        // Everything else that a condition can read is text or an object.
        let others = operands.filter(|path| path.root != "caller");
        let mistakes: Vec<_> = others
            .map(|path| Mistake {
                range: condition.range.clone(),
                message: format!("`when` must be a boolean, which `{path}` never is"),
            })
            .collect();
        if mistakes.is_empty() {
            Ok(Self(condition))
        } else {
            Err(mistakes)
        }
    }

    /// Whether it holds for a session.
    pub fn holds(&self, session: &NewSession) -> Truth {
        let id = serde_json::Map::from_iter([("id".to_owned(), session.id.as_str().into())]);
        let scope = Scope::default()
            .with("caller", Part::Map(&session.caller))
            .with("client", Part::Map(&session.client))
            .with("headers", Part::Map(&session.headers))
            .with("session", Part::Map(&id));
        self.evaluate(&scope)
    }

    /// Whether it holds for a caller, if nothing else is known.
    pub fn holds_for(&self, caller: Option<&Caller>) -> Truth {
        let json = Caller::to_json(caller);
        self.evaluate(&Scope::default().with("caller", Part::Map(&json)))
    }

    fn evaluate(&self, scope: &Scope<'_>) -> Truth {
        self.0.evaluate(scope, &mut Budget::small())
    }
}

/// The problem with a path that does not exist, and its range in the expression.
fn unknown(
    path: &Path,
    auth: Option<&AuthOptions>,
    credentials: &HashSet<HeaderName>,
) -> Option<Mistake> {
    match path.root.as_str() {
        "caller" => unknown_of_caller(path, auth.as_slice()),
        "client" => unknown_member(path, 0, &CLIENT),
        "session" => unknown_member(path, 0, &["id"]),
        "headers" => {
            let (name, range) = member(path.steps.first()?)?;
            let message = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                let lower = name.to_ascii_lowercase();
                format!("names of headers are in lower case here; write `{lower}`")
            } else if credentials.iter().any(|one| one.as_str() == name) {
                format!("expressions cannot read the header `{name}`: it is a credential")
            } else {
                return None;
            };
            Some(Mistake { range, message })
        }
        root => Some(Mistake {
            range: path.range.clone(),
            message: format!(
                "there is no `{root}` here; `when` can read `{}`",
                ROOTS.join("`, `")
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    fn object(json: Value) -> JsonObject {
        json.as_object().cloned().expect("an object")
    }

    fn compile(text: &str) -> Result<SessionCondition, Vec<String>> {
        let auth = AuthOptions {
            name: "corp".to_owned(),
            claims: BTreeSet::from(["tenant".to_owned()]),
            ..AuthOptions::default()
        };
        let credentials = HashSet::from([HeaderName::from_static("x-api-key")]);
        let compiled = SessionCondition::new(text, Some(&auth), &credentials);
        compiled.map_err(|mistakes| mistakes.into_iter().map(|one| one.message).collect())
    }

    #[test]
    fn conditions_read_the_client_its_headers_and_its_caller() {
        let session = NewSession {
            id: "s-1".to_owned(),
            client: object(json!({ "name": "bot", "version": "1" })),
            caller: object(json!({ "subject": "ann", "claims": { "tenant": "acme" } })),
            headers: object(json!({ "x-region": "eu" })),
        };
        for (text, truth) in [
            ("client.name == 'bot'", Truth::True),
            ("client.version != '1'", Truth::False),
            (
                "headers['x-region'] == 'eu' && session.id == 's-1'",
                Truth::True,
            ),
            ("caller.claims.tenant == 'other'", Truth::False),
            ("'x-other' in headers", Truth::False),
        ] {
            let condition = compile(&format!("${{{{ {text} }}}}")).expect(text);
            assert_eq!(condition.holds(&session), truth, "{text}");
        }
        let failing = compile("${{ headers['x-other'] == 'a' }}").expect("a condition");
        assert!(matches!(failing.holds(&session), Truth::Failed(_)));
    }

    #[test]
    fn a_caller_alone_may_decide() {
        let condition =
            compile("${{ caller.kind == 'nobody' || client.name == 'bot' }}").expect("a condition");
        assert_eq!(condition.holds_for(None), Truth::True);
        let condition =
            compile("${{ caller.kind == 'key' || client.name == 'bot' }}").expect("a condition");
        assert_eq!(condition.holds_for(None), Truth::Unknown);
    }

    #[test]
    fn names_that_do_not_exist_are_mistakes() {
        for (text, message) in [
            (
                "tool.name == 'a'",
                "there is no `tool` here; `when` can read `caller`, `client`, `headers`, `session`",
            ),
            (
                "client.nam == 'a'",
                "`client` has no `nam`; did you mean `name`?",
            ),
            (
                "session.client == 'a'",
                "`session` has no `client`; it has `id`",
            ),
            (
                "headers['X-A'] == 'a'",
                "names of headers are in lower case here; write `x-a`",
            ),
            (
                "headers['x-api-key'] == 'a'",
                "expressions cannot read the header `x-api-key`: it is a credential",
            ),
            (
                "caller.claims.tenat == 'a'",
                "claim `tenat` is not in `claims` of `[auth.corp]`; did you mean `tenant`?",
            ),
            (
                "caller.certificate.serail == 'a'",
                "`caller.certificate` has no `serail`; did you mean `serial`?",
            ),
            (
                "client.name",
                "`when` must be a boolean, which `client.name` never is",
            ),
            (
                "'a'",
                "`when` must be a boolean, but this is of type `string`",
            ),
        ] {
            let text = format!("${{{{ {text} }}}}");
            let messages = compile(&text).expect_err(&text);
            assert_eq!(messages, [message], "{text}");
        }
    }
}
