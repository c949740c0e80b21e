//! A trace of one device while it goes on.

use crate::account::Trace;
use crate::error::TraceError;
use crate::format::{EventFormat, PageFormat};
use crate::page::{self, RequestFilter};
use crate::request::{BlockDevice, Kind, Request};
use crate::tracefs::{Instance, Subject, Tracefs};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// Requests that are kept, 32 bytes each; those beyond are counted as lost.
const REQUESTS_MAX: usize = 8 << 20;
/// Least buffer of a processor.
const BUFFER_LEAST_BYTES: u64 = 64 << 10;
/// The buffers are emptied this often, and when one is half full.
const PERIOD: Duration = Duration::from_millis(500);
/// The most that a page of the buffer may have.
const PAGE_MAX_BYTES: usize = 1 << 20;
const PAGE_LEAST_BYTES: usize = 4096;

/// A trace that goes on; ended, and its instance removed, when dropped.
#[derive(Debug)]
pub struct Session {
    reader: Option<(OwnedFd, JoinHandle<Collected>)>,
    cpus: Vec<String>,
    takes_bios: bool,
    // Dropped after the reader has closed its files.
    instance: Instance,
}

impl Session {
    /// Begins to trace what `device` carries out, but for reads. `name` begins with `fsarena-`;
    /// the buffers of all processors have `buffer_bytes` together.
    ///
    /// # Errors
    /// Without the right to tracefs, the events, or the device; or with an instance of this name.
    /// Nothing is left behind.
    pub fn start(
        tracefs: &Tracefs,
        name: &str,
        device: BlockDevice,
        buffer_bytes: u64,
    ) -> Result<Self, TraceError> {
        let subject = Subject::find(Path::new("/sys"), device)?;
        let instance = Instance::create(tracefs, name)?;
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono")?;
        if !instance.read("trace_clock")?.contains("[mono]") {
            let path = instance.path().join("trace_clock");
            return Err(TraceError::malformed(&path, "the clock is not mono"));
        }
        // What comes first is kept, so that what is missing is all at the end.
        instance.write("options/overwrite", "0")?;
        let cpus = instance.cpus()?;
        let each_bytes = (buffer_bytes / cpus.len() as u64).max(BUFFER_LEAST_BYTES);
        instance.write("buffer_size_kb", &(each_bytes >> 10).to_string())?;
        let event = Event::enable(&instance, &subject)?;
        let reader = Reader::new(&instance, &cpus, event)?;
        instance.write("tracing_on", "1")?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC)
            .map_err(|error| TraceError::Thread(error.to_string()))?;
        let heard = stop.try_clone().map_err(|error| TraceError::Thread(error.to_string()))?;
        let thread = std::thread::Builder::new()
            .name("fsarena-trace".to_owned())
            .spawn(move || reader.run(&heard))
            .map_err(|error| TraceError::Thread(error.to_string()))?;
        let reader = Some((stop, thread));
        Ok(Self { reader, cpus, takes_bios: subject.takes_bios, instance })
    }

    /// Ends it and gives what was seen. The instance is removed whatever happens.
    ///
    /// # Errors
    /// When the kernel's files cannot be read.
    pub fn stop(mut self) -> Result<Trace, TraceError> {
        self.instance.write("tracing_on", "0")?;
        let collected = self.collected()?;
        if let Some(error) = collected.error {
            return Err(error);
        }
        let mut lost_events = collected.lost_events;
        for cpu in &self.cpus {
            let name = format!("{cpu}/stats");
            let lost = lost_of(&self.instance.read(&name)?).map_err(|problem| {
                TraceError::malformed(&self.instance.path().join(&name), problem)
            })?;
            lost_events = lost_events.saturating_add(lost);
        }
        let mut requests = collected.requests;
        requests.sort_by_key(|request| request.monotonic_ns);
        let notes = match self.takes_bios {
            true => vec![
                "The device makes no requests: bios are counted instead, as they are handed in; \
                 zeros that it makes itself are not."
                    .to_owned(),
            ],
            false => Vec::new(),
        };
        let reader_cpu_ns = collected.cpu_ns;
        Ok(Trace { requests, lost_events, notes, reader_cpu_ns })
    }

    fn collected(&mut self) -> Result<Collected, TraceError> {
        let (stop, thread) =
            self.reader.take().ok_or_else(|| TraceError::Thread("ended already".to_owned()))?;
        let told = rustix::io::write(&stop, &1u64.to_ne_bytes());
        let collected = thread.join().map_err(|_| TraceError::Thread("it panicked".to_owned()))?;
        told.map_err(|error| TraceError::Thread(error.to_string()))?;
        Ok(collected)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.reader.is_some() {
            let _ = self.instance.write("tracing_on", "0");
            let _ = self.collected();
        }
    }
}

