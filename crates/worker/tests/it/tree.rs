//! Copy, delete and untar of trees against the programs that people use.

use crate::temp_dir;
use crate::{NewEntry, compared, differences, done, facts, make, program, small, source, task};
use fsarena_model::job::{Compression, JobKind, Reflink};
use fsarena_model::work::JobTask;
use proptest::prelude::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

fn copy() -> JobTask {
    task("copy", JobKind::Copy, Path::new("data"))
}

fn cp(dir: &Path, to: &str) {
    let args = ["-a", "--reflink=never", "--", "data", to].map(OsStr::new);
    program("cp", dir, &args);
}

/// Packs `data` of `dir` as `tar -c` does.
fn pack(dir: &Path, compression: Compression, format: &str) {
    let archive = format!("data.{}", compression.ending());
    let format = format!("--format={format}");
    program("tar", dir, &["-caf", &archive, &format, "-C", "data", "."].map(OsStr::new));
}

fn untar(compression: Compression) -> JobTask {
    let input = format!("data.{}", compression.ending());
    task("unpack", JobKind::Untar { compression }, Path::new(&input))
}

/// Unpacks the archive as `tar -x` does, to `wanted`.
fn tar_x(dir: &Path, compression: Compression) {
    std::fs::create_dir(dir.join("wanted")).unwrap();
    let archive = format!("data.{}", compression.ending());
    program("tar", dir, &["-xf", &archive, "-C", "wanted"].map(OsStr::new));
}

#[test]
fn a_copy_is_what_cp_makes() {
    for reflink in [Reflink::Never, Reflink::Auto] {
        let dir = temp_dir();
        let entries = small(&dir.path().join("data"));
        cp(dir.path(), "wanted");
        let report = done(dir.path(), &JobTask { reflink, ..copy() });
        assert_eq!(report.ops, entries);
        // A file of two names is copied once; of the holes nothing is.
        let bytes = 8 + 300_000 + 1 + 2 * 4096;
        assert_eq!(report.asked_written_bytes, Some(bytes));
        assert_eq!(report.asked_bytes, 2 * bytes);
        let differ = differences(&dir.path().join("copy"), &dir.path().join("wanted"));
        assert_eq!(differ, Vec::<String>::new());
        let verified = compared(dir.path(), "copy", "data", &source(None));
        assert_eq!((verified.bad_files, verified.files), (0, 7), "{:?}", verified.examples);
    }
}

#[test]
fn one_file_is_copied_too() {
    let dir = temp_dir();
    small(&dir.path().join("data"));
    let absolute = dir.path().join("data/dir/in dir");
    let report = done(dir.path(), &task("copy", JobKind::Copy, &absolute));
    assert_eq!((report.ops, report.asked_written_bytes), (1, Some(300_000)));
    let (copy, wanted) = (facts(&dir.path().join("copy")), facts(&absolute));
    assert_eq!(copy, wanted);
}

#[test]
fn an_unpacked_archive_is_what_tar_makes() {
    for (compression, format) in [
        (Compression::None, "gnu"),
        (Compression::None, "pax"),
        (Compression::Gzip, "pax"),
        (Compression::Bzip2, "gnu"),
        (Compression::Xz, "gnu"),
        (Compression::Zstd, "ustar"),
    ] {
        let dir = temp_dir();
        let entries = small(&dir.path().join("data"));
        pack(dir.path(), compression, format);
        tar_x(dir.path(), compression);
        let report = done(dir.path(), &untar(compression));
        assert_eq!(report.ops, entries, "{compression:?}");
        let differ = differences(&dir.path().join("unpack"), &dir.path().join("wanted"));
        assert_eq!(differ, Vec::<String>::new(), "{compression:?} {format}");
        let archive = untar(compression).input;
        let size = dir.path().join(&archive).metadata().unwrap().len();
        assert_eq!(report.asked_bytes, report.asked_written_bytes.unwrap() + size);
        let pairs = [("unpack", archive.to_str().unwrap()), (archive.to_str().unwrap(), "data")];
        for (copy, original) in pairs {
            let verified = compared(dir.path(), copy, original, &source(Some(compression)));
            assert_eq!(verified.bad_files, 0, "{compression:?} {:?}", verified.examples);
            assert_eq!(verified.files, 7);
        }
    }
}

