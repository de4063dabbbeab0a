//! The glue of a servlet, in the shape that the official generator produces.
#![allow(dead_code, reason = "it has every type of the interface, used or not")]

use base64_serde::base64_serde_type;
use extism_pdk::*;

fn panic_if_key_missing() -> ! {
    panic!("missing key");
}

mod internal {
    pub(crate) fn return_error(e: extism_pdk::Error) -> i32 {
        let text = format!("{:?}", e);
        let memory = extism_pdk::Memory::from_bytes(&text).unwrap();
        unsafe {
            extism_pdk::extism::error_set(memory.offset());
        }
        -1
    }
}

macro_rules! input_or_return {
    () => {
        match input() {
            Ok(Json(value)) => value,
            Err(e) => return internal::return_error(e),
        }
    };
}

mod exports {
    use super::*;

    #[no_mangle]
    pub extern "C" fn call() -> i32 {
        match crate::call(input_or_return!()).and_then(|result| output(Json(result))) {
            Ok(()) => 0,
            Err(e) => internal::return_error(e),
        }
    }

    #[no_mangle]
    pub extern "C" fn describe() -> i32 {
        match crate::describe().and_then(|result| output(Json(result))) {
            Ok(()) => 0,
            Err(e) => internal::return_error(e),
        }
    }
}

pub mod types {
    use super::*;

    base64_serde_type!(Base64Standard, base64::engine::general_purpose::STANDARD);

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct BlobResourceContents {
        #[serde(rename = "blob")]
        pub blob: String,

        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none", default)]
        pub mime_type: Option<String>,

        #[serde(rename = "uri")]
        pub uri: String,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct CallToolRequest {
        #[serde(rename = "method", skip_serializing_if = "Option::is_none", default)]
        pub method: Option<String>,

        #[serde(rename = "params")]
        pub params: Params,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct CallToolResult {
        #[serde(rename = "content")]
        pub content: Vec<Content>,

        #[serde(rename = "isError", skip_serializing_if = "Option::is_none", default)]
        pub is_error: Option<bool>,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct Content {
        #[serde(
            rename = "annotations",
            skip_serializing_if = "Option::is_none",
            default
        )]
        pub annotations: Option<TextAnnotation>,

        #[serde(rename = "data", skip_serializing_if = "Option::is_none", default)]
        pub data: Option<String>,

        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none", default)]
        pub mime_type: Option<String>,

        #[serde(rename = "text", skip_serializing_if = "Option::is_none", default)]
        pub text: Option<String>,

        #[serde(rename = "type")]
        pub r#type: ContentType,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub enum ContentType {
        #[default]
        #[serde(rename = "text")]
        Text,
        #[serde(rename = "image")]
        Image,
        #[serde(rename = "resource")]
        Resource,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct ListToolsResult {
        #[serde(rename = "tools")]
        pub tools: Vec<ToolDescription>,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct Params {
        #[serde(rename = "arguments", skip_serializing_if = "Option::is_none", default)]
        pub arguments: Option<serde_json::Map<String, serde_json::Value>>,

        #[serde(rename = "name")]
        pub name: String,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub enum Role {
        #[default]
        #[serde(rename = "assistant")]
        Assistant,
        #[serde(rename = "user")]
        User,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct TextAnnotation {
        #[serde(rename = "audience")]
        pub audience: Vec<Role>,

        #[serde(rename = "priority")]
        pub priority: f32,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct TextResourceContents {
        #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none", default)]
        pub mime_type: Option<String>,

        #[serde(rename = "text")]
        pub text: String,

        #[serde(rename = "uri")]
        pub uri: String,
    }

    #[derive(Default, Debug, Clone, serde::Serialize, serde::Deserialize, FromBytes, ToBytes)]
    #[encoding(Json)]
    pub struct ToolDescription {
        #[serde(rename = "description")]
        pub description: String,

        #[serde(rename = "inputSchema")]
        pub input_schema: serde_json::Map<String, serde_json::Value>,

        #[serde(rename = "name")]
        pub name: String,
    }
}