/// Processor time of the calling thread, ns (`clock_gettime(2)`, `CLOCK_THREAD_CPUTIME_ID`).
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec))
}

/// Adds up what the buffer of a processor says of lost events: `overrun` (written over), `commit
/// overrun` (nested too deep), `dropped events` (no room), and those that were not read.
fn lost_of(stats: &str) -> Result<u64, String> {
    let value = |name: &str| {
        let line = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|value| value.trim().parse::<u64>().ok()).ok_or(format!("no line {name}"))
    };
    ["entries", "overrun", "commit overrun", "dropped events"]
        .into_iter()
        .try_fold(0u64, |sum, name| Ok(sum.saturating_add(value(name)?)))
}

/// The event that is traced.
#[derive(Debug)]
struct Event {
    format: EventFormat,
    page: PageFormat,
    page_bytes: usize,
    wanted: RequestFilter,
}

impl Event {
    /// Switches it on for the device.
    fn enable(instance: &Instance, subject: &Subject) -> Result<Self, TraceError> {
        let name = if subject.takes_bios { "block_bio_queue" } else { "block_rq_complete" };
        let dir = format!("events/block/{name}");
        let format_name = format!("{dir}/format");
        let path = instance.path().join(&format_name);
        if !path.exists() {
            return Err(TraceError::NoEvent { path });
        }
        let format = EventFormat::parse(&instance.read(&format_name)?)
            .map_err(|problem| TraceError::malformed(&path, problem))?;
        let header = "events/header_page";
        let (page, page_bytes) = PageFormat::parse(&instance.read(header)?)
            .map_err(|problem| TraceError::malformed(&instance.path().join(header), problem))?;
        let dev = u64::from(subject.whole.major) << 20 | u64::from(subject.whole.minor);
        instance.write(&format!("{dir}/filter"), &format!("dev == {dev} && !(rwbs ~ \"R*\")"))?;
        instance.write(&format!("{dir}/enable"), "1")?;
        let (start_sector, end_sector) = (subject.start_sector, subject.end_sector);
        // zram makes them without counting (zram_bio_discard).
        let counts_zeros = !subject.takes_bios;
        let wanted = RequestFilter { dev, start_sector, end_sector, counts_zeros };
        let page_bytes = page_bytes.clamp(PAGE_LEAST_BYTES, PAGE_MAX_BYTES);
        Ok(Self { format, page, page_bytes, wanted })
    }
}

/// What the reading thread has in the end.
#[derive(Debug, Default)]
struct Collected {
    requests: Vec<Request>,
    lost_events: u64,
    error: Option<TraceError>,
    /// Processor time of the thread, ns.
    cpu_ns: u64,
}

/// Reads the buffers of all processors.
#[derive(Debug)]
struct Reader {
    event: Event,
    pipes: Vec<(OwnedFd, PathBuf)>,
    collected: Collected,
}

