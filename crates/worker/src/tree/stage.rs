//! Stages the source of a workload where the work is done; not timed.

use super::copy::Copier;
use super::entry_timer::EntryTimer;
use super::error::{Failure, TreeError, terminated};
use super::path_walker::DIR_FLAGS;
use fsarena_corpus::Description;
use fsarena_engine::root::Root;
use fsarena_model::job::{DATA, Origin, Reflink, Source};
use rustix::fd::AsFd as _;
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;
use std::path::Path;

/// Threads that generate a tree, at most.
const MAX_THREADS: usize = 4;

/// Stages `source` below `root`, under [`Source::file_name`]: copied from `from` (a tree or an
/// archive, never with shared blocks), or generated where there is none.
///
/// # Errors
/// When there is neither a path nor a description, the one is not what the source says, the name is
/// taken, or a call fails; then a part of it may be there.
pub fn stage(root: &Root, source: &Source, from: Option<&Path>) -> Result<(), TreeError> {
    match from {
        Some(from) => copy(root, source, from),
        None => generate(root, source),
    }
}

fn failed(source: &Source, call: &'static str, path: &str, errno: Errno) -> TreeError {
    let (name, path) = (source.name.clone(), path.to_owned());
    TreeError::Stage { name, call, path, text: errno.to_string() }
}

fn copy(root: &Root, source: &Source, from: &Path) -> Result<(), TreeError> {
    let shown = from.display().to_string();
    let (path, to) = (terminated(from)?, terminated(Path::new(&source.file_name()))?);
    let facts = rustix::fs::statat(root.lookup(), &path, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| failed(source, "fstatat", &shown, errno))?;
    let is_dir = FileType::from_raw_mode(facts.st_mode) == FileType::Directory;
    if is_dir != source.archive.is_none() {
        let what = "a directory lies where an archive should be, or an archive where a directory \
                    should be; plan again";
        return Err(TreeError::Source { name: source.name.clone(), what });
    }
    let entries = source.contents.entries();
    let mut copier = Copier::new(Reflink::Never, entries).map_err(TreeError::Memory)?;
    let copied = copier.run(root.lookup(), (&path, &to), &mut EntryTimer::new(false));
    copied.map_err(|failure| {
        let path = failure.shown_path();
        let Failure { call, text, .. } = failure;
        TreeError::Stage { name: source.name.clone(), call, path, text }
    })
}

fn generate(root: &Root, source: &Source) -> Result<(), TreeError> {
    let refused = |what| Err(TreeError::Source { name: source.name.clone(), what });
    let Origin::Made { description } = &source.origin else {
        return refused("it is the user's own, and no path is given to copy it from");
    };
    if source.archive.is_some() {
        return refused("it is an archive, which is copied from the stage; no path is given");
    }
    let tree = Description::parse(description, &source.name)?.tree();
    let mode = Mode::from_raw_mode(0o755);
    rustix::fs::mkdirat(root.lookup(), DATA, mode)
        .map_err(|errno| failed(source, "mkdirat", DATA, errno))?;
    let dir = rustix::fs::openat(root.lookup(), DATA, DIR_FLAGS, Mode::empty())
        .map_err(|errno| failed(source, "openat", DATA, errno))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    tree.write(dir.as_fd(), threads, &|| false)?;
    Ok(())
}
