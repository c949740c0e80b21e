//! Writing a dataset into a new directory or a new archive: whole under its name, or not at all.
//!
//! It is written into a temporary directory next to its place, which is removed on every end but a
//! SIGKILL, and renamed at last.

use crate::args::DatasetArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_corpus::Description;
use fsarena_model::job::{Compression, Contents};
use fsarena_model::units::Bytes;
use fsarena_process::owner::give_tree_to_caller;
use fsarena_report::files_text;
use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};
use rustix::io::Errno;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A new file or directory.
struct NewPath<'a> {
    path: &'a Path,
    parent: PathBuf,
}

/// Writes what `--to` and `--archive` ask for.
pub fn write_targets(args: &DatasetArgs, description: &Description) -> Result<()> {
    let to = args.to.as_deref().map(NewPath::new).transpose()?;
    let archive = match args.archive.as_deref() {
        Some(path) => Some((NewPath::new(path)?, compression_of(path)?)),
        None => None,
    };
    let tree = description.tree();
    let contents = tree.contents();
    let mut needs: Vec<(&NewPath<'_>, u64, u64)> = Vec::new();
    if let Some(place) = &to {
        needs.push((place, contents.block_bytes, contents.entries()));
    }
    if let Some((place, compression)) = &archive {
        let guess = contents.bytes as f64 * description.archive_ratio(*compression);
        needs.push((place, guess as u64, 1));
    }
    for (place, bytes, entries) in needs {
        place.check_space(bytes, entries)?;
    }
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    if let Some(place) = to {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        place.fill(|path| {
            std::fs::create_dir(path)?;
            let written = tree.write(File::open(path)?.as_fd(), threads, &stop)?;
            let (files, dirs) = (written.files, written.dirs);
            let files = files_text(&Contents { files, dirs, ..Contents::default() });
            Ok(format!("{files}, {}", Bytes(written.bytes)))
        })?;
    }
    if let Some((place, compression)) = archive {
        place.fill(|path| {
            let mut out = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
            let bytes = tree.archive(compression, &mut out, &stop)?;
            out.flush()?;
            Ok(format!("an archive of {}", Bytes(bytes)))
        })?;
    }
    Ok(())
}

/// Compression by the ending of a name.
fn compression_of(path: &Path) -> Result<Compression> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(".tgz") {
        return Ok(Compression::Gzip);
    }
    let known = |kind: &Compression| name.ends_with(&format!(".{}", kind.ending()));
    Compression::ALL.into_iter().find(known).ok_or_else(|| {
        let endings = Compression::ALL.map(Compression::ending).join(", ");
        let path = path.display();
        Usage(format!("--archive {path}: its ending says no compression; use one of: {endings}"))
            .into()
    })
}

impl<'a> NewPath<'a> {
    fn new(path: &'a Path) -> Result<Self> {
        let shown = path.display();
        if path.symlink_metadata().is_ok() {
            refuse!("{shown}: it is there already; name a new one");
        }
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        if !parent.is_dir() {
            let parent = parent.display();
            refuse!("{shown}: there is no directory {parent}");
        }
        Ok(Self { path, parent })
    }

    /// Refuses what does not fit, before anything is written.
    fn check_space(&self, bytes: u64, entries: u64) -> Result<()> {
        let room = statvfs(&self.parent).with_context(|| self.parent.display().to_string())?;
        let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
        let shown = self.path.display();
        anyhow::ensure!(
            bytes <= free_bytes,
            "{shown}: {} are needed, {} are free there; free some, name another place, or use \
             --scale",
            Bytes(bytes),
            Bytes(free_bytes)
        );
        // File systems without a fixed number of inodes say 0.
        anyhow::ensure!(
            room.f_files == 0 || entries <= room.f_favail,
            "{shown}: {entries} inodes are needed, {} are free there; name another place, or use \
             --scale",
            room.f_favail
        );
        Ok(())
    }

    /// Has `make` write it into a temporary directory, and renames it; prints a message on success.
    fn fill(&self, make: impl FnOnce(&Path) -> Result<String>) -> Result<()> {
        let shown = self.path.display();
        let temporary = context::journaled_dir(&self.parent, "dataset")?;
        let new = temporary.path().join("new");
        let made = make(&new).with_context(|| shown.to_string());
        let placed = made.and_then(|text| {
            // Nobody else has come into our directory.
            give_tree_to_caller(&new).with_context(|| shown.to_string())?;
            rename_new(&new, self.path).with_context(|| shown.to_string())?;
            Ok(text)
        });
        // An error of removing must not hide why it was removed.
        let removed = temporary.remove().with_context(|| self.parent.display().to_string());
        let text = placed?;
        removed?;
        say!("{shown}: {text}");
        Ok(())
    }
}

/// Renames, but never over something that is there.
fn rename_new(from: &Path, to: &Path) -> std::io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system that cannot promise it.
        Err(Errno::INVAL) if to.symlink_metadata().is_err() => std::fs::rename(from, to),
        Err(Errno::INVAL) => Err(Errno::EXIST.into()),
        done => Ok(done?),
    }
}
