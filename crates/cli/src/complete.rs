//! Names that a shell completes: file systems, workloads, experiments, devices to make, RUNs.
//!
//! The shell asks this program at the key press, so that RUNs are those of the database and names
//! those of this version. Nothing here writes, cleans up or fails: what cannot be read has no
//! names.

use crate::context;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};
use fsarena_crash::workload::Kind;
use fsarena_plan::builtin;
use fsarena_store::Store;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;

/// Variable of the environment in which the script of a shell asks.
const VARIABLE: &str = "FSARENA_COMPLETE";

/// Answers the script of a shell and ends the process, where one asks.
pub fn answer_shell(definition: fn() -> clap::Command) {
    CompleteEnv::with_factory(definition).var(VARIABLE).complete();
}

/// The script that makes a shell ask.
///
/// # Errors
/// For a shell that there is no script for.
pub fn script(shell: clap_complete::Shell) -> io::Result<String> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let unknown = || io::Error::other(format!("{name}: there are no completions for this shell"));
    let completer = shells.completer(&name).ok_or_else(unknown)?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "fsarena", "fsarena", "fsarena", &mut script)?;
    String::from_utf8(script).map_err(io::Error::other)
}

/// File systems, separated by commas.
pub fn filesystems() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let names = fsarena_filesystems::builtin().iter().map(|driver| driver.name());
        listed(current, names.filter(|name| *name != "directory"))
    })
}

/// Workloads, separated by commas.
pub fn workloads() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| listed(current, builtin::workload_names()))
}

/// Devices that are made, and paths.
pub fn devices() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut all = listed(current, fsarena_plan::device_prefixes());
        all.extend(PathCompleter::any().complete(current));
        all
    })
}

/// Device models, and files of others.
pub fn device_models() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut all = listed(current, fsarena_vdisk::names());
        let is_file = |path: &std::path::Path| path.extension().is_some_and(|end| end == "toml");
        all.extend(PathCompleter::any().filter(is_file).complete(current));
        all
    })
}

/// Applications for power cuts, and files of others.
pub fn applications() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let mut all = listed(current, fsarena_crash::application::application_names());
        let is_file = |path: &std::path::Path| path.extension().is_some_and(|end| end == "toml");
        all.extend(PathCompleter::any().filter(is_file).complete(current));
        all
    })
}

/// Workloads for power cuts, each with what it does, and those of experiments.
pub fn crash_workloads() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let title = |name: &str| Some(Kind::from_name(name)?.title().into());
        let own = listed(current, Kind::all().map(Kind::name)).into_iter().map(|one| {
            let name = one.get_value().to_string_lossy().into_owned();
            one.help(name.rsplit(',').next().and_then(title))
        });
        own.chain(listed(current, builtin::workload_names())).collect()
    })
}

/// Built-in experiments, and files of others.
pub fn experiments() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let text = current.to_string_lossy();
        let names = builtin::experiment_names().into_iter();
        let mut all: Vec<CompletionCandidate> =
            names.filter(|name| name.starts_with(&*text)).map(CompletionCandidate::new).collect();
        let is_file = |path: &std::path::Path| path.extension().is_some_and(|end| end == "toml");
        all.extend(PathCompleter::any().filter(is_file).complete(current));
        all
    })
}

/// RUNs of the database that `--db` names before the key, or `FSARENA_DB`, or of the user's own;
/// the latest first.
pub fn runs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| stored().unwrap_or_default())
}

fn stored() -> Option<Vec<CompletionCandidate>> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let in_environment = || std::env::var_os("FSARENA_DB").map(PathBuf::from);
    let named = named_database(&words).or_else(in_environment);
    let path = context::database(named.as_deref()).ok()?;
    let rows = Store::open_read_only(&path).ok()?.runs().ok()?;
    let one = |(at, row): (usize, &fsarena_store::RunRow)| {
        let about = format!("{}, {}", row.title, row.state.name());
        CompletionCandidate::new(row.id.to_string())
            .help(Some(about.into()))
            .display_order(Some(at))
    };
    Some(rows.iter().rev().enumerate().map(one).collect())
}

/// What `--db` says among the words of a command line, which a shell hands over as they were
/// written.
fn named_database(words: &[OsString]) -> Option<PathBuf> {
    let after = |(at, word): (usize, &OsString)| match word.to_str()? {
        "--db" => words.get(at + 1)?.to_str().map(str::to_owned),
        word => word.strip_prefix("--db=").map(str::to_owned),
    };
    let written = words.iter().enumerate().filter_map(after).next_back()?;
    let plain = written.trim_matches(['"', '\'']);
    match (plain.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        _ => Some(PathBuf::from(plain)),
    }
}

/// What the last name of a list may become, with the names before it.
fn listed(
    current: &OsStr,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let (before, last) =
        text.rsplit_once(',').map_or(("", &*text), |(before, last)| (before, last));
    let comma = if text.contains(',') { "," } else { "" };
    let fits = names.into_iter().filter(|name| name.as_ref().starts_with(last));
    let whole = |name: &str| CompletionCandidate::new(format!("{before}{comma}{name}"));
    fits.map(|name| whole(name.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(candidates: &[CompletionCandidate]) -> Vec<String> {
        let text = |one: &CompletionCandidate| one.get_value().to_string_lossy().into_owned();
        candidates.iter().map(text).collect()
    }

    #[test]
    fn a_database_is_named_as_in_a_shell() {
        let named =
            |line: &str| named_database(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(named("fsarena show --db a.db "), path("a.db"));
        assert_eq!(named("fsarena --db=a.db show"), path("a.db"));
        assert_eq!(named("fsarena --db a.db show --db 'b.db'"), path("b.db"));
        assert_eq!(named("fsarena show --db"), None);
        assert_eq!(named("fsarena show"), None);
        let home = std::env::home_dir().unwrap();
        assert_eq!(named("fsarena show --db ~/a.db"), Some(home.join("a.db")));
    }

    #[test]
    fn the_last_name_of_a_list_is_completed() {
        let found = |text: &str| texts(&filesystems().complete(OsStr::new(text)));
        assert_eq!(found("x"), ["xfs"]);
        assert_eq!(found("ext4,bt"), ["ext4,btrfs"]);
        assert!(found("").contains(&"ext4".to_owned()) && !found("").contains(&"directory".into()));
        assert_eq!(found("ext4,nothing"), Vec::<String>::new());
        let found = texts(&workloads().complete(OsStr::new("small-files,big")));
        assert_eq!(found, ["small-files,big-file"]);
        assert!(texts(&experiments().complete(OsStr::new("qui"))).contains(&"quick".to_owned()));
    }
}
