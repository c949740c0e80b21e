//! Where things are on this machine, how to write to this terminal, exit codes and signals.

use anyhow::{Context as _, Result};
use clap::ColorChoice;
use etcetera::BaseStrategy as _;
use fsarena_bounded::Bounded;
use fsarena_crash_runs::kept_states::KeptStates;
use fsarena_devices::state_dir;
use fsarena_guests::kernel::Cache;
use fsarena_guests::program_tree::ProgramCache;
use fsarena_guests::{OWNED_PREFIXES, OwnedDir, remove_abandoned as abandoned};
use fsarena_model::seed::Seed;
use fsarena_model::visible;
use fsarena_process::held::{HeldDir, HeldError};
use fsarena_process::program::TrustedProgram;
use fsarena_report::{MIN_WIDTH, Style};
use fsarena_runner::JournaledDir;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub use fsarena_model::exit;

/// The user asked for something that is not possible; exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The user has stopped it before anything was made; exit code 130.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped; nothing was run")
    }
}

impl std::error::Error for Interrupted {}

/// The user's directories by the XDG Base Directory Specification.
fn directories() -> Result<etcetera::base_strategy::Xdg> {
    etcetera::base_strategy::Xdg::new()
        .context("no home directory: set HOME, or name files with --db and --image-dir")
}

/// The database: `--db`, else in the user's data directory.
pub fn database(asked: Option<&Path>) -> Result<PathBuf> {
    let path = match asked {
        Some(path) => path.to_owned(),
        None => directories()?.data_dir().join("fsarena/fsarena.db"),
    };
    check_database(&path)?;
    Ok(path)
}

/// Refuses a database that root would open where somebody else may put another one in its place, or
/// a journal beside it: SQLite goes by paths, and plays back what journal there is.
pub fn check_database(path: &Path) -> Result<()> {
    let path = std::path::absolute(path)?;
    check_database_at(&path)?;
    // Nobody else could have put a link there that comes to here.
    match path.is_symlink().then(|| path.canonicalize()) {
        Some(Ok(real)) => check_database_at(&real),
        Some(Err(_)) | None => Ok(()),
    }
}

fn check_database_at(path: &Path) -> Result<()> {
    let refused = |why: HeldError| {
        Usage(format!(
            "{}: {why}, and a journal next to it would be played back as root; copy it to a \
             directory of root's, or name another with --db",
            path.display()
        ))
    };
    let mut above = path.ancestors().skip(1);
    let Some(parent) = above.next() else { return Ok(()) };
    let stranger = match HeldDir::of_user(parent) {
        Ok(dir) => {
            let name = path.file_name().filter(|_| path.is_symlink());
            if let Some(Err(error)) = name.map(|name| dir.check_link(name)) {
                return Err(refused(error).into());
            }
            dir.other_writer()?
        }
        // One that is made is nobody else's.
        Err(HeldError::Io(error)) if error.kind() == ErrorKind::NotFound => {
            let there = above.find_map(|dir| HeldDir::of_user(dir).ok());
            there.map(|dir| dir.other_exchanger()).transpose()?.flatten()
        }
        // Said by whoever opens it.
        Err(HeldError::Io(_)) => None,
        Err(other) => return Err(refused(other).into()),
    };
    stranger.map_or(Ok(()), |found| Err(refused(HeldError::Stranger(found)).into()))
}

/// Journals and mount points: `FSARENA_STATE_DIR`, else in the user's state directory. One that is
/// there is closed to others.
pub fn state_dir() -> Result<PathBuf> {
    let set = std::env::var_os("FSARENA_STATE_DIR").filter(|dir| !dir.is_empty());
    let dir = match set {
        Some(dir) => std::path::absolute(dir).context("FSARENA_STATE_DIR")?,
        None => {
            let dirs = directories()?;
            dirs.state_dir().unwrap_or_else(|| dirs.data_dir()).join("fsarena")
        }
    };
    state_dir::check(&dir).map_err(|error| Usage(error.to_string()))?;
    Ok(dir)
}

/// Images: `--image-dir`, `FSARENA_IMAGE_DIR`, else `/var/tmp`, which is meant for large files that
/// outlive a boot.
pub fn image_dir(asked: Option<&Path>) -> Result<PathBuf> {
    let set = std::env::var_os("FSARENA_IMAGE_DIR").filter(|dir| !dir.is_empty());
    let dir = asked.map(Path::to_owned).or_else(|| set.map(PathBuf::from));
    std::path::absolute(dir.unwrap_or_else(|| PathBuf::from("/var/tmp"))).context("--image-dir")
}

