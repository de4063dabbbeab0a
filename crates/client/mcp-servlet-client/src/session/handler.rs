//! Answers requests of the server.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorCode, ErrorData, Implementation,
    ProtocolVersion, ServerNotification, ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use serde_json::Value;

use crate::answers::{Answers, Refusal, Unanswered, answer};
use crate::asking::Asking;
use crate::incoming::kind;
use crate::options::Options;
use crate::tap::{ASKED, Tap};

/// What rmcp asks about this client.
#[derive(Debug)]
pub(crate) struct Handler {
    config: ClientConfig,
    pub(crate) answers: Arc<dyn Answers>,
    asking: Arc<Asking>,
    tap: Arc<Tap>,
}

impl Handler {
    pub(crate) fn new(options: &Options, asking: Arc<Asking>, tap: Arc<Tap>) -> Self {
        let answers = Arc::clone(&options.answers);
        let capabilities = answers.offers().capabilities();
        let capabilities = serde_json::from_value(capabilities);
        let (name, version) = &options.client;
        let config = ClientConfig::new(
            capabilities.unwrap_or_default(),
            Implementation::new(name, version),
        );
        Self {
            config: config.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE),
            answers,
            asking,
            tap,
        }
    }
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        if matches!(request, ServerRequest::PingRequest(_)) {
            return Ok(ClientResult::empty(()));
        }
        let mut request = match request {
            ServerRequest::CustomRequest(request) if request.method == ASKED => {
                request.params.unwrap_or_default()
            }
            request => serde_json::to_value(request).unwrap_or_default(),
        };
        let params = request.get_mut("params").map(Value::take);
        let params = params.unwrap_or_default();
        if !matches!(params, Value::Null | Value::Object(_)) {
            let message = format!("expected an object as `params`, found {}", kind(&params));
            return Err(ErrorData::invalid_params(message, None));
        }
        let method = request["method"].as_str().unwrap_or_default();
        let _asked = self.asking.begin();
        let answer = answer(&*self.answers, method, params);
        // The server may cancel its request. When the connection ends, rmcp cancels nothing, and waits for this before it fails
        // the running requests.
        let answer = context.ct.run_until_cancelled(self.tap.until_end(answer));
        match answer
            .await
            .flatten()
            .unwrap_or_else(|| Err(Unanswered::Refused(Refusal::default())))
        {
            Ok(result) => Ok(ClientResult::CustomResult(CustomResult(result))),
            Err(Unanswered::UnknownMethod) => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("the client has no method `{method}`"),
                None,
            )),
            Err(Unanswered::Refused(refusal)) => {
                let Refusal {
                    code,
                    message,
                    data,
                } = refusal;
                Err(ErrorData::new(ErrorCode(code), message, data))
            }
        }
    }

    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // The tap has passed it on already, in the order in which it arrived.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}
