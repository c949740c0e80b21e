//! The kinds of work, one value each: how its program is started, and what it has done.
//!
//! A kind is a type here and a line in [`work_of`]. Nothing is started here.

use super::products::{file_bytes, stem, tree_bytes};
use crate::access::closed_way;
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

/// One kind of work: what its program is told, and what it has done when it ended well.
pub(super) trait Work: std::fmt::Debug {
    /// How the program is started.
    fn invocations(&self, task: &JobTask, root: &Path) -> Result<Invocations, ProgramError>;

    /// What a program that ended well has read, made and gone over: `wavs` files, where such were
    /// listed.
    fn amounts(&self, task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts>;

    /// Whether the product is a directory that has to be there.
    fn fills_directory(&self) -> bool {
        false
    }

    /// What the program is sent when its worker dies.
    fn at_death(&self) -> Signal {
        Signal::KILL
    }
}

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

/// The table of kinds.
pub(super) fn work_of(kind: &JobKind) -> Box<dyn Work> {
    match kind {
        JobKind::Copy => Box::new(Copy),
        JobKind::Delete => Box::new(Delete),
        JobKind::Untar { compression } => Box::new(Untar(*compression)),
        JobKind::Archive { compression } => Box::new(Archive(*compression)),
        JobKind::Flac => Box::new(Flac),
        JobKind::Ogg => Box::new(Ogg),
        JobKind::Compile { jobs } => Box::new(Compile(*jobs)),
        JobKind::Command(command) => Box::new(Shell(command.run.clone())),
    }
}

/// `cp -a`: a tree, or an archive as it is, copied under a new name.
#[derive(Debug)]
struct Copy;

impl Work for Copy {
    fn invocations(&self, task: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        Ok(Invocations::Once(vec![
            "-a".into(),
            format!("--reflink={}", task.reflink.name()).into(),
            "--".into(),
            task.input.clone().into(),
            task.name.clone().into(),
        ]))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let (ops, bytes) = match file_bytes(root, Path::new(&task.name))? {
            Some(bytes) => (1, bytes),
            None => (task.contents.entries(), task.contents.bytes),
        };
        Ok(Amounts { ops, read_bytes: bytes, written_bytes: bytes })
    }
}

/// `rm -rf`: a tree or an archive removed.
#[derive(Debug)]
struct Delete;

impl Work for Delete {
    fn invocations(&self, task: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        Ok(Invocations::Once(vec!["-rf".into(), "--".into(), task.input.clone().into()]))
    }

