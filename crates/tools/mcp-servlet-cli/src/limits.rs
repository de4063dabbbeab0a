//! Options for limits and permissions of a servlet.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Arg, Args, Command, Error, builder::TypedValueParser, error::ErrorKind};
use mcp_servlet_call::Limit;
use mcp_servlet_config::{parse_host, parse_memory};
use mcp_servlet_host::is_placeholder;
use mcp_servlet_runtime::{AllowedPath, Grant, LoadOptions, Proxy, Source, config_variable};

use crate::{
    clients,
    failure::{Failure, Kind},
    policy,
    terminal::note,
    variable::Variable,
};

/// A time limit that is never reached: a year.
pub(crate) const NEVER: Duration = Duration::from_hours(24 * 365);

// What the servlet may use. By default it gets no configuration, host, directory or other servlet.
// Not a doc comment: clap would use it as the description of the command.
#[derive(Args, Debug)]
#[command(next_help_heading = "Permissions and limits")]
pub(crate) struct Limits {
    /// Set a value that the servlet reads; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = Secret(key_value))]
    config: Vec<(String, String)>,

    /// Set a value that the servlet reads, such as a password, from an environment variable; may be repeated
    #[arg(long, value_name = "KEY=VARIABLE", value_parser = Secret(Variable::parse))]
    config_env: Vec<Variable>,

    /// Let the servlet send HTTP requests to a host, `*` matching any part of its name; may be repeated
    #[arg(long, value_name = "HOST", value_parser = Secret(parse_host))]
    allow_host: Vec<String>,

    /// Let the hosts of `--allow-host` have private addresses, such as those of this machine and its networks; by default only
    /// addresses that `--allow-host` names, and `localhost`, may be private
    #[arg(long)]
    allow_private: bool,

    /// Send HTTP requests of the servlet through the HTTP proxy at this URL; the proxy resolves the names of hosts
    #[arg(long, value_name = "URL", value_parser = Secret(Proxy::parse))]
    proxy: Option<Proxy>,

    /// Let a servlet that was built for WASI open a directory, optionally under another name; may be repeated
    #[arg(long, value_name = "DIR[:NAME[:ro]]", value_parser = path)]
    allow_path: Vec<AllowedPath>,

    /// Let the servlet call tools of another servlet, `*` matching any part of their names; may be repeated
    #[arg(long, value_name = "MEMBER:PATTERN")]
    allow_tool: Vec<Grant>,

    /// Let the servlet read resources of another servlet, `*` matching any part of their URIs; may be repeated
    #[arg(long, value_name = "MEMBER:PATTERN")]
    allow_resource: Vec<Grant>,

    /// Time limit of a call, such as 500ms, 30s, 2m; `none` for no limit
    ///
    /// [default: 30s]
    #[arg(long, value_name = "TIME")]
    timeout: Option<Limit<Duration>>,

    /// Memory limit of an instance, including its messages, such as 64MiB; `none` for no limit
    ///
    /// [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    memory: Option<Limit<u64>>,

    /// How many WebAssembly instructions a call may execute, roughly; counting makes calls slower
    ///
    /// [default: no limit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,

    /// Verify an `oci://` reference as this configuration asks: with its `[oci."HOST"]` and `signed_by`
    #[arg(long, value_name = "CONFIG")]
    policy: Option<PathBuf>,

    /// Time limit for compiling the servlet, such as 30s, 2m; `none` for no limit
    ///
    /// [default: 2m]
    #[arg(long, value_name = "TIME")]
    compile_timeout: Option<Limit<Duration>>,
}

/// Parses a value that may be secret. Unlike clap's errors, these do not show the value.
#[derive(Clone)]
pub(crate) struct Secret<P>(pub(crate) P);

