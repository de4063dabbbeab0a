//! Samples of the client's model (sampling).

use mcp_servlet_json::{RawJson, from_str, to_writer, write_object, write_raw, write_u64};
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
    let mut messages = String::new();
    write_object(&mut messages, |message| {
        message.string("role", "user");
        message.object("content", |content| {
            content.string("type", "text");
            content.string("text", prompt.as_ref());
        });
    });
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
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        write_raw(&mut self.messages, ",");
        write_object(&mut self.messages, |message| {
            message.string("role", role);
            // Content blocks are strings, numbers and JSON text, so this cannot fail.
            let _ = to_writer(message.key("content"), content);
        });
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
        json.object("params", |params| {
            let messages = params.key("messages");
            for part in ["[", &self.messages, "]"] {
                write_raw(messages, part);
            }
            write_u64(params.key("maxTokens"), self.max_tokens.into());
            if let Some(system) = &self.system {
                params.string("systemPrompt", system);
            }
        });
        json.finish()
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
