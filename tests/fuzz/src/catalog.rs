//! What a server says about itself and its lists, and the client that is generated from them.

use mcp_catalog::{Catalog, Lists};
use xtp_codegen::client::Client;

pub(crate) fn run(bytes: &[u8]) {
    let Ok(lists) = serde_json::from_slice::<Lists>(bytes) else {
        return;
    };
    let mut catalog = Catalog::from(&lists);
    catalog.check_schemas();
    let text = serde_json::to_string(&catalog).expect("a catalog is JSON");
    let again: Catalog = serde_json::from_str(&text).expect("a catalog can be read back");
    assert_eq!(again, catalog);
    assert_eq!(again.to_openapi(), catalog.to_openapi());
    let client = Client::new()
        .generate(&catalog)
        .expect("a client of any catalog");
    syn::parse_file(&client.rust).expect("Rust");
}
