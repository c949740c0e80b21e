//! What is done to a device before mkfs, so that its flash is in a stated state: nothing, a discard
//! of the whole device, or preconditioning.
//!
//! Preconditioning follows SNIA's Solid State Storage Performance Test Specification 2.0.2: the
//! device is filled sequentially with 128 KiB writes, twice its capacity (workload-independent
//! preconditioning), then overwritten with random 4 KiB writes in rounds, until five rounds in a
//! row are steady, or after 25 rounds. Differs from it: concurrency is that of threads with one
//! write each, and a round ends at the latest when it has written the capacity once.
//!
//! A discard of a loop device punches holes into its image, which is what a discarded flash is
//! like; the image is not written again, because that would undo it. Such an image must not be
//! shared with contenders of another policy.
//!
//! The device is opened by `reopen`, and nothing here writes without that.

mod steady;

pub use steady::Steadiness;

use crate::TargetError;
use crate::image::{Aligned, set_direct};
use crate::own_fill::splitmix;
use crate::reopen;
use crate::settle::nanos;
use fsarena_model::device::{Conditioning, SsdPolicy};
use fsarena_model::spec::TargetSpec;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// `_IO(0x12, 119)` of `linux/fs.h`.
const BLKDISCARD: libc::Ioctl = 0x1277;
/// Bytes of one discard, between which a stop is heard.
const DISCARD_BYTES: u64 = 8 << 30;
/// Bytes between two reports of the fill.
const REPORT_BYTES: u64 = 16 << 20;
/// Time between two looks at the writers of a round.
const LOOK: Duration = Duration::from_millis(20);

/// How preconditioning is done; the default is that of the specification.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precondition {
    /// How often the device is filled.
    pub fill_passes: u32,
    /// Bytes of one sequential write, a multiple of 4096.
    pub fill_bs_bytes: usize,
    /// Bytes of one random write, a multiple of 4096.
    pub bs_bytes: usize,
    /// Threads, each with one random write at a time.
    pub writers: u32,
    /// Longest time of a round.
    pub round_ns: u64,
    /// Most bytes of a round; the capacity where absent.
    pub round_bytes: Option<u64>,
    /// When the rounds are steady.
    pub steadiness: Steadiness,
    pub most_rounds: u32,
    /// Where the random writes begin their sequence.
    pub seed: u64,
}

impl Default for Precondition {
    fn default() -> Self {
        Self {
            fill_passes: 2,
            fill_bs_bytes: 128 << 10,
            bs_bytes: 4096,
            writers: 16,
            round_ns: 60_000_000_000,
            round_bytes: None,
            steadiness: Steadiness::default(),
            most_rounds: 25,
            seed: 0x5eed,
        }
    }
}

/// What is being done, for progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// The device is discarded.
    Discard {
        /// Bytes so far.
        done_bytes: u64,
        /// Bytes in all.
        total_bytes: u64,
    },
    Fill {
        /// Bytes so far.
        done_bytes: u64,
        /// Bytes in all passes.
        total_bytes: u64,
    },
    /// It is overwritten at random.
    Round {
        /// Which round, from 1.
        number: u32,
        /// Most rounds.
        most: u32,
    },
}

/// Hears what is being done, often, and may end it.
pub type Hook<'a> = &'a mut dyn FnMut(Doing) -> ControlFlow<()>;

/// Carries out the policy on each device of the target, one after the other; `None` where
/// nothing is to be done.
///
/// # Errors
/// When the target has no device, it is not the claimed one, it knows no discard, a write fails, or
/// `hook` ends it.
pub fn apply(
    target: &TargetSpec,
    policy: SsdPolicy,
    precondition: &Precondition,
    hook: Hook<'_>,
) -> Result<Option<Conditioning>, TargetError> {
    if policy == SsdPolicy::None {
        return Ok(None);
    }
    let parts = target.parts();
    if parts.len() < 2 {
        return apply_to_one(target, policy, precondition, hook).map(Some);
    }
    // None is written before all are looked at.
    parts.iter().try_for_each(|part| reopen::to_overwrite(part).map(drop))?;
    let each = parts.iter().map(|part| apply_to_one(part, policy, precondition, hook));
    Ok(Some(Conditioning::Several { devices: each.collect::<Result<_, _>>()? }))
}

/// The same on one device.
fn apply_to_one(
    target: &TargetSpec,
    policy: SsdPolicy,
    precondition: &Precondition,
    hook: Hook<'_>,
) -> Result<Conditioning, TargetError> {
    let TargetSpec::Block { device, size_bytes, .. } = target else {
        return Err(TargetError::state(
            Path::new("target"),
            format!("it has no device, so ssd = \"{}\" cannot be done", policy.name()),
            "leave ssd out, or name a device",
        ));
    };
    let file = reopen::to_overwrite(target)?;
    match policy {
        SsdPolicy::Blkdiscard => discard(&file, device, *size_bytes, hook),
        _ => Preconditioning { file: &file, device, size_bytes: *size_bytes, plan: precondition }
            .run(hook),
    }
}

