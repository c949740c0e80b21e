//! How a phase is done, in words: what there is but the op and its files. Nothing is said of what
//! is as in any other phase (one thread of blocking, buffered calls of 1 MiB, nothing synced).

use crate::format::grouped;
use crate::text::clean;
use fsarena_model::cycle::Load;
use fsarena_model::job::{By, Compression, Contents, DATA, Job, JobKind, SourcePlace};
use fsarena_model::op::{BlockSize, Count};
use fsarena_model::units::{Bytes, Nanos};
use fsarena_model::work::{Backend, Dataset, Fsync, Io, Op, Order, Sharing};

/// Size of calls that is not said where it makes no difference.
const USUAL_BS_BYTES: u64 = 1 << 20;

/// Characters of a command that stand in a title; the whole of it is in the plan and the record.
const COMMAND_CHARS: usize = 40;

/// `4 threads, shared directories, fsync after each op, direct, io_uring iodepth 32, bs 4 KiB`.
pub(crate) fn io_summary(op: Op, bs_bytes: u64, io: &Io, dataset: &Dataset) -> String {
    let mut words: Vec<String> = Vec::new();
    if io.threads > 1 {
        words.push(format!("{} threads", io.threads));
        if io.ranks > 1 {
            words.push(format!("in {} ranks", io.ranks));
        }
        words.push(sharing(op, io.sharing, dataset).to_owned());
        if io.shift > 0 {
            words.push(format!("each on the share {} further", io.shift));
        }
    }
    if let Some(rate) = io.rate {
        let each = if io.threads > 1 { " each" } else { "" };
        words.push(format!("{} ops/s{each}", grouped(rate.into())));
        words.push("latency from the due time".to_owned());
    }
    if let Some(wall_ns) = io.stonewall_ns {
        words.push(format!("stonewall of {} with wear-out", Nanos(wall_ns)));
    }
    if let Some(runtime_ns) = io.runtime_ns {
        words.push(format!("runtime of {}", Nanos(runtime_ns)));
    }
    if let Some(period_ns) = io.latency_period_ns {
        words.push(format!("latencies of each {}", Nanos(period_ns)));
    }
    match io.fsync {
        Fsync::None => {}
        Fsync::Op => words.push("fsync after each op".to_owned()),
        Fsync::File => words.push("fsync of each file".to_owned()),
        Fsync::Dir => words.push("fsync of each directory".to_owned()),
        Fsync::End => words.push("syncfs at the end".to_owned()),
        Fsync::Dsync => words.push("O_DSYNC".to_owned()),
    }
    if io.direct {
        words.push("direct".to_owned());
    }
    match (io.backend, io.iodepth) {
        (Backend::Sync, _) => {}
        (Backend::Null, _) => words.push("null backend (no calls at all)".to_owned()),
        (backend, 1) => words.push(backend.name().to_owned()),
        (backend, iodepth) => words.push(format!("{} iodepth {iodepth}", backend.name())),
    }
    if op.is_random() && op.reads() && op.writes() {
        words.push(format!("{}% reads", io.rwmixread_percent));
    }
    if let Some(ops) = io.ops.filter(|_| op.is_random()) {
        words.push(format!("{} ops", grouped(ops)));
    }
    match op.info().bs.0 {
        BlockSize::Call if !says_bs(op, bs_bytes, dataset) => {}
        BlockSize::Call => words.push(format!("bs {}", Bytes(bs_bytes))),
        BlockSize::Length => words.push(format!("to {}", Bytes(bs_bytes))),
        BlockSize::Match if bs_bytes == 0 => words.push("of the largest size, new".to_owned()),
        BlockSize::Match => words.push(format!("of {}, new", Bytes(bs_bytes))),
        BlockSize::Value => words.push(format!("values of {}", Bytes(bs_bytes))),
    }
    words.join(", ")
}

fn sharing(op: Op, sharing: Sharing, dataset: &Dataset) -> &'static str {
    // Random ops share all blocks, whatever is asked for.
    let sharing = if op.is_random() { Sharing::Shared } else { sharing };
    match (sharing, op.is_big()) {
        (Sharing::Own, false) => "own directories",
        (Sharing::Own, true) => "own files",
        (Sharing::Shared, true) if dataset.files == 1 => "shared file",
        (Sharing::Shared, true) => "shared files",
        (Sharing::Interleaved, _) if dataset.files == 1 => "blocks of one file in turn",
        (Sharing::Interleaved, _) => "blocks of each file in turn",
        (Sharing::Shared, false) if dataset.dirs <= 1 => "shared directory",
        (Sharing::Shared, false) => "shared directories",
    }
}

fn says_bs(op: Op, bs_bytes: u64, dataset: &Dataset) -> bool {
    let matters = op.is_big() || bs_bytes < dataset.size_bytes;
    op.is_random()
        || op.appends()
        || (op.moves_bytes() && op.is_of_engine() && matters && bs_bytes != USUAL_BS_BYTES)
}

