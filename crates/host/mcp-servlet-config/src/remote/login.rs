//! The tokens of the requests to a remote.

use std::hash::{DefaultHasher, Hash as _};

use mcp_servlet_remote::client::OAuth;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::{Reader, RemoteSection};

/// The value of `login`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected `true`, or a table such as { client_id = \"ID\", client_secret = \"${NAME}\" }"
)]
pub(super) enum LoginIs {
    /// Whether to use the only login that `servlet login` has stored for the URL.
    Stored(bool),
    /// The login of one client.
    Client(Client),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_field_names,
    reason = "they are the keys of the section"
)]
pub(super) struct Client {
    /// The id of a client that the authorization server knows.
    client_id: String,
    /// The secret of the client, for tokens without a user. `${NAME}` is replaced by the environment variable. Without it, the
    /// login of the client is used that `servlet login --client-id ID` has stored.
    client_secret: Option<String>,
    /// The scopes to ask for, with a secret. Default: those that the server asks for.
    #[serde(default)]
    scopes: Vec<String>,
}

impl Reader<'_> {
    /// Where the tokens come from. None if they come from nowhere, or if there is a problem.
    pub(super) fn oauth(
        &mut self,
        section: &RemoteSection,
        login: &Spanned<LoginIs>,
        digest: &mut DefaultHasher,
    ) -> Option<OAuth> {
        let is_authorization = |name: &Spanned<String>| {
            let name = name.get_ref();
            name.eq_ignore_ascii_case("authorization")
        };
        if let Some(header) = section.headers.keys().find(|name| is_authorization(name)) {
            let message = "`login` sets this header";
            self.problem(header.span(), message.to_owned());
        }
        let oauth = OAuth::new().client_name("servlet");
        let client = match login.get_ref() {
            LoginIs::Stored(is_used) => return is_used.then_some(oauth),
            LoginIs::Client(client) => client,
        };
        let Some(secret) = &client.client_secret else {
            if !client.scopes.is_empty() {
                let message = "`scopes` needs `client_secret`; a stored login has its own";
                self.problem(login.span(), message.to_owned());
            }
            return Some(oauth.client_id(&client.client_id));
        };
        let secret = self.expanded(&Spanned::new(login.span(), secret.clone()))?;
        (&client.client_id, &secret).hash(digest);
        let scopes = client.scopes.iter().cloned();
        let oauth = scopes.fold(oauth, OAuth::scope);
        Some(oauth.client_credentials(&client.client_id, secret))
    }
}
