//! Random reads of 4 KiB by io_uring against fio, of the same file and with the same settings.
//!
//! On tmpfs through the page cache (it has no other way), on a file system on a loop device whose
//! image is on tmpfs with `O_DIRECT`. Each side reads each block once, registers its buffers and
//! its file, and records the latency of every read. fio enters the kernel for each read unless told
//! otherwise; our engine hands over all that is free at once. So where more than one read is in
//! flight, fio is run both ways and each is a figure.

use super::child_job::ChildJob;
use super::fio::{self, RandomReads};
use super::image::Mounted;
use super::options::{MIB, Options, Section, Verdict};
use super::pairs::{Pace, Side};
use super::small::BLOCK_BYTES;
use super::table::{Centre, Compared, Comparison};
use anyhow::Result;
use fsarena_model::work::{Backend, Dataset, Io, Op, Phase};
use std::path::Path;

pub(super) const SECTION: Section = Section { name: "uring", judged, run };

const USUAL_PAIRS: u32 = 21;
const JUDGED_PAIRS: u32 = 11;
const JUDGED_MIB: u64 = 1024;
/// What ext4 needs next to the file.
const SPARE_MIB: u64 = 64;
/// Name of the first file of a dataset.
const FILE: &str = "f00000000";

/// iodepth, and whether fio works in batches.
const DEPTHS: [(u32, bool, Compared); 3] = [
    (1, false, Compared { name: "iodepth 1", ratio: 1.0, low: 0.0 }),
    (32, false, Compared { name: "iodepth 32", ratio: 1.0, low: 0.0 }),
    (32, true, Compared { name: "32 batched", ratio: 1.0, low: 0.0 }),
];

fn judged(options: &Options) -> bool {
    options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS && options.uring_mib >= JUDGED_MIB
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let Some(version) = fio::version() else {
        verdict.not_run("uring", "fio is not installed");
        return Ok(verdict);
    };
    if let Err(error) = fsarena_engine::uring::check(Op::RandRead, &io(false, 32)) {
        verdict.not_run("uring", &error.to_string());
        return Ok(verdict);
    }
    println!("{version}");
    let judged = judged(options) && !options.smoke;
    let needs = if judged { JUDGED_PAIRS } else { 0 };
    let pace = Pace::new(options, options.pairs(USUAL_PAIRS), judged);
    let tmpfs = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir_in(&options.dir)?;
    let location =
        FileLocation { name: "tmpfs", dir: tmpfs.path(), mib: options.uring_mib, direct: false };
    location.compare(pace, needs, &mut verdict)?;
    drop(tmpfs);
    let mib = options.uring_mib / 2;
    match Mounted::new(&options.dir, (mib + SPARE_MIB) * MIB)? {
        Ok(mounted) => {
            let name = "ext4 on a loop device";
            let location = FileLocation { name, dir: mounted.path(), mib, direct: true };
            location.compare(pace.with_kernel_help(), needs, &mut verdict)?;
        }
        Err(why) => verdict.not_run("uring on a loop device", &why),
    }
    Ok(verdict)
}

/// Where the file lies.
struct FileLocation<'a> {
    name: &'static str,
    dir: &'a Path,
    mib: u64,
    direct: bool,
}

impl FileLocation<'_> {
    /// Writes the file and reads it in pairs, once for each depth.
    fn compare(&self, pace: Pace, needs: u32, verdict: &mut Verdict) -> Result<()> {
        let dataset = Dataset::uniform(1, self.mib * MIB, 0);
        let write = Phase::new("big-write", Op::BigWrite, MIB);
        ChildJob::new(self.dir, dataset.clone(), vec![write]).send()?;
        let file = self.dir.join(FILE);
        for (iodepth, in_batches, figure) in DEPTHS {
            let (file, file_bytes, direct) = (file.as_path(), self.mib * MIB, self.direct);
            let reads = RandomReads { file, file_bytes, direct, iodepth, in_batches };
            println!("fio {}", reads.args().join(" "));
            let read = Phase {
                io: io(self.direct, iodepth),
                ..Phase::new("randread", Op::RandRead, BLOCK_BYTES)
            };
            let ours = ChildJob::new(self.dir, dataset.clone(), vec![read]);
            let pairs = pace.run(|side| match side {
                Side::Ours => ours.samples(),
                Side::Other => Ok(vec![reads.sample()?]),
            })?;
            let how = if self.direct { "direct" } else { "buffered" };
            let comparison = Comparison {
                title: format!("{} MiB on {}, {how}", self.mib, self.name),
                other: "fio",
                compared: &[figure],
                centre: Centre::Median,
                needs,
            };
            verdict.missed.extend(comparison.print(&pairs)?);
        }
        Ok(())
    }
}

fn io(direct: bool, iodepth: u32) -> Io {
    Io { backend: Backend::IoUring, direct, iodepth, ..Io::default() }
}
