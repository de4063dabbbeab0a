//! `servlet.lock`: what the operator has approved of each member.
//!
//! See `docs/decisions/0069-lock-has-the-text.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    marker::PhantomData,
    ops::Range,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::Arc,
};

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::{hex, unhex};
use mcp_servlet_host::{
    ApprovedNames, Entry, FeatureKind, Filter, Listed, Loaded, LockedLists, Member, Mount,
    OnFailure, Prefix, RemoteLists, Servlet, ServletLock, Tool,
};
use mcp_servlet_remote::{NotReady, Start};
use mcp_servlet_runtime::{Grant, LoadOptions, Module, Source};
use mcp_servlet_server::{RemoteEntry, Remotes};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::Value;

use super::{Config, ConfigError, Problem, remote::RemoteLock};

/// The only version of the file.
const VERSION: u32 = 1;

/// The functions of Extism that give a servlet nothing: they move its input and output.
const PLUMBING: [&str; 12] = [
    "alloc",
    "error_set",
    "free",
    "input_length",
    "input_load_u64",
    "input_load_u8",
    "length",
    "load_u64",
    "load_u8",
    "output_set",
    "store_u64",
    "store_u8",
];

/// What the operator has approved: the file `servlet.lock`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// The servlets and remotes, by name.
    #[serde(deserialize_with = "unique")]
    pub members: BTreeMap<String, LockedMember>,
}

/// What the operator has approved of a servlet or a remote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedMember {
    /// Whether it is a servlet or a remote.
    pub kind: LockedKind,
    /// The file or the URL of a servlet; the URL or the command of a remote. Without secrets.
    pub source: String,
    /// The digest of the image that a registry has, such as `sha256:…`. The server loads this image, whatever its tag names later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// `sha256:` and the digest of the module of a servlet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// `sha256:` and the digest of the contract of a servlet, if its module has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The fingerprints of the keys by which an image may be signed; none if it need not be signed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub signers: BTreeSet<String>,
    /// The fingerprints of those of these keys that have signed it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub signed_with: BTreeSet<String>,
    /// `sha256:` and the digest of the URL or the command of a remote, with arguments and environment, as the configuration
    /// has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The protocol version of a remote, such as `2025-11-25`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The name and the version that it gives itself.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub server: JsonObject,
    /// Instructions for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What a servlet can do, and what it may do.
    #[serde(default, skip_serializing_if = "Permissions::is_empty")]
    pub permissions: Permissions,
    /// Everything that it lists, by kind and by name or URI, such as `tool search`.
    #[serde(deserialize_with = "unique")]
    pub items: BTreeMap<String, LockedItem>,
}

/// A kind of member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockedKind {
    /// A servlet.
    #[default]
    Servlet,
    /// A remote.
    Remote,
}

impl LockedKind {
    /// `servlet` or `remote`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Servlet => "servlet",
            Self::Remote => "remote",
        }
    }
}

/// What a servlet can do, and what it may do. Each set is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// The functions of the host that its module imports, except those for its input and output.
    pub imports: BTreeSet<String>,
    /// What it declares that it needs.
    pub needs: Rights,
    /// What the configuration gives it.
    pub granted: Rights,
}

/// Rights of a servlet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rights {
    /// Configuration keys, without their values.
    pub config: BTreeSet<String>,
    /// Hosts that it sends HTTP requests to; `private addresses` stands for all private ones.
    pub hosts: BTreeSet<String>,
    /// Directories by the servlet's names for them; `:ro` follows those that it can only read.
    pub paths: BTreeSet<String>,
    /// Tools of other servlets and of remotes that it calls.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<String>,
    /// Resources of other servlets and of remotes that it reads.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub resources: BTreeSet<String>,
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedItem {
    /// The names that clients see, by endpoint. A server without endpoints has one with an empty name. Resources have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub served: BTreeMap<String, String>,
    /// The entry, as the member wrote it.
    pub entry: JsonObject,
}

/// Why it is not known what the members of a configuration offer.
#[derive(Debug, thiserror::Error)]
pub enum NotCurrent {
    /// A servlet cannot be loaded.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A remote cannot be reached.
    #[error(transparent)]
    Remote(#[from] NotReady),
}

/// Whether a configuration is used with its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Never.
    Off,
    /// If there is one.
    Found,
    /// It was used with one before, which must not disappear.
    Required,
}

