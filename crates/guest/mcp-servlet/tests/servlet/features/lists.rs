//! Resources that functions list.

use mcp_servlet::prelude::*;

/// All notes.
#[resource(uri = "notes:///all")]
fn all(context: &Context) -> String {
    names(context).join(",")
}

/// One note.
#[resource_template(uri_template = "notes:///{name}", mime_type = "text/plain", list = list_notes)]
fn note(context: &Context, name: String) -> Option<String> {
    names(context).contains(&name).then_some(name)
}

fn list_notes(context: &Context) -> Vec<Resource> {
    let names = names(context).into_iter();
    names
        .map(|name| Resource::new(format!("notes:///{name}"), name))
        .collect()
}

fn names(context: &Context) -> Vec<String> {
    context
        .config_value("names")
        .map(|names| names.split(',').map(str::to_owned).collect())
        .unwrap_or_default()
}

/// One user.
#[resource_template(uri_template = "users:///{id}", list = users::list)]
fn user(id: u32) -> String {
    id.to_string()
}

mod users {
    use mcp_servlet::prelude::*;

    pub(super) fn list(context: &Context) -> Result<Vec<Resource>, ToolError> {
        let count: u32 = context
            .config_value("users")
            .unwrap_or_default()
            .parse()
            .map_err(|_| ToolError::new("no number of users"))?;
        let ids = 0..count;
        Ok(ids
            .map(|id| Resource {
                title: Some(format!("User {id}")),
                mime_type: Some("text/x-user".to_owned()),
                ..Resource::new(format!("users:///{id}"), id.to_string())
            })
            .collect())
    }
}

/// Adds a note.
#[tool]
fn add(context: &Context) {
    context.resource_list_changed();
}

mcp_servlet::export!(static SERVLET = { tools: [add], resources: [note, all, user] });

fn uris(client: &mcp_servlet::testing::Client) -> Vec<String> {
    let resources = client.list_resources().unwrap();
    resources.into_iter().map(|resource| resource.uri).collect()
}

#[test]
fn functions_list_resources_after_those_with_fixed_uris() {
    let client = SERVLET
        .client()
        .with_config("names", "a,b")
        .with_config("users", "1");
    let resources = client.list_resources().unwrap();
    let shown = resources.iter().map(|resource| {
        let Resource {
            uri,
            name,
            title,
            mime_type,
            ..
        } = resource;
        (&**uri, &**name, title.as_deref(), mime_type.as_deref())
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("notes:///all", "all", None, None),
            ("notes:///a", "a", None, Some("text/plain")),
            ("notes:///b", "b", None, Some("text/plain")),
            ("users:///0", "0", Some("User 0"), Some("text/x-user")),
        ]
    );
    assert_eq!(client.logs(), []);
    let read = client.read_resource(&resources[2].uri).unwrap();
    assert_eq!(read.contents[0].text.as_deref(), Some("b"));
}

#[test]
fn a_function_that_fails_hides_no_other_resources() {
    let client = SERVLET.client().with_config("names", "a");
    assert_eq!(uris(&client), ["notes:///all", "notes:///a"]);
    assert_eq!(
        client.logs(),
        [(
            Level::Warn,
            "cannot list resources of `users:///{id}`: no number of users".to_owned()
        )]
    );
}

#[test]
fn resources_that_nobody_could_read_are_not_listed() {
    let client = SERVLET
        .client()
        .with_config("users", "0")
        .with_config("names", "a/b,all,c,c,50%");
    assert_eq!(uris(&client), ["notes:///all", "notes:///c"]);
    let logs: Vec<_> = client.logs().into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        logs,
        [
            "cannot list resources of `notes:///{name}`: `notes:///a/b` does not match the template",
            "cannot list resources of `notes:///{name}`: `notes:///all` is already in the list",
            "cannot list resources of `notes:///{name}`: `notes:///c` is already in the list",
            "cannot list resources of `notes:///{name}`: `notes:///50%` has an invalid percent-encoding",
        ]
    );
}

#[test]
fn a_change_is_announced() {
    let client = SERVLET.client();
    client.call("add", ()).unwrap();
    assert_eq!(client.resource_list_changes(), 1);
}
