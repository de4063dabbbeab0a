use mcp_servlet::xtp::{Call, Error};

fn run(call: &mut Call) -> Result<(), Error> {
    let _: Vec<i64> = call.input::<mcp_servlet::xtp::encoding::TextPlain, _>()?;
    Ok(())
}

fn main() {
    let _ = run;
}
