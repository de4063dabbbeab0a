//! Variables as values of the author's types.

use mcp_servlet_json::{from_slice, to_string, write_raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Context;
use crate::answer::error::ToolError;

impl Context {
    /// The variable `key` as set by [`set_var_json`](Self::set_var_json).
    ///
    /// It lasts as long as any other [variable](Self::var).
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    ///
    /// /// Counts its calls.
    /// #[tool]
    /// fn count(context: &Context) -> Result<u32, ToolError> {
    ///     let calls = context.var_json("calls")?.unwrap_or(0) + 1;
    ///     context.set_var_json("calls", &calls)?;
    ///     Ok(calls)
    /// }
    /// # let context = Context::default();
    /// # assert_eq!((count(&context).unwrap(), count(&context).unwrap()), (1, 2));
    /// ```
    ///
    /// # Errors
    ///
    /// If the variable is not the JSON of a `T`.
    pub fn var_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let Some(bytes) = self.var(key) else {
            return Ok(None);
        };
        from_slice(&bytes).map(Some).map_err(|_| wrong(key))
    }

    /// Sets the variable `key` to the JSON of a value.
    ///
    /// # Errors
    ///
    /// If the value cannot be written as JSON; see
    /// [`to_string`](https://docs.rs/serde_json/latest/serde_json/fn.to_string.html).
    pub fn set_var_json(
        &self,
        key: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), ToolError> {
        self.set_var(key, to_string(value)?.as_bytes());
        Ok(())
    }
}

#[cold]
fn wrong(key: &str) -> ToolError {
    let mut message = String::from("the variable `");
    write_raw(&mut message, key);
    write_raw(
        &mut message,
        "` holds something else than what is read from it",
    );
    ToolError::new(message)
}
