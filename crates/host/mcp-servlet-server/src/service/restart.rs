//! Changes of a configuration that only a restart applies.

use crate::{
    configuration::{Endpoint, EndpointTransport, Listener, Settings},
    http::{HttpOptions, HttpTransport, split_address},
};

/// The same thing in the new configuration and in the one with which the server started.
type Both<T> = (T, T);

impl Settings {
    /// The sections that differ from those with which the server started, and are only read then.
    pub fn needs_restart(&self, started: &Self) -> Vec<String> {
        let mut sections = Vec::new();
        if self.http != started.http {
            sections.push("[http]".to_owned());
        }
        if self.tasks != started.tasks {
            sections.push("[tasks]".to_owned());
        }
        if self.records.audit != started.records.audit {
            sections.push("[audit]".to_owned());
        }
        if self.records.traces != started.records.traces {
            sections.push("[traces]".to_owned());
        }
        let both = (self, started);
        let listeners = (&*self.listeners, &*started.listeners);
        let is_same = |new: &Listener, old: &Listener| is_same_listener((new, old), both);
        for name in differing(listeners, |one| &one.name, is_same) {
            sections.push(format!("[listener.{name}]"));
        }
        let endpoints = (&*self.endpoints, &*started.endpoints);
        let is_same = |new: &Endpoint, old: &Endpoint| is_same_endpoint((new, old), both);
        for name in differing(endpoints, |one| &one.name, is_same) {
            sections.push(format!("[endpoint.{name}]"));
        }
        sections
    }

    /// The options of an endpoint at this listener. All of them have the same limits of the listener.
    fn at_listener(&self, name: &str) -> Option<&HttpOptions> {
        let mut endpoints = self.endpoints.iter();
        endpoints.find_map(|endpoint| match &endpoint.transport {
            EndpointTransport::Http { listener, options } if listener == name => Some(&**options),
            _ => None,
        })
    }

    /// The name that an endpoint has if it lists none.
    fn default_host(&self, listener: &str) -> Option<&str> {
        let listener = self.listeners.iter().find(|one| one.name == listener)?;
        split_address(&listener.address).map(|(host, _)| host)
    }
}

/// Whether a value is the same in both configurations, or follows the one of another section in both.
fn is_same<T: PartialEq>(
    of: impl Fn(&HttpOptions) -> T,
    own: Both<&HttpOptions>,
    http: Both<&HttpOptions>,
) -> bool {
    let (new, old) = (of(own.0), of(own.1));
    new == old || (new == of(http.0) && old == of(http.1))
}

fn is_same_listener((new, old): Both<&Listener>, config: Both<&Settings>) -> bool {
    let http = (&config.0.http, &config.1.http);
    let own = config
        .0
        .at_listener(&new.name)
        .zip(config.1.at_listener(&old.name));
    new.address == old.address
        && new.tls == old.tls
        && own.is_none_or(|own| {
            is_same(|one| one.connections, own, http)
                && is_same(|one| one.trusted_proxies.clone(), own, http)
                && is_same(|one| one.head_time, own, http)
                && is_same(|one| one.body_time, own, http)
                && is_same(|one| one.body, own, http)
        })
}

fn is_same_endpoint((new, old): Both<&Endpoint>, config: Both<&Settings>) -> bool {
    let mut options = new.options.clone();
    // They are those of `[tasks]`.
    options.tasks.clone_from(&old.options.tasks);
    // Rules, quotas and hooks change at once.
    options.rules.clone_from(&old.options.rules);
    options.quotas.clone_from(&old.options.quotas);
    options.hooks.clone_from(&old.options.hooks);
    if options != old.options {
        return false;
    }
    match (&new.transport, &old.transport) {
        (
            EndpointTransport::Http { listener, options },
            EndpointTransport::Http {
                listener: old_listener,
                options: old_options,
            },
        ) => {
            let hosts = (
                config.0.default_host(listener),
                config.1.default_host(old_listener),
            );
            listener == old_listener && is_same_http((options, old_options), hosts, config)
        }
        (new, old) => new == old,
    }
}

/// Whether the options that an endpoint sets itself are the same. `hosts` are the names that the listeners add.
fn is_same_http(
    own: Both<&HttpOptions>,
    hosts: Both<Option<&str>>,
    config: Both<&Settings>,
) -> bool {
    let http = (&config.0.http, &config.1.http);
    let follows = |options: &HttpOptions, host: Option<&str>| {
        let (last, others) = options.hosts.split_last().unzip();
        last.map(String::as_str) == host && others == Some(&HttpOptions::default().hosts[..])
    };
    let have_same_hosts =
        own.0.hosts == own.1.hosts || (follows(own.0, hosts.0) && follows(own.1, hosts.1));
    let mut rest = own.0.clone();
    rest.hosts.clone_from(&own.1.hosts);
    // Headers and callers change at once.
    rest.auth.clone_from(&own.1.auth);
    rest.headers.clone_from(&own.1.headers);
    if let HttpTransport::Sse { headers, .. } = &mut rest.transport
        && let HttpTransport::Sse { headers: old, .. } = &own.1.transport
    {
        headers.clone_from(old);
    }
    // These belong to the listener or to `[http]`, or were compared.
    rest.connections = own.1.connections;
    rest.head_time = own.1.head_time;
    rest.body_time = own.1.body_time;
    rest.body = own.1.body;
    rest.sessions = own.1.sessions;
    rest.trusted_proxies.clone_from(&own.1.trusted_proxies);
    rest.session_idle = own.1.session_idle;
    have_same_hosts
        && rest == *own.1
        && is_same(|one| one.sessions, own, http)
        && is_same(|one| one.session_idle, own, http)
}

/// The names of what is only in one of the lists, or not the same in both.
fn differing<'c, T>(
    (new, old): (&'c [T], &'c [T]),
    name: fn(&T) -> &String,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<&'c String> {
    let find = |list: &'c [T], wanted: &T| list.iter().find(|one| name(one) == name(wanted));
    let changed = new
        .iter()
        .filter(|one| find(old, one).is_none_or(|other| !is_same(one, other)));
    let removed = old.iter().filter(|one| find(new, one).is_none());
    changed.chain(removed).map(name).collect()
}
