//! The parts of plugins in addition to types: refused schemas, first implementations, and build scripts.
//!
//! The goldens compare the generated code, and the end-to-end tests run it.

use std::fs;

use xtp_codegen::{Build, Code, Input, Options, Schema};

fn plugin(schema: &str) -> Result<String, String> {
    let input = Input::new("shop.yaml", schema);
    let schema = Schema::parse(&input).map_err(|problems| problems.to_string())?;
    let plugin = schema.to_plugin(&Options::new());
    plugin.map_err(|problems| problems.to_string())
}

/// An export with an input of this type and content type.
fn export(ty: &str, content_type: &str) -> String {
    format!(
        "version: v1-draft
exports:
  order:
    input: {{{ty}, contentType: {content_type}}}
components:
  schemas:
    Fruit: {{enum: [apple]}}
    Item: {{properties: {{name: {{type: string}}}}}}
"
    )
}

#[test]
fn reports_types_that_a_content_type_cannot_represent() {
    const TEXT: &str = "text/plain; charset=utf-8";
    const BINARY: &str = "application/x-binary";
    let cases = [
        ("type: string", "a string", true, true),
        ("type: string, nullable: true", "a string", true, true),
        ("type: string, format: byte", "a string", true, true),
        ("type: buffer", "bytes", true, true),
        (
            "type: integer, format: uint8",
            "a number or a boolean",
            true,
            false,
        ),
        ("type: number", "a number or a boolean", true, false),
        ("type: boolean", "a number or a boolean", true, false),
        ("$ref: '#/components/schemas/Fruit'", "an enum", true, false),
        (
            "$ref: '#/components/schemas/Item'",
            "an object",
            false,
            false,
        ),
        ("type: object", "an object", false, false),
        (
            "type: object, additionalProperties: {type: string}",
            "an object",
            false,
            false,
        ),
        (
            "type: array, items: {type: string}",
            "an array",
            false,
            false,
        ),
        ("type: string, format: date-time", "a date", false, false),
    ];
    for (ty, what, text, binary) in cases {
        for (content_type, fits) in [(TEXT, text), (BINARY, binary), ("application/json", true)] {
            let found = plugin(&export(ty, content_type)).map(drop);
            let expected = format!(
                "shop.yaml:4:5: error[XTP212]: `{content_type}` cannot carry {what}\n  \
                 help: use `contentType: application/json`"
            );
            assert_eq!(found, if fits { Ok(()) } else { Err(expected) }, "{ty}");
        }
    }
}

#[test]
fn types_can_be_generated_where_glue_cannot() {
    let text = export("type: array, items: {type: string}", "application/x-binary");
    let schema = Schema::parse(&Input::new("shop.yaml", &text)).unwrap();
    assert!(schema.to_rust(&Options::new()).is_ok());
}

#[test]
fn refuses_names_reserved_by_webassembly() {
    let problem = plugin("version: v1-draft\nexports:\n  memory: {}\n").unwrap_err();
    assert_eq!(
        problem,
        "shop.yaml:3:3: error[XTP304]: WebAssembly reserves the name `memory`\n  \
         help: no plugin can export a function of this name: choose another"
    );
    assert!(plugin("version: v1-draft\nexports: {}\nimports:\n  memory: {}\n").is_ok());
}

#[test]
fn refuses_names_of_compiler_functions() {
    let export = |name: &str| plugin(&format!("version: v1-draft\nexports:\n  {name}: {{}}\n"));
    let main = export("main").unwrap_err();
    assert_eq!(
        main,
        "shop.yaml:3:3: error[XTP304]: the compiler gives every `main` the type of C's, which no host calls\n  \
         help: no plugin can export a function of this name: choose another"
    );
    for name in [
        "memcpy",
        "strlen",
        "log",
        "logf",
        "round",
        "atan2f",
        "lgammaf_r",
        "floorf128",
    ] {
        let problem = export(name).unwrap_err();
        let expected = format!(
            "shop.yaml:3:3: error[XTP304]: `{name}` is a function of the compiler's own library, which this would replace"
        );
        assert!(problem.starts_with(&expected), "{problem}");
    }
    for name in ["Main", "logs", "memory2", "rounded", "f"] {
        assert!(export(name).is_ok(), "{name}");
    }
}

