//! The mock of a host in a test.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::thread::LocalKey;

use super::{Decode, Encode, Error, answer, unsendable};

/// The slot for a test's host, one for each thread.
pub struct Slot<H: ?Sized>(RefCell<Option<Rc<H>>>);

impl<H: ?Sized> Slot<H> {
    /// An empty slot.
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }
}

impl<H: ?Sized> Default for Slot<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: ?Sized> fmt::Debug for Slot<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_taken = self.0.borrow().is_some();
        f.debug_tuple("Slot").field(&is_taken).finish()
    }
}

/// Runs a test with its own host. Afterwards, even after a panic, the previous host is back.
pub fn mock<H: ?Sized, R>(
    slot: &'static LocalKey<Slot<H>>,
    host: Rc<H>,
    test: impl FnOnce() -> R,
) -> R {
    struct Restore<H: ?Sized + 'static>(&'static LocalKey<Slot<H>>, Option<Rc<H>>);
    impl<H: ?Sized> Drop for Restore<H> {
        fn drop(&mut self) {
            let before = self.1.take();
            self.0.with(|slot| slot.0.replace(before));
        }
    }
    let before = slot.with(|slot| slot.0.replace(Some(host)));
    let _restore = Restore(slot, before);
    test()
}

/// Calls the test's host. The answer is encoded and decoded, so that it is one that a real host could give.
///
/// # Errors
///
/// If the test has no host, the host returns an error, or its result cannot be encoded.
pub fn ask<H: ?Sized, E, T: Decode<E> + Encode<E>>(
    slot: &'static LocalKey<Slot<H>>,
    import: &'static str,
    ask: impl FnOnce(&H) -> Result<T, Error>,
) -> Result<T, Error> {
    let value = tell(slot, import, ask)?;
    match value.encode() {
        Ok(payload) => answer(import, payload.into_owned()),
        Err(reason) => Err(Error::invalid_payload("answer of import", import, &reason)),
    }
}

/// Calls a function of the test's host that returns nothing.
///
/// # Errors
///
/// If the test has no host, or the host returns an error.
pub fn tell<H: ?Sized, T>(
    slot: &'static LocalKey<Slot<H>>,
    import: &'static str,
    tell: impl FnOnce(&H) -> Result<T, Error>,
) -> Result<T, Error> {
    // The host must not be borrowed while it runs: it may call the plugin, which may call the host again.
    let host = slot.with(|slot| slot.0.borrow().clone());
    match host {
        Some(host) => tell(&host),
        None => Err(Error::about(
            "import",
            import,
            " needs a host: run the test inside of `host::mock`",
        )),
    }
}

/// Checks that an input could go to a real host.
///
/// # Errors
///
/// If the value cannot be written; the message names the import.
pub fn check_input<E, T: Encode<E> + ?Sized>(import: &'static str, input: &T) -> Result<(), Error> {
    match input.encode() {
        Ok(_) => Ok(()),
        Err(reason) => Err(unsendable(import, &reason)),
    }
}
