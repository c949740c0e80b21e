//! The wish to stop: heard on standard input, obeyed between steps and in the middle of a phase.
//!
//! A line `stop`, or the end of input (the parent is gone), sets a flag and kills the workers that
//! are being watched. The trial then unwinds through its teardown as always.

use fsarena_bounded::Bounded;
use rustix::process::{Pid, Signal, kill_process};
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Flag, and the workers to end when it is raised.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    workers: Mutex<Vec<u32>>,
}

impl Stop {
    /// Whether a stop was asked for.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Asks for a stop and kills the watched workers.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.kill_watched();
    }

    /// Reads lines until `stop` or the end, then asks.
    pub fn listen<R: BufRead>(&self, mut input: Bounded<R>) {
        while let Ok(Some(line)) = input.next_text_line() {
            if line.trim() == "stop" {
                break;
            }
        }
        self.ask();
    }

    /// Names a worker to kill on a stop.
    pub fn watch(&self, pid: u32) {
        self.workers().push(pid);
        if self.asked() {
            self.kill_watched();
        }
    }

    /// A worker is about to be waited for: its number may soon be another process's.
    pub fn unwatch(&self, pid: u32) {
        self.workers().retain(|&watched| watched != pid);
    }

    fn kill_watched(&self) {
        let workers = self.workers();
        for pid in workers.iter().filter_map(|&pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
            // Gone already is as good.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn workers(&self) -> MutexGuard<'_, Vec<u32>> {
        self.workers.lock().expect("no holder of this lock panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_or_the_end_of_input_stops() {
        for input in ["stop\n", "", "noise\nstop\nmore\n"] {
            let stop = Stop::default();
            stop.listen(Bounded::new(input.as_bytes(), 99));
            assert!(stop.asked(), "{input:?}");
        }
    }
}
