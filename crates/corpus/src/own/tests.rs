//! Directories and archives as users have them, and as nobody should have them.

use super::*;
use crate::compress::writer;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

fn inspect(path: &Path) -> Result<Own, CorpusError> {
    survey(path, &|| false)
}

fn contents(path: &Path) -> Contents {
    match inspect(path).unwrap() {
        Own::Tree(contents) | Own::Archive(_, contents) => contents,
    }
}

fn refusal(path: &Path) -> String {
    inspect(path).unwrap_err().to_string()
}

fn header(kind: EntryType, name: &[u8], size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header.set_cksum();
    header
}

/// A member: kind, name, and contents or target.
type Member<'a> = (EntryType, &'a [u8], &'a [u8]);

fn tar_of(members: &[Member<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, name, more) in members {
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        let mut header = header(*kind, name, if is_link { 0 } else { more.len() as u64 });
        if is_link {
            header.as_old_mut().linkname[..more.len()].copy_from_slice(more);
            header.set_cksum();
        }
        builder.append(&header, if is_link { &[][..] } else { more }).unwrap();
    }
    builder.into_inner().unwrap()
}

fn packed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
    let mut out = writer(compression, Vec::new()).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn look_at(bytes: &[u8]) -> Result<Own, CorpusError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("archive");
    fs::write(&path, bytes).unwrap();
    inspect(&path)
}

mod hostile;

const FILE: EntryType = EntryType::Regular;
const DIR: EntryType = EntryType::Directory;
const SYMLINK: EntryType = EntryType::Symlink;
const LINK: EntryType = EntryType::Link;

#[test]
fn a_tree_is_counted_and_links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("a/b")).unwrap();
    fs::write(at("a/one"), vec![1; 5000]).unwrap();
    fs::write(at("a/b/two"), b"xyz").unwrap();
    fs::hard_link(at("a/one"), at("a/b/again")).unwrap();
    symlink("..", at("a/b/loop")).unwrap();
    symlink("self", at("self")).unwrap();
    symlink("/nowhere", at("dangling")).unwrap();
    fs::write(at("a").join(OsStr::from_bytes(b"n\xff\xfe")), b"").unwrap();
    let expected = Contents {
        files: 4,
        dirs: 2,
        symlinks: 3,
        bytes: 5003,
        block_bytes: 8192 + 4096,
        largest_bytes: 5000,
        longest_path_bytes: 9,
        archive_bytes: None,
    };
    assert_eq!(inspect(dir.path()).unwrap(), Own::Tree(expected));
}

#[test]
fn a_file_with_holes_counts_what_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse");
    let mut file = File::create(&path).unwrap();
    file.write_all(&[7; 65536]).unwrap();
    file.set_len(1 << 30).unwrap();
    file.sync_all().unwrap();
    let bytes = contents(dir.path()).bytes;
    assert!((65536..1 << 24).contains(&bytes), "{bytes}");
}

/// Deeper than PATH_MAX and than there are descriptors.
#[test]
fn a_tree_deeper_than_any_path_is_walked() {
    let dir = tempfile::tempdir().unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = open(dir.path(), flags, Mode::empty()).unwrap();
    for _ in 0..1500 {
        rustix::fs::mkdirat(&here, c"deep", Mode::from_raw_mode(0o755)).unwrap();
        let file = rustix::fs::openat(&here, c"f", OFlags::CREATE | OFlags::WRONLY, 0o644.into());
        drop(file.unwrap());
        here = rustix::fs::openat(&here, c"deep", flags, Mode::empty()).unwrap();
    }
    let found = contents(dir.path());
    assert_eq!((found.dirs, found.files, found.longest_path_bytes), (1500, 1500, 7499));
}

#[test]
fn what_cannot_be_copied_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    let socket = UnixListener::bind(dir.path().join("sub/talk")).unwrap();
    let error = refusal(dir.path());
    assert!(error.contains("\"sub/talk\" is a socket") && error.contains("take it out"), "{error}");
    drop(socket);
    fs::remove_file(dir.path().join("sub/talk")).unwrap();
    let here = File::open(dir.path()).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(&here, c"pipe", fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert!(refusal(dir.path()).contains("\"pipe\" is a FIFO"));
    let error = refusal(&dir.path().join("pipe"));
    assert!(error.contains("neither a directory nor a file"), "{error}");
}

#[test]
fn what_is_not_there_or_empty_is_said() {
    let dir = tempfile::tempdir().unwrap();
    assert!(refusal(dir.path()).contains("the directory is empty"));
    let error = refusal(&dir.path().join("none"));
    assert!(error.starts_with("open ") && error.contains("No such file"), "{error}");
    assert!(look_at(b"").unwrap_err().to_string().contains("the file is empty"));
    assert!(look_at(b"no archive").unwrap_err().to_string().contains("this is no archive"));
    let text = vec![b'x'; 5000];
    assert!(look_at(&text).unwrap_err().to_string().contains("this is no archive"));
    assert!(look_at(&[0; 10240]).unwrap_err().to_string().contains("the archive is empty"));
    let gzipped = look_at(&packed(Compression::Gzip, &text));
    assert!(gzipped.unwrap_err().to_string().contains("damaged or cut off"));
    assert!(matches!(survey(dir.path(), &|| true), Err(CorpusError::Stopped)));
}

