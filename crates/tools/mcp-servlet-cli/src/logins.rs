//! Where this command keeps logins, and which name it has at authorization servers.

use mcp_servlet_client::OAuth;

/// Logins of this command.
pub(crate) fn oauth(client_id: Option<&str>) -> OAuth {
    let oauth = OAuth::new().client_name("servlet");
    match client_id {
        Some(id) => oauth.client_id(id),
        None => oauth,
    }
}
