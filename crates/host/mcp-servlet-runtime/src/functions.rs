//! The host functions that modules import.

pub(crate) mod ask;
pub(crate) mod http;
pub(crate) mod log;
pub(crate) mod notify;
pub(crate) mod wasi;

#[cfg(test)]
mod tests {
    use crate::inspect::{Import, Module, USER, imports::USER_FUNCTIONS};

    use super::{ask, notify};

    #[test]
    fn every_function_that_is_known_can_be_linked() {
        let import = |name: &&str| Import {
            module: USER.to_owned(),
            name: (*name).to_owned(),
        };
        let mut module = Module::default();
        module.imports = USER_FUNCTIONS.iter().map(import).collect();
        let notifying = notify::functions(&module, &notify::CurrentListener::default());
        let asking = ask::functions(&module, &ask::InputRequests::default());
        assert_eq!(notifying.len() + asking.len(), USER_FUNCTIONS.len());
    }
}