fn stopped(device: &Path) -> TargetError {
    TargetError::Stopped { path: device.to_owned() }
}

/// Discards all of the device.
pub(crate) fn discard(
    file: &File,
    device: &Path,
    size_bytes: u64,
    hook: Hook<'_>,
) -> Result<Conditioning, TargetError> {
    let start = Instant::now();
    let mut done = 0;
    while done < size_bytes {
        let length = (size_bytes - done).min(DISCARD_BYTES);
        discard_range(file, done, length).map_err(|error| discard_error(device, error))?;
        done += length;
        if hook(Doing::Discard { done_bytes: done, total_bytes: size_bytes }).is_break() {
            return Err(stopped(device));
        }
    }
    file.sync_all().map_err(|error| TargetError::io("fsync", device, error))?;
    Ok(Conditioning::Discarded { discarded_bytes: done, elapsed_ns: nanos(start.elapsed()) })
}

fn discard_range(file: &File, start: u64, length: u64) -> io::Result<()> {
    let range = [start, length];
    // SAFETY: BLKDISCARD reads two 64-bit numbers, which `range` is, and keeps no pointer to them.
    if unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn discard_error(device: &Path, error: io::Error) -> TargetError {
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        return TargetError::state(
            device,
            "it cannot discard (BLKDISCARD is not supported)",
            "use ssd = \"none\" or \"precondition\" on this device",
        );
    }
    TargetError::io("BLKDISCARD", device, error)
}

/// Preconditioning of one device.
struct Preconditioning<'a> {
    file: &'a File,
    device: &'a Path,
    size_bytes: u64,
    plan: &'a Precondition,
}

