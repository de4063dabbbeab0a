//! The table: what mcp.run, hyper-mcp v1, hyper-mcp v2 and the host of this project do with each feature.

use mcp_servlet_host::FeatureKind;
use mcp_servlet_runtime::ContentFeature;

use super::{
    Feature,
    Shown::{self, But, No, Not, Yes},
    Sign::{self, Answer, Content, Export, Import, Listed, Member, SeveralTools},
};

const PREFIXED: Shown = But("as `plugin-name`");
const REFUSED: Shown = Not("the request is an error for the tool");
const UNREADABLE: Shown = But("with URIs that clients cannot read");
const UNKNOWN_TYPE: Shown =
    Not("the schemas for one and for several tools lack the type, so the whole result is lost");
const INCOMPLETE: Shown =
    Not("the schema for several tools requires both members, so the whole result is lost");
const UNLOADED: Shown = Not("a module that imports the function does not load");
const UNCALLED: Shown = Not("the build leaves the function out, and each call is an error");
const STRICT: &str =
    "build with `--abi servlet-strict` for hosts that read results with these schemas";

/// All features, by theme.
pub(crate) const THEMES: [(&str, &[Feature]); 5] = [
    ("Tools", &TOOLS),
    ("Results", &RESULTS),
    ("Calls", &CALLS),
    ("Other features", &OTHER_FEATURES),
    ("Servlet", &SERVLET),
];

const TOOLS: [Feature; 7] = [
    unseen(
        "names, descriptions and input schemas",
        [
            Yes,
            PREFIXED,
            PREFIXED,
            But("with a prefix if two servlets have the same name"),
        ],
    ),
    seen(
        "several tools of one servlet",
        SeveralTools,
        "build a servlet per tool for hosts with the schema for one tool",
        [
            But("unless the host reads `describe` with the schema for one tool"),
            Yes,
            Yes,
            Yes,
        ],
    ),
    seen(
        "titles",
        Member(FeatureKind::Tool, "title"),
        "nothing is lost to the model, which reads the name and the description",
        [No, Yes, Yes, Yes],
    ),
    seen(
        "output schemas",
        Member(FeatureKind::Tool, "outputSchema"),
        "describe the result in the description, and return it as text as well",
        [No, Yes, Yes, Yes],
    ),
    seen(
        "annotations such as `readOnlyHint`",
        Member(FeatureKind::Tool, "annotations"),
        "state in the description what the tool changes",
        [No, Yes, Yes, Yes],
    ),
    seen(
        "icons",
        Member(FeatureKind::Tool, "icons"),
        "nothing is lost to the model",
        [No, Yes, Yes, Yes],
    ),
    seen(
        "`_meta`",
        Member(FeatureKind::Tool, "_meta"),
        "nothing is lost to the model; a client that needs it, such as one that shows user interfaces, does not get it",
        [No, Yes, Yes, Yes],
    ),
];

const RESULTS: [Feature; 12] = [
    unseen("text and images", [Yes, Yes, Yes, Yes]),
    unseen(
        "`isError`",
        [
            But("not through its Python client, which only passes on the content"),
            Yes,
            Yes,
            Yes,
        ],
    ),
    seen(
        "audio",
        Content(&[ContentFeature::Audio], &[]),
        STRICT,
        [UNKNOWN_TYPE, Yes, Yes, Yes],
    ),
    seen(
        "embedded resources",
        Content(&[ContentFeature::Resource], &[]),
        "also return the text in a block of its own",
        [
            But(
                "if the host reads the key `resource`: the schema for one tool has `Resource`, the one for several tools neither",
            ),
            UNREADABLE,
            UNREADABLE,
            Yes,
        ],
    ),
    seen(
        "links to resources",
        Content(&[ContentFeature::ResourceLink], &[]),
        "offer a tool that reads the resource; for mcp.run, also build with `--abi servlet-strict`",
        [UNKNOWN_TYPE, UNREADABLE, UNREADABLE, Yes],
    ),
    unseen("structured content", [No, Yes, Yes, Yes]),
    seen(
        "audience without a priority",
        Content(&[ContentFeature::Audience], &[ContentFeature::Priority]),
        STRICT,
        [INCOMPLETE, Yes, Yes, Yes],
    ),
    seen(
        "priority without an audience",
        Content(&[ContentFeature::Priority], &[ContentFeature::Audience]),
        STRICT,
        [INCOMPLETE, Yes, Yes, Yes],
    ),
    seen(
        "time of the last change without audience and priority",
        Content(
            &[ContentFeature::LastModified],
            &[ContentFeature::Audience, ContentFeature::Priority],
        ),
        STRICT,
        [INCOMPLETE, Yes, Yes, Yes],
    ),
    seen(
        "audience and priority",
        Content(&[ContentFeature::Audience, ContentFeature::Priority], &[]),
        STRICT,
        [But("only together"), Yes, Yes, Yes],
    ),
    unseen("`_meta`", [No, Yes, Yes, Yes]),
    unseen(
        "code and data of a fault",
        [
            Not("text only"),
            Not("always -32603"),
            Not("always -32603"),
            Yes,
        ],
    ),
];

