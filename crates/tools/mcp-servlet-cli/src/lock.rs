//! `servlet lock`: writes what the operator has approved, and compares it with what servlets and remotes offer now.

mod difference;
mod report;
mod runner;
mod show;

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use mcp_catalog::canonical_json;
use mcp_servlet_client::ErrorKind;
use mcp_servlet_config::{Config, ConfigError, Lock, LockedMember, NotCurrent, Permissions};
use mcp_servlet_oci::Digest;
use mcp_servlet_schema::similar;
use serde_json::json;

use self::{
    difference::{Difference, between},
    runner::warn_about_program,
};
use crate::{
    can::explain_right,
    config::count,
    failure::{Failure, Kind, cannot_write},
    replace::replace,
    session::run_until_signal,
    terminal::{self, note, one_line, shell_word},
};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LockCommand {
    #[command(subcommand)]
    action: Option<LockAction>,

    /// The configuration
    #[arg(default_value = "servlet.toml")]
    file: PathBuf,
}

#[derive(Debug, Subcommand)]
enum LockAction {
    /// Compare the lock with what servlets and remotes offer now
    ///
    /// The exit code is 1 if something differs, 3 if a servlet does not load, 10 if a remote or a registry cannot be reached, and 23 if
    /// a remote can be reached, but not used.
    Verify(LockVerify),
    /// Show what has changed, and approve it
    ///
    /// Asks on a terminal. Otherwise, each change needs `--yes` with the digest that the command prints.
    Update(Update),
    /// Show what is approved of a servlet or a remote
    Show(Show),
}

#[derive(Args, Debug)]
struct LockVerify {
    /// The configuration
    #[arg(default_value = "servlet.toml")]
    file: PathBuf,

    /// Compare only the configuration and servlets in files, without the network
    #[arg(long)]
    offline: bool,

    /// The format of the differences
    #[arg(long, value_enum, default_value_t)]
    format: LockFormat,
}

/// The format of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LockFormat {
    /// For people
    #[default]
    Human,
    /// A list for programs
    Json,
    /// For services that show the results of code scanners
    Sarif,
    /// Annotations in the log of a GitHub workflow
    Github,
}

#[derive(Args, Debug)]
struct Update {
    /// The servlets and remotes to update; default: all
    names: Vec<String>,

    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "servlet.toml")]
    file: PathBuf,

    /// Approve the change with this digest; may be repeated
    #[arg(long, value_name = "DIGEST")]
    yes: Vec<String>,

    /// Approve that this servlet can or may do more than before; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_wider: Vec<String>,

    /// Approve that this servlet may be signed by another key, or need not be signed; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_signer: Vec<String>,

    /// Show what has changed, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args, Debug)]
struct Show {
    /// The servlet or the remote
    name: String,

    /// The configuration
    #[arg(long, value_name = "FILE", default_value = "servlet.toml")]
    file: PathBuf,
}

impl LockCommand {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.action {
            None => write_missing(&self.file),
            Some(LockAction::Verify(verify)) => verify.run(),
            Some(LockAction::Update(update)) => update.run(),
            Some(LockAction::Show(show)) => show.run(),
        }
    }
}

/// Locks members that the lock does not have, and removes those that the configuration no longer has.
fn write_missing(file: &Path) -> Result<(), Failure> {
    let config = Config::read_without_lock(file)?;
    let stored = Lock::read(file)?;
    let is_new = stored.is_none();
    let old = stored.clone().unwrap_or_default();
    let now = current(&config, &old, false)?;
    let mut lock = old.clone();
    lock.members
        .retain(|name, _| now.members.contains_key(name));
    let gone = old
        .members
        .keys()
        .filter(|name| !lock.members.contains_key(*name));
    let mut lines: Vec<_> = gone.map(|name| format!("{name}: removed")).collect();
    for (name, member) in &now.members {
        if !lock.members.contains_key(name) {
            lines.push(summary(name, member));
            lock.members.insert(name.clone(), member.clone());
        }
    }
    lock.name_items(&config);
    // Members that stay in the lock must not differ from it.
    let mut differences = between(&old, &now);
    differences.retain(|one| {
        let members = [&old.members, &lock.members];
        members
            .iter()
            .all(|members| members.contains_key(&one.member))
    });
    let keeps_names = differences.iter().all(|one| one.rule != "name");
    let mut out = terminal::out();
    if keeps_names && (is_new || lock != old) {
        write(file, stored.as_ref(), &lock)?;
        for line in lines {
            writeln!(out, "{}", one_line(&line))?;
        }
        for entry in &config.settings.remotes {
            if is_new || !old.members.contains_key(&entry.name) {
                warn_about_program(entry);
            }
        }
    }
    if differences.is_empty() {
        let path = Lock::path(file);
        writeln!(out, "{}: {}", path.display(), counts(&lock))?;
        return Ok(());
    }
    report::write_human(&mut out, &differences)?;
    note(format_args!(
        "help: `servlet lock update{}` approves these changes",
        one_line(&file_option(file))
    ));
    Err(Failure::CheckFailed)
}

