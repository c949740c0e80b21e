//! The kinds of work: how the program of each is started, and what it has done.
//!
//! | kind | program |
//! |---|---|
//! | copy | `cp -a`: a tree, or an archive as it is, under a new name |
//! | delete | `rm -rf`: a tree or an archive removed |
//! | untar, archive | `tar -x`, `tar -c`; the compressor is a process of its own |
//! | compile | `make`: a tree of sources built into another directory, told as `OUT` |
//! | flac | all files by one start, as long as their names fit |
//! | ogg | a start for each file: `oggenc` puts several next to their sources |
//! | command | `sh -c`: a command of the user's, as written |
//!
//! Nothing is started here.

use super::products::{file_bytes, stem, tree_bytes};
use crate::closed_way;
use crate::program::ProgramError;
use fsarena_engine::Root;
use fsarena_model::braces::{OF_COMMANDS, fill, quoted};
use fsarena_model::job::{Compression, JobKind};
use fsarena_model::work::JobTask;
use rustix::fd::IntoRawFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of one start of a program.
pub(super) type Args = Vec<OsString>;

/// How the first program of a job is started.
#[derive(Debug)]
pub(super) enum Invocations {
    /// Once, with these arguments.
    Once(Args),
    /// As often as this says, over the names of the wav files of the input.
    OverWavs(fn(&JobTask, &[OsString]) -> Vec<Args>),
}

/// What was done, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Amounts {
    /// Entries that were gone over.
    pub ops: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
}

/// How the program of `task` is started in `root`.
pub(super) fn invocations(task: &JobTask, root: &Path) -> Result<Invocations, ProgramError> {
    let input = || OsString::from(task.input.clone());
    let name = || OsString::from(task.name.clone());
    Ok(Invocations::Once(match &task.job.kind {
        JobKind::Copy => {
            let reflink = format!("--reflink={}", task.reflink.name()).into();
            vec!["-a".into(), reflink, "--".into(), input(), name()]
        }
        JobKind::Delete => vec!["-rf".into(), "--".into(), input()],
        JobKind::Untar { compression } => {
            let mut args = tar_args("-x", *compression);
            args.extend(["-f".into(), input(), "-C".into(), name()]);
            args
        }
        JobKind::Archive { compression } => {
            let mut args = tar_args("-c", *compression);
            args.extend(["-f".into(), product(task).into(), "-C".into(), input(), ".".into()]);
            args
        }
        JobKind::Compile { jobs } => {
            check_way(task, root)?;
            let mut out = OsString::from("OUT=");
            out.push(from_input(&task.input, root).join(&task.name));
            vec!["-s".into(), "-C".into(), input(), format!("-j{}", jobs.max(&1)).into(), out]
        }
        JobKind::Flac => return Ok(Invocations::OverWavs(flac_args)),
        JobKind::Ogg => return Ok(Invocations::OverWavs(ogg_args)),
        JobKind::Command(command) => vec!["-c".into(), filled(&command.run, root, &task.data)?],
    }))
}

/// What a program that ended well has read, made and gone over: `wavs` files, where such were
/// listed.
pub(super) fn amounts(task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
    let contents = &task.contents;
    let entries = contents.entries();
    let (ops, read_bytes, written_bytes) = match &task.job.kind {
        JobKind::Copy => match file_bytes(root, Path::new(&task.name))? {
            Some(bytes) => (1, bytes, bytes),
            None => (entries, contents.bytes, contents.bytes),
        },
        JobKind::Delete => (entries, 0, 0),
        JobKind::Untar { .. } => {
            (entries, file_bytes(root, &task.input)?.unwrap_or(0), contents.bytes)
        }
        JobKind::Archive { .. } => {
            let packed_bytes = file_bytes(root, Path::new(&product(task)))?;
            (entries, contents.bytes, packed_bytes.unwrap_or(0))
        }
        // There is no number of what a compiler goes over.
        JobKind::Compile { .. } => (0, contents.bytes, tree_bytes(root, Path::new(&task.name))?),
        JobKind::Flac | JobKind::Ogg => {
            (wavs, contents.bytes, tree_bytes(root, Path::new(&task.name))?)
        }
        // Nothing is known of it.
        JobKind::Command(_) => (0, 0, 0),
    };
    Ok(Amounts { ops, read_bytes, written_bytes })
}

/// Whether the product is a directory that has to be there.
pub(super) fn fills_directory(kind: &JobKind) -> bool {
    !matches!(kind, JobKind::Copy | JobKind::Delete | JobKind::Archive { .. } | JobKind::Command(_))
}

