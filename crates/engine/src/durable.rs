//! The moment at which a phase is durable: its clocks, and the counters that belong to it.
//!
//! The worker reads them, since it is the nearest to that moment: an executor that has to be woken
//! first reads tenths of a millisecond later on a quiet machine, and much later on a busy one. The
//! files are open and their buffers there before the phase, so that reading allocates nothing.

use crate::clock::monotonic_ns;
use fsarena_model::work::{CounterFile, CounterTexts};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, pread};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Mutex, PoisonError};

/// When a phase was durable, and what this process had used until then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Durable {
    /// `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// [`process_cpu_ns`].
    pub cpu_ns: u64,
}

impl Durable {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        let monotonic_ns = monotonic_ns();
        Self { monotonic_ns, cpu_ns: process_cpu_ns() }
    }
}

/// Task clock of this process with all its threads, ns: what the scheduler has charged, not clock
/// ticks.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec.cast_unsigned() * 1_000_000_000 + used.tv_nsec.cast_unsigned()
}

/// One open file with the room for its text.
#[derive(Debug)]
struct OpenCounter {
    /// `None`: it could not be opened, or none was asked for.
    file: Option<OwnedFd>,
    text: Vec<u8>,
    len: usize,
    at_once: bool,
}

impl OpenCounter {
    /// Reads the file from its beginning; what does not fit is cut off.
    fn read(&mut self) -> Result<(), Errno> {
        self.len = 0;
        let Some(file) = &self.file else { return Ok(()) };
        loop {
            let got = pread(file, &mut self.text[self.len..], self.len as u64)?;
            self.len += got;
            if got == 0 || self.at_once || self.len == self.text.len() {
                return Ok(());
            }
        }
    }
}

#[derive(Debug, Default)]
struct Readings {
    files: Vec<OpenCounter>,
    began_ns: u64,
    ended_ns: u64,
}

/// Files of counters, open.
#[derive(Debug, Default)]
pub(crate) struct CounterFiles(Mutex<Readings>);

impl CounterFiles {
    /// Opens what can be opened.
    pub fn open(files: &[CounterFile]) -> Self {
        let open = |file: &CounterFile| OpenCounter {
            file: rustix::fs::open(&file.path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .ok()
                .filter(|_| !file.path.as_os_str().is_empty()),
            text: vec![0; file.most_bytes],
            len: 0,
            at_once: file.at_once,
        };
        let files = files.iter().map(open).collect();
        Self(Mutex::new(Readings { files, ..Readings::default() }))
    }

    /// Reads them all; one that cannot be read is empty.
    pub fn read(&self, clock: fn() -> u64) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readings.began_ns = clock();
        for file in &mut readings.files {
            if file.read().is_err() {
                file.len = 0;
            }
        }
        readings.ended_ns = clock();
    }

    /// What was read last; nothing where nothing was read or there is nothing to be read.
    pub fn take(&self) -> Option<CounterTexts> {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended_monotonic_ns = std::mem::take(&mut readings.ended_ns);
        let text =
            |file: &OpenCounter| String::from_utf8_lossy(&file.text[..file.len]).into_owned();
        let is_read = ended_monotonic_ns > 0 && !readings.files.is_empty();
        is_read.then(|| CounterTexts {
            began_monotonic_ns: readings.began_ns,
            ended_monotonic_ns,
            texts: readings.files.iter().map(text).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: impl Into<std::path::PathBuf>, at_once: bool) -> CounterFile {
        CounterFile { path: path.into(), most_bytes: 8192, at_once }
    }

    #[test]
    fn files_are_read_anew_each_time_and_the_missing_are_empty() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stat");
        std::fs::write(&path, "1 2\n").unwrap();
        let files = [file(&path, true), file("", true), file("/proc/nothing", false)];
        let files = CounterFiles::open(&files);
        assert_eq!(files.take(), None, "not read yet");
        files.read(monotonic_ns);
        let read = files.take().unwrap();
        assert_eq!(read.texts, ["1 2\n", "", ""]);
        assert!(read.began_monotonic_ns <= read.ended_monotonic_ns);
        std::fs::write(&path, "3 4\n").unwrap();
        files.read(monotonic_ns);
        assert_eq!(files.take().unwrap().texts[0], "3 4\n");
        assert_eq!(files.take(), None, "taken");
        assert_eq!(CounterFiles::default().take(), None);
    }

    #[test]
    fn a_file_of_records_is_read_to_its_end() {
        let whole = std::fs::read_to_string("/proc/self/status").unwrap();
        let files = CounterFiles::open(&[file("/proc/self/status", false)]);
        files.read(monotonic_ns);
        let read = files.take().unwrap();
        assert_eq!(read.texts[0].lines().count(), whole.lines().count());
    }
}
