//! Programs as the kernel starts them: fanotify(7) says which file each execve(2) opens
//! (`FAN_OPEN_EXEC`, Linux 5.0), by mounts. In mounts of its own a process hears of what it and its
//! descendants start, and of nobody else.
//!
//! Nothing is asked before a program starts, and no program waits: events are read afterwards.

use rustix::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::mem;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

/// Room for events of one read.
const BUFFER_BYTES: usize = 4096;
/// What begins an ELF file, and the byte behind it: its class (elf(5), `EI_CLASS`).
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
const CLASS_32: u8 = 1;
const CLASS_64: u8 = 2;

/// Listens to the mounts that this process sees now.
#[derive(Debug)]
pub struct ExecEvents {
    group: OwnedFd,
    /// This program's own file: workers are it.
    own: Option<(u64, u64)>,
}

/// A file that was opened to be executed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StartedProgram {
    pub path: PathBuf,
    /// 32 or 64; absent where it is no ELF file: what interprets a script is started next.
    pub elf_bits: Option<u32>,
}

/// What was started while it was listened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartedPrograms {
    /// Each file once.
    pub files: BTreeSet<StartedProgram>,
    /// Number of files that were opened so: of a program also its loader.
    pub opened: u64,
    /// Processes that are this program itself: their loader is none of what was started.
    own: BTreeSet<i32>,
}

impl ExecEvents {
    /// Listens from now on, on every mount that can be reached by its path.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN` (`EPERM`), or where the kernel has no fanotify (`ENOSYS`) or no such
    /// event (`EINVAL`).
    pub fn listen() -> io::Result<Self> {
        let flags = libc::FAN_CLASS_NOTIF
            | libc::FAN_CLOEXEC
            | libc::FAN_NONBLOCK
            | libc::FAN_UNLIMITED_QUEUE
            | libc::FAN_UNLIMITED_MARKS;
        let file_flags = (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE).cast_unsigned();
        // SAFETY: takes numbers only.
        let group = unsafe { libc::fanotify_init(flags, file_flags) };
        if group < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has just given this descriptor, which is in no other hands.
        let group = unsafe { OwnedFd::from_raw_fd(group) };
        let own = fs::metadata("/proc/self/exe").ok().map(|own| (own.dev(), own.ino()));
        let events = Self { group, own };
        for mount in mount_points(&fs::read_to_string("/proc/self/mountinfo")?) {
            events.mark(mount)?;
        }
        Ok(events)
    }

    fn mark(&self, mount: PathBuf) -> io::Result<()> {
        let path = CString::new(mount.into_os_string().into_vec())?;
        // SAFETY: the path is a C string that outlives the call, which keeps no pointer.
        let marked = unsafe {
            libc::fanotify_mark(
                self.group.as_raw_fd(),
                libc::FAN_MARK_ADD | libc::FAN_MARK_MOUNT,
                libc::FAN_OPEN_EXEC,
                libc::AT_FDCWD,
                path.as_ptr(),
            )
        };
        match marked {
            0 => Ok(()),
            _ => match io::Error::last_os_error() {
                // Under another mount: nothing is started from there either.
                error if error.kind() == io::ErrorKind::NotFound => Ok(()),
                error => Err(error),
            },
        }
    }

    /// What was started since, without this program itself.
    ///
    /// # Errors
    /// When the events cannot be read, or some were lost.
    pub fn end(self) -> io::Result<StartedPrograms> {
        let mut started = StartedPrograms::default();
        let mut buffer = [0_u8; BUFFER_BYTES];
        loop {
            let read = match rustix::io::read(self.group.as_fd(), &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(started),
                Ok(read) => read,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            self.take(&buffer[..read], &mut started)?;
        }
    }

    fn take(&self, mut events: &[u8], started: &mut StartedPrograms) -> io::Result<()> {
        const LENGTH: usize = mem::size_of::<libc::fanotify_event_metadata>();
        while events.len() >= LENGTH {
            // SAFETY: there are as many bytes as the structure has, and any bytes are one.
            let event =
                unsafe { events.as_ptr().cast::<libc::fanotify_event_metadata>().read_unaligned() };
            if event.fd < 0 {
                return Err(io::Error::other("the kernel has lost events of started programs"));
            }
            // SAFETY: the kernel has opened it for this event, and it is in no other hands.
            let file = File::from(unsafe { OwnedFd::from_raw_fd(event.fd) });
            self.add(&file, event.pid, started)?;
            let length = (event.event_len as usize).max(LENGTH);
            events = events.get(length..).unwrap_or_default();
        }
        Ok(())
    }

    fn add(&self, file: &File, pid: i32, started: &mut StartedPrograms) -> io::Result<()> {
        let metadata = file.metadata()?;
        if self.own == Some((metadata.dev(), metadata.ino())) {
            started.own.insert(pid);
        }
        if started.own.contains(&pid) {
            return Ok(());
        }
        let mut head = [0; 5];
        let read = file.read_at(&mut head, 0)?;
        let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        started.opened += 1;
        started.files.insert(StartedProgram { path, elf_bits: elf_bits(&head[..read]) });
        Ok(())
    }
}

/// The width that the head of an ELF file says.
fn elf_bits(head: &[u8]) -> Option<u32> {
    match head.strip_prefix(&ELF_MAGIC)? {
        [CLASS_32, ..] => Some(32),
        [CLASS_64, ..] => Some(64),
        _ => None,
    }
}

/// Mount points in the text of mountinfo (proc(5)): the fifth field, in which blanks and
/// backslashes are octal.
fn mount_points(mountinfo: &str) -> Vec<PathBuf> {
    let points = mountinfo.lines().filter_map(|line| line.split(' ').nth(4));
    points.map(|point| PathBuf::from(std::ffi::OsString::from_vec(unescaped(point)))).collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((&first, others)) = rest.split_first() {
        let octal = others.get(..3).filter(|_| first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[3..];
            }
            None => {
                bytes.push(first);
                rest = others;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn heads_of_files_say_their_width() {
        assert_eq!(elf_bits(b"\x7fELF\x01"), Some(32));
        assert_eq!(elf_bits(b"\x7fELF\x02"), Some(64));
        for other in [&b"#!/bin"[..], b"\x7fELF", b"", b"\x7fELF\x07"] {
            assert_eq!(elf_bits(other), None, "{other:?}");
        }
    }

    #[test]
    fn mount_points_are_paths() {
        let text = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    30 22 0:5 / /mnt/a\\040b\\134 rw - tmpfs t rw\n";
        assert_eq!(mount_points(text), [PathBuf::from("/"), PathBuf::from("/mnt/a b\\")]);
    }

    #[test]
    fn programs_and_what_interprets_scripts_are_heard_of() {
        let events = match ExecEvents::listen() {
            Ok(events) => events,
            Err(error) => {
                println!("not run: fanotify: {error}");
                return;
            }
        };
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#!/bin/sh\nexec /bin/true\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&script, mode).unwrap();
        assert!(Command::new(&script).status().unwrap().success());
        let started = events.end().unwrap();
        let bits = |path: &PathBuf| {
            let path = path.canonicalize().unwrap();
            started.files.iter().find(|one| one.path == path).map(|one| one.elf_bits)
        };
        assert_eq!(bits(&script), Some(None), "{started:?}");
        for program in ["/bin/sh", "/bin/true"] {
            assert_eq!(bits(&program.into()), Some(Some(64)), "{program}: {started:?}");
        }
        assert!(started.opened >= 3, "{started:?}");
    }
}
