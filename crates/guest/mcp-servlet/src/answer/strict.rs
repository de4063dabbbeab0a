//! Content blocks in the forms of the two interfaces that servlets had first.
//!
//! Hosts that read results with the types of these interfaces lose a whole result if one block has an unknown type. In
//! the ABI `servlet-strict`, each block has a form that they can read; `docs/abis.md` has the table.

use mcp_servlet_json::{to_writer, write_raw, write_string, write_u64};
use mcp_servlet_types::{Annotations, Content, ContentType, ResourceContents, Role};

/// Writes a block.
pub(crate) fn write(json: &mut String, block: &Content) {
    let mut lowered = match block.r#type {
        ContentType::Audio => Content::text(about_audio(block)),
        ContentType::ResourceLink => Content::text(about_link(block)),
        ContentType::Text | ContentType::Image | ContentType::Resource => block.clone(),
    };
    lowered.annotations = block.annotations.as_ref().and_then(complete);
    // Content blocks are strings, numbers and JSON text, so this cannot fail.
    let _ = to_writer(&mut *json, &lowered);
    if let Some(contents) = &lowered.resource {
        json.pop();
        write_raw(json, ",\"Resource\":");
        write_resource(json, contents);
        json.push('}');
    }
}

/// Both members: a block without an audience is for everyone. Nothing if there is no priority, which has no default.
fn complete(annotations: &Annotations) -> Option<Annotations> {
    annotations.priority?;
    let mut annotations = annotations.clone();
    let everyone = || vec![Role::User, Role::Assistant];
    annotations.audience.get_or_insert_with(everyone);
    Some(annotations)
}

/// `[audio/wav, 1200 bytes: this host shows no audio]`
fn about_audio(block: &Content) -> String {
    let base64 = block.data.as_deref().unwrap_or_default();
    let bytes = base64.trim_end_matches('=').len() as u64 * 3 / 4;
    let mut text = String::from("[");
    write_raw(&mut text, block.mime_type.as_deref().unwrap_or("audio"));
    write_raw(&mut text, ", ");
    write_u64(&mut text, bytes);
    write_raw(&mut text, " bytes: this host shows no audio]");
    text
}

/// `[resource] name: description <uri>`
fn about_link(block: &Content) -> String {
    let mut text = String::from("[resource] ");
    let name = block.title.as_deref().or(block.name.as_deref());
    write_raw(&mut text, name.unwrap_or_default());
    if let Some(description) = &block.description {
        write_raw(&mut text, ": ");
        write_raw(&mut text, description);
    }
    write_raw(&mut text, " <");
    write_raw(&mut text, block.uri.as_deref().unwrap_or_default());
    write_raw(&mut text, ">");
    text
}

/// The contents as the first interface has them: `{"uri": …, "text": {"uri": …, "text": …}}`, or `blob` instead.
fn write_resource(json: &mut String, contents: &ResourceContents) {
    write_raw(json, "{\"uri\":");
    write_string(json, &contents.uri);
    let member = if contents.blob.is_some() {
        ",\"blob\":"
    } else {
        ",\"text\":"
    };
    write_raw(json, member);
    // As above.
    let _ = to_writer(&mut *json, contents);
    json.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(block: &Content) -> String {
        let mut json = String::new();
        write(&mut json, block);
        json
    }

    #[test]
    fn blocks_that_have_no_type_become_text() {
        let audio = written(&Content::audio(&[0; 100], "audio/wav"));
        let text = r#"{"type":"text","text":"[audio/wav, 100 bytes: this host shows no audio]"}"#;
        assert_eq!(audio, text);
        let mut link = Content::resource_link("file:///a", "a");
        assert_eq!(
            written(&link),
            r#"{"type":"text","text":"[resource] a <file:///a>"}"#
        );
        link.description = Some("the first".to_owned());
        assert_eq!(
            written(&link),
            r#"{"type":"text","text":"[resource] a: the first <file:///a>"}"#
        );
    }

    #[test]
    fn embedded_resources_have_a_second_key() {
        let text = r#"{"uri":"x://a","text":"A"}"#;
        let expected = format!(
            r#"{{"type":"resource","resource":{text},"Resource":{{"uri":"x://a","text":{text}}}}}"#
        );
        assert_eq!(written(&Content::text_resource("x://a", "A")), expected);
        let blob = written(&Content::blob_resource("x://a", b"foo"));
        assert!(
            blob.ends_with(r#""Resource":{"uri":"x://a","blob":{"uri":"x://a","blob":"Zm9v"}}}"#),
            "{blob}"
        );
    }

    #[test]
    fn annotations_have_both_members_or_are_left_out() {
        let of =
            |annotations: Annotations| written(&Content::text("a").with_annotations(annotations));
        let start = r#"{"type":"text","text":"a""#;
        let both = r#","annotations":{"audience":["user"],"priority":0.25}}"#;
        let set = Annotations::for_user().with_priority(0.25);
        assert_eq!(of(set), format!("{start}{both}"));
        let everyone = r#","annotations":{"audience":["user","assistant"],"priority":1.0}}"#;
        let set = Annotations::default().with_priority(1.0);
        assert_eq!(of(set), format!("{start}{everyone}"));
        let epoch = std::time::SystemTime::UNIX_EPOCH;
        for set in [
            Annotations::for_user(),
            Annotations::default().with_last_modified(epoch),
        ] {
            assert_eq!(of(set), format!("{start}}}"));
        }
    }
}
