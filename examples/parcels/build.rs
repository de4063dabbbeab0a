//! Generates Rust code from the schema.

fn main() {
    xtp_codegen::Build::new("shop.yaml").generate();
}
