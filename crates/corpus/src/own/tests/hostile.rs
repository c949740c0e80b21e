//! Archives that were made to take all memory or all time, and errors as they are told.

use super::*;
use std::cell::Cell;
use std::error::Error as _;

/// A number as GNU headers have it where octal digits are too few.
fn binary(number: u64) -> [u8; 12] {
    let mut field = [0; 12];
    field[0] = 0x80;
    field[4..].copy_from_slice(&number.to_be_bytes());
    field
}

/// A file of `size` bytes that is all hole, as GNU tar packs it with `--sparse`.
fn hole(name: &[u8], size: u64) -> Vec<u8> {
    let mut header = header(EntryType::GNUSparse, name, 0);
    let gnu = header.as_gnu_mut().unwrap();
    gnu.sparse[0].offset = binary(size);
    gnu.sparse[0].numbytes = binary(0);
    gnu.realsize = binary(size);
    header.set_cksum();
    let mut builder = Builder::new(Vec::new());
    builder.append(&header, &b""[..]).unwrap();
    builder.into_inner().unwrap()
}

fn look_at_with(bytes: &[u8], stop: &dyn Fn() -> bool) -> Result<Own, CorpusError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    fs::write(&path, bytes).unwrap();
    survey(&path, stop)
}

/// A record of a PAX header: its length, itself in it, a key and a value.
fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

#[test]
fn a_large_member_does_not_keep_it_from_stopping() {
    let archive = packed(Compression::Zstd, &tar_of(&[(FILE, b"zeros", &vec![0; 64 << 20])]));
    assert!(archive.len() < 1 << 20);
    let asked = Cell::new(0);
    let stop_at = |limit: u32| {
        asked.set(0);
        look_at_with(&archive, &|| {
            asked.set(asked.get() + 1);
            asked.get() >= limit
        })
    };
    assert!(stop_at(u32::MAX).is_ok());
    assert!(asked.get() > 100, "asked {} times in 64 MiB", asked.get());
    assert!(matches!(stop_at(50), Err(CorpusError::Stopped)));
    assert_eq!(asked.get(), 50);
}

#[test]
fn holes_are_refused_before_they_are_read() {
    let text = look_at(&hole(b"huge", 8 << 40)).unwrap_err().to_string();
    assert!(text.contains("\"huge\" is sparse") && text.contains("without --sparse"), "{text}");
    for key in ["GNU.sparse.major", "GNU.sparse.map"] {
        let record = record(key, "1");
        let pax = [(EntryType::XHeader, &b"pax"[..], record.as_bytes()), (FILE, b"f", b"abc")];
        let text = look_at(&tar_of(&pax)).unwrap_err().to_string();
        assert!(text.contains("\"f\" is sparse") && text.contains("without --sparse"), "{text}");
    }
}

#[test]
fn long_headers_are_refused_before_they_are_read() {
    let kinds = [
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ];
    for kind in kinds {
        let head = header(kind, b"head", 3 << 30);
        // What it states is not there: what is said shows that it was not asked for.
        let mut archive = head.as_bytes().to_vec();
        archive.resize((2 << 20) + 512, b'x');
        let error = look_at(&archive).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("more than 1 MiB"), "{kind:?}: {text}");
        assert!(!matches!(error, CorpusError::Damaged { .. }), "{kind:?}: {text}");
        // One that is large and may be so.
        let name = vec![b'n'; 600_000];
        let follows = (FILE, &b"file"[..], &b"abc"[..]);
        let allowed = tar_of(&[(kind, b"head", &name), follows, follows]);
        match look_at(&allowed).map_err(|error| error.to_string()) {
            Ok(_) => assert!(!matches!(kind, EntryType::GNULongName | EntryType::XHeader)),
            Err(text) if kind == EntryType::GNULongName => {
                assert!(text.contains("longer than 65536 bytes"), "{text}");
            }
            Err(text) => {
                assert!(kind == EntryType::XHeader && text.contains("PAX header"), "{text}");
            }
        }
    }
}

#[test]
fn targets_that_no_link_can_have_are_refused() {
    let target = vec![b't'; 4096];
    let archive = tar_of(&[(EntryType::GNULongLink, b"head", &target), (SYMLINK, b"link", b"x")]);
    let text = look_at(&archive).unwrap_err().to_string();
    assert!(text.contains("\"link\"") && text.contains("4095 bytes"), "{text}");
}

#[test]
fn a_file_with_a_slash_behind_its_name_is_a_directory() {
    for kind in [FILE, EntryType::Continuous] {
        for ustar in [false, true] {
            let mut head = header(kind, b"a/", 0);
            if ustar {
                head.as_mut_bytes()[257..265].copy_from_slice(b"ustar\x0000");
                head.set_cksum();
            }
            let mut builder = Builder::new(Vec::new());
            builder.append(&head, &b""[..]).unwrap();
            let archive = builder.into_inner().unwrap();
            let Own::Archive(_, contents) = look_at(&archive).unwrap() else { panic!("no tree") };
            assert_eq!((contents.dirs, contents.files), (1, 0), "{kind:?} {ustar}");
        }
    }
}