impl<T, P> TypedValueParser for Secret<P>
where
    T: Clone + Send + Sync + 'static,
    P: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let parsed = match value.to_str() {
            Some(text) => (self.0)(text),
            None => Err("expected UTF-8".to_owned()),
        };
        parsed.map_err(|problem| {
            let option = arg.map_or(String::new(), |arg| format!("for `{arg}`"));
            let message = format!("invalid value {option}: {problem}\n");
            Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

impl Limits {
    /// The options, with values from the environment. An empty value and a placeholder count as not set: clients pass them for a
    /// setting that the user has left empty.
    ///
    /// # Errors
    /// [`Failure`] if an environment variable is not set.
    pub(crate) fn options(&self) -> Result<LoadOptions, Failure> {
        let mut options = self.options_here();
        for variable in &self.config_env {
            let value = variable.value()?;
            let Variable { key, name } = variable.clone();
            if is_placeholder(&value) {
                note(format_args!(
                    "warning: the environment variable `{name}` is the placeholder `{value}`, which nothing has replaced: `{key}` is not set"
                ));
            } else if !value.is_empty() {
                options.config.insert(key, value);
                continue;
            }
            options.empty_variables.insert(key, name);
        }
        Ok(options)
    }

    /// The options without values from the environment.
    pub(crate) fn options_here(&self) -> LoadOptions {
        let mut options = LoadOptions::default();
        options.config = self.config.iter().cloned().collect();
        options.allowed_hosts.clone_from(&self.allow_host);
        options.allow_private = self.allow_private;
        options.allowed_paths.clone_from(&self.allow_path);
        options.allowed_tools.clone_from(&self.allow_tool);
        options.allowed_resources.clone_from(&self.allow_resource);
        options.limits.memory = self.memory.unwrap_or_default();
        options.limits.timeout = self.timeout.unwrap_or_default();
        options.limits.fuel = self.fuel.map(Limit::At).unwrap_or_default();
        let compile = self.compile_timeout.unwrap_or_default();
        options.compile = compile.resolve(options.compile);
        options.proxy.clone_from(&self.proxy);
        options
    }

    /// The source that a word names, under the policy. Notes that it is not verified if nothing asks for its signature.
    pub(crate) fn source(&self, word: &str) -> Result<Source, Failure> {
        let source = self.under_policy(Source::parse(word))?;
        policy::note_unverified(&source);
        Ok(source)
    }

    /// Refuses the policy, for what is not an image.
    pub(crate) fn refuse_policy(&self) -> Result<(), Failure> {
        match self.policy {
            None => Ok(()),
            Some(_) => Err(Failure::new(Kind::Usage, policy::ONLY_FOR_IMAGES)),
        }
    }

    /// A source with what the policy asks of it.
    pub(crate) fn under_policy(&self, source: Source) -> Result<Source, Failure> {
        policy::apply(source, self.policy.as_deref())
    }

    /// Whether the value of a configuration key comes from the environment.
    pub(crate) fn take_from_environment(&self, key: &str) -> bool {
        self.config_env.iter().any(|variable| variable.key == key)
    }

    /// The environment variables for the values of a server with this name: those of `--config-env`, and one for each
    /// value of `--config` that may be secret.
    pub(crate) fn variables(
        &self,
        server: &str,
        is_public: impl Fn(&str) -> bool,
    ) -> Vec<Variable> {
        let mut variables = self.config_env.clone();
        for (key, _) in self.config.iter().filter(|(key, _)| !is_public(key)) {
            if variables.iter().all(|known| known.key != *key) {
                variables.push(Variable {
                    key: key.clone(),
                    name: config_variable(server, key),
                });
            }
        }
        variables
    }

    /// The same options for use in any folder, with configuration values from these variables. Only values without a
    /// variable are in the arguments.
    pub(crate) fn arguments(&self, variables: &[Variable]) -> Result<Vec<String>, Failure> {
        let mut arguments = Vec::new();
        if self.allow_private {
            arguments.push("--allow-private".to_owned());
        }
        arguments.extend(variables.iter().map(Variable::option));
        // As one argument, because a value may begin with a dash.
        let mut add = |name: &str, value: String| arguments.push(format!("{name}={value}"));
        for (key, value) in &self.config {
            if variables.iter().all(|variable| variable.key != *key) {
                add("--config", format!("{key}={value}"));
            }
        }
        for host in &self.allow_host {
            add("--allow-host", host.clone());
        }
        if let Some(proxy) = &self.proxy {
            add("--proxy", proxy.to_string());
        }
        for path in &self.allow_path {
            let host = clients::absolute(&path.host)?;
            // Without a name, the guest path is the host path. Only such a guest path may contain a
            // colon on Windows.
            let name = if path.guest == Path::new(&host) {
                String::new()
            } else {
                format!(":{}", path.guest.display())
            };
            let end = if path.read_only { ":ro" } else { "" };
            add("--allow-path", format!("{host}{name}{end}"));
        }
        if let Some(policy) = &self.policy {
            add("--policy", clients::absolute(policy)?);
        }
        for grant in &self.allow_tool {
            add("--allow-tool", grant.to_string());
        }
        for grant in &self.allow_resource {
            add("--allow-resource", grant.to_string());
        }
        for (name, limit) in [
            ("--timeout", self.timeout),
            ("--compile-timeout", self.compile_timeout),
        ] {
            if let Some(limit) = limit {
                add(name, or_none(limit.map(time_in_full)));
            }
        }
        if let Some(limit) = self.memory {
            add("--memory", or_none(limit.map(|size| format!("{size}B"))));
        }
        if let Some(fuel) = self.fuel {
            add("--fuel", fuel.to_string());
        }
        Ok(arguments)
    }

    /// The options that [`Limits::arguments`] leaves out because they may be secret.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = String> {
        let proxy = self.proxy.iter().filter(|proxy| proxy.has_credentials());
        proxy.map(|proxy| format!("the URL `{proxy}`"))
    }

    /// The first of these options that was given. `--timeout` counts if `with_timeout` is true.
    pub(crate) fn first_given(&self, with_timeout: bool) -> Option<&'static str> {
        let given = [
            ("--config", !self.config.is_empty()),
            ("--config-env", !self.config_env.is_empty()),
            ("--allow-host", !self.allow_host.is_empty()),
            ("--allow-private", self.allow_private),
            ("--proxy", self.proxy.is_some()),
            ("--allow-path", !self.allow_path.is_empty()),
            ("--allow-tool", !self.allow_tool.is_empty()),
            ("--allow-resource", !self.allow_resource.is_empty()),
            ("--memory", self.memory.is_some()),
            ("--fuel", self.fuel.is_some()),
            ("--compile-timeout", self.compile_timeout.is_some()),
            ("--policy", self.policy.is_some()),
            ("--timeout", with_timeout && self.timeout.is_some()),
        ];
        let first = given.into_iter().find(|(_, is_given)| *is_given);
        first.map(|(name, _)| name)
    }

    /// The time limit of a request to a server that is not a servlet.
    pub(crate) fn request_timeout(&self) -> Option<Duration> {
        let limit = self.timeout?;
        Some(limit.value().unwrap_or(NEVER))
    }

    /// Whether servlets may call tools or read resources of others.
    pub(crate) fn grant_calls(&self) -> bool {
        !(self.allow_tool.is_empty() && self.allow_resource.is_empty())
    }

    /// Whether one of these options was given.
    pub(crate) fn are_given(&self) -> bool {
        self.first_given(true).is_some()
    }
}

