//! Whether a binary is a guest kernel: it is booted twice, with a disk, and asked.

use crate::guest::{Guest, GuestError, GuestOptions, ProbeRecord, Program, Record, Task};
use fsarena_disk_server::{ConstantDisk, Disk};
use fsarena_process::cmd::{self, ended_text};
use fsarena_process::guarded::Guarded;
use fsarena_process::program::TrustedProgram;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Printing a version takes no time.
const VERSION_LIMIT: Duration = Duration::from_secs(20);
/// Both boots together take about a second; a loaded machine takes longer.
const BOOT_LIMIT: Duration = Duration::from_secs(60);
/// A kernel whose time is that of the host is not done with this before the limit.
const SLEEP_NS: u64 = 3600 * 1_000_000_000;
const DISK_BYTES: usize = 16 << 20;
const LATENCY_NS: u64 = 1_000_000;

/// What a guest kernel said of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedKernel {
    /// As `uname -r` says.
    pub release: String,
    pub probe: ProbeRecord,
    /// From the start of the process to its end, of both boots.
    pub boot_to_power_off_ns: [u64; 2],
}

/// What is no guest kernel.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{path}: cannot be started: {error}")]
    Start { path: PathBuf, error: io::Error },
    #[error("{path}: not a kernel built for User-Mode Linux: it answers --version by {said}")]
    NotUml { path: PathBuf, said: String },
    #[error(
        "{path}: a kernel without time travel (CONFIG_UML_TIME_TRAVEL_SUPPORT is not set), so its time \
         is that of the host; build one by `fsarena kernel build`"
    )]
    NoTimeTravel { path: PathBuf },
    #[error(
        "{path}: a kernel without the block driver vdisk (or its disk does not answer: {why}); build one \
         by `fsarena kernel build`"
    )]
    NoDisk { path: PathBuf, why: String },
    #[error("{path}: two equal boots gave different results: {0}", difference(.first, .second))]
    NotEqual { path: PathBuf, first: Box<ProbeRecord>, second: Box<ProbeRecord> },
    #[error(
        "{path}: two equal boots had {} and {} KiB of free memory: the addresses of its process are \
         random here, so that equal trials differ; allow personality(2) in the sandbox",
        .free_kib[0], .free_kib[1]
    )]
    RandomAddresses { path: PathBuf, free_kib: [u64; 2] },
    #[error("{path}: {error}")]
    Guest { path: PathBuf, error: GuestError },
}

fn difference(first: &ProbeRecord, second: &ProbeRecord) -> String {
    let (one, other) = (format!("{first:?}"), format!("{second:?}"));
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let from = one[..same].rfind(", ").map_or(0, |at| at + 2);
    let part = |text: &str| text[from..].chars().take(60).collect::<String>();
    format!("{} and {}", part(&one), part(&other))
}

/// Boots `kernel` twice with `program` as its init and compares what it says.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn check(
    kernel: &Path,
    program: &Program,
    stop: &dyn Fn() -> bool,
) -> Result<CheckedKernel, CheckError> {
    is_uml(kernel, stop)?;
    let (first, first_ns) = probe(kernel, program, stop)?;
    let (second, second_ns) = probe(kernel, program, stop)?;
    let path = kernel.to_owned();
    if (ProbeRecord { memory: second.memory, ..first.clone() }) == second
        && first.memory != second.memory
    {
        let free_kib = [first.memory.free_kib, second.memory.free_kib];
        return Err(CheckError::RandomAddresses { path, free_kib });
    }
    if first != second {
        let (first, second) = (Box::new(first), Box::new(second));
        return Err(CheckError::NotEqual { path, first, second });
    }
    Ok(CheckedKernel {
        release: first.release.clone(),
        probe: first,
        boot_to_power_off_ns: [first_ns, second_ns],
    })
}

/// A kernel for User-Mode Linux prints its release alone.
fn is_uml(kernel: &Path, stop: &dyn Fn() -> bool) -> Result<(), CheckError> {
    let args = ["--version".into()];
    let env = [("LC_ALL", "C".into())];
    let start = |error| CheckError::Start { path: kernel.to_owned(), error };
    if !cmd::is_executable(kernel) {
        return Err(start(io::Error::other("no executable file")));
    }
    let program = TrustedProgram::at(kernel).map_err(|error| start(error.into_io()))?;
    let call = Guarded {
        tool: &program,
        args: &args,
        env: &env,
        dir: Path::new("/"),
        log: None,
        fixed_addresses: false,
    };
    let ran = call.run(Some(VERSION_LIMIT), Some(stop)).map_err(start)?;
    let line = cmd::first_line(&ran.stdout, &ran.stderr).unwrap_or_default();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count() > 0;
    let release = line.split_once('.').is_some_and(|(major, rest)| {
        major.bytes().all(|byte| byte.is_ascii_digit()) && digits(major) && digits(rest)
    });
    if ran.succeeded() && release && !line.contains(' ') {
        return Ok(());
    }
    let said = match ran.end {
        cmd::End::Ended(status) if line.is_empty() => ended_text(status),
        _ => format!("{line:?}"),
    };
    Err(CheckError::NotUml { path: kernel.to_owned(), said })
}

fn probe(
    kernel: &Path,
    program: &Program,
    stop: &dyn Fn() -> bool,
) -> Result<(ProbeRecord, u64), CheckError> {
    let options = GuestOptions { limit: BOOT_LIMIT, ..GuestOptions::new(kernel) };
    let mut disk = ConstantDisk::new(DISK_BYTES, LATENCY_NS);
    let disks: &mut [&mut dyn Disk] = &mut [&mut disk];
    let task = Task::Probe { sleep_ns: SLEEP_NS };
    let path = || kernel.to_owned();
    let done = Guest::new(&options, program).run_task(&task, disks, stop);
    let done = done.map_err(|error| match error {
        // It sleeps, as long as it was told to.
        GuestError::TimedOut { ref console, .. } if !console.contains("anic") => {
            CheckError::NoTimeTravel { path: path() }
        }
        error => CheckError::Guest { path: path(), error },
    })?;
    match done.record {
        Record::Probe(it) if !it.has_time_travel => Err(CheckError::NoTimeTravel { path: path() }),
        Record::Probe(it) => match &it.disk {
            Ok(_) => Ok((it, done.elapsed_ns)),
            Err(why) => Err(CheckError::NoDisk { path: path(), why: why.clone() }),
        },
        other => {
            let error = GuestError::Unexpected { record: format!("{other:?}") };
            Err(CheckError::Guest { path: path(), error })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_are_no_kernels() {
        let refused = |path: &str| is_uml(Path::new(path), &|| false).unwrap_err().to_string();
        let text = refused("/bin/ls");
        assert!(text.starts_with("/bin/ls: not a kernel built for User-Mode Linux: "), "{text}");
        assert!(refused("/etc/passwd").contains("no executable file"));
        assert!(refused("/nonexistent").contains("cannot be started"));
    }
}