impl Preconditioning<'_> {
    fn run(&self, hook: Hook<'_>) -> Result<Conditioning, TargetError> {
        set_direct(self.file, true).map_err(|error| self.io("O_DIRECT", error))?;
        let start = Instant::now();
        let fill_bytes = self.fill(hook)?;
        let fill_ns = nanos(start.elapsed());
        let mut buffers: Vec<Aligned> =
            (0..self.plan.writers.max(1)).map(|_| Aligned::filled()).collect();
        let start = Instant::now();
        let mut rates = Vec::new();
        let mut steady = false;
        for round in 1..=self.plan.most_rounds {
            rates.push(self.round(round, &mut buffers, hook)?);
            steady = self.plan.steadiness.holds_at_end(&rates);
            if steady {
                break;
            }
        }
        let rounds_ns = nanos(start.elapsed());
        self.file.sync_all().map_err(|error| self.io("fsync", error))?;
        Ok(Conditioning::Preconditioned {
            fill_bytes,
            fill_ns,
            bs_bytes: self.plan.bs_bytes as u64,
            rounds_ops_per_s: rates,
            window_rounds: self.plan.steadiness.window_rounds,
            steady,
            rounds_ns,
        })
    }

    fn io(&self, call: &'static str, error: io::Error) -> TargetError {
        TargetError::io(call, self.device, error)
    }

    /// Writes the device from start to end, as often as planned; gives the bytes written.
    fn fill(&self, hook: Hook<'_>) -> Result<u64, TargetError> {
        let mut buffer = Aligned::filled();
        let total_bytes = self.size_bytes * u64::from(self.plan.fill_passes);
        let mut done = 0;
        let mut report_at = 0;
        while done < total_bytes {
            let at = done % self.size_bytes;
            let bs = self.plan.fill_bs_bytes;
            let length = usize::try_from(self.size_bytes - at).unwrap_or(bs).min(bs);
            let chunk = buffer.varied(self.plan.seed ^ done, length);
            self.file.write_all_at(chunk, at).map_err(|error| self.io("write", error))?;
            done += length as u64;
            if done >= report_at || done == total_bytes {
                report_at = done + REPORT_BYTES;
                if hook(Doing::Fill { done_bytes: done, total_bytes }).is_break() {
                    return Err(stopped(self.device));
                }
            }
        }
        self.file.sync_all().map_err(|error| self.io("fsync", error))?;
        Ok(done)
    }

    /// Overwrites at random for one round, with a writer for each buffer; gives the writes per
    /// second.
    fn round(
        &self,
        number: u32,
        buffers: &mut [Aligned],
        hook: Hook<'_>,
    ) -> Result<f64, TargetError> {
        let bytes = self.plan.round_bytes.unwrap_or(self.size_bytes);
        let share = Share {
            blocks: (self.size_bytes / self.plan.bs_bytes as u64).max(1),
            left: AtomicU64::new((bytes / self.plan.bs_bytes as u64).max(1)),
            done: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            error: Mutex::new(None),
            deadline: Instant::now() + Duration::from_nanos(self.plan.round_ns),
        };
        let start = Instant::now();
        let stop_asked = std::thread::scope(|scope| {
            let writers: Vec<_> = buffers
                .iter_mut()
                .zip(0_u64..)
                .map(|(buffer, writer)| {
                    let seed = self.plan.seed ^ (u64::from(number) << 32 | writer);
                    let share = &share;
                    scope.spawn(move || self.write_at_random(share, buffer, seed))
                })
                .collect();
            loop {
                let asked = hook(Doing::Round { number, most: self.plan.most_rounds }).is_break();
                if asked {
                    share.stop.store(true, Ordering::Relaxed);
                }
                if asked || writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                    return asked;
                }
                std::thread::sleep(LOOK);
            }
        });
        let elapsed = start.elapsed().as_secs_f64().max(1e-9);
        if let Some(error) = share.error.into_inner().unwrap_or_default() {
            return Err(self.io("write", error));
        }
        if stop_asked {
            return Err(stopped(self.device));
        }
        #[expect(clippy::cast_precision_loss, reason = "writes of a round are far below 2^52")]
        let writes = share.done.into_inner() as f64;
        Ok(writes / elapsed)
    }

    fn write_at_random(&self, share: &Share, buffer: &mut Aligned, seed: u64) {
        let mut state = seed;
        let bs = self.plan.bs_bytes;
        while share.take_one() {
            let random = splitmix(&mut state);
            // The high half of the product: even over all blocks to within 2^-32 and less.
            let block = (u128::from(random) * u128::from(share.blocks)) >> 64;
            let at = u64::try_from(block).unwrap_or(0) * bs as u64;
            if let Err(error) = self.file.write_all_at(buffer.varied(random, bs), at) {
                share.fail(error);
                return;
            }
            share.done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What the writers of a round share.
struct Share {
    blocks: u64,
    left: AtomicU64,
    done: AtomicU64,
    stop: AtomicBool,
    error: Mutex<Option<io::Error>>,
    deadline: Instant,
}

impl Share {
    /// Whether there is another block to be written.
    fn take_one(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
            && Instant::now() < self.deadline
            && self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                .is_ok()
    }

    fn fail(&self, error: io::Error) {
        self.stop.store(true, Ordering::Relaxed);
        if let Ok(mut first) = self.error.lock() {
            first.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn small() -> Precondition {
        Precondition {
            writers: 2,
            round_ns: 200_000_000,
            round_bytes: Some(256 << 10),
            most_rounds: 3,
            ..Precondition::default()
        }
    }

    /// A plain file stands for a device: what is written is the same.
    #[test]
    fn a_file_is_filled_overwritten_and_a_stop_is_heard() {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.set_len(1 << 20).unwrap();
        let plan = small();
        let device = Path::new("/dev/none");
        let job = Preconditioning { file: &file, device, size_bytes: 1 << 20, plan: &plan };
        let mut fills = 0;
        let done = job.run(&mut |doing| {
            fills += u32::from(matches!(doing, Doing::Fill { .. }));
            ControlFlow::Continue(())
        });
        let done = match done {
            Err(error) if error.errno() == Some(libc::EINVAL) => {
                return println!("not run: no direct I/O on /var/tmp");
            }
            done => done.unwrap(),
        };
        let Conditioning::Preconditioned { fill_bytes, rounds_ops_per_s, bs_bytes, .. } = done
        else {
            panic!("{done:?}")
        };
        assert_eq!((fill_bytes, bs_bytes), (2 << 20, 4096));
        assert!(fills >= 2 && (1..=3).contains(&rounds_ops_per_s.len()), "{rounds_ops_per_s:?}");
        assert!(rounds_ops_per_s.iter().all(|rate| *rate > 0.0));
        assert!(file.metadata().unwrap().blocks() * 512 >= 1 << 20, "written everywhere");
        for stop_in_round in [false, true] {
            let stop = job.run(&mut |doing| match (doing, stop_in_round) {
                (Doing::Fill { .. }, false) | (Doing::Round { .. }, true) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
            assert!(matches!(stop, Err(TargetError::Stopped { .. })), "{stop:?}");
        }
    }

    #[test]
    fn what_has_no_device_is_refused_and_none_does_nothing() {
        let memory = TargetSpec::Memory { size_bytes: 1 << 20 };
        let mut hook = |_| ControlFlow::Continue(());
        let plan = Precondition::default();
        assert_eq!(apply(&memory, SsdPolicy::None, &plan, &mut hook).unwrap(), None);
        let error = apply(&memory, SsdPolicy::Blkdiscard, &plan, &mut hook).unwrap_err();
        assert!(error.to_string().contains("no device") && error.remedy().is_some(), "{error}");
    }
}