/// A time as the value of an option, without loss.
fn time_in_full(time: Duration) -> String {
    if time.subsec_nanos().is_multiple_of(1_000_000) {
        return format!("{}ms", time.as_millis());
    }
    format!("{}ns", time.as_nanos())
}

/// A limit as the value of its option.
fn or_none(limit: Limit<String>) -> String {
    limit.value().unwrap_or_else(|| "none".to_owned())
}

/// Parses `KEY=VALUE`.
pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn path(text: &str) -> Result<AllowedPath, String> {
    path_on(text, cfg!(windows))
}

/// Parses `DIR[:NAME[:ro]]`. DIR may have a colon if NAME begins with `/`. On Windows, directories may begin with a drive.
fn path_on(text: &str, has_drives: bool) -> Result<AllowedPath, String> {
    let (text, read_only) = text
        .strip_suffix(":ro")
        .map_or((text, false), |text| (text, true));
    let drive = if has_drives { drive(text) } else { 0 };
    let rest = &text[drive..];
    let colon = rest.rfind(":/").or_else(|| rest.find(':'));
    let colon = colon.map(|at| drive + at);
    let (host, guest) = colon.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    if host.is_empty() || guest.is_some_and(|guest| guest.is_empty() || guest.contains(':')) {
        return Err("expected DIR, DIR:NAME or DIR:NAME:ro".into());
    }
    let guest = guest.unwrap_or(host);
    Ok(AllowedPath {
        host: PathBuf::from(host),
        guest: PathBuf::from(guest),
        read_only,
    })
}

