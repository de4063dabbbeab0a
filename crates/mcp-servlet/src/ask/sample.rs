//! Samples of the client's model.

use mcp_servlet_json::{from_str, to_writer, write_raw, write_string, write_u64};
use mcp_servlet_types::{Content, Role};

use super::{Needs, Question};
use crate::json::member;

/// A prompt for the client's model; see [`sample`].
#[derive(Debug, Clone)]
pub struct Sample {
    key: String,
    messages: Vec<(Role, Content)>,
    max_tokens: u32,
    system: Option<String>,
}

/// Lets the client's model answer a prompt, in at most 1000 tokens unless said otherwise.
pub fn sample(key: impl Into<String>, prompt: impl Into<String>) -> Sample {
    Sample {
        key: key.into(),
        messages: vec![(Role::User, Content::text(prompt))],
        max_tokens: 1000,
        system: None,
    }
}

impl Sample {
    /// The same with a further message, of the user or of the model itself.
    #[must_use]
    pub fn with_message(mut self, role: Role, content: Content) -> Self {
        self.messages.push((role, content));
        self
    }

    /// The same with another bound on the length of the answer, in tokens.
    #[must_use]
    pub fn with_max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens, ..self }
    }

    /// The same with a system prompt, which clients may change or leave out.
    #[must_use]
    pub fn with_system_prompt(self, system: impl Into<String>) -> Self {
        Self {
            system: Some(system.into()),
            ..self
        }
    }
}

/// What the client's model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The answer, piece by piece.
    pub content: Vec<Content>,
    /// The model, by the client's name for it.
    pub model: String,
    /// Why it stopped, such as `endTurn` or `maxTokens`, if the client says.
    pub stop_reason: Option<String>,
}

impl Sampled {
    /// The text of the answer.
    pub fn text(&self) -> String {
        let texts = self
            .content
            .iter()
            .filter_map(|block| block.text.as_deref());
        texts.collect()
    }
}

impl Question for Sample {
    type Answer = Sampled;

    fn key(&self) -> &str {
        &self.key
    }

    fn needs(&self) -> Needs {
        Needs::Sampling
    }

    fn request(&self) -> String {
        let mut json =
            String::from("{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[");
        for (index, (role, content)) in self.messages.iter().enumerate() {
            write_raw(&mut json, if index > 0 { "," } else { "" });
            write_raw(
                &mut json,
                match role {
                    Role::User => "{\"role\":\"user\",\"content\":",
                    Role::Assistant => "{\"role\":\"assistant\",\"content\":",
                },
            );
            // Content blocks are strings, numbers and JSON text: there is nothing that can fail.
            let _ = to_writer(&mut json, content);
            write_raw(&mut json, "}");
        }
        write_raw(&mut json, "],\"maxTokens\":");
        write_u64(&mut json, self.max_tokens.into());
        if let Some(system) = &self.system {
            write_raw(&mut json, ",\"systemPrompt\":");
            write_string(&mut json, system);
        }
        write_raw(&mut json, "}}");
        json
    }

    fn read(&self, response: &str) -> Option<Sampled> {
        let content = member(response, "content");
        let content = if content.starts_with('[') {
            from_str(content).ok()?
        } else {
            vec![from_str(content).ok()?]
        };
        let text = |name| from_str::<String>(member(response, name)).ok();
        Some(Sampled {
            content,
            model: text("model").unwrap_or_default(),
            stop_reason: text("stopReason"),
        })
    }
}
