//! Who logs in.

use super::store::ClientSecret;

/// What is known about this client.
#[derive(Clone)]
pub(super) struct Identity {
    /// The name for a new registration, which the user sees in the browser.
    pub(super) name: String,
    /// The id of a client that the authorization server knows.
    pub(super) id: Option<String>,
    /// The secret of that client.
    pub(super) secret: Option<ClientSecret>,
    /// The URL of the client's metadata document.
    pub(super) metadata: Option<String>,
}

/// A client that needs no user.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: ClientSecret,
}
