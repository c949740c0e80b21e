//! Each kind of work, and that its product is right.

use super::{CONTENTS, command, ends_well, make_tree, new_root, odd_name, run, snapshot, task};
use fsarena_model::job::{Compression, Contents, JobKind, Reflink};
use fsarena_model::work::{JobTask, WorkerReport};
use fsarena_worker::program::JobRun;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// What is true of every report of a job that ended well.
fn is_good(report: &WorkerReport, program: &str) {
    assert_eq!(report.error, None);
    let durable_ns = report.durable_monotonic_ns.unwrap();
    assert!(report.start_monotonic_ns < report.returned_monotonic_ns);
    assert!(report.returned_monotonic_ns <= durable_ns);
    assert_eq!(report.latency, None);
    let said = report.program.as_ref().unwrap();
    assert_eq!((said.name.as_str(), said.own_ns), (program, None));
    assert_eq!(said.tools[0].name, program);
    assert_eq!(said.tools[0].version, said.version);
    assert!(said.tools.iter().all(|tool| tool.path == tool.path.canonicalize().unwrap()));
    assert!(said.argv[0].ends_with(&format!("/{program}")), "{:?}", said.argv);
    assert_eq!(said.figures.get("ended_in_background"), None);
}

#[test]
fn a_copy_is_like_its_original() {
    let root = new_root();
    make_tree(&root.path().join("data"));
    let report = run(root.path(), &task(JobKind::Copy, "copy", "data")).unwrap();
    is_good(&report, "cp");
    let program = report.program.unwrap();
    assert_eq!(program.argv[1..], ["-a", "--reflink=never", "--", "data", "copy"]);
    assert!(program.version.starts_with("cp ("), "{}", program.version);
    assert_eq!((report.ops, report.asked_bytes), (9, 2 * CONTENTS.bytes));
    assert_eq!(report.asked_written_bytes, Some(CONTENTS.bytes));
    let original = snapshot(&root.path().join("data"));
    assert_eq!(original.len() as u64, CONTENTS.entries());
    assert_eq!(snapshot(&root.path().join("copy")), original, "modes, times, links, contents");
}

#[test]
fn a_copy_from_elsewhere_and_one_of_a_single_archive() {
    let (root, elsewhere) = (new_root(), new_root());
    make_tree(&elsewhere.path().join("tree"));
    std::os::unix::fs::symlink("tree", elsewhere.path().join("data")).unwrap();
    let input = elsewhere.path().join("data");
    let copy = task(JobKind::Copy, "copy", input.to_str().unwrap());
    is_good(&run(root.path(), &copy).unwrap(), "cp");
    assert_eq!(snapshot(&root.path().join("copy")), snapshot(&elsewhere.path().join("tree")));

    fs::write(root.path().join("data.tar.gz"), "not really").unwrap();
    let archive = task(JobKind::Copy, "second", "data.tar.gz");
    let report = run(root.path(), &archive).unwrap();
    is_good(&report, "cp");
    assert_eq!((report.ops, report.asked_bytes, report.asked_written_bytes), (1, 20, Some(10)));
    let delete = task(JobKind::Delete, "delete", "data.tar.gz");
    let one = Contents { files: 1, bytes: 10, ..Contents::default() };
    let delete = JobTask { contents: one, ..delete };
    let report = run(root.path(), &delete).unwrap();
    assert_eq!((report.error, report.ops), (None, 1));
    assert!(!root.path().join("data.tar.gz").exists() && root.path().join("second").is_file());
}

#[test]
fn what_cannot_share_blocks_says_so() {
    let root = new_root();
    make_tree(&root.path().join("data"));
    let always = JobTask { reflink: Reflink::Always, ..task(JobKind::Copy, "copy", "data") };
    let report = run(root.path(), &always).unwrap();
    let Some(error) = report.error else {
        println!("not run: {} can share blocks", root.path().display());
        return;
    };
    assert_eq!(error.call, "cp");
    assert!(error.text.contains("phase copy: cp ended with exit code 1: "), "{}", error.text);
    assert!(error.text.contains("failed to clone"), "{}", error.text);
    assert_eq!((report.ops, report.asked_bytes), (0, 0));
}