/// A line about a member that is locked for the first time.
fn summary(name: &str, member: &LockedMember) -> String {
    let kind = member.kind.name();
    let mut line = format!(
        "{name}: {kind} {}, {}",
        member.source,
        count(member.items.len(), "item")
    );
    for key in &member.signed_with {
        line.extend([", signed with the key ", key]);
    }
    let rights: Vec<_> = member
        .permissions
        .wider_than(&Permissions::default())
        .into_iter()
        .map(explain_right)
        .collect();
    if !rights.is_empty() {
        line += "; ";
        line += &rights.join(", ");
    }
    line
}

fn counts(lock: &Lock) -> String {
    let items = lock.members.values().map(|member| member.items.len());
    let members = count(lock.members.len(), "member");
    format!("{members}, {}", count(items.sum(), "item"))
}

/// Replaces the lock, unless another command has changed it since it was read.
fn write(file: &Path, stored: Option<&Lock>, lock: &Lock) -> Result<(), Failure> {
    let path = Lock::path(file);
    if Lock::read(file)?.as_ref() != stored {
        let message = format!(
            "`{}` has just been changed by another command",
            path.display()
        );
        return Err(Failure::with_help(
            Kind::Usage,
            message,
            "run the command again",
        ));
    }
    replace(&path, lock.to_text().as_bytes()).map_err(|error| cannot_write(&path, &error))
}

/// What servlets and remotes offer now. With `offline`, those that need the network are taken from the old lock.
fn current(config: &Config, old: &Lock, offline: bool) -> Result<Lock, Failure> {
    run_until_signal(async {
        let current = Lock::current(config, old, offline).await;
        current.map_err(not_current)
    })
}

fn not_current(error: NotCurrent) -> Failure {
    let error = match error {
        NotCurrent::Config(error) => error,
        NotCurrent::Remote(error) => return Failure::of_remote(error),
    };
    let is_unreachable =
        matches!(&error, ConfigError::Load { error, .. } if error.is_unreachable());
    match Failure::from(error) {
        Failure::Message { message, help, .. } if is_unreachable => Failure::Message {
            kind: Kind::Server(ErrorKind::Connectivity),
            message,
            help,
        },
        failure => failure,
    }
}

/// The lock of a configuration, which must be there.
fn existing(file: &Path) -> Result<Lock, Failure> {
    Lock::read(file)?.ok_or_else(|| {
        let message = format!("there is no `{}`", Lock::path(file).display());
        let help = format!("write it with `servlet lock {}`", shell_word(file));
        Failure::with_help(Kind::Usage, message, help)
    })
}

/// The option that names a configuration, if it is not the default.
fn file_option(file: &Path) -> String {
    if file == Path::new("servlet.toml") {
        return String::new();
    }
    format!(" --file {}", shell_word(file))
}

/// Refuses a configuration where the names of servlets and remotes are expected.
fn refuse_files(names: &[String]) -> Result<(), Failure> {
    let mut files = names.iter().map(Path::new);
    let is_file = |path: &&Path| path.extension().is_some_and(|ending| ending == "toml");
    let Some(file) = files.find(is_file) else {
        return Ok(());
    };
    let message = format!(
        "expected the name of a servlet or a remote, found the file `{}`",
        file.display()
    );
    let help = format!("name the configuration with `--file {}`", shell_word(file));
    Err(Failure::with_help(Kind::Usage, message, help))
}

/// A servlet or a remote that does not exist.
fn unknown<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> Failure {
    let message = format!("there is no servlet and no remote `{name}`");
    let names: BTreeSet<_> = known.map(String::as_str).collect();
    let help = match similar(name, names.iter().copied()) {
        Some(similar) => format!("there is `{similar}`"),
        None if names.is_empty() => "the lock is empty".to_owned(),
        None => {
            let names: Vec<_> = names.into_iter().collect();
            format!("there is {}", names.join(", "))
        }
    };
    Failure::with_help(Kind::Usage, message, help)
}

impl LockVerify {
    fn run(self) -> Result<(), Failure> {
        let lock = existing(&self.file)?;
        let config = Config::read_without_lock(&self.file)?;
        let now = current(&config, &lock, self.offline)?;
        let differences = between(&lock, &now);
        let path = Lock::path(&self.file);
        let mut out = terminal::out();
        match self.format {
            LockFormat::Human if differences.is_empty() => {
                writeln!(out, "{}: matches, {}", path.display(), counts(&lock))?;
            }
            LockFormat::Human => report::write_human(&mut out, &differences)?,
            LockFormat::Json => writeln!(terminal::json(), "{}", report::to_json(&differences))?,
            LockFormat::Sarif => {
                let sarif = report::to_sarif(&path, &lock, &differences);
                writeln!(terminal::json(), "{sarif:#}")?;
            }
            LockFormat::Github => report::write_github(&mut out, &path, &lock, &differences)?,
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Failure::CheckFailed)
    }
}

