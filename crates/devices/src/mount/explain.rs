//! Why the kernel refused to mount, in its own words and without the kernel log.
//!
//! mount(8) knows only an errno. The calls of the newer mount interface (fsopen(2)) tell which
//! option is wrong: they are made again here, on a superblock that is never attached anywhere.
//! Single options are asked for before any file system is made, without a device.

use rustix::io::Errno;
use rustix::mount::{FsOpenFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsopen};
use std::os::fd::OwnedFd;

/// Options of the mount or of mount(8), not of the file system: fsconfig(2) does not know them.
const MOUNT_ATTRIBUTES: [&str; 21] = [
    "noatime",
    "atime",
    "relatime",
    "norelatime",
    "strictatime",
    "nostrictatime",
    "nodiratime",
    "diratime",
    "nodev",
    "dev",
    "nosuid",
    "suid",
    "noexec",
    "exec",
    "defaults",
    "nosymfollow",
    "auto",
    "noauto",
    "nofail",
    "_netdev",
    "silent",
];

/// What the kernel says about the options; else what mount(8) said.
pub(super) fn refusal(fstype: &str, source: &str, options: &[String], said: &str) -> String {
    let kernel = ask(fstype, source, options).unwrap_or_default();
    if kernel.is_empty() { without_hint(said) } else { kernel }
}

/// The first of these options that this kernel refuses for the file system, in its words. `None`
/// also where it cannot be asked: without root, or before the kernel has the file system. Opens no
/// device; the kernel may load the module of the file system, as it would for a mount.
#[must_use]
pub fn refused_option(fstype: &str, options: &[String]) -> Option<String> {
    let fs = fsopen(fstype, FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    refused(&fs, options)
}

fn ask(fstype: &str, source: &str, options: &[String]) -> Option<String> {
    let fs = match fsopen(fstype, FsOpenFlags::FSOPEN_CLOEXEC) {
        Ok(fs) => fs,
        Err(Errno::NODEV) => {
            return Some(format!("this kernel does not know the file system {fstype}"));
        }
        Err(_) => return None,
    };
    let _ = fsconfig_set_string(&fs, "source", source);
    if let Some(refused) = refused(&fs, options) {
        return Some(refused);
    }
    let error = fsconfig_create(&fs).err()?;
    let text = log(&fs).unwrap_or_else(|| std::io::Error::from(error).to_string());
    // The file system must not be there twice at one time.
    drop(fs);
    Some(match without_options(fstype, source) {
        Some(errno) => of_any_options(fstype, errno, &text),
        None => format!("these options are refused together: {text}"),
    })
}

/// Why it cannot be mounted without any option either.
fn without_options(fstype: &str, source: &str) -> Option<Errno> {
    let fs = fsopen(fstype, FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    fsconfig_set_string(&fs, "source", source).ok()?;
    fsconfig_create(&fs).err()
}

/// What is said where the options are not to blame.
fn of_any_options(fstype: &str, errno: Errno, text: &str) -> String {
    let what = match errno {
        Errno::IO => "the device fails".to_owned(),
        Errno::BUSY => "the device is in use".to_owned(),
        Errno::INVAL | Errno::UCLEAN => {
            format!("there is no {fstype} on the device that can be mounted")
        }
        _ => "it is refused with any options".to_owned(),
    };
    format!("{what}: {text}")
}

/// The first option that is refused on its own, with what the kernel says.
fn refused(fs: &OwnedFd, options: &[String]) -> Option<String> {
    for option in options {
        if MOUNT_ATTRIBUTES.contains(&option.as_str()) || option.starts_with("x-") {
            continue;
        }
        let result = match option.split_once('=') {
            Some((key, value)) => fsconfig_set_string(fs, key, value),
            None => fsconfig_set_flag(fs, option),
        };
        if let Err(error) = result {
            let text = log(fs).unwrap_or_else(|| std::io::Error::from(error).to_string());
            return Some(format!("option {option} is refused: {text}"));
        }
    }
    None
}

/// The messages of the context, without their level (`e `, `w `, `i `).
fn log(fs: &OwnedFd) -> Option<String> {
    let mut lines = Vec::new();
    let mut buffer = [0_u8; 1024];
    // Each read gives one message, and ENODATA after the last.
    while let Ok(length) = rustix::io::read(fs, &mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..length]).trim().to_owned();
        lines.push(text.get(2..).unwrap_or_default().to_owned());
        if length == 0 || lines.len() == 16 {
            break;
        }
    }
    lines.retain(|line| !line.is_empty());
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Without the pointer to the kernel log, which holds other people's messages too.
fn without_hint(said: &str) -> String {
    let parts = said.split(" | ").filter(|part| !part.contains("dmesg"));
    parts.collect::<Vec<_>>().join("; ")
}
