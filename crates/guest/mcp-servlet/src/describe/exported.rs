//! The functions that `export!` lists: for each one its description, and its entry for the dispatcher.

use crate::arguments::{Arguments, Failure, check_limits};
use crate::host::context::Context;

/// A kind of function, by its attribute.
pub trait Kind: Sized {
    /// The description for clients. Only `const` evaluation uses it, so it is not linked.
    type Def: Copy;
    /// What the dispatcher needs.
    type Entry: Copy;
    /// The result of a call.
    type Output;
    /// Used instead of a function that has errors, so that they cause no further ones.
    const PLACEHOLDER: Item<Self>;
}

/// The kinds, which have the names of the attributes.
#[allow(non_camel_case_types, reason = "attributes have such names")]
pub mod kind {
    /// `#[tool]`
    #[derive(Debug, Clone, Copy)]
    pub struct tool;
    /// `#[resource]` and `#[resource_template]`
    #[derive(Debug, Clone, Copy)]
    pub struct resource;
    /// `#[prompt]`
    #[derive(Debug, Clone, Copy)]
    pub struct prompt;
    /// `#[completion]`
    #[derive(Debug, Clone, Copy)]
    pub struct completion;
}

/// A function with one of the attributes. The attribute implements it for a type with the function's name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in the wrong section of `export!`",
    label = "this function has another attribute",
    note = "`tools` lists functions with `#[tool]`, `resources` those with `#[resource]` or `#[resource_template]`, \
            `prompts` those with `#[prompt]`, `completions` those with `#[completion]`"
)]
pub trait Exported<K: Kind> {
    /// What `export!` lists. A function of another kind causes one error, at its name.
    const ITEM: Item<K>;
    /// The schema of the arguments as JSON text, to check limits that are not part of their types.
    const SCHEMA: &'static [u8] = &[];
    /// The ways to run the function.
    const RUNS: Runs<K> = Runs {
        plain: Self::run,
        checked: Self::check_and_run,
    };

    /// Reads the arguments, runs the function and converts its return value into a result.
    fn run<'a>(context: &Context, arguments: Arguments<'a>) -> Result<K::Output, Failure<'a>>;

    /// Checks the limits of the arguments, and then does the same as [`run`](Self::run).
    fn check_and_run<'a>(
        context: &Context,
        arguments: Arguments<'a>,
    ) -> Result<K::Output, Failure<'a>> {
        check_limits(Self::SCHEMA, &arguments)?;
        Self::run(context, arguments)
    }
}

/// Runs a function with these arguments.
pub(crate) type Run<T> = for<'a> fn(&Context, Arguments<'a>) -> Result<T, Failure<'a>>;

/// The ways to run a function. A servlet only links those that its entries have.
#[derive(Debug, Clone, Copy)]
pub struct Runs<K: Kind> {
    plain: Run<K::Output>,
    /// The same, after it has checked the limits of the arguments.
    checked: Run<K::Output>,
}

impl<K: Kind> Runs<K> {
    /// Runs a function whose arguments are only limited by their types.
    pub(crate) const fn plain(&self) -> Run<K::Output> {
        self.plain
    }

    /// Runs a function whose arguments may have further limits.
    pub(crate) const fn with_limits(&self, are_limited: bool) -> Run<K::Output> {
        if are_limited {
            self.checked
        } else {
            self.plain
        }
    }
}

/// One function of a section.
#[derive(Debug, Clone, Copy)]
pub struct Item<K: Kind> {
    pub(crate) def: K::Def,
    pub(crate) entry: K::Entry,
}

/// The table of these `N` items, without their descriptions.
pub const fn entries<K: Kind, const N: usize>(items: &[Item<K>]) -> [K::Entry; N] {
    let mut entries = [K::PLACEHOLDER.entry; N];
    let mut at = 0;
    while at < N {
        entries[at] = items[at].entry;
        at += 1;
    }
    entries
}
