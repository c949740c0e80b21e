//! What is on a device, by wipefs(8), by blkid(8), and by our own look: the union of the three.

use super::listing::{BlockDevice, Inventory};
use super::{magic, mounts};
use crate::Refusal;
use fsarena_process::cmd::{self, CmdError, SearchPath};
use fsarena_process::program::TrustedProgram;
use rustix::fs::{Mode, OFlags, open};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// Limit of each program.
const LIMIT: Duration = Duration::from_secs(30);
/// blkid(8): nothing was found, or the device could not be opened, which it says.
const NOTHING_FOUND: i32 = 2;
/// blkid(8): several types that exclude each other.
const AMBIVALENT: i32 = 8;

#[derive(Deserialize)]
struct Wipefs {
    signatures: Vec<WipefsEntry>,
}

#[derive(Deserialize)]
struct WipefsEntry {
    #[serde(rename = "type")]
    name: String,
}

/// The names of all signatures, as libblkid has them. The protective MBR of a GPT is part of it
/// and has no name of its own.
///
/// # Errors
/// When a program is missing, fails, does not end, or says what is not understood, and where blkid
/// sees several file systems that exclude each other.
pub(super) fn signatures(
    device: &File,
    path: &Path,
    size_bytes: u64,
    programs: &SearchPath,
) -> Result<BTreeSet<String>, Refusal> {
    let mut names = magic::find_signatures(device, size_bytes).map_err(|error| {
        let remedy = "check the device and the kernel's log";
        Refusal::new(path, format!("its first or last MiB cannot be read: {error}"), remedy)
    })?;
    names.extend(wipefs(path, programs)?);
    names.extend(blkid(path, programs)?);
    if names.contains("gpt") {
        names.remove("PMBR");
    }
    Ok(names)
}

/// The same of a device and of all its partitions: who gives up a disk gives them up with it.
///
/// # Errors
/// As [`signatures`], and where a partition cannot be opened.
pub(crate) fn with_parts(
    held: &File,
    device: &BlockDevice,
    path: &Path,
    inventory: &Inventory,
    programs: &SearchPath,
) -> Result<BTreeSet<String>, Refusal> {
    let mut names = signatures(held, path, device.size_bytes, programs)?;
    for part in device.partitions.iter().filter_map(|name| inventory.get(name)) {
        let file = open_to_look(part)?;
        names.extend(signatures(&file, &part.path, part.size_bytes, programs)?);
    }
    Ok(names)
}

/// Opens a device for reading, without holding it.
///
/// # Errors
/// When its node is not there or not this device, or cannot be opened.
pub(super) fn open_to_look(device: &BlockDevice) -> Result<File, Refusal> {
    let refuse = |reason: String| Refusal::new(&device.path, reason, "run as root");
    if mounts::block_number(&device.path) != Some(device.number) {
        return Err(refuse("its node is not there".to_owned()));
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(&device.path, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| refuse(format!("cannot be opened: {}", std::io::Error::from(error))))
}

fn program(name: &str, path: &Path, programs: &SearchPath) -> Result<TrustedProgram, Refusal> {
    programs.find(name).ok_or_else(|| {
        let reason = format!("what is on it is not known: there is no {name}");
        Refusal::new(path, reason, "install the package util-linux")
    })
}

fn wipefs(path: &Path, programs: &SearchPath) -> Result<Vec<String>, Refusal> {
    let tool = program("wipefs", path, programs)?;
    let words = ["--no-act", "--json", "--output", "OFFSET,TYPE", "--"].map(OsStr::new);
    let args = [words.as_slice(), &[path.as_os_str()]].concat();
    let ran = cmd::run(&tool, &args, LIMIT).map_err(|error| unknown(path, &error))?;
    wipefs_names(&ran.stdout).map_err(|problem| unknown(path, &format!("wipefs: {problem}")))
}

/// The types in the output of `wipefs --json`.
pub fn wipefs_names(text: &str) -> Result<Vec<String>, serde_json::Error> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read: Wipefs = serde_json::from_str(text)?;
    Ok(read.signatures.into_iter().map(|entry| entry.name).collect())
}

