//! Plugins with an XTP schema: payloads, errors, and mocks of hosts.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::rc::Rc;

use mcp_servlet::xtp::{Bytes, Plugin};
use pantry::{Amount, Error, Exports, Fruit};

/// A handwritten copy of generated code, with every shape of function.
#[allow(unreachable_pub, reason = "generated code does not know who uses it")]
mod pantry {
    pub use mcp_servlet::xtp::{Bytes, Error};

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    pub struct Amount {
        pub fruit: Fruit,
        pub grams: Option<u16>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    pub enum Fruit {
        #[serde(rename = "apple")]
        Apple,
        #[serde(rename = "blood_orange")]
        BloodOrange,
    }

    impl mcp_servlet::xtp::Word for Fruit {}

    pub trait Exports {
        fn add(_input: Amount) -> Result<Amount, Error> {
            Err(Error::not_implemented("add"))
        }
        fn r#type(_input: Fruit) -> Result<Fruit, Error> {
            Err(Error::not_implemented("type"))
        }
        fn half(_input: i64) -> Result<f64, Error> {
            Err(Error::not_implemented("half"))
        }
        fn maybe(_input: Option<String>) -> Result<Option<String>, Error> {
            Err(Error::not_implemented("maybe$"))
        }
        fn raw(_input: Bytes) -> Result<Bytes, Error> {
            Err(Error::not_implemented("raw"))
        }
        fn is_old(_input: i32) -> Result<bool, Error> {
            Err(Error::not_implemented("is_old"))
        }
        fn nothing() -> Result<(), Error> {
            Err(Error::not_implemented("nothing"))
        }
        fn call(_input: String) -> Result<String, Error> {
            Err(Error::not_implemented("call"))
        }
    }

    macro_rules! __export {
        ($plugin:ty) => {
            ::mcp_servlet::xtp::__export! { <$plugin as Exports> {
                "add" => add(ApplicationJson) -> ApplicationJson;
                "type" => r#type(TextPlain) -> TextPlain;
                "half" => half(TextPlain) -> TextPlain;
                "maybe$" => maybe(TextPlain) -> TextPlain;
                "raw" => raw(XBinary) -> ApplicationJson;
                "is_old" => is_old(LittleEndian) -> LittleEndian;
                "nothing" => nothing();
                "call" => call(TextPlain) -> TextPlain;
            } }
        };
    }
    pub(crate) use __export as export;

    pub mod host {
        use super::{Amount, Bytes, Error};

        pub trait Host {
            fn stock(&self, _input: &str) -> Result<Option<String>, Error> {
                Err(Error::not_mocked("stock"))
            }
            fn weigh(&self, _input: &Amount) -> Result<f32, Error> {
                Err(Error::not_mocked("weigh"))
            }
            fn store(&self, _input: &Bytes) -> Result<(), Error> {
                Err(Error::not_mocked("store"))
            }
            fn seed(&self) -> Result<u64, Error> {
                Err(Error::not_mocked("seed"))
            }
            fn ping(&self) -> Result<(), Error> {
                Err(Error::not_mocked("ping"))
            }
        }

        ::mcp_servlet::xtp::__host!(static HOST: Host);

        pub fn mock<R>(host: std::rc::Rc<impl Host + 'static>, test: impl FnOnce() -> R) -> R {
            ::mcp_servlet::xtp::mock(&HOST, host, test)
        }

        pub fn stock(input: &str) -> Result<Option<String>, Error> {
            ::mcp_servlet::xtp::__import!(HOST, "stock", stock(input: TextPlain = input) -> TextPlain)
        }
        pub fn weigh(input: &Amount) -> Result<f32, Error> {
            ::mcp_servlet::xtp::__import!(HOST, "weigh", weigh(input: ApplicationJson = input) -> ApplicationJson)
        }
        pub fn store(input: &Bytes) -> Result<(), Error> {
            ::mcp_servlet::xtp::__import!(HOST, "store", store(input: XBinary = input))
        }
        pub fn seed() -> Result<u64, Error> {
            ::mcp_servlet::xtp::__import!(HOST, "seed", seed() -> LittleEndian)
        }
        pub fn ping() -> Result<(), Error> {
            ::mcp_servlet::xtp::__import!(HOST, "ping", ping())
        }
    }
}

struct Pantry;

impl Exports for Pantry {
    fn add(input: Amount) -> Result<Amount, Error> {
        let grams = input
            .grams
            .unwrap_or(100)
            .checked_mul(2)
            .ok_or("too much")?;
        pantry::host::store(&Bytes::from(vec![1, 2]))?;
        Ok(Amount {
            grams: Some(grams),
            ..input
        })
    }

    fn r#type(input: Fruit) -> Result<Fruit, Error> {
        Ok(input)
    }

    fn half(input: i64) -> Result<f64, Error> {
        #[expect(clippy::cast_precision_loss, reason = "the test's numbers are small")]
        Ok(input as f64 / 2.0)
    }

    fn maybe(input: Option<String>) -> Result<Option<String>, Error> {
        Ok(input.map(|text| text.to_uppercase()))
    }

    fn raw(input: Bytes) -> Result<Bytes, Error> {
        Ok(input)
    }

    fn is_old(input: i32) -> Result<bool, Error> {
        Ok(input > 256)
    }

    fn call(input: String) -> Result<String, Error> {
        Ok(input)
    }
}