/// A map that refuses a key that it has already.
fn unique<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Unique<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Unique<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = entries.next_entry()? {
                if map.contains_key(&key) {
                    return Err(A::Error::custom(format_args!("`{key}` is there twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(Unique(PhantomData))
}

impl Lock {
    /// The path of the lock of a configuration: `servlet.toml` has `servlet.lock`.
    pub fn path(config: &Path) -> PathBuf {
        config.with_extension("lock")
    }

    /// Reads the lock of a configuration. None if there is no file.
    ///
    /// # Errors
    /// [`ConfigError::Lock`] if the file cannot be used. Then nothing must be served.
    pub fn read(config: &Path) -> Result<Option<Self>, ConfigError> {
        let path = Self::path(config);
        let wrong = |problem: String| ConfigError::Lock {
            path: path.clone(),
            problem,
        };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| wrong(error.to_string()))?,
        };
        let lock: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if lock.version != VERSION {
            let problem = format!("expected version {VERSION}, found version {}", lock.version);
            return Err(wrong(problem));
        }
        for (name, member) in &lock.members {
            member
                .check()
                .map_err(|problem| wrong(format!("`{name}`: {problem}")))?;
        }
        Ok(Some(lock))
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a lock is JSON");
        text.push('\n');
        text
    }

    /// Loads the servlets of a configuration, connects to its remotes, and returns what they offer now. Servlets with a contract do
    /// not run. What a remote may change is as in the old lock. Offline, nothing uses the network: what remotes and registries
    /// offer is taken from the old lock.
    ///
    /// # Errors
    /// [`NotCurrent`] for the first member that cannot be used.
    pub async fn current(config: &Config, old: &Self, offline: bool) -> Result<Self, NotCurrent> {
        let mut config = config.clone();
        for entry in &mut config.entries {
            entry.on_failure = OnFailure::Fail;
            entry.options.from_contract = true;
            entry.shapes = Arc::default();
        }
        for remote in &mut config.settings.remotes {
            remote.required = true;
            // As the server wrote them, even if it would be started later.
            remote.options.tools.clear();
            remote.options.start = Start::Now;
            let old = old.members.get(&remote.name);
            remote.options.protocol = old.and_then(|old| old.protocol.clone());
        }
        if !offline {
            let shared = config.clone();
            // It takes long to fetch and compile modules. Meanwhile the caller may give up.
            let loading = tokio::task::spawn_blocking(move || shared.load_unproven(None));
            let loaded = match loading.await {
                Ok(loaded) => loaded?,
                Err(error) => resume_unwind(error.into_panic()),
            };
            let remotes = Remotes::default();
            let mounts = remotes.update(&config.settings.remotes).await;
            let lock = mounts.map(|mounts| Self::of(&config, &loaded, &mounts));
            remotes.close().await;
            let mut lock = lock?;
            lock.settle(&config, old);
            return Ok(lock);
        }
        let mut here = config.clone();
        here.entries.retain(|entry| !entry.source.is_remote());
        let loaded = here.load_unproven(None)?;
        let mut lock = Self::of(&here, &loaded, &[]);
        let far = config
            .entries
            .iter()
            .filter(|entry| entry.source.is_remote());
        for entry in far {
            let known = old.members.get(&entry.name()).cloned();
            let mut member = known.unwrap_or_default();
            member.kind = LockedKind::Servlet;
            member.source = source(&config.source.0, &entry.source);
            member.signers = entry.source.signers();
            let granted = Permissions::of(&Module::default(), &entry.options).granted;
            member.permissions.granted = granted;
            lock.members.insert(entry.name(), member);
        }
        for entry in &config.settings.remotes {
            let known = old.members.get(&entry.name).cloned();
            let remote_lock = &config.remote_locks[&entry.name];
            let unlocked = || LockedMember::of_remote(entry, remote_lock, &RemoteLists::default());
            let mut member = known.unwrap_or_else(unlocked);
            member.kind = LockedKind::Remote;
            member.target = Some(remote_lock.target_digest.clone());
            lock.members.insert(entry.name.clone(), member);
        }
        lock.name_items(&config);
        Ok(lock)
    }

    /// Gives what remotes may change the values of an old lock.
    fn settle(&mut self, config: &Config, old: &Self) {
        for entry in &config.settings.remotes {
            let members = (
                self.members.get_mut(&entry.name),
                old.members.get(&entry.name),
            );
            let (Some(member), Some(old)) = members else {
                continue;
            };
            let old = old.lists(&config.remote_locks[&entry.name]);
            for (key, item) in &mut member.items {
                if let Some((kind, key)) = parse_key(key) {
                    old.settle(kind, key, &mut item.entry);
                }
            }
        }
    }

    /// What the members of a configuration offer. Members that were not loaded are left out.
    fn of(config: &Config, loaded: &Loaded, remotes: &[Mount]) -> Self {
        let servlets = config
            .entries
            .iter()
            .zip(&loaded.mounts)
            .filter_map(|(entry, mount)| {
                let servlet = mount.as_ref()?.member.as_servlet()?;
                Some((
                    entry.name(),
                    LockedMember::of_servlet(config, entry, servlet),
                ))
            });
        let remotes = config.settings.remotes.iter().filter_map(|entry| {
            let mount = remotes.iter().find(|one| one.member.name() == entry.name)?;
            let lists = mount.member.as_remote()?.lists();
            let lock = &config.remote_locks[&entry.name];
            let member = LockedMember::of_remote(entry, lock, lists);
            Some((entry.name.clone(), member))
        });
        let mut lock = Self {
            version: VERSION,
            members: servlets.chain(remotes).collect(),
        };
        lock.name_items(config);
        lock
    }

    /// All items, with the names of their members and their keys.
    fn items(&self) -> impl Iterator<Item = (&String, &String, &LockedItem)> {
        let members = self.members.iter();
        members.flat_map(|(name, member)| {
            let items = member.items.iter();
            items.map(move |(key, item)| (name, key, item))
        })
    }

    /// Notes the names that clients of the configuration see.
    pub fn name_items(&mut self, config: &Config) {
        let mut names = config.names_under(self);
        for (name, member) in &mut self.members {
            for (key, item) in &mut member.items {
                let served = names.remove(&(name.clone(), key.clone()));
                item.served = served.unwrap_or_default();
            }
        }
    }
}

impl Default for Lock {
    /// A lock without members.
    fn default() -> Self {
        Self {
            version: VERSION,
            members: BTreeMap::new(),
        }
    }
}

/// The key of an item in a lock.
fn item_key(kind: FeatureKind, key: &str) -> String {
    format!("{} {key}", word(kind))
}

/// The kind and the name or URI of an item.
fn parse_key(key: &str) -> Option<(FeatureKind, &str)> {
    let (first, key) = key.split_once(' ')?;
    let kind = FeatureKind::ALL
        .into_iter()
        .find(|kind| word(*kind) == first)?;
    Some((kind, key))
}

/// A kind in one word.
fn word(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::ResourceTemplate => "template",
        kind => kind.name(),
    }
}

impl LockedMember {
    fn of_servlet(config: &Config, entry: &Entry, servlet: &Servlet) -> Self {
        let digest = format!("sha256:{}", hex(&servlet.digest()));
        let contract = servlet.contract_digest();
        Self {
            kind: LockedKind::Servlet,
            source: source(&config.source.0, &entry.source),
            manifest: servlet.image().map(str::to_owned),
            module: Some(digest),
            contract: contract.map(|digest| format!("sha256:{}", hex(&digest))),
            signers: entry.source.signers(),
            signed_with: servlet.signed_with().clone(),
            target: None,
            protocol: None,
            server: introduction(servlet.server_info()),
            instructions: servlet.instructions().map(str::to_owned),
            permissions: Permissions::of(servlet.module(), &entry.options),
            items: items(servlet.entries()),
        }
    }

    fn of_remote(entry: &RemoteEntry, lock: &RemoteLock, lists: &RemoteLists) -> Self {
        Self {
            kind: LockedKind::Remote,
            source: entry.target.to_string(),
            manifest: None,
            module: None,
            contract: None,
            signers: BTreeSet::new(),
            signed_with: BTreeSet::new(),
            target: Some(lock.target_digest.clone()),
            protocol: Some(lists.protocol.clone()).filter(|version| !version.is_empty()),
            server: introduction(lists.server_info.as_ref()),
            instructions: lists.instructions.clone(),
            permissions: Permissions::default(),
            items: items(lists.entries()),
        }
    }

    /// What `now` accepts or has as a signature and this does not: keys, or that there is none.
    pub fn other_signers(&self, now: &Self) -> Vec<String> {
        if now.signers.is_empty() && !self.signers.is_empty() {
            return vec!["no signature is required".to_owned()];
        }
        if self.signers.is_empty() {
            return Vec::new();
        }
        let accepted = now
            .signers
            .difference(&self.signers)
            .map(|key| format!("key {key}"));
        let made = now
            .signed_with
            .difference(&self.signed_with)
            .map(|key| format!("signature with the key {key}"));
        accepted.chain(made).collect()
    }

    /// Whether its parts can be used.
    fn check(&self) -> Result<(), String> {
        if self.kind == LockedKind::Servlet && self.digest().is_none() {
            return Err("expected `module` to be `sha256:` and 64 hexadecimal digits".to_owned());
        }
        match self.items.keys().find(|key| parse_key(key).is_none()) {
            None => Ok(()),
            Some(key) => Err(format!("`{key}` is not an item, such as `tool search`")),
        }
    }

    /// The digest of the module.
    fn digest(&self) -> Option<[u8; 32]> {
        let digits = self.module.as_deref()?.strip_prefix("sha256:")?;
        unhex(digits)?.try_into().ok()
    }

    /// The approved lists of a servlet.
    fn servlet_lists(&self) -> LockedLists {
        let name = self.server.get("name").and_then(Value::as_str);
        let entries = self.items.iter().filter_map(|(key, item)| {
            let (kind, key) = parse_key(key)?;
            Some(((kind, key.to_owned()), item.entry.clone()))
        });
        LockedLists {
            server: name.map(str::to_owned),
            instructions: self.instructions.clone(),
            protocol: self.protocol.clone(),
            entries: entries.collect(),
            ..LockedLists::default()
        }
    }

    /// The approved lists of a remote.
    fn lists(&self, lock: &RemoteLock) -> LockedLists {
        LockedLists {
            ignored: lock.ignored.clone(),
            on_change: lock.on_change,
            ..self.servlet_lists()
        }
    }

    /// The member, as it would be in a host.
    fn described(&self, name: &str) -> Member {
        let mut lists = RemoteLists::default();
        for (key, item) in &self.items {
            let entry = item.entry.clone();
            match parse_key(key) {
                Some((FeatureKind::Tool, _)) => lists.tools.extend(Tool::new(entry)),
                Some((FeatureKind::Prompt, _)) => {
                    lists
                        .prompts
                        .extend(Listed::new(FeatureKind::Prompt, entry));
                }
                // Clients see resources by their URIs.
                _ => {}
            }
        }
        Member::described(name, lists)
    }
}

/// The path of a file from the folder of the configuration, or another source without secrets.
fn source(config: &Path, source: &Source) -> String {
    let folder = config.parent().unwrap_or(Path::new(""));
    match source {
        Source::Pinned { source: inner, .. } | Source::Signed { source: inner, .. } => {
            self::source(config, inner)
        }
        Source::File(path) => {
            let path = path.strip_prefix(folder).unwrap_or(path);
            path.display().to_string().replace('\\', "/")
        }
        other => other.to_string(),
    }
}

/// The name and the version in the `serverInfo` of MCP.
fn introduction(info: Option<&JsonObject>) -> JsonObject {
    let known = ["name", "version"].into_iter().filter_map(|key| {
        let text = info?.get(key)?.as_str()?;
        Some((key.to_owned(), text.into()))
    });
    known.collect()
}

fn items<'m>(
    entries: impl Iterator<Item = (FeatureKind, &'m str, &'m JsonObject)>,
) -> BTreeMap<String, LockedItem> {
    let items = entries.map(|(kind, key, entry)| {
        let item = LockedItem {
            served: BTreeMap::new(),
            entry: entry.clone(),
        };
        (item_key(kind, key), item)
    });
    items.collect()
}

