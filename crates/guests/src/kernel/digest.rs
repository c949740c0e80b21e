//! Hashes of sources: SHA-256 of contents, remembered by what stat says, so that a second question
//! is answered at once.

use super::source::text_of;
use fsarena_process::held::HeldDir;
use fsarena_process::private;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Directories of a tree that are no source.
const NOT_SOURCE: &[&str] = &[".git"];
/// Ends of files that a build makes.
const BUILT: &[&str] = &[".o", ".a", ".ko", ".cmd", ".mod", ".d"];
/// Files that a build makes in the root of a tree.
const BUILT_IN_ROOT: &[&str] = &["vmlinux", "linux", ".config", ".config.old", "System.map"];

/// Hexadecimal SHA-256 of these parts; lengths are hashed too, so that no two lists are alike.
pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// Hexadecimal SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    feed(&mut hash, path)?;
    Ok(hex(&hash.finalize()))
}

/// Bytes of all files of a source, at most: ten times those of Linux.
const SOURCE_MOST_BYTES: u64 = 16 << 30;

/// The files of a tree that are its source, by their paths in it, in order.
///
/// # Errors
/// When a directory cannot be read, and where something is in the tree that no source has: it might
/// have no end.
pub fn files_of(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut dirs) = (Vec::new(), vec![PathBuf::new()]);
    let mut size_bytes = 0_u64;
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(tree.join(&dir))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let in_root = dir.as_os_str().is_empty();
            let path = dir.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if !(in_root && NOT_SOURCE.contains(&name.as_str())) {
                    dirs.push(path);
                }
            } else if !is_built(&name, in_root) {
                let about = entry.metadata()?;
                let what = path.display();
                if !about.is_file() && !about.is_symlink() {
                    let text = format!("{what} in it is no file, directory or link");
                    return Err(io::Error::other(text));
                }
                size_bytes = size_bytes.saturating_add(about.len());
                if size_bytes > SOURCE_MOST_BYTES {
                    let text = format!("with {what} it has more than 16 GiB");
                    return Err(io::Error::other(text));
                }
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether a build makes a file of this name.
fn is_built(name: &str, in_root: bool) -> bool {
    BUILT.iter().any(|end| name.ends_with(end)) || in_root && BUILT_IN_ROOT.contains(&name)
}

/// Hash of a file, or of all files of a tree with their paths. `memory` is a file that holds
/// earlier answers.
///
/// # Errors
/// When something cannot be read.
pub fn of_source(path: &Path, memory: &Path) -> io::Result<String> {
    let files = if path.is_dir() { files_of(path)? } else { vec![PathBuf::new()] };
    let seen = seen(path, &files)?;
    let known = remembered(memory);
    let key = path.to_string_lossy().into_owned();
    if let Some((_, hash)) = known.get(&key).filter(|(then, _)| *then == seen) {
        return Ok(hash.clone());
    }
    let hash = if path.is_dir() { of_tree(path, &files)? } else { of_file(path)? };
    remember(memory, known, key, (seen, hash.clone()));
    Ok(hash)
}

/// What stat says of every file.
fn seen(path: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let meta = fs::symlink_metadata(joined(path, file))?;
        hash.update(file.as_os_str().as_encoded_bytes());
        for word in [meta.len(), meta.ino(), meta.mtime().cast_unsigned()] {
            hash.update(word.to_le_bytes());
        }
        hash.update(meta.mtime_nsec().to_le_bytes());
        hash.update(meta.mode().to_le_bytes());
    }
    Ok(hex(&hash.finalize()))
}

/// `path` itself where there is nothing to add: no slash behind the name of a file.
fn joined(path: &Path, file: &Path) -> PathBuf {
    if file.as_os_str().is_empty() { path.to_owned() } else { path.join(file) }
}