/// The length of a drive such as `C:` at the start of a path, if a separator follows.
fn drive(path: &str) -> usize {
    match path.as_bytes() {
        [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic() => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[test]
    fn reads_paths_with_and_without_a_name() {
        let path = |text| path(text).map(|path| (path.host, path.guest, path.read_only));
        assert_eq!(path("data"), Ok(("data".into(), "data".into(), false)));
        assert_eq!(
            path("/srv:/data:ro"),
            Ok(("/srv".into(), "/data".into(), true))
        );
        assert_eq!(
            path("/notes 1:2:/data"),
            Ok(("/notes 1:2".into(), "/data".into(), false))
        );
        for wrong in [":x", "x:", ".:/data:rw", ".:/data:ro:ro"] {
            assert!(path(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn drive_colon_does_not_end_the_path() {
        let path = |text| path_on(text, true).map(|path| (path.host, path.guest, path.read_only));
        for (text, host, guest, read_only) in [
            (r"C:\data:/data:ro", r"C:\data", "/data", true),
            ("c:/data", "c:/data", "c:/data", false),
            ("data:/data", "data", "/data", false),
            ("d:data", "d", "data", false),
        ] {
            let expected = (host.into(), guest.into(), read_only);
            assert_eq!(path(text), Ok(expected), "{text}");
        }
        assert!(path(r"C:\data:/data:rw").is_err());
    }

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        limits: Limits,
    }

    #[test]
    fn every_option_counts_as_given() {
        let typed = [
            "--config=a=b",
            "--config-env=a=B",
            "--allow-host=a.example",
            "--allow-private",
            "--proxy=http://a.example:1",
            "--allow-path=a",
            "--allow-tool=a:b",
            "--allow-resource=a:b",
            "--timeout=1s",
            "--memory=1MiB",
            "--fuel=1",
            "--compile-timeout=1s",
            "--policy=servlet.toml",
        ];
        for option in typed {
            let only = Only::try_parse_from(["servlet", option]).expect(option);
            assert_eq!(only.limits.first_given(true), option.split('=').next());
        }
        let command = Only::command();
        let all = command
            .get_arguments()
            .filter(|arg| arg.get_long().is_some());
        assert_eq!(all.count(), typed.len());
        let timeout = Only::try_parse_from(["servlet", "--timeout=1s"]).expect("a limit");
        assert_eq!(timeout.limits.first_given(false), None);
    }

    #[test]
    fn a_client_reads_the_options_that_are_printed_for_it() {
        let here = std::env::current_dir().expect("a folder");
        let here = here.to_str().expect("UTF-8");
        let allow_path =
            [format!("{here}:ro"), ".:/d".to_owned()].map(|text| path(&text).expect("a path"));
        let limits = Limits {
            config: ["key", "user name", "city"]
                .map(|key| (key.to_owned(), "-a=b".to_owned()))
                .into(),
            config_env: vec![Variable::parse("key=A_KEY").expect("a variable")],
            allow_host: vec!["*.example".to_owned()],
            allow_private: true,
            allow_path: allow_path.into(),
            allow_tool: vec!["weather:get_*".parse().expect("a grant")],
            allow_resource: vec!["docs:file:///*".parse().expect("a grant")],
            proxy: Proxy::parse("http://u:p@proxy.example:3128").ok(),
            timeout: Some(Limit::At(Duration::from_micros(500))),
            memory: Some(Limit::Unlimited),
            fuel: Some(1000),
            policy: Some("Cargo.toml".into()),
            compile_timeout: Some(Limit::At(Duration::from_secs(9))),
        };
        let variables = limits.variables("weather", |key| key == "city");
        let arguments = limits.arguments(&variables).expect("arguments");
        assert_eq!(
            arguments,
            [
                "--allow-private".to_owned(),
                "--config-env=key=A_KEY".to_owned(),
                "--config-env=user name=WEATHER_USER_NAME".to_owned(),
                "--config=city=-a=b".to_owned(),
                "--allow-host=*.example".to_owned(),
                "--proxy=http://…@proxy.example:3128".to_owned(),
                format!("--allow-path={here}:ro"),
                format!("--allow-path={here}:/d"),
                format!("--policy={here}/Cargo.toml"),
                "--allow-tool=weather:get_*".to_owned(),
                "--allow-resource=docs:file:///*".to_owned(),
                "--timeout=500000ns".to_owned(),
                "--compile-timeout=9000ms".to_owned(),
                "--memory=none".to_owned(),
                "--fuel=1000".to_owned(),
            ]
        );
    }
}