impl Permissions {
    fn of(module: &Module, options: &LoadOptions) -> Self {
        let needs = module.needs();
        let imports = module
            .imports
            .iter()
            .filter(|import| !PLUMBING.contains(&&*import.name));
        let paths = options.allowed_paths.iter().map(|path| {
            let mode = if path.read_only { ":ro" } else { "" };
            format!("{}{mode}", path.guest.display())
        });
        let texts = |grants: &[Grant]| grants.iter().map(Grant::to_string).collect();
        let private = options
            .allow_private
            .then(|| "private addresses".to_owned());
        Self {
            imports: imports.map(|import| import.name.clone()).collect(),
            needs: Rights {
                config: needs.config.iter().map(|key| key.name.clone()).collect(),
                hosts: needs.hosts.iter().cloned().collect(),
                paths: needs.paths.iter().cloned().collect(),
                tools: texts(&needs.calls),
                resources: texts(&needs.reads),
            },
            granted: Rights {
                config: options.config.keys().cloned().collect(),
                hosts: options
                    .allowed_hosts
                    .iter()
                    .cloned()
                    .chain(private)
                    .collect(),
                paths: paths.collect(),
                tools: texts(&options.allowed_tools),
                resources: texts(&options.allowed_resources),
            },
        }
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What these have that `old` does not have, such as `host *.example.com`.
    pub fn wider_than(&self, old: &Self) -> Vec<String> {
        let sets = [
            ("import", &self.imports, &old.imports),
            ("config", &self.needs.config, &old.needs.config),
            ("host", &self.needs.hosts, &old.needs.hosts),
            ("path", &self.needs.paths, &old.needs.paths),
            ("tool", &self.needs.tools, &old.needs.tools),
            ("resource", &self.needs.resources, &old.needs.resources),
            ("granted config", &self.granted.config, &old.granted.config),
            ("granted host", &self.granted.hosts, &old.granted.hosts),
            ("granted path", &self.granted.paths, &old.granted.paths),
            ("granted tool", &self.granted.tools, &old.granted.tools),
            (
                "granted resource",
                &self.granted.resources,
                &old.granted.resources,
            ),
        ];
        let added = sets.into_iter().flat_map(|(what, new, old)| {
            new.difference(old).map(move |one| format!("{what} {one}"))
        });
        added.collect()
    }
}

/// How messages name the lock of a configuration, and the configuration in commands about it. A `servlet.toml` is not named.
struct LockWords {
    /// The name of the lock, such as `servlet.lock`.
    lock: String,
    /// What follows `servlet lock`.
    argument: String,
    /// What follows `servlet lock update`.
    option: String,
}

/// The names that clients see, by endpoint, for each member and item.
type NamesByEndpoint = BTreeMap<(String, String), BTreeMap<String, String>>;

/// The names of all items of a lock, by endpoint, which hold even while a member is missing.
fn approved_names(names: &NamesByEndpoint) -> BTreeMap<String, Arc<ApprovedNames>> {
    let mut all = BTreeMap::<String, ApprovedNames>::new();
    for ((member, key), served) in names {
        let Some((kind, own)) = parse_key(key) else {
            continue;
        };
        for (endpoint, name) in served {
            let names = all.entry(endpoint.clone()).or_default();
            names.add(kind, (member, own), name);
        }
    }
    all.into_iter()
        .map(|(endpoint, names)| (endpoint, Arc::new(names)))
        .collect()
}

impl Config {
    /// Uses the configuration with its lock.
    pub(super) fn locked(mut self, path: &Path, locks: Locks) -> Result<Self, ConfigError> {
        self.locks = locks;
        if locks == Locks::Off {
            return Ok(self);
        }
        let Some(lock) = Lock::read(path)? else {
            let problem = match locks {
                Locks::Required => {
                    "the file is gone; restart with `--lock off` to serve without it".to_owned()
                }
                _ if self.needs_lock => format!(
                    "it is missing, and the configuration requires it; write it with `servlet lock{}`",
                    self.lock_words().argument
                ),
                _ => return Ok(self),
            };
            return Err(ConfigError::Lock {
                path: Lock::path(path),
                problem,
            });
        };
        self.locks = Locks::Required;
        let mut problems = self.changed_signers(&lock);
        self.lock_servlets(&lock);
        problems.extend(self.lock_remotes(&lock));
        let names = self.names_under(&lock);
        problems.extend(self.changed_names(&lock, &names));
        if problems.is_empty() {
            self.approved = approved_names(&names);
            return Ok(self);
        }
        Err(ConfigError::wrong(self.source, problems))
    }