#[test]
fn archives_are_counted_whatever_their_compression() {
    let plain = tar_of(&[
        (DIR, b"./", b""),
        (FILE, b"./a/one", &[1; 5000]),
        (FILE, b"./a/n\xff\xfe", b"xyz"),
        (LINK, b"./a/again", b"./a/one"),
        (SYMLINK, b"./loop", b"loop"),
        (SYMLINK, b"./a/up", b"../loop"),
    ]);
    for compression in Compression::ALL {
        let archive = packed(compression, &plain);
        let Own::Archive(found, contents) = look_at(&archive).unwrap() else { panic!("no tree") };
        let expected = Contents {
            files: 3,
            dirs: 1,
            symlinks: 2,
            bytes: 5003,
            block_bytes: 8192 + 4096,
            largest_bytes: 5000,
            longest_path_bytes: 7,
            archive_bytes: Some(archive.len() as u64),
        };
        assert_eq!((found, contents), (compression, expected));
        assert!(matches!(look_at(&archive[..archive.len() / 2]), Err(CorpusError::Damaged { .. })));
    }
}

#[test]
fn damage_is_found_to_the_last_byte() {
    let plain = tar_of(&[(FILE, b"a", &[1; 5000]), (FILE, b"b", b"xyz")]);
    for compression in Compression::ALL.into_iter().skip(1) {
        let mut archive = packed(compression, &plain);
        archive.pop();
        let error = look_at(&archive).unwrap_err().to_string();
        assert!(error.contains("damaged or cut off"), "{compression:?}: {error}");
        let mut archive = packed(compression, &plain);
        archive.extend(b"something else behind it");
        let error = look_at(&archive).unwrap_err().to_string();
        assert!(error.contains("damaged or cut off"), "{compression:?}: {error}");
    }
    let mut followed = plain.clone();
    followed.extend(b"something else");
    let error = look_at(&followed).unwrap_err().to_string();
    assert!(error.contains("something follows the end"), "{error}");
    let cut = look_at(&plain[..3000]).unwrap_err().to_string();
    assert!(cut.contains("damaged or cut off"), "{cut}");
    let mut wrong_sum = plain;
    wrong_sum[5632 + 2] ^= 1;
    assert!(look_at(&wrong_sum).unwrap_err().to_string().contains("after 1 member:"));
}

#[test]
fn archives_that_climb_out_are_refused() {
    let cases: [(&[Member<'_>], &str); 14] = [
        (&[(FILE, b"../x", b"")], "climbs out"),
        (&[(FILE, b"a/../../x", b"")], "climbs out"),
        (&[(DIR, b"a/..", b"")], "climbs out"),
        (&[(FILE, b"/etc/x", b"")], "absolute name"),
        (&[(SYMLINK, b"s", b"/etc")], "to an absolute path"),
        (&[(SYMLINK, b"a/s", b"../../x")], "leads out"),
        (&[(SYMLINK, b"s", b"."), (SYMLINK, b"t", b"s/../x")], "leads out"),
        (&[(SYMLINK, b"s", b"sub"), (FILE, b"s/x", b"")], "lie behind it"),
        (&[(FILE, b"s/x", b""), (SYMLINK, b"s", b"sub")], "lie behind it"),
        (&[(LINK, b"h", b"../x")], "outside of its folder"),
        (&[(LINK, b"h", b"/etc/passwd")], "outside of its folder"),
        (&[(LINK, b"h", b"none")], "not before it"),
        (&[(EntryType::Char, b"null", b"")], "is a device node"),
        (&[(EntryType::Fifo, b"pipe", b"")], "is a FIFO"),
    ];
    for (members, part) in cases {
        let error = look_at(&tar_of(members)).unwrap_err();
        assert!(matches!(error, CorpusError::Refused { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("pack it again"), "{text}");
    }
}

#[test]
fn long_names_of_both_formats_are_read() {
    let name = format!("{}/f", ["x".repeat(60), "y".repeat(60), "z".repeat(60)].join("/"));
    let mut gnu = Builder::new(Vec::new());
    gnu.append_data(&mut header(FILE, b"", 3), &name, &b"abc"[..]).unwrap();
    let gnu = gnu.into_inner().unwrap();
    let record = format!(" path={name}\n");
    let length = record.len() + 3;
    let record = format!("{length}{record}");
    assert_eq!(record.len(), length);
    let pax = tar_of(&[(EntryType::XHeader, b"pax", record.as_bytes()), (FILE, b"short", b"abc")]);
    for archive in [gnu, pax] {
        let Own::Archive(_, contents) = look_at(&archive).unwrap() else { panic!("no tree") };
        assert_eq!((contents.files, contents.dirs), (1, 3));
        assert_eq!(contents.longest_path_bytes, name.len() as u64);
    }
    let climbing = "19 path=../../../x\n";
    let pax = [(EntryType::XHeader, &b"pax"[..], climbing.as_bytes()), (FILE, b"short", b"abc")];
    let error = look_at(&tar_of(&pax)).unwrap_err().to_string();
    assert!(error.contains("climbs out"), "{error}");
    let sparse = "22 GNU.sparse.major=1\n";
    let pax = [(EntryType::XHeader, &b"pax"[..], sparse.as_bytes()), (FILE, b"short", b"abc")];
    let error = look_at(&tar_of(&pax)).unwrap_err().to_string();
    assert!(error.contains("is sparse"), "{error}");
}

/// What corpus packs is what corpus reads.
#[test]
fn a_made_archive_and_a_made_tree_hold_the_same() {
    let tree = crate::small(300, 700, 7).tree();
    let dir = TempDir::new().unwrap();
    let root = File::open(dir.path()).unwrap();
    tree.write(rustix::fd::AsFd::as_fd(&root), 2, &|| false).unwrap();
    assert_eq!(contents(dir.path()), tree.contents());
    let mut archive = Vec::new();
    tree.archive(Compression::Bzip2, &mut archive, &|| false).unwrap();
    let Own::Archive(_, found) = look_at(&archive).unwrap() else { panic!("no tree") };
    let expected = Contents { archive_bytes: Some(archive.len() as u64), ..tree.contents() };
    assert_eq!(found, expected);
}
