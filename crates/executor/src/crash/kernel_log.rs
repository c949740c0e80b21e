//! Lines of the kernel, from a moment on (`/dev/kmsg`).

use rustix::fs::{CWD, Mode, OFlags, SeekFrom, openat, seek};
use std::fs::File;
use std::io::{self, Read as _};

/// Words of lines of the kernel that tell of damage.
const DAMAGE: [&str; 6] = ["error", "corrupt", "WARNING", "BUG", "inconsisten", "shutdown"];
/// An option of a mount with such a word in it, which kernels repeat in lines that tell of none.
const ERRORS_OPTION: &str = "errors=";
const MESSAGES_MOST: usize = 20;

/// See the module.
pub(super) struct KernelLog {
    /// `None`: it cannot be read.
    file: Option<File>,
    /// Lines that do not name it are of others; `None`: all are wanted, as in a guest.
    device: Option<String>,
}

impl KernelLog {
    /// Lines from now on. `device`: its name in the kernel, where others use this kernel too.
    pub(super) fn from_now(device: Option<&str>) -> Self {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(CWD, "/dev/kmsg", flags, Mode::empty());
        let at_end = opened.and_then(|file| seek(&file, SeekFrom::End(0)).map(|_| file));
        Self { file: at_end.ok().map(File::from), device: device.map(str::to_owned) }
    }

    /// All lines since.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(file) = &self.file else { return Vec::new() };
        let mut file = file;
        let mut lines = lines_of(|record| file.read(record));
        if let Some(device) = &self.device {
            lines.retain(|line| names(line, device));
        }
        lines
    }

    /// Lines since that tell of damage.
    pub(super) fn messages(&self) -> Vec<String> {
        Self::damage_in(&self.lines())
    }

    /// Those of them that tell of damage.
    pub(super) fn damage_in(lines: &[String]) -> Vec<String> {
        lines.iter().filter(|line| tells_of_damage(line)).take(MESSAGES_MOST).cloned().collect()
    }
}

/// Whether a word of the line is this name: `loop1` is not in `loop12`.
fn names(line: &str, device: &str) -> bool {
    line.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| word == device)
}

/// The texts of records of `/dev/kmsg`. `read` gives one at a time; at the end it would block.
/// Where records were overwritten before they were read, it fails with EPIPE once and goes on with
/// the oldest that is there.
pub(super) fn lines_of(mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> Vec<String> {
    let mut record = vec![0; 8192];
    let mut lines = Vec::new();
    loop {
        match read(&mut record) {
            Ok(0) => return lines,
            Ok(bytes) => lines.extend(line(&String::from_utf8_lossy(&record[..bytes]))),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(_) => return lines,
        }
    }
}

/// The text of a record (`LEVEL,NUMBER,TIME_US,…;TEXT`).
fn line(record: &str) -> Option<String> {
    let (_, text) = record.split_once(';')?;
    Some(text.lines().next().unwrap_or_default().to_owned())
}

fn tells_of_damage(line: &str) -> bool {
    let line = line.replace(ERRORS_OPTION, "");
    DAMAGE.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_damage_are_found() {
        let record = "3,120,5000,-;EXT4-fs error (device vdisk0): bad block\n SUBSYSTEM=x\n";
        let text = "EXT4-fs error (device vdisk0): bad block";
        assert_eq!(line(record).as_deref(), Some(text));
        assert_eq!(line("no record"), None);
        assert!(tells_of_damage(text));
        assert!(!tells_of_damage("XFS (vdisk0): Ending clean mount"));
        let option = "EXT4-fs (vdisk0): mounted filesystem r/w. Opts: errors=remount-ro";
        assert!(!tells_of_damage(option));
        assert!(tells_of_damage(&format!("{option}; journal error")));
    }

    #[test]
    fn lines_of_other_devices_are_left_out() {
        assert!(names("XFS (loop1): Ending recovery", "loop1"));
        assert!(!names("XFS (loop12): Ending recovery", "loop1"));
        assert!(!names("usb 1-1: error", "loop1"));
    }

    #[test]
    fn records_that_were_overwritten_do_not_end_the_log() {
        let mut answers = vec![
            Ok("6,1,10,-;one"),
            Err(io::ErrorKind::BrokenPipe),
            Ok("6,9,20,-;two"),
            Err(io::ErrorKind::WouldBlock),
            Ok("6,10,30,-;after the end"),
        ]
        .into_iter();
        let read = |to: &mut [u8]| {
            let text = answers.next().unwrap().map_err(io::Error::from)?.as_bytes();
            to[..text.len()].copy_from_slice(text);
            Ok(text.len())
        };
        assert_eq!(lines_of(read), ["one", "two"]);
    }
}