    fn lock_words(&self) -> LockWords {
        let path = &self.source.0;
        let lock = Lock::path(path);
        let lock = lock.file_name().unwrap_or_default();
        let is_usual = path.file_name().is_some_and(|name| name == "servlet.toml");
        let file = |before: &str| {
            if is_usual {
                return String::new();
            }
            format!("{before}{}", path.display())
        };
        LockWords {
            lock: lock.to_string_lossy().into_owned(),
            argument: file(" "),
            option: file(" --file "),
        }
    }

    /// The servlets that may be signed by others than in the lock, or need not be signed any more.
    fn changed_signers(&self, lock: &Lock) -> Vec<Problem> {
        let words = self.lock_words();
        let changed = self.entries.iter().filter_map(|entry| {
            let name = entry.name();
            let member = lock.members.get(&name)?;
            let now = LockedMember {
                signers: entry.source.signers(),
                ..member.clone()
            };
            let signers = member.other_signers(&now);
            (!signers.is_empty()).then(|| Problem {
                span: self.section_of(&name),
                message: format!(
                    "servlet `{name}` has other signers than in `{}`: {}; approve that with `servlet lock update {name} \
                     --allow-signer {name}{}`",
                    words.lock,
                    signers.join(", "),
                    words.option
                ),
            })
        });
        changed.collect()
    }