/// The directory to work in without root and without `--on`; made if `may_make`, else the nearest
/// that exists.
pub fn own_directory(may_make: bool) -> Result<PathBuf> {
    let dir = directories()?.cache_dir().join("fsarena");
    if may_make {
        HeldDir::make(&dir, 0o755).with_context(|| format!("{}", dir.display()))?;
    }
    let there = dir.ancestors().find(|dir| dir.is_dir());
    Ok(there.unwrap_or(Path::new("/")).to_owned())
}

/// The guest kernels that were built. Not below [`own_directory`], which is worked in.
pub fn kernels() -> Result<Cache> {
    Cache::of_user().context("the directory of guest kernels")
}

/// Programs of another width. Beside the guest kernels.
pub fn programs() -> Result<ProgramCache> {
    ProgramCache::of_user().context("the directory of programs")
}

/// The crash states that were kept, in the user's data directory.
pub fn crash_states() -> Result<KeptStates> {
    Ok(KeptStates::new(directories()?.data_dir().join("fsarena/crash-states")))
}

/// How directories of commands begin.
const SCRATCH_PREFIXES: &[&str] = &["fsarena-command-"];

/// A directory for what lasts as long as this command. One that was killed leaves its own to the
/// next command.
pub fn scratch_dir() -> Result<OwnedDir> {
    let base = std::env::temp_dir();
    OwnedDir::make(&base, SCRATCH_PREFIXES[0])
        .with_context(|| format!("a directory cannot be made in {}", base.display()))
}

/// A directory in `base` for what a command makes that is to be there whole or not at all; the
/// journal has it first. `what` begins its name.
pub fn journaled_dir(base: &Path, what: &str) -> Result<JournaledDir> {
    let name = format!("{what}-{}", new_uid(fsarena_metrics::realtime_ns()));
    Ok(JournaledDir::make_in(&state_dir()?, base, &name, Path::new(""))?)
}

/// Removes directories of commands that were killed; those that lasted as long as a command.
pub fn remove_abandoned() -> Vec<PathBuf> {
    let kept = [
        kernels().ok().map(|cache| cache.dir().to_owned()),
        programs().ok().map(|cache| cache.dir().to_owned()),
        crash_states().ok().map(|states| states.dir().to_owned()),
    ];
    let beside = kept.into_iter().flatten().map(|dir| (dir, OWNED_PREFIXES));
    let all = beside.chain([(std::env::temp_dir(), SCRATCH_PREFIXES)]);
    let removed = all.filter_map(|(dir, prefixes)| abandoned(&dir, prefixes).ok());
    removed.flatten().collect()
}

/// The first option of these that was given.
pub fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

/// Release of the kernel of this machine.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// What went wrong with what was behind it, each once: many errors have the text of their cause in
/// their own.
pub fn reason(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// The unique id of a RUN that this process makes at that time.
pub fn new_uid(now_unix_ns: u64) -> String {
    let seed = Seed::from_number(now_unix_ns).child("run", u64::from(std::process::id()));
    format!("{:016x}", seed.tag())
}

/// Whether file systems may be made and mounted.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// This binary, for executors and workers, even where its file was replaced by a new build
/// meanwhile.
pub fn program() -> TrustedProgram {
    TrustedProgram::own()
}

/// Columns where output is no terminal and `COLUMNS` says nothing.
const COLUMNS: usize = 100;

/// Columns of the terminal; where output is none, as many as `COLUMNS` says.
pub fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    let said = || std::env::var("COLUMNS").ok()?.parse::<u16>().ok();
    let columns = terminal.map(|(width, _)| width.0).or_else(said).filter(|&columns| columns > 0);
    columns.map_or(COLUMNS, usize::from).max(MIN_WIDTH)
}

/// When there is colour, as `--color` says.
static COLOUR: OnceLock<ColorChoice> = OnceLock::new();

/// Keeps what `--color` says.
pub fn set_colour(choice: ColorChoice) {
    COLOUR.get_or_init(|| choice);
}