#[test]
fn numbers_in_text_are_little_endian_on_request() {
    let text = export("type: integer", "text/plain; charset=utf-8");
    let schema = Schema::parse(&Input::new("shop.yaml", &text)).unwrap();
    let plugin = schema
        .to_plugin(&Options::new().little_endian_text(true))
        .unwrap();
    assert!(
        plugin.contains(r#""order" => order(LittleEndian);"#),
        "{plugin}"
    );
}

const SAMPLES: &str = "
version: v1-draft
exports:
  type: {}
  addItem:
    input: {type: array, items: {type: buffer}, contentType: application/json}
    output: {type: string, contentType: application/json}
    codeSamples:
      - {lang: go, source: return nil}
      - {lang: Rust, source: \"let x = 1;\\n\\nformat!(\\\"no Ok here\\\")\\n\"}
";

#[test]
fn first_implementations_say_that_they_are_not() {
    let schema = Schema::parse(&Input::new("shop.yaml", SAMPLES)).unwrap();
    let stubs = schema.to_stubs("Shop", false, &Options::new()).unwrap();
    assert_eq!(
        stubs,
        r#"impl Exports for Shop {
    fn r#type() -> Result<(), Error> {
        Err(Error::not_implemented("type"))
    }

    fn add_item(_input: Vec<Bytes>) -> Result<String, Error> {
        Err(Error::not_implemented("addItem"))
    }
}
"#
    );
}

/// The official generator pastes samples as code, so a sample without its `Ok` breaks the plugin.
#[test]
fn code_samples_are_comments() {
    let schema = Schema::parse(&Input::new("shop.yaml", SAMPLES)).unwrap();
    let stubs = schema.to_stubs("Shop", true, &Options::new()).unwrap();
    assert_eq!(
        stubs.lines().skip(5).take(7).collect::<Vec<_>>(),
        [
            "    fn add_item(_input: Vec<Bytes>) -> Result<String, Error> {",
            "        // let x = 1;",
            "        //",
            "        // format!(\"no Ok here\")",
            "        Err(Error::not_implemented(\"addItem\"))",
            "    }",
            "}",
        ]
    );
}

#[test]
fn code_samples_have_no_characters_that_hide_others() {
    let text = SAMPLES.replace("let x = 1;", "let\\u202e x\\r= 1;");
    let schema = Schema::parse(&Input::new("shop.yaml", &text)).unwrap();
    let stubs = schema.to_stubs("Shop", true, &Options::new()).unwrap();
    assert_eq!(
        stubs.lines().skip(6).take(3).collect::<Vec<_>>(),
        ["        // let x", "        // = 1;", "        //"]
    );
}

#[test]
fn a_build_script_gets_a_file_named_after_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("fruitShop.yaml");
    fs::write(&schema, export("type: object", "application/json")).unwrap();
    let build = Build::new(&schema);
    let (path, warnings) = build.write_to(folder.path()).unwrap();
    assert_eq!(path.file_name().unwrap(), "fruit_shop.rs");
    assert!(warnings.is_empty(), "{warnings}");
    let first = fs::read_to_string(&path).unwrap();
    assert!(first.starts_with("// @generated from "), "{first}");
    assert!(first.contains("fn order(input: ::mcp_servlet::RawObject) -> Result<(), Error> {"));
    build.write_to(folder.path()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
}

#[test]
fn build_script_reports_errors() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("shop.yaml");
    let shown = schema.display();
    let error = |build: Build| build.write_to(folder.path()).unwrap_err().to_string();
    let missing = error(Build::new(&schema));
    assert!(
        missing.starts_with(&format!("cannot read `{shown}`: ")),
        "{missing}"
    );
    fs::write(&schema, "version: v1-draft\nexports:\n  a: {input: {type: nosuch, contentType: application/json}}\n").unwrap();
    let wrong = error(Build::new(&schema));
    assert!(
        wrong.starts_with(&format!("{shown}:3:21: error[XTP201]: ")),
        "{wrong}"
    );
}

#[test]
fn base64_that_is_to_be_decoded_is_in_json() {
    let schema = |content_type: &str| {
        let text = format!(
            "version: v1-draft\nexports:\n  up:\n    input: {{type: string, format: byte, contentType: {content_type}}}\n"
        );
        Schema::parse(&Input::new("schema.yaml", &text)).unwrap()
    };
    let decoding = Options::new().decode_byte(true);
    let text = schema("text/plain; charset=utf-8");
    assert!(text.to_plugin(&Options::new()).is_ok());
    let problems = text.to_plugin(&decoding).unwrap_err();
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::Payload]);
    assert!(schema("application/json").to_plugin(&decoding).is_ok());
}