impl Reader {
    fn new(instance: &Instance, cpus: &[String], event: Event) -> Result<Self, TraceError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut pipes = Vec::new();
        for cpu in cpus {
            let path = instance.path().join(cpu).join("trace_pipe_raw");
            let pipe = open(&path, flags, Mode::empty())
                .map_err(|error| TraceError::io("open", &path, error.into()))?;
            pipes.push((pipe, path));
        }
        Ok(Self { event, pipes, collected: Collected::default() })
    }

    /// Until it is told to stop; then what is left.
    fn run(mut self, stop: &OwnedFd) -> Collected {
        let mut buffer = vec![0; self.event.page_bytes];
        let period = Timespec::try_from(PERIOD).ok();
        loop {
            let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
            fds.extend(self.pipes.iter().map(|pipe| PollFd::new(&pipe.0, PollFlags::IN)));
            let polled = poll(&mut fds, period.as_ref());
            let is_stopped = !fds[0].revents().is_empty();
            drop(fds);
            let ready = match polled {
                Ok(_) | Err(Errno::INTR) => Ok(()),
                Err(error) => Err(TraceError::Thread(error.to_string())),
            };
            if let Err(error) = ready.and_then(|()| self.empty(&mut buffer)) {
                self.collected.error = Some(error);
                break;
            }
            if is_stopped {
                break;
            }
        }
        self.collected.cpu_ns = thread_cpu_ns();
        self.collected
    }

    /// Reads all that is there.
    fn empty(&mut self, buffer: &mut [u8]) -> Result<(), TraceError> {
        let Self { event, pipes, collected } = self;
        for (pipe, path) in pipes {
            loop {
                let count = match rustix::io::read(pipe.as_fd(), &mut *buffer) {
                    Ok(0) | Err(Errno::AGAIN) => break,
                    Ok(count) => count,
                    Err(Errno::INTR) => continue,
                    Err(error) => return Err(TraceError::io("read", path, error.into())),
                };
                let mut give = |request: Request| collected.keep(request, REQUESTS_MAX);
                page::read(&buffer[..count], &event.page, &event.format, &event.wanted, &mut give)
                    .map_err(|problem| TraceError::malformed(path, problem))?;
            }
        }
        Ok(())
    }
}

impl Collected {
    fn keep(&mut self, request: Request, most: usize) {
        // The second completion of a write with a flush around it has no bytes any more.
        let is_empty = request.kind != Kind::Flush && request.length_bytes == 0;
        if is_empty {
            return;
        }
        if self.requests.len() < most {
            self.requests.push(request);
        } else {
            self.lost_events += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Linux 6.18.
    const STATS: &str = "\
entries: 1
overrun: 20
commit overrun: 300
bytes: 9
oldest event ts: 12.5
now ts: 13.5
dropped events: 4000
read events: 70000
";

    #[test]
    fn lost_events_are_added_up() {
        assert_eq!(lost_of(STATS), Ok(4321));
        let without = STATS.replace("dropped", "lost");
        assert_eq!(lost_of(&without), Err("no line dropped events".to_owned()));
        assert!(lost_of("entries: many\n").is_err());
    }

    #[test]
    fn memory_is_bounded() {
        let mut collected = Collected::default();
        let request = Request {
            monotonic_ns: 1,
            start_bytes: 0,
            length_bytes: 512,
            kind: Kind::Write,
            is_metadata: false,
        };
        collected.keep(Request { length_bytes: 0, ..request }, 1);
        collected.keep(request, 1);
        collected.keep(request, 1);
        assert_eq!((collected.requests.len(), collected.lost_events), (1, 1));
        assert!(size_of::<Request>() <= 32);
    }

    #[test]
    fn without_a_device_nothing_begins() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("instances")).unwrap();
        let at = format!("1 1 0:1 / {} rw - tracefs none rw", dir.path().display());
        let none = BlockDevice { major: 4095, minor: 9 };
        let tracefs = Tracefs::open(&at).unwrap();
        let error = Session::start(&tracefs, "fsarena-test", none, 1 << 20).unwrap_err();
        assert!(matches!(error, TraceError::NoDevice { .. }), "{error}");
        assert_eq!(std::fs::read_dir(dir.path().join("instances")).unwrap().count(), 0);
    }
}