#[test]
fn names_of_any_length_come_out_of_an_archive() {
    let dir = temp_dir();
    let long = dir.path().join("data").join("n".repeat(200)).join("m".repeat(255));
    std::fs::create_dir_all(&long).unwrap();
    std::fs::write(long.join("f"), "deep").unwrap();
    std::os::unix::fs::symlink("t".repeat(240), long.join("link")).unwrap();
    std::fs::hard_link(long.join("f"), long.join("g")).unwrap();
    for format in ["gnu", "pax"] {
        pack(dir.path(), Compression::None, format);
        tar_x(dir.path(), Compression::None);
        assert_eq!(done(dir.path(), &untar(Compression::None)).ops, 5);
        let differ = differences(&dir.path().join("unpack"), &dir.path().join("wanted"));
        assert_eq!(differ, Vec::<String>::new(), "{format}");
        std::fs::remove_dir_all(dir.path().join("unpack")).unwrap();
        std::fs::remove_dir_all(dir.path().join("wanted")).unwrap();
    }
}

#[test]
fn a_file_packed_twice_is_the_later_one() {
    let dir = temp_dir();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    std::fs::write(dir.path().join("data/f"), "first").unwrap();
    pack(dir.path(), Compression::None, "gnu");
    std::fs::write(dir.path().join("data/f"), "the second").unwrap();
    program("tar", dir.path(), &["-rf", "data.tar", "-C", "data", "./f"].map(OsStr::new));
    done(dir.path(), &untar(Compression::None));
    assert_eq!(std::fs::read(dir.path().join("unpack/f")).unwrap(), b"the second");
    let verified = compared(dir.path(), "unpack", "data.tar", &source(Some(Compression::None)));
    assert_eq!((verified.bad_files, verified.files), (0, 1), "{:?}", verified.examples);
}

#[test]
fn sparse_members_are_refused() {
    let dir = temp_dir();
    make(
        &dir.path().join("data"),
        &[(0, b"f".to_vec(), NewEntry::Sparse { blocks: vec![0, 1, 0] })],
    );
    for format in ["gnu", "pax"] {
        let format = format!("--format={format}");
        let args = ["-cSf", "data.tar", &format, "-C", "data", "./f"];
        program("tar", dir.path(), &args.map(OsStr::new));
        let error = crate::run(dir.path(), &untar(Compression::None)).error.unwrap();
        assert!(error.text.contains("sparse member"), "{error:?}");
        assert_eq!(std::fs::read_dir(dir.path().join("unpack")).unwrap().count(), 0);
        std::fs::remove_dir(dir.path().join("unpack")).unwrap();
    }
}

#[test]
fn a_delete_follows_nothing() {
    let dir = temp_dir();
    let entries = small(&dir.path().join("data"));
    std::fs::create_dir(dir.path().join("other")).unwrap();
    std::fs::write(dir.path().join("other/kept"), "kept").unwrap();
    std::os::unix::fs::symlink("../other", dir.path().join("data/out")).unwrap();
    let report = done(dir.path(), &task("delete", JobKind::Delete, Path::new("data")));
    assert_eq!((report.ops, report.asked_written_bytes), (entries + 1, Some(0)));
    assert!(dir.path().join("data").symlink_metadata().is_err());
    assert_eq!(std::fs::read(dir.path().join("other/kept")).unwrap(), b"kept");
    let report = done(dir.path(), &task("delete", JobKind::Delete, Path::new("other/kept")));
    assert_eq!(report.ops, 1);
    assert_eq!(std::fs::read_dir(dir.path().join("other")).unwrap().count(), 0);
}

/// Deeper than the directories that are open at once, and than a path may be long.
#[test]
fn trees_may_be_of_any_depth() {
    let dir = temp_dir();
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
    let mode = rustix::fs::Mode::from_raw_mode(0o755);
    std::fs::create_dir(dir.path().join("data")).unwrap();
    let mut at = rustix::fs::open(dir.path().join("data"), flags, mode).unwrap();
    let name = "d".repeat(40);
    for _ in 0..300 {
        for name in [name.as_str(), "beside"] {
            rustix::fs::mkdirat(&at, name, mode).unwrap();
        }
        at = rustix::fs::openat(&at, name.as_str(), flags, mode).unwrap();
    }
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(open < 500, "{open}");
    assert_eq!(done(dir.path(), &copy()).ops, 600);
    let verified = compared(dir.path(), "copy", "data", &source(None));
    assert_eq!((verified.bad_files, verified.examples), (0, vec![]));
    pack(dir.path(), Compression::None, "gnu");
    assert_eq!(done(dir.path(), &untar(Compression::None)).ops, 600);
    for input in ["copy", "unpack", "data"] {
        assert_eq!(done(dir.path(), &task("x", JobKind::Delete, Path::new(input))).ops, 600);
        assert!(dir.path().join(input).symlink_metadata().is_err());
    }
}

