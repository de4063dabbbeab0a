//! Every server feature of MCP, with the names that the official conformance suite uses.

mod content;
mod notices;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod schemas;

/// Marks tools that ask the client for input.
const ASKS: mcp_servlet::Meta = mcp_servlet::Meta::bool("mcp-servlet/asks", true);

mcp_servlet::export!(static SERVLET = {
    instructions: "Shows one of everything that MCP has; nothing here is of use.",
    tools: [
        content::test_simple_text,
        content::test_image_content,
        content::test_audio_content,
        content::test_embedded_resource,
        content::test_multiple_content_types,
        content::test_resource_link,
        content::test_error_handling,
        schemas::test_structured_content,
        schemas::test_custom_header,
        schemas::json_schema_2020_12_tool,
        notices::test_tool_with_logging,
        notices::test_logging_tool,
        notices::test_tool_with_progress,
        notices::test_reconnection,
        questions::test_sampling,
        questions::test_elicitation,
        questions::test_elicitation_sep1034_defaults,
        questions::test_elicitation_sep1330_enums,
        questions::test_missing_capability,
        questions::test_streaming_elicitation,
        rounds::test_input_required_result_elicitation,
        rounds::test_input_required_result_sampling,
        rounds::test_input_required_result_list_roots,
        rounds::test_input_required_result_request_state,
        rounds::test_input_required_result_multiple_inputs,
        rounds::test_input_required_result_multi_round,
        rounds::test_input_required_result_tampered_state,
        rounds::test_input_required_result_capabilities,
    ],
    resources: [
        resources::static_text,
        resources::static_binary,
        resources::watched_resource,
        resources::template,
    ],
    prompts: [
        prompts::test_simple_prompt,
        prompts::test_prompt_with_arguments,
        prompts::test_prompt_with_embedded_resource,
        prompts::test_prompt_with_image,
        prompts::test_input_required_result_prompt,
    ],
    completions: [prompts::words, resources::ids],
});

#[cfg(test)]
mod tests;