    /// Ties servlets to what was approved. Those that differ do not load.
    fn lock_servlets(&mut self, lock: &Lock) {
        let LockWords { lock: file, .. } = self.lock_words();
        for entry in &mut self.entries {
            let name = entry.name();
            let member = lock
                .members
                .get(&name)
                .filter(|member| member.kind == LockedKind::Servlet);
            entry.lock = match member.and_then(|member| Some((member, member.digest()?))) {
                None => ServletLock::Missing,
                Some((member, module)) => {
                    let granted = Permissions::of(&Module::default(), &entry.options);
                    for wider in granted.wider_than(&member.permissions) {
                        tracing::warn!(
                            servlet = name,
                            "the configuration gives the servlet more than `{file}` has: {wider}"
                        );
                    }
                    if let Some(manifest) = &member.manifest
                        && source(&self.source.0, &entry.source) == member.source
                    {
                        entry.source = entry.source.clone().at_image(manifest);
                    }
                    ServletLock::Is {
                        module,
                        lists: Arc::new(member.servlet_lists()),
                    }
                }
            };
        }
    }

    /// Ties remotes to what was approved. Returns those that are others than in the lock, which must not even be started.
    fn lock_remotes(&mut self, lock: &Lock) -> Vec<Problem> {
        let mut problems = Vec::new();
        let words = self.lock_words();
        for entry in &mut self.settings.remotes {
            let name = &entry.name;
            let remote_lock = &self.remote_locks[name];
            let member = lock
                .members
                .get(name)
                .filter(|member| member.kind == LockedKind::Remote);
            let message = match member {
                None => format!(
                    "remote `{name}` is not in `{}`; approve it with `servlet lock{}`",
                    words.lock, words.argument
                ),
                Some(member) if member.target.as_ref() != Some(&remote_lock.target_digest) => {
                    format!(
                        "the URL or the command of remote `{name}` is not the one in `{}`; approve it with `servlet lock \
                         update {name}{}`",
                        words.lock, words.option
                    )
                }
                Some(member) => {
                    let lists = member.lists(remote_lock);
                    let mut digest = DefaultHasher::new();
                    entry.connection.hash(&mut digest);
                    format!("{lists:?}").hash(&mut digest);
                    entry.options.protocol.clone_from(&member.protocol);
                    entry.options.locked = Some(Arc::new(lists));
                    entry.connection = digest.finish();
                    continue;
                }
            };
            let spans = self.members.spans_of_remote(name);
            let span = spans.map_or(0..0, |spans| spans.section.clone());
            problems.push(Problem { span, message });
        }
        problems
    }