/// What the program is sent when its worker dies. make ends its compilers when it is told to end.
pub(super) fn at_death(kind: &JobKind) -> Signal {
    if matches!(kind, JobKind::Compile { .. }) { Signal::TERM } else { Signal::KILL }
}

/// Refuses a make whose way from the sources elsewhere to the root is closed to this user.
fn check_way(task: &JobTask, root: &Path) -> Result<(), ProgramError> {
    let Some(closed) = closed_way(root).filter(|_| task.input.is_absolute()) else {
        return Ok(());
    };
    Err(ProgramError::Task {
        phase: task.name.clone(),
        what: format!(
            "make works in {}, and the user of the work may not go from there to {}: {} is closed \
             to it",
            task.input.display(),
            root.display(),
            closed.display()
        ),
        remedy: "use source = \"same\", or leave --user out",
    })
}

/// The first arguments of tar; `--force-local`, for a colon in a name is not another machine.
fn tar_args(what: &str, compression: Compression) -> Vec<OsString> {
    let mut args = vec![OsString::from(what)];
    args.extend(compression.program().map(|program| format!("--{program}").into()));
    args.push("--force-local".into());
    args
}

fn product(task: &JobTask) -> String {
    task.job.product(&task.name).unwrap_or_else(|| task.name.clone())
}

/// The root as seen from `input`: the way to it need not be open to the user who does the work, so
/// it is named only where the sources lie elsewhere.
fn from_input(input: &Path, root: &Path) -> PathBuf {
    if input.is_absolute() { root.to_owned() } else { input.components().map(|_| "..").collect() }
}

/// Names that one start takes, bytes: what every kernel takes as arguments.
const NAMES_BYTES: usize = 96 << 10;

pub(super) fn flac_args(task: &JobTask, wavs: &[OsString]) -> Vec<Args> {
    let first = || -> Args {
        let prefix = format!("--output-prefix={}/", task.name);
        vec!["--best".into(), "--silent".into(), prefix.into(), "--".into()]
    };
    let mut invocations: Vec<Args> = Vec::new();
    let mut room_bytes = 0;
    for wav in wavs {
        let path = task.input.join(wav).into_os_string();
        if path.len() > room_bytes {
            invocations.push(first());
            room_bytes = NAMES_BYTES;
        }
        room_bytes = room_bytes.saturating_sub(path.len() + 1);
        invocations.last_mut().expect("one was just begun").push(path);
    }
    invocations
}

pub(super) fn ogg_args(task: &JobTask, wavs: &[OsString]) -> Vec<Args> {
    let one = |wav: &OsString| {
        let mut output = Path::new(&task.name).join(stem(wav)).into_os_string();
        output.push(".ogg");
        let input = task.input.join(wav);
        let mut args: Args = ["-q", "10", "--quiet", "-o"].map(OsString::from).to_vec();
        args.extend([output, "--".into(), input.into()]);
        args
    };
    wavs.iter().map(one).collect()
}

/// `command` with the absolute paths of the root and of the source. Where the way to the root is
/// closed to the user who does the work, it leads over a descriptor of the root instead, which
/// everybody whom the shell starts inherits; the shell goes there first, so that its own path is an
/// open one.
pub(super) fn filled(command: &str, root: &Path, data: &Path) -> Result<OsString, ProgramError> {
    let way = closed_way(root).and_then(|_| inherited());
    // Not a link but the directory itself, for those who do not follow one: find, rm, du.
    let by = way.as_ref().map_or(root.to_owned(), |way| way.join("."));
    let (mnt, data) = (quoted(by.as_os_str()), quoted(by.join(data).as_os_str()));
    let [mnt_word, data_word] = OF_COMMANDS;
    let text = fill(command, &[(mnt_word, &mnt), (data_word, &data)])
        .map_err(|source| ProgramError::Braces { command: command.to_owned(), source })?;
    let Some(way) = way else { return Ok(text) };
    let mut moved = OsString::from(format!("cd {} || exit\n", way.display()));
    moved.push(text);
    Ok(moved)
}

/// The working directory, which is the root, by a descriptor that stays open in programs: for the
/// rest of this process, which has no other task.
fn inherited() -> Option<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(".", flags, Mode::empty()).ok()?;
    // Far from those that a shell uses.
    let kept = rustix::io::fcntl_dupfd_cloexec(&root, 100).ok()?;
    rustix::io::fcntl_setfd(&kept, FdFlags::empty()).ok()?;
    Some(format!("/proc/self/fd/{}", kept.into_raw_fd()).into())
}

/// The path without `.` and with the working directory in front where it is relative.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, ProgramError> {
    std::path::absolute(path)
        .map_err(|source| ProgramError::Run { program: path.to_owned(), source })
}
