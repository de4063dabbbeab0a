use mcp_servlet::Schema;

#[derive(Clone, serde::Serialize, Schema)]
#[serde(from = "u8", into = "String")]
struct Code(u8);

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.0.to_string()
    }
}

fn main() {}