#[test]
fn the_engine_refuses_other_jobs() {
    let flac = task("flac", JobKind::Flac, Path::new("data"));
    let error = fsarena_worker::tree::TreeRun::prepare(&flac).unwrap_err().to_string();
    assert!(error.contains("phase flac") && error.contains("program"), "{error}");
    let nul = task("copy", JobKind::Copy, Path::new("da\0ta"));
    assert!(fsarena_worker::tree::TreeRun::prepare(&nul).is_err());
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_map(|byte| if byte == 0 || byte == b'/' { b'_' } else { byte });
    proptest::collection::vec(byte, 1..12)
        .prop_filter("a name of its own", |name| name != b"." && name != b"..")
}

fn wanted() -> impl Strategy<Value = NewEntry> {
    let mode = prop_oneof![Just(0o644), Just(0o600), Just(0o755), Just(0o4711), Just(0o666)];
    prop_oneof![
        prop_oneof![Just(0o755), Just(0o700), Just(0o2750)].prop_map(|mode| NewEntry::Dir { mode }),
        (proptest::collection::vec(any::<u8>(), 0..6000), mode)
            .prop_map(|(bytes, mode)| NewEntry::File { bytes, mode }),
        proptest::collection::vec(0..3_u8, 1..6).prop_map(|blocks| NewEntry::Sparse { blocks }),
        // Within the folder, so that an archive of it can be unpacked.
        name().prop_map(|target| NewEntry::Symlink { target }),
        any::<usize>().prop_map(|of| NewEntry::Further { of }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_trees_come_out_as_with_the_programs(
        entries in proptest::collection::vec((any::<usize>(), name(), wanted()), 0..25),
        auto: bool,
    ) {
        let dir = temp_dir();
        make(&dir.path().join("data"), &entries);
        cp(dir.path(), "cp");
        let reflink = if auto { Reflink::Auto } else { Reflink::Never };
        let copied = done(dir.path(), &JobTask { reflink, ..copy() });
        let differ = differences(&dir.path().join("copy"), &dir.path().join("cp"));
        prop_assert_eq!(differ, Vec::<String>::new());
        let verified = compared(dir.path(), "copy", "data", &source(None));
        prop_assert_eq!((verified.bad_files, verified.examples), (0, vec![]));

        // The crate tar does not read a line feed in a name of a PAX header.
        pack(dir.path(), Compression::Gzip, "gnu");
        tar_x(dir.path(), Compression::Gzip);
        let unpacked = done(dir.path(), &untar(Compression::Gzip));
        let differ = differences(&dir.path().join("unpack"), &dir.path().join("wanted"));
        prop_assert_eq!(differ, Vec::<String>::new());
        let packed = source(Some(Compression::Gzip));
        let verified = compared(dir.path(), "unpack", "data.tar.gz", &packed);
        prop_assert_eq!((verified.bad_files, verified.examples), (0, vec![]));

        let deleted = done(dir.path(), &task("delete", JobKind::Delete, Path::new("data")));
        prop_assert_eq!((copied.ops, unpacked.ops), (deleted.ops, deleted.ops));
        prop_assert_eq!(deleted.ops + 1, facts(&dir.path().join("cp")).len() as u64);
        prop_assert!(!dir.path().join("data").exists());
    }
}

#[test]
fn names_need_not_be_text() {
    let dir = temp_dir();
    let name = OsStr::from_bytes(b"\xff\x01");
    std::fs::create_dir(dir.path().join(name)).unwrap();
    std::fs::write(dir.path().join(name).join(name), "x").unwrap();
    assert_eq!(done(dir.path(), &task("copy", JobKind::Copy, Path::new(name))).ops, 1);
    assert_eq!(std::fs::read(dir.path().join("copy").join(name)).unwrap(), b"x");
}

const UNDER_STRACE: &str = "FSARENA_TEST_UNDER_STRACE";

/// As cp does it: the kernel is told that each file is read from its start to its end.
#[test]
fn each_source_is_said_to_be_read_in_sequence() {
    if let Some(place) = std::env::var_os(UNDER_STRACE) {
        done(Path::new(&place), &copy());
        return;
    }
    let dir = temp_dir();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    for (name, bytes) in [("a", 300_000), ("b", 5), ("c", 0)] {
        std::fs::write(dir.path().join("data").join(name), vec![7; bytes]).unwrap();
    }
    let seen = dir.path().join("seen");
    let traced = std::process::Command::new("strace")
        .args(["-f", "-e", "trace=fadvise64", "-o"])
        .arg(&seen)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "tree::each_source_is_said_to_be_read_in_sequence"])
        .env(UNDER_STRACE, dir.path())
        .output();
    match traced {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => {
            println!("not run: each_source_is_said_to_be_read_in_sequence needs strace: {error}");
            return;
        }
    }
    let seen = std::fs::read_to_string(seen).unwrap();
    assert_eq!(seen.matches("POSIX_FADV_SEQUENTIAL").count(), 3, "{seen}");
}