#[test]
fn a_delete_leaves_nothing_of_it() {
    let root = new_root();
    make_tree(&root.path().join("data"));
    make_tree(&root.path().join("keep"));
    let report = run(root.path(), &task(JobKind::Delete, "delete", "data")).unwrap();
    is_good(&report, "rm");
    assert_eq!((report.ops, report.asked_bytes, report.asked_written_bytes), (9, 0, Some(0)));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn every_archive_is_packed_and_unpacked_to_the_same() {
    for compression in Compression::ALL {
        let root = new_root();
        make_tree(&root.path().join("data"));
        let original = snapshot(&root.path().join("data"));
        let pack = task(JobKind::Archive { compression }, "pack", "data");
        let Some(report) = run(root.path(), &pack) else { continue };
        is_good(&report, "tar");
        let name = format!("pack.{}", compression.ending());
        let size = root.path().join(&name).metadata().unwrap().len();
        assert_eq!(report.asked_written_bytes, Some(size), "{name}");
        assert_eq!((report.ops, report.asked_bytes), (9, CONTENTS.bytes + size));
        let tools = report.program.unwrap().tools;
        assert_eq!(tools.len(), 1 + usize::from(compression != Compression::None));
        assert!(tools.iter().all(|tool| tool.version.contains(char::is_numeric)), "{tools:?}");
        if compression != Compression::None {
            let plain = root.path().join("pack.tar");
            assert!(!plain.exists() && size < CONTENTS.bytes, "{name}: {size}");
        }

        let unpack = task(JobKind::Untar { compression }, "unpack", &name);
        let report = run(root.path(), &unpack).unwrap();
        is_good(&report, "tar");
        assert_eq!(snapshot(&root.path().join("unpack")), original, "{name}");
        assert_eq!((report.ops, report.asked_bytes), (9, CONTENTS.bytes + size));
        assert_eq!(report.asked_written_bytes, Some(CONTENTS.bytes));
        let foreign = root.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        let archive = format!("../{name}");
        let args = ["-xf", &archive].map(OsStr::new);
        assert!(ends_well("tar", &args, &foreign));
        assert_eq!(snapshot(&foreign), original, "{name} is an archive for others, too");
    }
}

/// A tone of `samples`, 16 bits, one channel, 44100 Hz.
fn wav(samples: u32) -> Vec<u8> {
    let bytes = 2 * samples;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(44_100_u32.to_le_bytes());
    wav.extend(88_200_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(bytes.to_le_bytes());
    let tone = |n: u32| ((f64::from(n) / 20.0).sin() * 9000.0) as i16;
    wav.extend((0..samples).flat_map(|n| tone(n).to_le_bytes()));
    wav
}

fn make_music(root: &Path) -> Contents {
    let data = root.join("data");
    fs::create_dir(&data).unwrap();
    let mut odd = odd_name().to_owned();
    odd.push(".wav");
    let mut bytes = 0;
    for (name, samples) in [(OsStr::new("-1 one.wav"), 44_100), (&odd, 30_000)] {
        fs::write(data.join(name), wav(samples)).unwrap();
        bytes += u64::from(44 + 2 * samples);
    }
    fs::write(data.join("notes.txt"), "no music").unwrap();
    Contents { files: 2, bytes, ..Contents::default() }
}

#[test]
fn flac_keeps_every_sample() {
    let root = new_root();
    let contents = make_music(root.path());
    let flac = JobTask { contents, ..task(JobKind::Flac, "out put", "data") };
    let Some(report) = run(root.path(), &flac) else { return };
    is_good(&report, "flac");
    let made: Vec<_> =
        fs::read_dir(root.path().join("out put")).unwrap().map(Result::unwrap).collect();
    assert_eq!((report.ops, made.len()), (2, 2));
    let size: u64 = made.iter().map(|file| file.metadata().unwrap().len()).sum();
    assert_eq!(report.asked_written_bytes, Some(size));
    assert_eq!(report.asked_bytes, contents.bytes + size);
    for file in made {
        let args = [OsStr::new("-ts"), OsStr::new("--"), &file.file_name()];
        assert!(ends_well("flac", &args, &root.path().join("out put")), "{file:?}");
    }
    let back = ["-ds", "-o", "back.wav", "--", "out put/-1 one.flac"].map(OsStr::new);
    assert!(ends_well("flac", &back, root.path()));
    assert_eq!(fs::read(root.path().join("back.wav")).unwrap(), wav(44_100));
}

#[test]
fn oggenc_is_started_for_each_file() {
    let root = new_root();
    let contents = make_music(root.path());
    let ogg = JobTask { contents, ..task(JobKind::Ogg, "ogg", "data") };
    let Some(report) = run(root.path(), &ogg) else { return };
    is_good(&report, "oggenc");
    let program = report.program.unwrap();
    assert_eq!(program.figures["starts"], "2");
    assert_eq!(program.argv[1..5], ["-q", "10", "--quiet", "-o"]);
    assert_eq!(program.argv[5..], ["ogg/-1 one.ogg", "--", "data/-1 one.wav"]);
    let one = fs::read(root.path().join("ogg/-1 one.ogg")).unwrap();
    assert!(one.starts_with(b"OggS") && one.len() > 1000);
    assert_eq!(fs::read_dir(root.path().join("ogg")).unwrap().count(), 2);
    assert_eq!(report.ops, 2);
    assert_eq!(fs::read_dir(root.path().join("data")).unwrap().count(), 3, "nothing beside them");
}

#[test]
fn nothing_to_encode_and_a_damaged_file_are_errors() {
    let root = new_root();
    fs::create_dir(root.path().join("data")).unwrap();
    let Some(report) = run(root.path(), &task(JobKind::Flac, "empty", "data")) else { return };
    let error = report.error.unwrap();
    assert!(error.text.contains("holds no file whose name ends in .wav"), "{}", error.text);
    let gone = run(root.path(), &task(JobKind::Flac, "f", "gone")).unwrap().error.unwrap();
    assert_eq!((gone.call.as_str(), gone.errno), ("getdents64", 2));
    fs::write(root.path().join("data/x.wav"), "RIFF, but no music").unwrap();
    let error = run(root.path(), &task(JobKind::Flac, "bad", "data")).unwrap().error.unwrap();
    assert!(error.text.contains("flac ended with exit code 1: "), "{}", error.text);
    let again = run(root.path(), &task(JobKind::Flac, "bad", "data")).unwrap().error.unwrap();
    assert_eq!((again.call.as_str(), again.errno), ("mkdir", 17), "{}", again.text);
}

#[test]
fn make_builds_into_its_own_directory() {
    let (root, elsewhere) = (new_root(), tempfile::tempdir().unwrap());
    let makefile = "all: $(OUT)/a.o $(OUT)/b.o\n$(OUT)/%.o: %.c\n\t$(CC) -pipe -c -o \"$@\" $<\n";
    for top in [root.path(), elsewhere.path()] {
        let data = top.join("data");
        fs::create_dir(&data).unwrap();
        fs::write(data.join("Makefile"), makefile).unwrap();
        fs::write(data.join("a.c"), "int a(void) { return 1; }\n").unwrap();
        fs::write(data.join("b.c"), "int b(void) { return 2; }\n").unwrap();
    }
    let kind = JobKind::Compile { jobs: 2 };
    let compile = JobTask {
        contents: Contents { files: 3, bytes: 123, ..Contents::default() },
        ..task(kind.clone(), "build", "data")
    };
    let Some(report) = run(root.path(), &compile) else { return };
    is_good(&report, "make");
    let built = snapshot(&root.path().join("build"));
    assert_eq!(built.len(), 2);
    let size: usize = built.values().map(|(_, _, object)| object.len()).sum();
    assert!(built.values().all(|(_, _, object)| object.starts_with(b"\x7fELF")));
    assert_eq!((report.ops, report.asked_written_bytes), (0, Some(size as u64)));
    assert_eq!(report.asked_bytes, 123 + size as u64);
    assert_eq!(snapshot(&root.path().join("data")).len(), 3, "sources alone");
    assert_eq!(report.program.unwrap().tools[1].name, "cc");

    // From elsewhere the root is named by its path, which make takes only without spaces.
    let plain = tempfile::tempdir().unwrap();
    let data = elsewhere.path().join("data");
    let other = task(kind.clone(), "build", data.to_str().unwrap());
    is_good(&run(plain.path(), &other).unwrap(), "make");
    assert_eq!(snapshot(&plain.path().join("build")).len(), 2);

    fs::write(root.path().join("data/b.c"), "int b(void) { return \n").unwrap();
    let error = run(root.path(), &task(kind, "broken", "data")).unwrap().error.unwrap();
    assert!(error.text.contains("make ended with exit code 2: "), "{}", error.text);
    assert!(error.text.contains("Error 1"), "{}", error.text);
}

#[test]
fn nothing_is_touched_before_it_runs() {
    let root = new_root();
    let gone = root.path().join("not there");
    for kind in [JobKind::Copy, JobKind::Delete, JobKind::Untar { compression: Compression::None }]
    {
        assert!(JobRun::prepare(&task(kind, "p", "data"), &gone).is_ok(), "no root, no source");
    }
    assert!(JobRun::prepare(&command("true"), &gone).is_ok());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn the_work_of_children_is_counted() {
    let root = new_root();
    fs::create_dir(root.path().join("data")).unwrap();
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 63
    })
    .take(50_000_000)
    .collect();
    fs::write(root.path().join("data/noise"), noise).unwrap();
    let pack = task(JobKind::Archive { compression: Compression::Gzip }, "pack", "data");
    let report = run(root.path(), &pack).unwrap();
    is_good(&report, "tar");
    assert!(report.usage.user_ns > 100_000_000, "gzip is a child of tar: {:?}", report.usage);
}
