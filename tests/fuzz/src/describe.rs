//! The output of `describe`.

pub(crate) fn run(bytes: &[u8]) {
    if let Err(error) = mcp_servlet_host::__private::check_description(bytes.to_owned()) {
        let text = error.to_string();
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}