/// Colour as `--color` says: by itself only on a terminal, and never with `NO_COLOR`
/// (no-color.org); bars only on a terminal that shows their characters, and ASCII alone where the
/// locale has no other.
pub fn style() -> Style {
    let is_terminal = std::io::stdout().is_terminal();
    let colour = match COLOUR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    Style { colour, bars: is_terminal && is_utf8(), ascii: !is_utf8(), rate: None }
}

/// A path as it is said from here: without the directory that this process is in.
pub fn near(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// Whether the locale says that the terminal shows UTF-8: the first of these variables that is set
/// decides (locale(7)).
fn is_utf8() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Bytes of a description that the user names, at most.
const DESCRIPTION_MOST_BYTES: u64 = 16 << 20;
/// Bytes of a line that the user types, at most.
const TYPED_MOST_BYTES: u64 = 4096;

/// The text of a description that the user names: an experiment, a sheet, a job file.
///
/// # Errors
/// When it cannot be read, is no text, or has more than 16 MiB.
pub fn description_text(path: impl AsRef<Path>) -> std::io::Result<String> {
    Bounded::open(path, DESCRIPTION_MOST_BYTES)?.whole_text()
}

/// A line that the user types; empty where standard input has ended.
///
/// # Errors
/// When it cannot be read, or is no answer that anybody types.
pub fn typed_line() -> std::io::Result<String> {
    let line = Bounded::new(std::io::stdin().lock(), TYPED_MOST_BYTES).next_text_line()?;
    Ok(line.unwrap_or_default())
}

/// Writes a message to standard error. Work goes on if its reader is gone, as after
/// `fsarena run 2>&1 | head`.
pub fn print_message(text: &str) {
    let text = visible::lines(text);
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// Writes whole lines of messages to standard error, as [`print_message`] does.
pub fn print_text(lines: &str) {
    let _ = std::io::stderr().write_all(shown(lines).as_bytes());
}

/// What is written for people: nothing in it moves a cursor or turns the order of letters, and
/// colours are in it only where there is colour.
fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    if style().colour { visible::coloured_lines(text) } else { visible::lines(text) }
}

/// Writes text to standard output.
pub fn print(text: &str) -> Result<()> {
    let text = shown(text);
    let mut output = std::io::stdout().lock();
    output.write_all(text.as_bytes())?;
    if !text.ends_with('\n') && !text.is_empty() {
        output.write_all(b"\n")?;
    }
    Ok(output.flush()?)
}

/// Writes one JSON document to standard output, or tables as wide as the terminal.
pub fn print_as(
    json: bool,
    document: impl FnOnce() -> serde_json::Value,
    tables: impl FnOnce(usize, Style) -> String,
) -> Result<()> {
    if json { print_json(&document()) } else { print(&tables(width(), style())) }
}

/// Writes one JSON document to standard output.
pub fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&visible::json(&serde_json::to_string_pretty(value)?))
}

/// Whether the reader of our output is gone (`fsarena show | head`).
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// From now on Ctrl-C, SIGTERM and SIGHUP only raise the count that is returned, so that a second
/// one can mean "at once". It is one count, whoever asks.
pub fn count_interrupts() -> Result<Arc<AtomicUsize>> {
    static COUNT: OnceLock<Arc<AtomicUsize>> = OnceLock::new();
    if let Some(count) = COUNT.get() {
        return Ok(Arc::clone(count));
    }
    let count = Arc::clone(COUNT.get_or_init(Arc::default));
    let seen = Arc::clone(&count);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("signals cannot be caught")?;
    // Lives as long as the process.
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let before = seen.fetch_add(1, Ordering::SeqCst);
            if before == 0 {
                say!("\nstopping: cleaning up (again: at once)");
            }
        }
    });
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fmt, io};

    /// Says its cause in its own text, as most errors do.
    #[derive(Debug)]
    struct AtPath(io::Error);

    impl fmt::Display for AtPath {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "/a/b: {}", self.0)
        }
    }

    impl std::error::Error for AtPath {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_reason_is_said_once() {
        let file_exists = || io::Error::from(io::ErrorKind::AlreadyExists);
        let error = anyhow::Error::new(AtPath(file_exists()));
        assert_eq!(reason(&error), "/a/b: entity already exists");
        let error = error.context("the page is not written");
        assert_eq!(reason(&error), "the page is not written: /a/b: entity already exists");
        assert_eq!(reason(&anyhow::anyhow!("nothing behind it")), "nothing behind it");
    }
}
