//! Samples of the client's model (sampling).

use mcp_servlet_json::{RawJson, from_str, to_writer, write_raw, write_string, write_u64};
use mcp_servlet_types::{Content, InputRequestKind, Role};

use super::{InputRequest, begin};
use crate::json::{Children, member};

/// A prompt for the client's model; see [`sample`].
#[derive(Debug, Clone)]
pub struct Sample {
    key: String,
    /// As the items of a JSON array.
    messages: String,
    max_tokens: u32,
    system: Option<String>,
}

/// Lets the client's model answer a prompt, in at most 1000 tokens by default.
pub fn sample(key: impl Into<String>, prompt: impl AsRef<str>) -> Sample {
    let mut messages = String::from("{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    write_string(&mut messages, prompt.as_ref());
    write_raw(&mut messages, "}}");
    Sample {
        key: key.into(),
        messages,
        max_tokens: 1000,
        system: None,
    }
}

impl Sample {
    /// The same prompt with a further message, of the user or of the model.
    #[must_use]
    pub fn with_message(mut self, role: Role, content: &Content) -> Self {
        let start = match role {
            Role::User => ",{\"role\":\"user\",\"content\":",
            Role::Assistant => ",{\"role\":\"assistant\",\"content\":",
        };
        write_raw(&mut self.messages, start);
        // Content blocks are strings, numbers and JSON text, so this cannot fail.
        let _ = to_writer(&mut self.messages, content);
        write_raw(&mut self.messages, "}");
        self
    }

    /// The same prompt with another limit for the answer, in tokens.
    #[must_use]
    pub fn with_max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens, ..self }
    }

    /// The same prompt with a system prompt, which clients may change or ignore.
    #[must_use]
    pub fn with_system_prompt(self, system: impl Into<String>) -> Self {
        Self {
            system: Some(system.into()),
            ..self
        }
    }
}

/// The answer of the client's model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The answer: one block of content, or a list of them, as JSON.
    pub content: RawJson,
    /// The model, by the client's name for it.
    pub model: String,
    /// Why it stopped, such as `endTurn` or `maxTokens`, if the client says.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// The text of the answer.
    pub fn text(&self) -> String {
        let json = self.content.get();
        let text = |block| from_str::<String>(member(block, "text")).unwrap_or_default();
        if json.starts_with('[') {
            Children::new(json).map(|(_, block)| text(block)).collect()
        } else {
            text(json)
        }
    }

    /// The answer, block by block, without blocks of unknown types.
    pub fn blocks(&self) -> Vec<Content> {
        let json = self.content.get();
        if json.starts_with('[') {
            let blocks = Children::new(json);
            blocks
                .filter_map(|(_, block)| from_str(block).ok())
                .collect()
        } else {
            from_str(json).into_iter().collect()
        }
    }
}

impl InputRequest for Sample {
    type Response = Sampled;

    const KIND: InputRequestKind = InputRequestKind::Sampling;

    fn key(&self) -> &str {
        &self.key
    }

    fn request(&self) -> String {
        let mut json = begin::<Self>();
        write_raw(&mut json, ",\"params\":{\"messages\":[");
        write_raw(&mut json, &self.messages);
        write_raw(&mut json, "],\"maxTokens\":");
        write_u64(&mut json, self.max_tokens.into());
        if let Some(system) = &self.system {
            write_raw(&mut json, ",\"systemPrompt\":");
            write_string(&mut json, system);
        }
        write_raw(&mut json, "}}");
        json
    }

    #[cfg(all(mcp_servlet_abi = "hyper-mcp-v2", target_family = "wasm"))]
    fn put(&self, params: &str) -> String {
        crate::host::abi::create_message(params)
    }

    fn read(&self, response: &str) -> Option<Sampled> {
        let content = RawJson::parse(member(response, "content")).ok()?;
        if !content.get().starts_with(['{', '[']) {
            return None;
        }
        let text = |name| from_str::<String>(member(response, name)).ok();
        Some(Sampled {
            content,
            model: text("model").unwrap_or_default(),
            stop_reason: text("stopReason"),
        })
    }
}
