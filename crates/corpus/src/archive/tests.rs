//! Archives, read again by the crate and by the real programs.

use super::*;
use crate::{Description, builtin};
use std::collections::BTreeMap;
use std::io::Read;
use std::process::Command;

fn pack(tree: &Tree, compression: Compression) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = tree.archive(compression, &mut out, &|| false).unwrap();
    assert_eq!(bytes, out.len() as u64);
    out
}

/// A dataset with a path longer than a header holds.
fn long_paths() -> Tree {
    let mut text = "schema = 1\nname = \"deep\"\ntitle = \"Deep\"\nseed = 3\n".to_owned();
    for level in 0..6 {
        text += &format!(
            "[[dirs]]\nname = \"l{level}\"\ncount = 2\nnames = \"{}{{n}}\"\n",
            "x".repeat(30)
        );
        if level > 0 {
            text += &format!("in = \"l{}\"\n", level - 1);
        }
    }
    text += "[[class]]\nname = \"f\"\nin = \"l5\"\ncount = 30\nnames = \"{word}{n}\"\n\
        size_bytes = { kind = \"uniform\", min = 0, max = 2000 }\ncontents = \"text\"\n";
    Description::parse(&text, "deep.toml").unwrap().tree()
}

#[test]
fn members_are_the_entries() {
    for tree in [long_paths(), builtin("ports-2004").unwrap().scaled(0.001).tree()] {
        let archive = pack(&tree, Compression::None);
        assert_eq!(archive.len() as u64 % RECORD_BYTES, 0);
        let mut expected = tree.entries().enumerate();
        let mut archive = tar::Archive::new(&archive[..]);
        let mut members = archive.entries().unwrap();
        let root = members.next().unwrap().unwrap();
        assert_eq!(&*root.path_bytes(), b"./");
        for member in members {
            let mut member = member.unwrap();
            let (at, entry) = expected.next().unwrap();
            let slash = if entry.kind == EntryKind::Dir { "/" } else { "" };
            let name = format!("./{}{slash}", entry.path);
            assert_eq!(String::from_utf8_lossy(&member.path_bytes()), name);
            let header = member.header();
            assert_eq!(header.mode().unwrap(), entry.mode);
            assert_eq!(header.mtime().unwrap(), entry.mtime_unix_s as u64);
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            let mut made = vec![0; bytes.len()];
            tree.fill(at, 0, &mut made);
            assert!(made == bytes, "{}", entry.path);
        }
        assert_eq!(expected.next(), None);
    }
}

/// The real tar unpacks every compression to the same tree.
#[test]
fn the_real_tar_reads_them() {
    let tree = long_paths();
    for compression in Compression::ALL {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("archive");
        std::fs::write(&archive, pack(&tree, compression)).unwrap();
        let out = dir.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let mut command = Command::new("tar");
        command.args(["-x", "-f"]).arg(&archive).arg("-C").arg(&out);
        if let Some(program) = compression.program() {
            if Command::new(program).arg("--version").output().is_err() {
                println!("not run: there is no {program} here");
                continue;
            }
            command.arg(format!("--use-compress-program={program}"));
        }
        let Ok(output) = command.output() else {
            println!("not run: there is no tar here");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{compression:?}: {said}");
        for (at, entry) in tree.entries().enumerate() {
            let path = out.join(entry.path);
            let EntryKind::File { size_bytes } = entry.kind else {
                assert!(path.is_dir());
                continue;
            };
            let mut made = vec![0; size_bytes as usize];
            tree.fill(at, 0, &mut made);
            assert!(std::fs::read(&path).unwrap() == made, "{}", entry.path);
        }
    }
}

#[test]
fn the_same_bytes_come_out_each_time() {
    let tree = builtin("portage-2008").unwrap().scaled(0.003).tree();
    let sizes: BTreeMap<_, _> = Compression::ALL
        .map(|compression| {
            let archive = pack(&tree, compression);
            assert!(archive == pack(&tree, compression), "{compression:?}");
            (compression.name(), archive.len())
        })
        .into();
    assert!(sizes["xz"] < sizes["gzip"] && sizes["gzip"] < sizes["none"] / 3, "{sizes:?}");
}

#[test]
fn a_full_disk_and_a_stop_are_errors() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::Error::from_raw_os_error(28)) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let tree = long_paths();
    for compression in Compression::ALL {
        let error = tree.archive(compression, &mut Full(50), &|| false).unwrap_err();
        assert!(error.to_string().contains("os error 28"), "{compression:?} {error}");
        let stopped = tree.archive(compression, &mut Vec::new(), &|| true).unwrap_err();
        assert!(matches!(stopped, CorpusError::Stopped), "{stopped}");
    }
}
