//! What a server says about itself.

use mcp_catalog::ServerText;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a server says about itself when the connection opens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// The version of the protocol, such as `2025-11-25`.
    pub protocol: String,
    /// Name and version, capabilities and instructions, as the server wrote them.
    pub text: ServerText,
    features: Value,
}

impl Server {
    /// Reads the result of `initialize` or `server/discover`.
    pub(crate) fn new(protocol: String, result: &RawValue) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Opening {
            server_info: Option<Box<RawValue>>,
            capabilities: Option<Box<RawValue>>,
            instructions: Option<Value>,
            #[serde(rename = "_meta")]
            meta: Option<Box<RawValue>>,
        }
        #[derive(Default, Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/serverInfo")]
            server_info: Option<Box<RawValue>>,
        }
        let opening: Opening = serde_json::from_str(result.get()).unwrap_or_default();
        let meta: Option<Meta> = opening
            .meta
            .as_deref()
            .and_then(|meta| serde_json::from_str(meta.get()).ok());
        let info = meta
            .and_then(|meta| meta.server_info)
            .or(opening.server_info);
        let capabilities = opening.capabilities.unwrap_or_else(empty);
        let instructions = opening.instructions;
        Self {
            protocol,
            features: serde_json::from_str(capabilities.get()).unwrap_or_default(),
            text: ServerText {
                info: info.unwrap_or_else(empty),
                capabilities,
                instructions: instructions.and_then(|text| text.as_str().map(str::to_owned)),
            },
        }
    }

    /// Whether the server has a capability, such as `tools`.
    pub fn has(&self, capability: &str) -> bool {
        self.features
            .get(capability)
            .is_some_and(|one| !one.is_null())
    }

    /// Whether the server can report changes of single resources.
    pub fn can_watch(&self) -> bool {
        self.features["resources"]["subscribe"] == true
    }

    /// Whether the protocol has no handshake, as since 2026-07-28.
    pub fn is_stateless(&self) -> bool {
        self.protocol.as_str() >= "2026-07-28"
    }

    /// Name and version, for people.
    pub fn name(&self) -> String {
        let info: Value = serde_json::from_str(self.text.info.get()).unwrap_or_default();
        let text = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}", text("name"), text("version"))
            .trim()
            .to_owned()
    }
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("it is JSON")
}
