//! Completions through a session.

use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{Completion, List, Session};
use serde_json::json;

use super::{CompletionRequest, Reference, argument_names, variables};
use crate::{failure::Failure, session::find};

/// The members of the result of `completion/complete`.
pub(super) async fn complete(
    session: &Session,
    request: &CompletionRequest,
) -> Result<JsonObject, Failure> {
    let reference = reference(session, request).await?;
    request.check(&reference)?;
    let CompletionRequest {
        of,
        argument: (name, value),
        ..
    } = request;
    let others = request.context().into();
    let completion = match reference {
        Reference::Prompt(_) => session.complete_prompt(of, name, value, others).await?,
        Reference::Template(_) => session.complete_template(of, name, value, others).await?,
    };
    Ok(members(completion))
}

/// The prompt or template of a server.
async fn reference(session: &Session, request: &CompletionRequest) -> Result<Reference, Failure> {
    let mut known = match find(session, List::Prompts, "name", &request.of, None).await? {
        Ok(prompt) => return Ok(Reference::Prompt(argument_names(&prompt))),
        Err(known) => known,
    };
    let list = List::ResourceTemplates;
    match find(session, list, "uriTemplate", &request.of, None).await? {
        Ok(_) => Ok(Reference::Template(variables(&request.of))),
        Err(templates) => {
            known.extend(templates);
            Err(request.unknown(known.iter().map(String::as_str)))
        }
    }
}

fn members(completion: Completion) -> JsonObject {
    let mut json = json!({ "values": completion.values });
    if let Some(total) = completion.total {
        json["total"] = total.into();
    }
    if completion.has_more {
        json["hasMore"] = true.into();
    }
    JsonObject::from_iter([("completion".to_owned(), json)])
}
