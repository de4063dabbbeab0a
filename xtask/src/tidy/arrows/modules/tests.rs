//! Small crates, with and without circles.

use std::fs;

use tempfile::TempDir;

use super::*;

/// The parts of each circle in a crate with these files.
fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let modules = Modules::read(folder.path()).unwrap();
    let circles = modules.graphs.values().filter_map(shortest_circle);
    let names = circles.map(|circle| circle.iter().map(|part| name(part)).collect());
    names.collect()
}

#[test]
fn follows_the_exports_that_the_crate_root_uses() {
    let root = "mod de; mod raw; pub use de::Reader; pub fn parse() { Reader::read() }";
    let raw = (
        "raw.rs",
        "pub const TOKEN: u8 = 1; fn check() { crate::parse() }",
    );
    let de = (
        "de.rs",
        "pub struct Reader; fn read() { crate::raw::TOKEN; }",
    );
    assert_eq!(
        circles(&[("lib.rs", root), raw, de]),
        [[ROOT, "de", "raw", ROOT]]
    );
    let de = ("de.rs", "pub struct Reader;");
    assert!(circles(&[("lib.rs", root), raw, de]).is_empty());
}

#[test]
fn compares_siblings_at_every_level() {
    let root = ("lib.rs", "mod read;");
    let read = (
        "read.rs",
        "mod list; mod object; fn read() { list::read() }",
    );
    let object = (
        "read/object.rs",
        "use super::list; fn read() { list::read() }",
    );
    let list = ("read/list.rs", "pub fn read() { super::object::read() }");
    assert_eq!(
        circles(&[root, read, object, list]),
        [["read::list", "read::object", "read::list"]]
    );
    // A module and its submodules are one part.
    let list = ("read/list.rs", "pub fn read() { super::read() }");
    assert!(circles(&[root, read, object, list]).is_empty());
}

#[test]
fn follows_globs() {
    let root = ("lib.rs", "mod a; mod b; pub use b::*;");
    let a = ("a.rs", "pub fn one() { crate::two() }");
    let b = ("b.rs", "pub fn two() { crate::a::one() }");
    assert_eq!(circles(&[root, a, b]), [["a", "b", "a"]]);
    let b = ("b.rs", "use crate::a::*; pub fn two() { one() }");
    assert_eq!(circles(&[root, a, b]), [["a", "b", "a"]]);
    let b = ("b.rs", "pub use crate::*; pub fn two() { unknown() }");
    assert!(circles(&[root, a, b]).is_empty());
}

#[test]
fn counts_an_exported_macro_for_its_module() {
    let root = ("lib.rs", "mod a; mod b;");
    let a = "#[macro_export] macro_rules! one { () => { $crate::b::two() } }";
    let b = ("b.rs", "pub fn two() { crate::one!() }");
    assert_eq!(circles(&[root, ("a.rs", a), b]), [["a", "b", "a"]]);
}

#[test]
fn counts_an_exported_macro_for_its_inline_module_in_the_root() {
    let a = "#[macro_export] macro_rules! one { () => { $crate::b::two() } }";
    let root = format!("mod b; mod a {{ {a} }} fn last() {{}}");
    let b = ("b.rs", "pub fn two() { crate::one!() }");
    assert_eq!(circles(&[("lib.rs", &root), b]), [["a", "b", "a"]]);
}

#[test]
fn ignores_tests_variables_and_generated_code() {
    let root = (
        "lib.rs",
        "mod a; mod b; fn root(b: u8) { b; quote! { crate::a::one() } }",
    );
    let a = (
        "a.rs",
        "fn one() { crate::root(1); } #[cfg(test)] mod tests { use crate::b; }",
    );
    let b = ("b.rs", "pub fn two() { crate::a::one() }");
    assert!(circles(&[root, a, b]).is_empty());
}
