//! Every name in a file system: kind, inode, contents, attribute.

use super::check::{DEPTH_MOST, LOST_AND_FOUND};
use fsarena_bounded::Bounded;
use fsarena_crash::observation::Observation;
use fsarena_crash::sequence::op::ATTRIBUTE;
use fsarena_crash::sequence::tree::{NodeKind, TreeEntry, runs_of};
use rustix::fs::fgetxattr;
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Of a file that is read; programs of sequences make none as large.
const BYTES_MOST: u64 = 8 << 20;
/// Unit of `st_blocks`.
const BLOCK: u64 = 512;

/// All names below a directory, those of a directory before what is in it.
pub(super) fn read(root: &Path, seen: &mut Observation) -> Vec<TreeEntry> {
    let mut entries = Vec::new();
    read_below(root, "", 0, seen, &mut entries);
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    entries
}

fn read_below(
    root: &Path,
    within: &str,
    depth: u32,
    seen: &mut Observation,
    entries: &mut Vec<TreeEntry>,
) {
    let failed = |error: &io::Error| Some(error.raw_os_error().unwrap_or(0));
    let names = match fs::read_dir(root.join(within)) {
        Ok(names) => names,
        Err(error) => {
            let of = entries.iter_mut().find(|entry| entry.path == within);
            return of.into_iter().for_each(|entry| entry.errno = failed(&error));
        }
    };
    for name in names.flatten() {
        let last = name.file_name().to_string_lossy().into_owned();
        let path = if within.is_empty() { last } else { format!("{within}/{last}") };
        if path == LOST_AND_FOUND {
            let found = fs::read_dir(name.path()).map_or(0, Iterator::count);
            seen.lost_and_found = u32::try_from(found).unwrap_or(u32::MAX);
            continue;
        }
        let entry = read_entry(&root.join(&path), path);
        let is_directory = entry.kind == NodeKind::Directory;
        let path = entry.path.clone();
        entries.push(entry);
        if is_directory && depth < DEPTH_MOST {
            read_below(root, &path, depth + 1, seen, entries);
        }
    }
}

fn read_entry(place: &Path, path: String) -> TreeEntry {
    let mut entry = TreeEntry {
        path,
        kind: NodeKind::Other,
        inode: 0,
        links: 0,
        size_bytes: 0,
        allocated_bytes: 0,
        contents: Vec::new(),
        attribute: None,
        target: None,
        errno: None,
    };
    let about = match fs::symlink_metadata(place) {
        Ok(about) => about,
        Err(error) => {
            entry.errno = Some(error.raw_os_error().unwrap_or(0));
            return entry;
        }
    };
    entry.inode = about.ino();
    entry.links = about.nlink();
    entry.size_bytes = about.len();
    entry.allocated_bytes = about.blocks() * BLOCK;
    if about.is_dir() {
        entry.kind = NodeKind::Directory;
    } else if about.is_symlink() {
        entry.kind = NodeKind::Symlink;
        match fs::read_link(place) {
            Ok(target) => entry.target = Some(target.to_string_lossy().into_owned()),
            Err(error) => entry.errno = Some(error.raw_os_error().unwrap_or(0)),
        }
    } else if about.is_file() {
        entry.kind = NodeKind::File;
        if let Err(error) = read_file(place, &mut entry) {
            entry.errno = Some(error.raw_os_error().unwrap_or(0));
        }
    }
    entry
}

fn read_file(place: &Path, entry: &mut TreeEntry) -> io::Result<()> {
    let file = File::open(place)?;
    let data = Bounded::new(&file, BYTES_MOST).beginning()?;
    entry.contents = runs_of(&data);
    let mut text = [0; 64];
    entry.attribute = match fgetxattr(&file, ATTRIBUTE, &mut text) {
        Ok(bytes) => Some(String::from_utf8_lossy(&text[..bytes]).into_owned()),
        // Some file systems have none at all.
        Err(Errno::NODATA | Errno::OPNOTSUPP) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::sequence::tree::ByteRun;

    #[test]
    fn names_are_found_with_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("A")).unwrap();
        fs::write(dir.path().join("A/foo"), [[7; 512], [0; 512]].concat()).unwrap();
        fs::hard_link(dir.path().join("A/foo"), dir.path().join("bar")).unwrap();
        std::os::unix::fs::symlink("A/foo", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join(LOST_AND_FOUND)).unwrap();
        let entries = read(dir.path(), &mut Observation::default());
        let of = |path: &str| entries.iter().find(|entry| entry.path == path).unwrap();
        assert_eq!(entries.len(), 4);
        assert_eq!(of("A").kind, NodeKind::Directory);
        assert_eq!(of("A/foo").contents, [ByteRun(512, 7), ByteRun(512, 0)]);
        assert_eq!((of("bar").links, of("bar").inode), (2, of("A/foo").inode));
        assert_eq!(of("link").target.as_deref(), Some("A/foo"));
        assert!(entries.iter().all(|entry| entry.errno.is_none()));
    }
}