    /// The items that clients would see under other names than those that were approved, or find another item under that name.
    fn changed_names(&self, lock: &Lock, names: &NamesByEndpoint) -> Vec<Problem> {
        let mut owners = BTreeMap::new();
        for ((member, key), served) in names {
            let kind = parse_key(key).map(|(kind, _)| kind);
            for (endpoint, name) in served {
                owners.insert((endpoint, kind, name), member);
            }
        }
        let mut problems = Vec::new();
        for (member, key, item) in lock.items() {
            let kind = parse_key(key).map(|(kind, _)| kind);
            let now = names.get(&(member.clone(), key.clone()));
            for (endpoint, locked) in &item.served {
                let now = now.and_then(|now| now.get(endpoint));
                let would = match (now, owners.get(&(endpoint, kind, locked))) {
                    (Some(now), _) if now == locked => continue,
                    (Some(now), _) => format!("would be served as `{now}` instead of `{locked}`"),
                    (None, Some(owner)) => format!("would be hidden by the one of `{owner}`"),
                    // The operator no longer lists it.
                    (None, None) => continue,
                };
                let at = match &**endpoint {
                    "" => String::new(),
                    endpoint => format!(" at endpoint `{endpoint}`"),
                };
                let mut items = lock.items();
                let other =
                    items.find(|(other, other_key, _)| *other != member && *other_key == key);
                let cause = other.map_or_else(String::new, |(other, ..)| {
                    format!(", because `{other}` has one of this name")
                });
                let message = format!(
                    "{key} of `{member}` {would}{at}{cause}; give one of them another `prefix`, or approve the names with \
                     `servlet lock update{}`",
                    self.lock_words().option
                );
                let span = self.section_of(member);
                problems.push(Problem { span, message });
            }
        }
        problems
    }

