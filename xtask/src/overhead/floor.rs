//! How fast a modelled disk under the kernel of the machine can be at all: reads of 4 KiB that its
//! process answers at once, through FUSE and a loop device, beside a loop device over a file.

use super::fio::{self, RandomReads};
use super::options::{MIB, Options, Verdict};
use anyhow::{Context as _, Result};
use fsarena_devices::claim::NullDisk;
use fsarena_devices::loopdev::LoopDevice;
use std::fs::File;
use std::path::Path;

/// Most that one read may take while nothing else is outstanding.
const READ_NS: f64 = 20_000.0;
/// Reads a second with 32 outstanding.
const READS_PER_S: f64 = 120_000.0;
const IODEPTH: u32 = 32;
const SIZE_BYTES: u64 = 512 * MIB;
/// The least of so many tries counts.
const TRIES: u32 = 5;

/// Prints and judges both figures.
pub(super) fn measure(options: &Options, verdict: &mut Verdict) -> Result<()> {
    let what = "the floor of a native disk";
    if fio::version().is_none() {
        verdict.not_run(what, "fio is not installed");
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        verdict.not_run(what, "needs root");
        return Ok(());
    }
    let disk = match NullDisk::new(SIZE_BYTES) {
        Ok(disk) => disk,
        Err(error) => {
            verdict.not_run(what, &error.to_string());
            return Ok(());
        }
    };
    let ([read_ns, per_read_ns], bare) = best(options, &disk.path()?)?;
    let (reads_per_s, bare_per_s) = (1e9 / per_read_ns, 1e9 / bare[1]);
    println!("reads of 4 KiB by fio, answered at once; beside a loop device over a file");
    let words = |is_met| if is_met { "meets" } else { "MISSES" };
    let first = words(read_ns <= READ_NS);
    let (read_us, bare_us, most_us) = (read_ns / 1e3, bare[0] / 1e3, READ_NS / 1e3);
    println!("  one at a time   {read_us:8.1} us   {bare_us:8.1} us   {first} {most_us:.0} us");
    let second = words(reads_per_s >= READS_PER_S);
    println!(
        "  {IODEPTH} outstanding  {reads_per_s:8.0} /s   {bare_per_s:8.0} /s   {second} \
         {READS_PER_S} /s"
    );
    if read_ns > READ_NS {
        verdict.missed.push(format!("a native read takes {read_us:.1} us"));
    }
    if reads_per_s < READS_PER_S {
        verdict.missed.push(format!("{reads_per_s:.0} native reads a second"));
    }
    Ok(())
}

/// The least mean times of a read, ns, one at a time and with more outstanding: of the disk, and of
/// a loop device over a file on tmpfs, in turns.
fn best(options: &Options, disk: &Path) -> Result<([f64; 2], [f64; 2])> {
    let (tries, one, many) =
        if options.smoke { (1, MIB, 4 * MIB) } else { (TRIES, 64 * MIB, SIZE_BYTES) };
    let image = tempfile::tempfile_in(&options.dir)?;
    allocate(&image)?;
    let bare = LoopDevice::attach(&image, Path::new("fsarena-overhead-floor"))?;
    let (mut served, mut without) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    for _ in 0..tries {
        for (at, (bytes, iodepth)) in [(one, 1), (many, IODEPTH)].into_iter().enumerate() {
            served[at] = served[at].min(read_ns(disk, bytes, iodepth)?);
            without[at] = without[at].min(read_ns(bare.path(), bytes, iodepth)?);
        }
    }
    bare.detach()?;
    Ok((served, without))
}

/// Mean time of a read of `bytes` in blocks of 4 KiB, ns: with more outstanding, their distance.
fn read_ns(device: &Path, bytes: u64, iodepth: u32) -> Result<f64> {
    let reads = RandomReads {
        file: device,
        file_bytes: bytes,
        direct: true,
        iodepth,
        in_batches: iodepth > 1,
    };
    Ok(reads.sample()?.ns_per_op)
}

/// A hole would be read faster than contents.
fn allocate(image: &File) -> Result<()> {
    rustix::fs::fallocate(image, rustix::fs::FallocateFlags::empty(), 0, SIZE_BYTES)
        .context("room for the file of the loop device")
}

/// This program as the process of such a disk.
///
/// # Errors
/// When nobody has told it what to serve.
pub(crate) fn serve_disk() -> Result<()> {
    fsarena_crash_runs::native::run().context("the process of a disk")
}