fn of_tree(tree: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        let path = tree.join(file);
        let meta = fs::symlink_metadata(&path)?;
        hash.update(file.as_os_str().as_encoded_bytes());
        hash.update([0, u8::from(meta.mode() & 0o100 != 0)]);
        hash.update(meta.len().to_le_bytes());
        if meta.is_symlink() {
            hash.update(fs::read_link(&path)?.as_os_str().as_encoded_bytes());
        } else if meta.is_file() {
            feed(&mut hash, &path)?;
        }
    }
    Ok(hex(&hash.finalize()))
}

fn feed(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            got => hash.update(&buffer[..got]),
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// By path: what stat said, and the hash.
type Memory = BTreeMap<String, (String, String)>;

fn remembered(memory: &Path) -> Memory {
    let text = text_of(memory).unwrap_or_default();
    // What is not readable any more is computed again.
    serde_json::from_str(&text).unwrap_or_default()
}

fn remember(memory: &Path, mut known: Memory, key: String, value: (String, String)) {
    known.insert(key, value);
    let write = || -> io::Result<()> {
        let dir = memory.parent().unwrap_or(Path::new("."));
        private::create_dirs(dir)?;
        let dir = HeldDir::open(dir)?;
        let mut file = dir.unnamed_file(0o600)?;
        file.write_all(&serde_json::to_vec(&known)?)?;
        dir.name_file(&file, memory.file_name().unwrap_or_default())
    };
    // It only saves time.
    let _ = write();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_changes_the_hash_and_an_unchanged_one_is_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, memory) = (dir.path().join("tree"), dir.path().join("cache/hashes.json"));
        fs::create_dir_all(tree.join(".git")).unwrap();
        fs::write(tree.join("Makefile"), "VERSION = 6\n").unwrap();
        let first = of_source(&tree, &memory).unwrap();
        assert_eq!(of_source(&tree, &memory).unwrap(), first);
        assert!(fs::read_to_string(&memory).unwrap().contains(&first));
        fs::write(tree.join(".git/HEAD"), "x").unwrap();
        fs::write(tree.join("main.o"), "x").unwrap();
        fs::write(tree.join("vmlinux"), "x").unwrap();
        assert_eq!(of_source(&tree, &memory).unwrap(), first, "no source");
        fs::write(tree.join("Makefile"), "VERSION = 7\n").unwrap();
        assert_ne!(of_source(&tree, &memory).unwrap(), first);
    }

    #[test]
    fn what_might_have_no_end_is_no_source() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("sub")).unwrap();
        std::os::unix::fs::symlink("..", tree.join("sub/up")).unwrap();
        assert_eq!(files_of(&tree).unwrap().len(), 1, "a link is a file");
        let large = File::create(tree.join("sub/large")).unwrap();
        large.set_len(SOURCE_MOST_BYTES + 1).unwrap();
        let error = files_of(&tree).unwrap_err().to_string();
        assert_eq!(error, "with sub/large it has more than 16 GiB");
        fs::remove_file(tree.join("sub/large")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(tree.join("sub/socket")).unwrap();
        let error = files_of(&tree).unwrap_err().to_string();
        assert_eq!(error, "sub/socket in it is no file, directory or link");
        drop(socket);
    }

    #[test]
    fn two_trees_of_the_same_contents_have_one_hash() {
        let dir = tempfile::tempdir().unwrap();
        let hashes: Vec<String> = ["a", "b"]
            .iter()
            .map(|name| {
                let tree = dir.path().join(name);
                fs::create_dir_all(tree.join("sub")).unwrap();
                fs::write(tree.join("sub/file.c"), "int x;\n").unwrap();
                of_source(&tree, &dir.path().join("m")).unwrap()
            })
            .collect();
        assert_eq!(hashes[0], hashes[1]);
        let file = dir.path().join("a/sub/file.c");
        let known = of_source(&file, &dir.path().join("m")).unwrap();
        assert_eq!(known, of_file(&file).unwrap());
    }

    #[test]
    fn parts_are_apart() {
        assert_ne!(of_parts([&b"ab"[..], b"c"]), of_parts([&b"a"[..], b"bc"]));
        assert_eq!(of_parts([&b"x"[..]]).len(), 64);
    }
}