    /// The place of the section of a servlet or remote.
    fn section_of(&self, name: &str) -> Range<usize> {
        let mut entries = self.entries.iter();
        let spans = match entries.position(|entry| entry.name() == name) {
            Some(entry) => self.members.spans_of_entry(entry),
            None => self.members.spans_of_remote(name),
        };
        spans.map_or(0..0, |spans| spans.section.clone())
    }

    /// The names under which clients see the items of a lock, by endpoint.
    fn names_under(&self, lock: &Lock) -> NamesByEndpoint {
        let mount = |name: &str, prefix: &Prefix, filter: &Filter| {
            Some(Mount {
                member: lock.members.get(name)?.described(name),
                prefix: prefix.clone(),
                filter: filter.clone(),
            })
        };
        let servlets = self
            .entries
            .iter()
            .map(|entry| mount(&entry.name(), &entry.prefix, &entry.filter));
        let loaded = Loaded {
            mounts: servlets.collect(),
            ..Loaded::default()
        };
        let remotes = self
            .settings
            .remotes
            .iter()
            .filter_map(|entry| mount(&entry.name, &entry.prefix, &entry.filter));
        let mut names = NamesByEndpoint::new();
        // What follows from the lock alone.
        let unlocked = Self {
            approved: BTreeMap::new(),
            ..self.clone()
        };
        for (endpoint, host) in unlocked.hosts(&loaded, &remotes.collect::<Vec<_>>()) {
            for (member, kind, own, served) in host.served_names() {
                let item = (member.to_owned(), item_key(kind, own));
                let endpoint = endpoint.unwrap_or_default().to_owned();
                let names = names.entry(item).or_default();
                names.insert(endpoint, served.to_owned());
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn another_tag_is_not_the_approved_image() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("servlet.toml");
        let image = format!("sha256:{}", "a".repeat(64));
        let module = format!("sha256:{}", "b".repeat(64));
        let lock = serde_json::json!({
            "version": 1,
            "members": {
                "far": {
                    "kind": "servlet",
                    "source": "oci://registry.example/far:1.2.0",
                    "manifest": image,
                    "module": module,
                    "items": {},
                },
            },
        });
        fs::write(Lock::path(&path), lock.to_string()).expect("a file");
        let source = |tag: &str| {
            let text = format!("[servlet.far]\nsource = \"oci://registry.example/far:{tag}\"\n");
            fs::write(&path, text).expect("a file");
            let config = Config::read(&path).expect("a configuration");
            config.entries[0].source.to_string()
        };
        assert!(source("1.2.0").ends_with(&image), "{}", source("1.2.0"));
        assert_eq!(source("1.3.0"), "oci://registry.example/far:1.3.0");
    }

    #[test]
    fn errors_name_the_files_of_a_configuration_with_another_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("other.toml");
        let text = "[remote.far]\nurl = \"https://far.example/mcp\"\n";
        fs::write(&path, text).expect("a file");
        let lock = serde_json::json!({ "version": 1, "members": {} });
        fs::write(Lock::path(&path), lock.to_string()).expect("a file");
        let error = Config::read(&path).expect_err("a remote without approval");
        let expected = format!(
            "remote `far` is not in `other.lock`; approve it with `servlet lock {}`",
            path.display()
        );
        assert!(error.to_string().contains(&expected), "{error}");
    }
}