/// What the op goes over, and in which order: `5,000 files of 256 B, in order`.
pub(crate) fn work(op: Op, order: Order, dataset: &Dataset) -> String {
    if let Some(title) = op.info().title {
        return title.to_owned();
    }
    let what = match op.info().count {
        Count::Cycles => return format!("cycles over {}", files(dataset)),
        Count::Dirs { .. } => match dataset.directories() {
            0 | 1 => "one directory".to_owned(),
            dirs => format!("{} directories", grouped(dirs)),
        },
        _ => files(dataset),
    };
    let order = match order {
        _ if op.is_random() => ", at random",
        _ if dataset.files == 1 || op.is_about_dirs() => "",
        Order::Sequential => ", in order",
        Order::Random => ", in random order",
    };
    format!("{what}{order}")
}

fn files(dataset: &Dataset) -> String {
    let largest = Bytes(dataset.size_bytes);
    match (dataset.files, dataset.is_uniform()) {
        (1, _) => format!("one file of {largest}"),
        (files, true) if dataset.size_bytes == 0 => format!("{} empty files", grouped(files)),
        (files, true) => format!("{} files of {largest}", grouped(files)),
        (files, false) => {
            let all = Bytes(dataset.bytes());
            format!("{} files of up to {largest} ({all} in all)", grouped(files))
        }
    }
}

/// `copy (cp)`, `untar gzip (tar)`, `delete (engine) of copy`, `command: make -s check`.
pub(crate) fn describe_job(job: &Job) -> String {
    let packed = |verb: &str, compression: Compression| match compression {
        Compression::None => verb.to_owned(),
        _ => format!("{verb} {}", compression.name()),
    };
    let what = match &job.kind {
        JobKind::Command(command) => return format!("command: {}", shortened(&command.run)),
        JobKind::Copy => "copy".to_owned(),
        JobKind::Delete => "delete".to_owned(),
        JobKind::Untar { compression } => packed("untar", *compression),
        JobKind::Archive { compression } => packed("archive", *compression),
        JobKind::Flac => "wav to flac".to_owned(),
        JobKind::Ogg => "wav to ogg".to_owned(),
        JobKind::Compile { jobs } => format!("compile, {jobs} at once"),
    };
    let who = match job.by {
        By::Engine => "engine",
        By::Program => job.programs().first().copied().unwrap_or("program"),
    };
    let of = if job.of == DATA { String::new() } else { format!(" of {}", job.of) };
    format!("{what} ({who}){of}")
}

fn shortened(command: &str) -> String {
    let words = clean(command).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= COMMAND_CHARS {
        return words;
    }
    let start: String = words.chars().take(COMMAND_CHARS - 1).collect();
    format!("{}…", start.trim_end())
}

/// How many there are: `105,000 files in 4,100 directories`.
#[must_use]
pub fn files_text(contents: &Contents) -> String {
    let some = |n: u64, one: &str, many: &str| {
        format!("{} {}", grouped(n), if n == 1 { one } else { many })
    };
    let mut text = some(contents.files, "file", "files");
    if contents.dirs > 0 {
        text.push_str(&format!(" in {}", some(contents.dirs, "directory", "directories")));
    }
    if contents.symlinks > 0 {
        text.push_str(&format!(", {}", some(contents.symlinks, "symbolic link", "symbolic links")));
    }
    text
}

/// Where the source of real work lies.
pub(crate) fn describe_source_place(place: SourcePlace) -> &'static str {
    match place {
        SourcePlace::Same => "source on the same file system",
        SourcePlace::Other => "source on another file system",
        SourcePlace::Memory => "source in memory",
    }
}

