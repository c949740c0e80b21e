//! A million real files on xfs, on a loop device of its own: created, listed, deleted.
//!
//! Times are shown and not judged. What is judged is that it works: every file is there after the
//! creation, none after the deletion.

use super::child_job::{ChildJob, PhaseResult};
use super::image::Mounted;
use super::options::Options;
use super::section::{MIB, Section, Verdict};
use super::small::{BLOCK_BYTES, FILE_BYTES};
use anyhow::Result;
use fsarena_model::work::{Dataset, Op, Phase};
use std::path::Path;

pub(super) const SECTION: Section = Section { name: "million", usual: false, judged, run };

const FILES_PER_DIR: u64 = 1000;
const JUDGED_FILES: u64 = 1_000_000;
/// A block, an inode, entries and the log's share, of each file.
const IMAGE_BYTES_A_FILE: u64 = 6144;
/// mkfs.xfs wants 300 MiB.
const IMAGE_BYTES_LEAST: u64 = 320 * MIB;

fn judged(options: &Options) -> bool {
    options.million_files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let files = options.million_files;
    let image_bytes = IMAGE_BYTES_LEAST + files * IMAGE_BYTES_A_FILE;
    let mounted = match Mounted::new("xfs", &options.image_dir, image_bytes)? {
        Ok(mounted) => mounted,
        Err(why) => {
            verdict.not_run("million", &why);
            return Ok(verdict);
        }
    };
    let dataset = Dataset::uniform(files, FILE_BYTES, files.div_ceil(FILES_PER_DIR));
    println!(
        "{files} files of {FILE_BYTES} B in {} directories, xfs on a loop device, image in {}",
        dataset.dirs,
        options.image_dir.display()
    );
    let phase = |op: Op| Phase::new(op.name(), op, BLOCK_BYTES);
    let child_job = |ops: &[Op]| {
        let phases = ops.iter().map(|&op| phase(op)).collect();
        ChildJob::new(mounted.path(), dataset.clone(), phases).send()
    };
    let made = child_job(&[Op::Create, Op::List])?;
    print_time("created", &made.phases[0]);
    print_time("listed", &made.phases[1]);
    expect(&mut verdict, "after the creation", count(mounted.path())?, files);
    let deleted = child_job(&[Op::Delete])?;
    print_time("deleted", &deleted.phases[0]);
    expect(&mut verdict, "after the deletion", count(mounted.path())?, 0);
    let peak_bytes = made.peak_bytes.max(deleted.peak_bytes);
    println!("  most memory of the worker (VmHWM): {:.1} MiB", peak_bytes as f64 / MIB as f64);
    Ok(verdict)
}

fn print_time(done: &str, ran: &PhaseResult) {
    let seconds = |ns: u64| ns as f64 / 1e9;
    println!(
        "  {done:8} {:8} ops in {:7.2} s, durable after {:7.2} s ({:.0} ops/s)",
        ran.ops,
        seconds(ran.elapsed_ns),
        seconds(ran.durable_ns),
        ran.ops as f64 / seconds(ran.elapsed_ns)
    );
}

fn expect(verdict: &mut Verdict, when: &str, found: u64, wanted: u64) {
    println!("  {when}: {found} files");
    if found != wanted {
        verdict.missed.push(format!("{found} files {when}, not {wanted}"));
    }
}

/// Files in the directories of `root`.
fn count(root: &Path) -> Result<u64> {
    let mut files = 0;
    for dir in std::fs::read_dir(root)? {
        let dir = dir?;
        if dir.file_type()?.is_dir() {
            for file in std::fs::read_dir(dir.path())? {
                files += u64::from(file?.file_type()?.is_file());
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_and_a_wrong_number_is_said() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["a", "b", "b/c"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        for file in ["a/1", "a/2", "b/3", "top"] {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        assert_eq!(count(root.path()).unwrap(), 3);
        let mut verdict = Verdict::default();
        expect(&mut verdict, "now", 3, 3);
        assert!(verdict.missed.is_empty());
        expect(&mut verdict, "now", 3, 0);
        assert_eq!(verdict.missed, ["3 files now, not 0"]);
    }
}