const CALLS: [Feature; 7] = [
    unseen(
        "configuration, variables, HTTP, clock and randomness",
        [Yes, Yes, Yes, Yes],
    ),
    unseen("`_meta` of the request", [No, No, Yes, Yes]),
    unseen(
        "the client's name and capabilities",
        [No, No, But("if the request has them"), Yes],
    ),
    seen(
        "elicitation, sampling and roots",
        Sign::InputRequest,
        "let the tool work without a response, for example with an argument instead; for hyper-mcp, build with `--abi hyper-mcp-v2`",
        [REFUSED, REFUSED, Yes, Yes],
    ),
    // The imports of a module have a finding of their own.
    unseen("calls of tools", [UNLOADED, UNLOADED, UNCALLED, Yes]),
    seen(
        "progress",
        Import("notify_progress"),
        "tools work without it",
        [
            UNLOADED,
            Not("the token never reaches the servlet"),
            Yes,
            Yes,
        ],
    ),
    seen(
        "lines for the client's log",
        Import("notify_logging_message"),
        "log with `Context::log` as well, which writes to the host's own log",
        [UNLOADED, Yes, Yes, Yes],
    ),
];

const OTHER_FEATURES: [Feature; 5] = [
    seen(
        "resources",
        Listed(FeatureKind::Resource),
        "offer a tool that reads them",
        [
            No,
            No,
            But("under URIs that contain the plugin's name"),
            Yes,
        ],
    ),
    seen(
        "resource templates",
        Listed(FeatureKind::ResourceTemplate),
        "offer a tool that reads them",
        [
            No,
            No,
            Not("`{` and `}` come out percent-encoded, and clients cannot fill them in"),
            Yes,
        ],
    ),
    seen(
        "prompts",
        Listed(FeatureKind::Prompt),
        "offer a tool, or put the text of the prompt into the description of a tool",
        [No, No, PREFIXED, Yes],
    ),
    seen(
        "completions",
        Export("complete"),
        "name the possible values in descriptions",
        [
            No,
            No,
            But("of templates, with `{` and `}` percent-encoded"),
            Yes,
        ],
    ),
    seen(
        "further pages of a list",
        Answer("nextCursor"),
        "list everything at once",
        [No, No, No, No],
    ),
];

const SERVLET: [Feature; 2] = [
    seen(
        "instructions",
        Answer("instructions"),
        "put them into the descriptions of tools",
        [No, No, No, Yes],
    ),
    // Every servlet has them, so a finding would not help.
    unseen("name and version of the servlet", [No, No, No, Yes]),
];

const fn seen(name: &'static str, sign: Sign, instead: &'static str, shown: [Shown; 4]) -> Feature {
    let seen = Some((sign, instead));
    Feature { name, seen, shown }
}

const fn unseen(name: &'static str, shown: [Shown; 4]) -> Feature {
    Feature {
        name,
        seen: None,
        shown,
    }
}
