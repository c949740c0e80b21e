//! The cache of a source that is on another file system: as cold, or as warm, before a phase as
//! the phase was asked to be, for every contender alike.
//!
//! Where the device under test is made cold, the source is looked at while that is unmounted: all
//! caches of the machine have been dropped, and are once more when it has been looked at. Those
//! that cannot be made cold have their source made cold right before the phase. For a warm phase it
//! is read once. None of this is timed.
//!
//! A source in memory is warm by nature, and one on the file system under test is a part of it:
//! both are left alone here. The source itself is never written to.

use crate::cold::SourceCache;
use crate::error::StepError;
use crate::stop::Stop;
use fsarena_devices::cache;
use fsarena_model::contender::Cache;
use fsarena_model::job::{DATA, SourcePlace};
use fsarena_model::record::ColdProof;
use fsarena_model::spec::TrialSpec;
use fsarena_model::work::Phase;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Of a tree, so many files are looked at.
const LOOKED_AT: usize = 1000;
const READ_BYTES: usize = 1 << 20;

/// The cache of the source of a trial.
pub(crate) struct SourceFiles<'a> {
    pub(crate) spec: &'a TrialSpec,
    pub(crate) stop: &'a Stop,
}

impl SourceFiles<'_> {
    /// The source, where it is on another file system.
    fn other_source(&self) -> Option<PathBuf> {
        let source = self.spec.workload.source.as_ref()?;
        let staged = self.spec.staged.as_ref().filter(|_| source.place == SourcePlace::Other)?;
        Some(staged.canonicalize().unwrap_or_else(|_| staged.clone()))
    }

    /// Proves that the source is cold. To be called while nothing is mounted, so that the caches
    /// can be dropped. Pages in the cache; `None` where there is no such source, or they cannot be
    /// told.
    pub(crate) fn chill(&self) -> Result<Option<u64>, StepError> {
        let Some(path) = self.other_source() else { return Ok(None) };
        let pages = cold_pages(&path, self.stop, &|| cache::drop_caches().is_ok())?;
        // Looking at it has brought its names and inodes.
        cache::drop_caches()?;
        Ok(pages)
    }

    /// Makes the source ready for a timed phase, and says what it is. `chilled` are the readings of
    /// the last chill; `is_first`: no phase was measured before.
    pub(crate) fn prepare(
        &self,
        phase: &Phase,
        chilled: Option<&ColdProof>,
        is_first: bool,
    ) -> Result<SourceCache, StepError> {
        let reads = phase.job.as_ref().is_some_and(|job| job.of == DATA);
        let place = self.spec.workload.source.as_ref().filter(|_| reads).map(|s| s.place);
        let path = match (place, self.other_source()) {
            (Some(SourcePlace::Memory), _) => return Ok(SourceCache::Memory),
            (Some(SourcePlace::Other), Some(path)) => path,
            _ => return Ok(SourceCache::Below),
        };
        if let Some(proof) = chilled {
            return Ok(SourceCache::Other(proof.source_resident_pages));
        }
        let cold = match self.spec.source_cache.unwrap_or(self.spec.contender.levels.cache) {
            Cache::Cold => true,
            Cache::ColdStart => is_first,
            Cache::Warm | Cache::ColdClients | Cache::Unknown => false,
        };
        if !cold {
            read_all(&path, self.stop)?;
            let looked_at = files(&path, LOOKED_AT, self.stop)?;
            return Ok(SourceCache::Other(resident_pages(&looked_at)));
        }
        let drop = || rustix::process::geteuid().is_root() && cache::drop_caches().is_ok();
        let pages = cold_pages(&path, self.stop, &drop)?;
        drop();
        Ok(SourceCache::Other(pages))
    }
}

/// Has the kernel forget the source, and counts what it still holds. `drop_all` drops all caches;
/// where it cannot, the files are asked for one by one.
fn cold_pages(
    path: &Path,
    stop: &Stop,
    drop_all: &dyn Fn() -> bool,
) -> Result<Option<u64>, StepError> {
    // The user may have written it a moment ago, and no dirty page is dropped.
    if let Ok(source) = open_quietly(path) {
        let _ = rustix::fs::syncfs(&source);
    }
    let looked_at = files(path, LOOKED_AT, stop)?;
    let tells = tells(&looked_at);
    if !drop_all() {
        for file in files(path, usize::MAX, stop)? {
            // One that cannot be opened cannot be read by the phase either, which says so.
            let _ = cache::evict_file(&file);
        }
    }
    Ok(if tells { resident_pages(&looked_at) } else { None })
}