fn blkid(path: &Path, programs: &SearchPath) -> Result<Vec<String>, Refusal> {
    let tool = program("blkid", path, programs)?;
    let words = ["--probe", "--output", "export", "--"].map(OsStr::new);
    let args = [words.as_slice(), &[path.as_os_str()]].concat();
    match cmd::run(&tool, &args, LIMIT) {
        Ok(ran) => Ok(blkid_names(&ran.stdout)),
        // With a reason it could not look; without one there was nothing to see.
        Err(CmdError::Failed { code: Some(NOTHING_FOUND), last_lines, .. })
            if last_lines.is_empty() =>
        {
            Ok(Vec::new())
        }
        Err(CmdError::Failed { code: Some(AMBIVALENT), .. }) => Err(Refusal::new(
            path,
            "has several file systems or members that exclude each other (blkid: ambivalent \
             result), so what is on it is not known",
            format!(
                "look at it with: wipefs {}, and remove what is not needed with wipefs yourself",
                cmd::quoted(&path.to_string_lossy())
            ),
        )),
        Err(error) => Err(unknown(path, &error)),
    }
}

/// The types in the output of `blkid -o export`.
pub fn blkid_names(text: &str) -> Vec<String> {
    let value = |line: &str| {
        let pair = line.split_once('=').filter(|pair| matches!(pair.0, "TYPE" | "PTTYPE"));
        pair.map(|pair| pair.1.to_owned())
    };
    text.lines().filter_map(value).filter(|name| !name.is_empty()).collect()
}

fn unknown(path: &Path, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(
        path,
        format!("what is on it is not known: {error}"),
        "run the command by hand to see all it says",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_both_programs_is_read() {
        assert_eq!(wipefs_names("").unwrap(), Vec::<String>::new());
        assert_eq!(wipefs_names("{\"signatures\": [\n\n]}").unwrap(), Vec::<String>::new());
        let text = r#"{"signatures": [{"offset":"0x438", "type":"ext4"},{"type":"dos"}]}"#;
        assert_eq!(wipefs_names(text).unwrap(), ["ext4", "dos"]);
        assert!(wipefs_names("{}").is_err());
        assert!(wipefs_names("oops").is_err());
        let text = "DEVNAME=/dev/sdb\nLABEL=TYPE\nTYPE=ext4\nPTTYPE=dos\nSEC_TYPE=msdos\n";
        assert_eq!(blkid_names(text), ["ext4", "dos"]);
    }

    /// Programs that do as told instead of the real ones.
    fn with(wipefs: &str, blkid: &str) -> Result<Vec<String>, String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, script) in [("wipefs", wipefs), ("blkid", blkid)] {
            if !script.is_empty() {
                fsarena_testkit::write_script(&dir.path().join(name), script);
            }
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(16 << 20).unwrap();
        let programs = SearchPath::new(vec![dir.path().to_owned()]);
        signatures(file.as_file(), file.path(), 16 << 20, &programs)
            .map(|names| names.into_iter().collect())
            .map_err(|refusal| refusal.to_string())
    }

    const NONE: &str = "exit 0";
    const NOTHING: &str = "exit 2";

    #[test]
    fn what_either_program_finds_counts() {
        assert_eq!(with(NONE, NOTHING).unwrap(), Vec::<String>::new());
        let ext4 = r#"echo '{"signatures": [{"type":"ext4"}]}'"#;
        assert_eq!(with(ext4, NOTHING).unwrap(), ["ext4"]);
        assert_eq!(with(NONE, "echo TYPE=xfs").unwrap(), ["xfs"]);
        let gpt = r#"echo '{"signatures": [{"type":"gpt"},{"type":"PMBR"}]}'"#;
        assert_eq!(with(gpt, "echo PTTYPE=gpt").unwrap(), ["gpt"]);
        let pmbr = r#"echo '{"signatures": [{"type":"PMBR"}]}'"#;
        assert_eq!(with(pmbr, NOTHING).unwrap(), ["PMBR"]);
    }

    #[test]
    fn whatever_goes_wrong_is_a_refusal() {
        for (wipefs, blkid, expected) in [
            ("", NOTHING, "install the package util-linux"),
            (NONE, "", "install the package util-linux"),
            ("exit 1", NOTHING, "wipefs"),
            ("echo nonsense", NOTHING, "wipefs"),
            (NONE, "exit 8", "ambivalent"),
            (NONE, "exit 4", "blkid"),
            (NONE, "echo error: cannot open >&2; exit 2", "cannot open"),
            (NONE, "kill -9 $$", "blkid"),
        ] {
            let error = with(wipefs, blkid).unwrap_err();
            assert!(error.contains(expected), "{wipefs:?}, {blkid:?}: {error}");
        }
    }
}
