//! The results of requests: views of the JSON that a servlet returned.

use mcp_servlet_call::{Denied, JsonObject};
use serde_json::Value;

use crate::content::{Content, PromptMessage, ResourceContents};

/// Defines a result that keeps its JSON.
macro_rules! result {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        ///
        /// It keeps all members that the servlet wrote, including those that this crate does not know.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            json: JsonObject,
        }

        impl $name {
            /// A result from its members.
            pub fn new(json: JsonObject) -> Self {
                Self { json }
            }

            /// The `resultType`: `complete` unless the servlet sets another one, such as
            /// `input_required`.
            pub fn result_type(&self) -> &str {
                let kind = self.json.get("resultType").and_then(Value::as_str);
                kind.unwrap_or("complete")
            }

            /// All members.
            pub fn json(&self) -> &JsonObject {
                &self.json
            }

            /// All members.
            pub fn into_json(self) -> JsonObject {
                self.json
            }
        }
    };
}

result! {
    /// The result of `tools/call`, in the current shape of MCP even if the servlet wrote another shape.
    CallToolResult
}

result! {
    /// The result of `resources/read`.
    ReadResourceResult
}

result! {
    /// The result of `prompts/get`.
    GetPromptResult
}

result! {
    /// The result of `completion/complete`.
    CompleteResult
}

impl CallToolResult {
    /// An error for the model.
    pub fn error(text: String) -> Self {
        let block = JsonObject::from_iter([
            ("type".to_owned(), "text".into()),
            ("text".to_owned(), text.into()),
        ]);
        Self::new(JsonObject::from_iter([
            ("content".to_owned(), Value::from_iter([block])),
            ("isError".to_owned(), true.into()),
        ]))
    }

    /// An error result for a call that is denied.
    pub(crate) fn denied(denied: Denied) -> Self {
        let mut result = Self::error(denied.text);
        let meta = JsonObject::from_iter([("mcp-servlet/denied".to_owned(), denied.meta.into())]);
        result.json.insert("_meta".to_owned(), meta.into());
        result
    }

    /// Whether the call was [denied](Self::denied).
    pub(crate) fn is_denied(&self) -> bool {
        let meta = self.json.get("_meta");
        self.is_error() && meta.is_some_and(|meta| meta.get("mcp-servlet/denied").is_some())
    }

    /// The content: text, images and so on.
    pub fn content(&self) -> impl ExactSizeIterator<Item = Content<'_>> {
        array(self.json.get("content")).iter().map(Content::new)
    }

    /// The text of the content. Several texts are joined by line breaks.
    pub fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    /// The texts of the content.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content().filter_map(Content::text)
    }

    /// The structured content, if the tool returns any.
    pub fn structured_content(&self) -> Option<&Value> {
        self.json.get("structuredContent")
    }

    /// Whether the tool reports an error.
    pub fn is_error(&self) -> bool {
        self.json.get("isError") == Some(&Value::Bool(true))
    }
}

impl ReadResourceResult {
    /// The contents. A resource such as a directory may have several.
    pub fn contents(&self) -> impl Iterator<Item = ResourceContents<'_>> {
        let contents = array(self.json.get("contents")).iter();
        contents.filter_map(ResourceContents::read)
    }
}

impl GetPromptResult {
    /// The description of the prompt.
    pub fn description(&self) -> Option<&str> {
        self.json.get("description")?.as_str()
    }

    /// The messages.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = PromptMessage<'_>> {
        let messages = array(self.json.get("messages")).iter();
        messages.map(PromptMessage::read)
    }
}

impl CompleteResult {
    /// The suggestions, the best first.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        array(self.member("values"))
            .iter()
            .filter_map(Value::as_str)
    }

    /// How many values there are in total, if the servlet knows.
    pub fn total(&self) -> Option<u64> {
        self.member("total")?.as_u64()
    }

    /// Whether there are more values.
    pub fn has_more(&self) -> bool {
        self.member("hasMore") == Some(&Value::Bool(true))
    }

    fn member(&self, key: &str) -> Option<&Value> {
        self.json.get("completion")?.get(key)
    }
}

fn array(json: Option<&Value>) -> &[Value] {
    json.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(json: Value) -> JsonObject {
        match json {
            Value::Object(object) => object,
            other => panic!("{other} is an object"),
        }
    }

    #[test]
    fn a_result_is_a_view_of_its_json() {
        let json = json!({
            "content": [
                { "type": "text", "text": "a", "_meta": { "x": 1 } },
                { "type": "hologram" },
                { "type": "text", "text": "b" },
            ],
            "vendor": true,
        });
        let result = CallToolResult::new(object(json.clone()));
        assert_eq!(result.text(), "a\nb");
        assert_eq!(result.content().len(), 3);
        assert_eq!(
            (result.is_error(), result.result_type()),
            (false, "complete")
        );
        assert_eq!(Value::Object(result.into_json()), json);
    }

    #[test]
    fn a_request_for_input_has_no_content() {
        let asked = object(json!({ "resultType": "input_required", "inputRequests": {} }));
        let result = ReadResourceResult::new(asked.clone());
        assert_eq!(result.result_type(), "input_required");
        assert_eq!(result.contents().count(), 0);
        assert_eq!(GetPromptResult::new(asked).messages().len(), 0);
    }

    #[test]
    fn an_error_for_the_model_is_one_text() {
        let result = CallToolResult::error("no".to_owned());
        assert!(result.is_error());
        assert_eq!(result.text(), "no");
    }
}