/// Whether the kernel shows what it holds of these files: some file systems (overlayfs, those with
/// a cache of their own) show nothing.
fn tells(files: &[PathBuf]) -> bool {
    let mut byte = [0];
    let mut readable = files.iter().filter_map(|path| Some((path, open_quietly(path).ok()?)));
    let read = readable.find(|(_, file)| (&mut &*file).read(&mut byte).is_ok_and(|got| got > 0));
    // Where there is no byte in it, there is nothing to be cached.
    read.is_none_or(|(path, _)| cache::resident_pages(path).is_ok_and(|pages| pages > 0))
}

/// Pages of all `files` in the page cache; `None` where one cannot be asked.
fn resident_pages(files: &[PathBuf]) -> Option<u64> {
    files.iter().map(|file| cache::resident_pages(file).ok()).sum()
}

/// Reads all there is: names, inodes and contents.
fn read_all(path: &Path, stop: &Stop) -> Result<(), StepError> {
    let mut buffer = vec![0; READ_BYTES];
    for path in files(path, usize::MAX, stop)? {
        // What cannot be read, the phase will complain about.
        let Ok(mut file) = open_quietly(&path) else { continue };
        while file.read(&mut buffer).is_ok_and(|got| got > 0) {
            go_on(stop)?;
        }
    }
    Ok(())
}

/// The first regular files of a tree, or the file itself. No symbolic link is followed below it;
/// what cannot be listed is left out.
fn files(path: &Path, most: usize, stop: &Stop) -> Result<Vec<PathBuf>, StepError> {
    let mut found = Vec::new();
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        go_on(stop)?;
        let Ok(facts) = path.symlink_metadata() else { continue };
        if facts.is_file() {
            found.push(path);
            if found.len() >= most {
                break;
            }
        } else if facts.is_dir() {
            let listed = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
            paths.sort_unstable_by(|one, other| other.cmp(one));
            left.append(&mut paths);
        }
    }
    Ok(found)
}

fn go_on(stop: &Stop) -> Result<(), StepError> {
    if stop.asked() { Err(StepError::Stopped) } else { Ok(()) }
}

/// Opens a file of somebody else's without a trace in its times, where that is allowed.
fn open_quietly(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let quiet = open(path, flags | OFlags::NOATIME, Mode::empty());
    let opened = match quiet {
        Err(Errno::PERM) => open(path, flags, Mode::empty()),
        other => other,
    };
    opened.map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A tree on a disk: four files of 64 KiB in two directories, a link and an empty file.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir_in("/var/tmp").expect("a directory");
        for name in ["a", "b"] {
            let below = dir.path().join(name);
            fs::create_dir(&below).expect("made");
            for file in ["1", "2"] {
                fs::write(below.join(file), vec![1; 64 << 10]).expect("written");
            }
        }
        fs::write(dir.path().join("empty"), "").expect("written");
        std::os::unix::fs::symlink("/", dir.path().join("link")).expect("made");
        dir
    }

    #[test]
    fn files_of_a_tree_are_found_in_order_and_no_link_is_followed() {
        let (dir, stop) = (tree(), Stop::default());
        let below = |most| -> Vec<String> {
            let found = files(dir.path(), most, &stop).expect("nothing stops it");
            let below = found.iter().map(|path| path.strip_prefix(dir.path()).expect("below"));
            below.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(below(usize::MAX), ["a/1", "a/2", "b/1", "b/2", "empty"]);
        assert_eq!(below(3), ["a/1", "a/2", "b/1"]);
        let file = dir.path().join("a/1");
        assert_eq!(files(&file, 9, &stop).expect("nothing stops it"), [file]);
    }

    #[test]
    fn a_source_is_made_warm_and_cold() {
        let (dir, stop) = (tree(), Stop::default());
        let looked_at = files(dir.path(), LOOKED_AT, &stop).expect("nothing stops it");
        let in_memory =
            fsarena_devices::vet::vet_directory(dir.path()).is_ok_and(|d| d.in_memory());
        if in_memory || !tells(&looked_at) {
            println!("not run: the page cache of /var/tmp is not shown here");
            return;
        }
        let written = cold_pages(dir.path(), &stop, &|| cache::drop_caches().is_ok());
        assert_eq!(written.expect("nothing stops it"), Some(0), "what was just written as well");
        for _ in 0..2 {
            read_all(dir.path(), &stop).expect("read");
            assert_eq!(resident_pages(&looked_at), Some(4 * 16));
            let cold = cold_pages(dir.path(), &stop, &|| false).expect("nothing stops it");
            assert_eq!(cold, Some(0));
        }
    }
}