impl Show {
    fn run(self) -> Result<(), Failure> {
        refuse_files(std::slice::from_ref(&self.name))?;
        let lock = existing(&self.file)?;
        let Some(member) = lock.members.get(&self.name) else {
            return Err(unknown(&self.name, lock.members.keys()));
        };
        show::write(&mut terminal::out(), &self.name, member)?;
        Ok(())
    }
}

impl Update {
    fn run(self) -> Result<(), Failure> {
        refuse_files(&self.names)?;
        let old = existing(&self.file)?;
        let config = Config::read_without_lock(&self.file)?;
        let now = current(&config, &old, false)?;
        let known =
            |name: &String| old.members.contains_key(name) || now.members.contains_key(name);
        if let Some(name) = self.names.iter().find(|name| !known(name)) {
            let known = old.members.keys().chain(now.members.keys());
            return Err(unknown(name, known));
        }
        let differences = between(&old, &now);
        let is_meant = |name: &String| self.names.is_empty() || self.names.contains(name);
        let changed: BTreeSet<_> = differences
            .iter()
            .map(|one| &one.member)
            .filter(|name| is_meant(name))
            .collect();
        if changed.is_empty() {
            writeln!(terminal::out(), "nothing has changed")?;
            return Ok(());
        }
        let mut lock = old.clone();
        for name in &changed {
            match now.members.get(*name) {
                Some(member) => lock.members.insert((*name).clone(), member.clone()),
                None => lock.members.remove(*name),
            };
        }
        lock.name_items(&config);
        let mut affected = between(&old, &lock);
        affected.retain(|one| !changed.contains(&&one.member));
        if let Some(other) = affected.first() {
            report::write_human(&mut terminal::out(), &affected)?;
            let mut all = changed.clone();
            all.extend(affected.iter().map(|one| &one.member));
            return Err(also_renames(&other.member, &all, &self.file));
        }
        for name in &changed {
            let of_member: Vec<_> = differences
                .iter()
                .filter(|one| one.member == **name)
                .collect();
            self.approve(name, &of_member, lock.members.get(*name))?;
        }
        if self.dry_run {
            return Ok(());
        }
        write(&self.file, Some(&old), &lock)?;
        writeln!(
            terminal::out(),
            "{}: {}",
            Lock::path(&self.file).display(),
            counts(&lock)
        )?;
        Ok(())
    }

    /// Shows the changes of a member. Fails unless they are approved.
    fn approve(
        &self,
        name: &str,
        differences: &[&Difference],
        member: Option<&LockedMember>,
    ) -> Result<(), Failure> {
        let mut out = terminal::out();
        report::write_member(&mut out, name, differences)?;
        if self.dry_run {
            return Ok(());
        }
        let has = |rule: &str| differences.iter().any(|one| one.rule == rule);
        let digest = Digest::of(canonical_json(&json!(member)).as_bytes()).to_string();
        let is_approved = self.yes.contains(&digest);
        let (mut problems, mut options) = (Vec::new(), Vec::new());
        for (rule, allowed, option, problem) in [
            (
                "wider",
                &self.allow_wider,
                "--allow-wider",
                "can or may do more than before",
            ),
            (
                "signer",
                &self.allow_signer,
                "--allow-signer",
                "has other signers than before",
            ),
        ] {
            if has(rule) && allowed.iter().all(|one| one != name) {
                problems.push(problem);
                options.push(format!("{option} {name}"));
            }
        }
        if !problems.is_empty() {
            if !is_approved {
                options.push(format!("--yes {digest}"));
            }
            let message = format!("`{name}` {}", problems.join(", and "));
            let help = format!("add `{}` if you want that", options.join(" "));
            return Err(refused(&message, &help));
        }
        let asks = || terminal::agrees(&format!("approve {digest}?")) == Some(true);
        if is_approved || (self.yes.is_empty() && asks()) {
            return Ok(());
        }
        let message = format!("the changes of `{name}` are not approved");
        let help = format!("add `--yes {digest}` to approve them");
        Err(refused(&message, &help))
    }
}

/// Refuses to approve members if that renames items of another one. `all` can be approved together.
fn also_renames(other: &str, all: &BTreeSet<&String>, file: &Path) -> Failure {
    let message = format!("approving this also renames items of `{other}`");
    let names: Vec<_> = all.iter().map(|name| name.as_str()).collect();
    let help = format!(
        "approve them together: `servlet lock update {}{}`",
        names.join(" "),
        file_option(file)
    );
    Failure::with_help(Kind::Usage, message, help)
}

/// Prints why an update is refused.
fn refused(message: &str, help: &str) -> Failure {
    note(format_args!("error: {}", one_line(message)));
    note(format_args!("  help: {}", one_line(help)));
    Failure::CheckFailed
}
