//! Makes Rust of the schema.

fn main() {
    xtp_codegen::Build::new("shop.yaml").generate();
}
