//! Known inputs: what a target begins with, and the files of its corpus.

use crate::target::Target;
use crate::targets::TARGETS;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the corpus of a target lies, in the repository.
#[must_use]
pub fn corpus_dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// All known inputs of a target, each with a name: the seeds, then the files of its corpus.
///
/// # Errors
/// When a file of the corpus cannot be read.
pub fn inputs(target: &Target) -> io::Result<Vec<(String, Vec<u8>)>> {
    let seeds = (target.seeds)().into_iter().enumerate();
    let mut all: Vec<_> = seeds.map(|(at, bytes)| (format!("seed {at}"), bytes)).collect();
    let mut files = match fs::read_dir(corpus_dir(target.name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        list => list?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?,
    };
    files.sort();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push((name, fs::read(&path)?));
    }
    Ok(all)
}

/// Writes the seeds of every target to `DIR/NAME/`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_seeds(dir: &Path) -> io::Result<()> {
    for target in TARGETS {
        let own = dir.join(target.name);
        fs::create_dir_all(&own)?;
        for (at, bytes) in (target.seeds)().iter().enumerate() {
            fs::write(own.join(format!("seed-{at}")), bytes)?;
        }
    }
    Ok(())
}