#[test]
fn a_file_in_the_place_of_a_directory_is_refused() {
    let cases: [(&[Member<'_>], &str); 6] = [
        (&[(FILE, b"a", b""), (FILE, b"a/b", b"")], "\"a/b\" lies in \"a\", which is a file"),
        (&[(FILE, b"a", b""), (FILE, b"a/b/c", b"")], "\"a/b/c\" lies in \"a\""),
        (&[(FILE, b"a/b", b""), (FILE, b"a", b"")], "\"a\" is a file, and a directory before"),
        (&[(FILE, b"a", b""), (DIR, b"a/", b"")], "\"a/\" is a directory, and a file before"),
        (&[(FILE, b"f", b""), (LINK, b"a", b"f"), (DIR, b"a/b", b"")], "\"a/b\" lies in \"a\""),
        (&[(FILE, b"f", b""), (DIR, b"a", b""), (LINK, b"a", b"f")], "\"a\" is a hard link, and"),
    ];
    for (members, part) in cases {
        let text = look_at(&tar_of(members)).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
    // A later one of the same name takes the place of the first.
    let twice =
        tar_of(&[(FILE, b"a", b""), (FILE, b"a", b"x"), (DIR, b"d", b""), (DIR, b"d", b"")]);
    assert!(look_at(&twice).is_ok());
}

#[test]
fn a_line_feed_in_a_pax_name_is_told_as_such() {
    let record = record("path", "two\nlines");
    let pax = [(EntryType::XHeader, &b"pax"[..], record.as_bytes()), (FILE, b"f", b"abc")];
    let text = look_at(&tar_of(&pax)).unwrap_err().to_string();
    assert!(text.contains("line feed") && text.contains("--format=gnu"), "{text}");
}

/// What a chain of errors prints: none says again what the one around it said.
#[test]
fn a_reason_is_told_once() {
    let one = tar_of(&[(FILE, b"a", &[1; 5000]), (FILE, b"b", b"xyz")]);
    let mut wrong_sum = one.clone();
    wrong_sum[5632 + 2] ^= 1;
    let gzip = packed(Compression::Gzip, &one);
    let dir = tempfile::tempdir().unwrap();
    let errors = [
        look_at(&wrong_sum).unwrap_err(),
        look_at(&gzip[..gzip.len() - 9]).unwrap_err(),
        inspect(&dir.path().join("none")).unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            assert!(!text.contains(&inner.to_string()), "{text}: {inner}");
            cause = inner.source();
        }
    }
    let text = look_at(&wrong_sum).unwrap_err().to_string();
    assert!(text.contains("cut off after 1 member: "), "{text}");
    wrong_sum[2] ^= 1;
    let text = look_at(&wrong_sum).unwrap_err().to_string();
    assert!(text.contains("this is no archive"), "{text}");
    wrong_sum[2] ^= 1;
    let none = look_at(&packed(Compression::Gzip, &[b'x'; 600])).unwrap_err().to_string();
    assert!(none.contains("cut off after 0 members: "), "{none}");
}

#[test]
fn there_are_limits_to_what_is_remembered() {
    let looked = |members: &[Member<'_>], limits| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        fs::write(&path, tar_of(members)).unwrap();
        let file = File::open(&path).unwrap();
        archive::survey(&path, Compression::None, file, limits, &|| false)
            .map(|(contents, _)| contents.entries())
            .map_err(|error| error.to_string())
    };
    let limits = archive::Limits { entries: 3, link_bytes: 10 };
    let files =
        [(FILE, &b"a"[..], &b""[..]), (FILE, b"b", b""), (DIR, b"c", b""), (DIR, b"d", b"")];
    assert_eq!(looked(&files[..3], limits), Ok(3));
    let text = looked(&files, limits).unwrap_err();
    assert!(text.contains("more than 3 entries, and") && text.contains("several"), "{text}");
    let deep = [(FILE, &b"a/b/c/d/e"[..], &b""[..]), (FILE, b"f", b"")];
    assert!(looked(&deep, limits).unwrap_err().contains("more than 3 entries"));
    let links = [(SYMLINK, &b"l"[..], &b"1234567890"[..]), (FILE, b"f", b"")];
    assert!(looked(&links, limits).unwrap_err().contains("more than 10 bytes of names"));
    assert_eq!(archive::LIMITS.entries, 20_000_000);
}

#[test]
fn names_of_any_depth_take_little_memory_and_time() {
    // 30,000 directories in one name: 64 bytes of memory for each, not the name of each.
    let name = "a/".repeat(30_000) + "f";
    let archive =
        tar_of(&[(EntryType::GNULongName, b"head", name.as_bytes()), (FILE, b"f", b"abc")]);
    let Own::Archive(_, contents) = look_at(&archive).unwrap() else { panic!("no tree") };
    assert_eq!((contents.dirs, contents.files), (30_000, 1));
}

#[test]
fn a_walk_stops_within_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    for file in 0..100 {
        fs::write(dir.path().join(file.to_string()), "").unwrap();
    }
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 20
    };
    assert!(matches!(survey(dir.path(), &stop), Err(CorpusError::Stopped)));
}

#[test]
fn what_lies_directly_in_it_is_told() {
    let names = ["a.wav", "b.wav", ".hidden.wav", "c.wave", "sub/d.wav", "sub/Makefile"];
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    let mut members: Vec<Member<'_>> = Vec::new();
    for name in &names {
        fs::write(dir.path().join(name), "x").unwrap();
        members.push((FILE, name.as_bytes(), b"x"));
    }
    let top = |path: &Path| survey_with_top_level(path, &|| false).unwrap().1;
    let without = TopLevel { wavs: 2, has_makefile: false };
    assert_eq!(top(dir.path()), without);
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("archive");
    fs::write(&path, tar_of(&members)).unwrap();
    assert_eq!(top(&path), without);
    for name in ["Makefile", "makefile", "GNUmakefile"] {
        fs::write(dir.path().join(name), "all:").unwrap();
        assert_eq!(top(dir.path()), TopLevel { has_makefile: true, ..without }, "{name}");
        fs::remove_file(dir.path().join(name)).unwrap();
        let dotted = format!("./{name}");
        let with = [&members[..], &[(FILE, dotted.as_bytes(), b"all:")]].concat();
        fs::write(&path, tar_of(&with)).unwrap();
        assert!(top(&path).has_makefile, "{name}");
    }
}
