//! The kernel's tracing: whether it is to be had, and what of a test environment is in it.

use super::TestEnv;
use fsarena_devices::mountinfo;
use fsarena_trace::{TraceError, Tracefs};
use std::fs;

impl TestEnv {
    /// Instances of tracing of this test environment's RUNs.
    pub fn traces(&self) -> Vec<String> {
        let uids: Vec<String> = self.runs().into_iter().map(|run| run.uid).collect();
        traces_of(&uids)
    }
}

/// Instances of tracing of these RUNs; none where this user may not see, and so not make, any.
pub fn traces_of(uids: &[String]) -> Vec<String> {
    let Ok(tracefs) = open() else { return Vec::new() };
    let all = fs::read_dir(tracefs.path().join("instances")).into_iter().flatten().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| uids.iter().any(|uid| name.contains(uid.as_str()))).collect()
}

/// Whether block requests can be traced; prints the reason where they cannot.
pub fn has_tracing() -> bool {
    match open() {
        Ok(tracefs) if tracefs.path().join("events/block").exists() => true,
        Ok(_) => {
            println!("not run: this kernel has no block tracepoints");
            false
        }
        Err(error) => {
            println!("not run: {error}");
            false
        }
    }
}

fn open() -> Result<Tracefs, TraceError> {
    Tracefs::open(&mountinfo::text().unwrap())
}
