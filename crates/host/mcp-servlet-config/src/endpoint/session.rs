//! Which processes know the sessions of an endpoint.

use std::time::Duration;

use mcp_servlet_schema::{did_you_mean, similar};
use mcp_servlet_server::SessionStorage;
use toml::Spanned;

use super::Reader;
use crate::file::{EndpointSection, File, Kind};

/// How long a sealed session lasts.
const SEALED_SESSION_LIFE: Duration = Duration::from_hours(24);

impl Reader<'_> {
    pub(super) fn session_storage(
        &mut self,
        table: &EndpointSection,
        file: &File,
    ) -> SessionStorage {
        let session = table.session.as_ref().map(|session| &session.get_ref().0);
        let Some(session) = session else {
            return SessionStorage::default();
        };
        let life = session.life.as_ref();
        let store = session.store.as_ref();
        let name = store.map_or("memory", |store| store.get_ref().as_str());
        if let Some(life) = life.filter(|_| name != "sealed") {
            let message =
                "`life` is for `store = \"sealed\"`; other sessions last as long as they are used";
            self.problem(life.span(), message.to_owned());
        }
        let Some(store) = store else {
            return SessionStorage::default();
        };
        if *table.kind.get_ref() == Kind::Sse {
            let message = "sessions of the kind `sse` live in one process; remove `store`";
            self.problem(store.span(), message.to_owned());
        }
        match name {
            "memory" => SessionStorage::Memory,
            "none" => SessionStorage::None,
            "sealed" => {
                self.require_state_keys(store, file);
                SessionStorage::Sealed {
                    life: life.map_or(SEALED_SESSION_LIFE, |life| life.get_ref().0),
                }
            }
            name => self.stored(store, name, file),
        }
    }

    /// Sessions in the store that a value such as `store:NAME` names.
    fn stored(&mut self, store: &Spanned<String>, value: &str, file: &File) -> SessionStorage {
        let Some(name) = value.strip_prefix("store:") else {
            let message =
                format!("expected `memory`, `sealed`, `none` or `store:NAME`, found `{value}`");
            self.problem(store.span(), message);
            return SessionStorage::default();
        };
        if !file.store.contains_key(name) {
            let hint = did_you_mean(similar(name, file.store.keys().map(String::as_str)));
            let message = format!("there is no `[store.{name}]`{hint}");
            self.problem(store.span(), message);
        }
        self.require_state_keys(store, file);
        // The problems of its section are reported there.
        let options = self.stores.get(name).cloned();
        options.map_or_else(SessionStorage::default, |options| {
            SessionStorage::Store(Box::new(options))
        })
    }

    /// Reports that other processes could not read what is shared.
    fn require_state_keys(&mut self, store: &Spanned<String>, file: &File) {
        if file.server.state_keys.is_none() {
            let message = format!(
                "`{}` needs `state_keys` in `[server]`, the same in all processes",
                store.get_ref()
            );
            self.problem(store.span(), message);
        }
    }
}