pantry::export!(Pantry);

#[derive(Default)]
struct Shelf {
    stored: RefCell<Vec<Bytes>>,
}

impl pantry::host::Host for Shelf {
    fn stock(&self, input: &str) -> Result<Option<String>, Error> {
        Ok(Some(input.replace('a', "")))
    }

    fn weigh(&self, input: &Amount) -> Result<f32, Error> {
        Ok(f32::from(input.grams.unwrap_or(0)))
    }

    fn store(&self, input: &Bytes) -> Result<(), Error> {
        self.stored.borrow_mut().push(input.clone());
        Ok(())
    }

    fn seed(&self) -> Result<u64, Error> {
        Ok(u64::MAX)
    }
}

fn call(export: &str, input: &[u8]) -> Result<String, String> {
    let output = <Pantry as Plugin>::call(export, input).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

#[test]
fn payloads_match_their_content_type() {
    for (export, input, output) in [
        ("type", "blood_orange".as_bytes(), "blood_orange"),
        ("half", b"-7", "-3.5"),
        ("half", b"4", "2"),
        ("maybe$", b"", ""),
        ("maybe$", "smörgås".as_bytes(), "SMÖRGÅS"),
        ("raw", b"\x00\x01\xff", r#""AAH/""#),
        ("is_old", &[0, 1, 0, 0], "\0"),
        ("is_old", &[1, 1, 0, 0], "\u{1}"),
        (
            "call",
            b"a name that the trait `Plugin` has too",
            "a name that the trait `Plugin` has too",
        ),
    ] {
        assert_eq!(call(export, input).as_deref(), Ok(output), "{export}");
    }
}

#[test]
fn invalid_payload_error_names_export_and_pointer() {
    for (export, input, error) in [
        (
            "add",
            b"" as &[u8],
            "input of export `add`: unexpected end of the text at offset 0",
        ),
        (
            "add",
            br#"{"grams":70000,"fruit":"apple"}"#,
            "input of export `add`: number out of range at offset 9, in `/grams`: got the number 70000",
        ),
        (
            "add",
            br#"{"fruit":"plum"}"#,
            "input of export `add`: unknown variant `plum`, expected apple or blood_orange at offset 9, in `/fruit`",
        ),
        (
            "type",
            b"plum",
            "input of export `type`: expected `apple` or `blood_orange`, got \"plum\"",
        ),
        (
            "type",
            b"\"apple\"",
            r#"input of export `type`: expected `apple` or `blood_orange`, got "\"apple\"""#,
        ),
        (
            "half",
            b"x",
            r#"input of export `half`: expected a decimal number that fits an `i64`, got "x""#,
        ),
        (
            "half",
            b"",
            "input of export `half`: expected a decimal number that fits an `i64`, got nothing",
        ),
        (
            "maybe$",
            b"a\xff",
            "input of export `maybe$`: invalid UTF-8 at offset 1",
        ),
        (
            "is_old",
            b"17",
            r#"input of export `is_old`: expected the little-endian bytes of an `i32`, got "17""#,
        ),
        ("nothing", b"ignored", "export `nothing` is not implemented"),
        ("nosuch", b"", "there is no export `nosuch`"),
        ("add", br#"{"grams":65535,"fruit":"apple"}"#, "too much"),
    ] {
        assert_eq!(call(export, input).unwrap_err(), error);
    }
}

#[test]
fn a_test_brings_its_own_host() {
    let shelf = Rc::new(Shelf::default());
    let amount = br#"{"fruit":"apple"}"#;
    let output = pantry::host::mock(shelf.clone(), || call("add", amount));
    assert_eq!(output.as_deref(), Ok(r#"{"fruit":"apple","grams":200}"#));
    assert_eq!(*shelf.stored.borrow(), [Bytes::from(b"\x01\x02")]);
    let error = call("add", amount).unwrap_err();
    assert_eq!(
        error,
        "import `store` needs a host: run the test inside of `host::mock`"
    );
}

#[test]
fn mocked_imports_convert_values_like_a_host() {
    pantry::host::mock(Rc::new(Shelf::default()), || {
        assert_eq!(pantry::host::stock("banana"), Ok(Some("bnn".to_owned())));
        assert_eq!(
            pantry::host::stock("aa"),
            Ok(None),
            "as text, nothing and empty are the same"
        );
        assert_eq!(pantry::host::seed(), Ok(u64::MAX));
        let amount = Amount {
            fruit: Fruit::Apple,
            grams: Some(7),
        };
        assert_eq!(pantry::host::weigh(&amount), Ok(7.0));
        let error = pantry::host::ping().unwrap_err();
        assert_eq!(
            error.message(),
            "import `ping` is not part of the test's host"
        );
    });
}

#[test]
fn exports_are_listed_in_the_order_of_the_schema() {
    let names: Vec<_> = Pantry::EXPORTS.iter().map(|export| export.name).collect();
    assert_eq!(
        names,
        [
            "add", "type", "half", "maybe$", "raw", "is_old", "nothing", "call"
        ]
    );
}
