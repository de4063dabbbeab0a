//! Serves a configuration as it changes.

use std::{fs, path::PathBuf, sync::Arc, time::Duration, time::SystemTime};

use super::Config;
use crate::serve::Server;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// What tells one state of a file from another one.
type Print = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Lets a server serve what a configuration says, whenever it or a `.wasm` file that it names changes.
///
/// What is new is loaded beside what is served, and takes its place only if it can be loaded; calls that have begun
/// end with what they began with. Never returns.
pub async fn watch(server: &Server, path: PathBuf, config: Config) {
    let mut config = config;
    let mut loaded_state = config.print();
    let mut seen = loaded_state.clone();
    loop {
        tokio::time::sleep(INTERVAL).await;
        let now = config.print();
        // A file that is still being written is looked at again.
        if now == loaded_state || std::mem::replace(&mut seen, now.clone()) != now {
            continue;
        }
        loaded_state = now;
        let (previous, file) = (server.host(), path.clone());
        let load = move || {
            let config = Config::read(&file).map_err(|error| error.to_string())?;
            let loaded = config
                .load(Some(&previous))
                .map_err(|error| chain(&error))?;
            Ok::<_, String>((config, loaded))
        };
        match tokio::task::spawn_blocking(load).await {
            Ok(Ok((new, loaded))) => {
                for problem in loaded.problems() {
                    tracing::error!("not served: {}", chain(problem));
                }
                server.replace(Arc::new(loaded.host));
                config = new;
                loaded_state = config.print();
                seen.clone_from(&loaded_state);
                tracing::info!("reloaded {}", path.display());
            }
            Ok(Err(error)) => tracing::error!("not reloaded, what was served stays: {error}"),
            Err(error) => tracing::error!("not reloaded, what was served stays: {error}"),
        }
    }
}

impl Config {
    /// The state of all files that it depends on.
    fn print(&self) -> Print {
        let mut print = Vec::new();
        let mut files = self.files.clone();
        while let Some(file) = files.pop() {
            let data = fs::metadata(&file).ok();
            if data.as_ref().is_some_and(fs::Metadata::is_dir) {
                let inside = fs::read_dir(&file).into_iter().flatten().flatten();
                files.extend(inside.map(|entry| entry.path()).filter(|path| {
                    path.extension()
                        .is_some_and(|extension| extension == "wasm")
                }));
            }
            let state = data.and_then(|data| Some((data.modified().ok()?, data.len())));
            print.push((file, state));
        }
        print.sort();
        print
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}
