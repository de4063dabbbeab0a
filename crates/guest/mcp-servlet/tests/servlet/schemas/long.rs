//! Very long descriptions: `const` evaluation processes 400 KB of them.

use mcp_servlet::prelude::*;

use crate::schemas::strict::checked_description;

macro_rules! line {
    () => {
        "Everything that a model may want to know about this, with \"quotes\", at length, line by line by line.\n"
    };
}

macro_rules! ten {
    ($text:ident) => {
        concat!(
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!(),
            $text!()
        )
    };
}

macro_rules! page {
    () => {
        ten!(line)
    };
}

macro_rules! book {
    () => {
        ten!(page)
    };
}

macro_rules! library {
    ($($tool:ident)*) => {
        $(#[tool(description = book!())]
        fn $tool() {})*

        #[resource(uri = "docs://long", description = book!())]
        fn resource() -> &'static str {
            ""
        }

        #[prompt(description = book!())]
        fn prompt(#[doc = book!()] a: u8, #[doc = book!()] b: String) -> String {
            format!("{a}{b}")
        }

        mcp_servlet::export!(static LIBRARY = {
            tools: [$($tool),*],
            resources: [resource],
            prompts: [prompt],
        });
    };
}

library! {
    t00 t01 t02 t03 t04 t05 t06 t07 t08 t09
    t10 t11 t12 t13 t14 t15 t16 t17 t18 t19
    t20 t21 t22 t23 t24 t25 t26 t27 t28 t29
    t30 t31 t32 t33 t34 t35 t36 t37 t38 t39
}

#[test]
fn describes_many_tools_and_long_texts() {
    let description = checked_description(&LIBRARY);
    let tools = description["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 40);
    let shown = tools[39]["description"].as_str().unwrap();
    assert_eq!(shown, book!().trim());
}