    fn amounts(&self, task: &JobTask, _: &Root, _: u64) -> io::Result<Amounts> {
        Ok(Amounts { ops: task.contents.entries(), ..Amounts::default() })
    }
}

/// `tar -x`; the compressor is a process of its own.
#[derive(Debug)]
struct Untar(Compression);

/// `tar -c`; the compressor is a process of its own.
#[derive(Debug)]
struct Archive(Compression);

/// The first arguments of tar; `--force-local`, for a colon in a name is not another machine.
fn tar_args(what: &str, compression: Compression) -> Vec<OsString> {
    let mut args = vec![OsString::from(what)];
    args.extend(compression.program().map(|program| format!("--{program}").into()));
    args.push("--force-local".into());
    args
}

impl Work for Untar {
    fn invocations(&self, task: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        let mut args = tar_args("-x", self.0);
        args.extend(["-f".into(), task.input.clone().into()]);
        args.extend(["-C".into(), task.name.clone().into()]);
        Ok(Invocations::Once(args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let read_bytes = file_bytes(root, &task.input)?.unwrap_or(0);
        let contents = &task.contents;
        Ok(Amounts { ops: contents.entries(), read_bytes, written_bytes: contents.bytes })
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

impl Work for Archive {
    fn invocations(&self, task: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        let mut args = tar_args("-c", self.0);
        args.extend(["-f".into(), product(task).into()]);
        args.extend(["-C".into(), task.input.clone().into(), ".".into()]);
        Ok(Invocations::Once(args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let written_bytes = file_bytes(root, Path::new(&product(task)))?.unwrap_or(0);
        let contents = &task.contents;
        Ok(Amounts { ops: contents.entries(), read_bytes: contents.bytes, written_bytes })
    }
}

fn product(task: &JobTask) -> String {
    task.job.product(&task.name).unwrap_or_else(|| task.name.clone())
}

/// `make`, with so many compilers at once: a tree of sources built into another directory, which it
/// is told as `OUT`.
#[derive(Debug)]
struct Compile(u32);

impl Work for Compile {
    fn invocations(&self, task: &JobTask, root: &Path) -> Result<Invocations, ProgramError> {
        if let Some(closed) = closed_way(root).filter(|_| task.input.is_absolute()) {
            return Err(ProgramError::Task {
                phase: task.name.clone(),
                what: format!(
                    "make works in {}, and the user of the work may not go from there to {}: {} \
                     is closed to it",
                    task.input.display(),
                    root.display(),
                    closed.display()
                ),
                remedy: "use source = \"same\", or leave --user out",
            });
        }
        let mut out = OsString::from("OUT=");
        out.push(from_input(&task.input, root).join(&task.name));
        Ok(Invocations::Once(vec![
            "-s".into(),
            "-C".into(),
            task.input.clone().into(),
            format!("-j{}", self.0.max(1)).into(),
            out,
        ]))
    }

    fn amounts(&self, task: &JobTask, root: &Root, _: u64) -> io::Result<Amounts> {
        let written_bytes = tree_bytes(root, Path::new(&task.name))?;
        Ok(Amounts { ops: 0, read_bytes: task.contents.bytes, written_bytes })
    }

    fn fills_directory(&self) -> bool {
        true
    }

    /// make ends its compilers when it is told to end.
    fn at_death(&self) -> Signal {
        Signal::TERM
    }
}

/// The root as seen from `input`: the way to it need not be open to the user who does the work, so
/// it is named only where the sources lie elsewhere.
fn from_input(input: &Path, root: &Path) -> PathBuf {
    if input.is_absolute() { root.to_owned() } else { input.components().map(|_| "..").collect() }
}

/// Names that one start takes, bytes: what every kernel takes as arguments.
const NAMES_BYTES: usize = 96 << 10;

/// All files by one start, as long as their names fit.
#[derive(Debug)]
struct Flac;

/// A start for each file: `oggenc` puts several next to their sources.
#[derive(Debug)]
struct Ogg;

impl Work for Flac {
    fn invocations(&self, _: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        Ok(Invocations::OverWavs(flac_args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
        encoded(task, root, wavs)
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

impl Work for Ogg {
    fn invocations(&self, _: &JobTask, _: &Path) -> Result<Invocations, ProgramError> {
        Ok(Invocations::OverWavs(ogg_args))
    }

    fn amounts(&self, task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
        encoded(task, root, wavs)
    }

    fn fills_directory(&self) -> bool {
        true
    }
}

fn encoded(task: &JobTask, root: &Root, wavs: u64) -> io::Result<Amounts> {
    let written_bytes = tree_bytes(root, Path::new(&task.name))?;
    Ok(Amounts { ops: wavs, read_bytes: task.contents.bytes, written_bytes })
}

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

/// `sh -c`: a command of the user's, as written.
#[derive(Debug)]
struct Shell(String);

impl Work for Shell {
    fn invocations(&self, task: &JobTask, root: &Path) -> Result<Invocations, ProgramError> {
        Ok(Invocations::Once(vec!["-c".into(), filled(&self.0, root, &task.data)?]))
    }

    /// Nobody knows.
    fn amounts(&self, _: &JobTask, _: &Root, _: u64) -> io::Result<Amounts> {
        Ok(Amounts::default())
    }
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