/// A second load in words.
pub(crate) fn describe_load(load: Load) -> String {
    let rate = |rate: u64, text: String| match rate {
        0 => "as fast as it goes".to_owned(),
        _ => format!("{text}/s"),
    };
    let file = |size_bytes, verb: &str, rate_bytes| {
        let per_s = rate(rate_bytes, Bytes(rate_bytes).to_string());
        format!("one file of {} {verb}, {per_s}", Bytes(size_bytes))
    };
    match load {
        Load::Create { files, size_bytes, rate: each } => {
            let per_s = rate(each, grouped(each));
            format!("{} files of {} made, {per_s}", grouped(files), Bytes(size_bytes))
        }
        Load::Write { size_bytes, rate_bytes, .. } => file(size_bytes, "written", rate_bytes),
        Load::Read { size_bytes, rate_bytes, .. } => file(size_bytes, "read", rate_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::dataset::Distribution;
    use fsarena_model::job::Command;

    fn summary(op: Op, bs_bytes: u64, io: &Io, dataset: &Dataset) -> String {
        io_summary(op, bs_bytes, io, dataset)
    }

    #[test]
    fn only_what_is_not_usual_is_said() {
        let files = Dataset::uniform(100, 4096, 10);
        let big = Dataset::uniform(1, 1 << 30, 0);
        let usual = Io::default();
        assert_eq!(summary(Op::Create, 1 << 20, &usual, &files), "");
        assert_eq!(summary(Op::Create, 4096, &usual, &files), "", "one call a file either way");
        assert_eq!(summary(Op::Create, 512, &usual, &files), "bs 512 B");
        assert_eq!(summary(Op::BigWrite, 1 << 20, &usual, &big), "");
        assert_eq!(summary(Op::BigWrite, 4096, &usual, &big), "bs 4 KiB");
        let io = Io {
            threads: 4,
            sharing: Sharing::Shared,
            fsync: Fsync::Op,
            direct: true,
            backend: Backend::IoUring,
            iodepth: 32,
            ..Io::default()
        };
        assert_eq!(
            summary(Op::RandWrite, 4096, &io, &big),
            "4 threads, shared file, fsync after each op, direct, io_uring iodepth 32, bs 4 KiB"
        );
        let own = Io { threads: 2, backend: Backend::Mmap, ops: Some(5000), ..Io::default() };
        assert_eq!(summary(Op::Stat, 4096, &own, &files), "2 threads, own directories, mmap");
        let mixed = "2 threads, shared file, mmap, 50% reads, 5,000 ops, bs 4 KiB";
        assert_eq!(summary(Op::RandRw, 4096, &own, &big), mixed);
        let shifted = Io { threads: 4, ranks: 2, shift: 2, ..Io::default() };
        let said = "4 threads, in 2 ranks, own directories, each on the share 2 further";
        assert_eq!(summary(Op::Read, 4096, &shifted, &files), said);
        let paced = Io { threads: 2, rate: Some(5000), ..Io::default() };
        let said = "2 threads, own directories, 5,000 ops/s each, latency from the due time";
        assert_eq!(summary(Op::Stat, 4096, &paced, &files), said);
        let walled = Io { stonewall_ns: Some(30_000_000_000), ..Io::default() };
        let said = "stonewall of 30.0 s with wear-out";
        assert_eq!(summary(Op::Create, 4096, &walled, &files), said);
        assert_eq!(summary(Op::Find, 3901, &usual, &files), "of 3.81 KiB, new");
        assert_eq!(summary(Op::Find, 0, &usual, &files), "of the largest size, new");
        let in_turn = Io { threads: 4, sharing: Sharing::Interleaved, ..Io::default() };
        let said = "4 threads, blocks of one file in turn, bs 45.9 KiB";
        assert_eq!(summary(Op::BigWrite, 47_008, &in_turn, &big), said);
        assert_eq!(summary(Op::Append, 1 << 20, &usual, &files), "bs 1 MiB");
    }

    #[test]
    fn work_in_words() {
        let drawn = Dataset {
            sizes: Some(Distribution::Uniform { min: 10, max: 10 }),
            ..Dataset::uniform(2000, 10, 4)
        };
        let of = |op| work(op, Order::Random, &drawn);
        assert_eq!(of(Op::Read), "2,000 files of up to 10 B (19.5 KiB in all), in random order");
        assert_eq!(of(Op::List), "4 directories");
        assert_eq!(of(Op::Fio), "a job of fio");
        let empty = Dataset::uniform(2000, 0, 4);
        assert_eq!(work(Op::Stat, Order::Sequential, &empty), "2,000 empty files, in order");
        let big = Dataset::uniform(1, 1 << 20, 0);
        assert_eq!(work(Op::RandRead, Order::Sequential, &big), "one file of 1 MiB, at random");
        assert_eq!(work(Op::BigRead, Order::Random, &big), "one file of 1 MiB");
    }
    #[test]
    fn programs_in_words() {
        let copy = Job::new(JobKind::Copy, DATA);
        assert_eq!(describe_job(&copy), "copy (cp)");
        assert_eq!(describe_job(&Job { by: By::Engine, ..copy }), "copy (engine)");
        assert_eq!(describe_job(&Job::new(JobKind::Delete, "copy")), "delete (rm) of copy");
        let of = |kind| describe_job(&Job::new(kind, DATA));
        assert_eq!(of(JobKind::Untar { compression: Compression::Gzip }), "untar gzip (tar)");
        assert_eq!(of(JobKind::Untar { compression: Compression::None }), "untar (tar)");
        assert_eq!(of(JobKind::Archive { compression: Compression::Bzip2 }), "archive bzip2 (tar)");
        assert_eq!(of(JobKind::Ogg), "wav to ogg (oggenc)");
        assert_eq!(of(JobKind::Compile { jobs: 2 }), "compile, 2 at once (make)");
        let command = |run: &str| {
            let run = run.to_owned();
            of(JobKind::Command(Command { run, prepare: None, cleanup: None, programs: vec![] }))
        };
        assert_eq!(command("find {mnt}\n  -name x"), "command: find {mnt} -name x");
        let long = command(&"ж".repeat(100));
        assert_eq!(long, format!("command: {}…", "ж".repeat(39)));
        assert_eq!(io_summary(Op::Job, 0, &Io::default(), &Dataset::uniform(9, 4096, 1)), "");
    }

    #[test]
    fn contents_in_words() {
        let one = Contents { files: 1, bytes: 5, ..Contents::default() };
        assert_eq!(files_text(&one), "1 file");
        let tree = Contents { files: 105_000, dirs: 1, symlinks: 2, ..one };
        assert_eq!(files_text(&tree), "105,000 files in 1 directory, 2 symbolic links");
    }
}
