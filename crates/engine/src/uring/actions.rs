//! What an entry of io_uring does to a file or a name, one action an op.
//!
//! An action either works on a file that a chain has opened (contents are moved, or a call is made
//! on it), or on names. It makes entries; chains, slots and completions are in [`super::files`].

use crate::stamp::ATTRIBUTE;
use fsarena_model::work::Op;
use io_uring::squeue::Entry;
use io_uring::types::{Fd, Fixed};
use io_uring::{opcode, types};
use rustix::fs::{AtFlags, OFlags};
use std::ffi::CStr;

/// What is done to each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAction {
    /// Opened so, written, closed.
    Write(OFlags),
    /// Opened so, read, closed.
    Read(OFlags),
    /// statx(2).
    Stat,
    /// renameat2(2).
    Rename,
    /// unlinkat(2) with these flags.
    Unlink(AtFlags),
    /// Opened so, ftruncate(2), closed.
    Truncate(OFlags),
    /// linkat(2).
    Link,
    /// symlinkat(2).
    Symlink,
    /// setxattr(2).
    SetAttribute,
    /// getxattr(2).
    GetAttribute,
    /// Opened so, fallocate(2), closed.
    Allocate(OFlags),
    /// mkdirat(2).
    Mkdir,
}

/// Memory of a slot that an action on names may use until it has completed.
pub(super) struct NameArgs {
    /// Where lookups start.
    pub at: Fd,
    /// The name of the file or directory.
    pub path: *const libc::c_char,
    /// The name that a rename or a link makes.
    pub new_path: *const libc::c_char,
    /// Where statx(2) puts its answer.
    pub answer: *mut types::statx,
    /// The value of an attribute, or where it is put.
    pub value: *mut u8,
    pub value_bytes: u32,
}

impl FileAction {
    /// The action of an op on whole files or directories, which opens files with `flags`.
    pub fn for_op(op: Op, flags: OFlags) -> Self {
        match op {
            Op::Create | Op::Overwrite | Op::Append => Self::Write(flags),
            Op::Read => Self::Read(flags),
            Op::Rename => Self::Rename,
            Op::Delete => Self::Unlink(AtFlags::empty()),
            Op::Rmdir => Self::Unlink(AtFlags::REMOVEDIR),
            Op::Mkdir => Self::Mkdir,
            Op::Truncate => Self::Truncate(flags),
            Op::Link => Self::Link,
            Op::Symlink => Self::Symlink,
            Op::Setxattr => Self::SetAttribute,
            Op::Getxattr => Self::GetAttribute,
            Op::Fallocate => Self::Allocate(flags),
            _ => Self::Stat,
        }
    }

    /// Whether contents are moved.
    pub fn moves(self) -> bool {
        matches!(self, Self::Write(_) | Self::Read(_))
    }

    /// How it opens its file; `None` where it works on names.
    pub fn opens(self) -> Option<OFlags> {
        match self {
            Self::Write(flags)
            | Self::Read(flags)
            | Self::Truncate(flags)
            | Self::Allocate(flags) => Some(flags),
            _ => None,
        }
    }

    /// Whether it makes a second name.
    pub fn makes_name(self) -> bool {
        matches!(self, Self::Rename | Self::Link | Self::Symlink)
    }

    /// Whether the kernel looks its name up from the working directory, whatever it is told.
    pub fn wants_full_path(self) -> bool {
        matches!(self, Self::SetAttribute | Self::GetAttribute)
    }

    /// What a good completion of its own entry says, where that moves no contents.
    pub fn good_result(self, value_bytes: u32) -> i32 {
        if self == Self::GetAttribute { value_bytes.cast_signed() } else { 0 }
    }

    /// The call that a failure of its own entry is reported as.
    pub fn call(self) -> &'static str {
        match self {
            Self::Write(_) => "write",
            Self::Read(_) => "read",
            Self::Stat => "stat",
            Self::Rename => "rename",
            Self::Unlink(flags) if flags.contains(AtFlags::REMOVEDIR) => "rmdir",
            Self::Unlink(_) => "unlink",
            Self::Truncate(_) => "ftruncate",
            Self::Link => "link",
            Self::Symlink => "symlink",
            Self::SetAttribute => "setxattr",
            Self::GetAttribute => "getxattr",
            Self::Allocate(_) => "fallocate",
            Self::Mkdir => "mkdir",
        }
    }

    /// The call on an open file that moves no contents; `length` is that of the op. `None` where
    /// there is none to make.
    pub(super) fn file_entry(self, file: Fixed, length: u64) -> Option<Entry> {
        match self {
            Self::Truncate(_) => Some(opcode::Ftruncate::new(file, length).build()),
            Self::Allocate(_) if length > 0 => Some(opcode::Fallocate::new(file, length).build()),
            _ => None,
        }
    }

    /// The call on names; `None` where it works on an open file.
    pub(super) fn name_entry(self, args: &NameArgs) -> Option<Entry> {
        let NameArgs { at, path, new_path, answer, value, value_bytes } = *args;
        let name = ATTRIBUTE.as_ptr();
        Some(match self {
            Self::Stat => {
                opcode::Statx::new(at, path, answer).mask(libc::STATX_BASIC_STATS).build()
            }
            Self::Rename => opcode::RenameAt::new(at, path, at, new_path).build(),
            Self::Link => opcode::LinkAt::new(at, path, at, new_path).build(),
            Self::Symlink => opcode::SymlinkAt::new(at, last_component(path), new_path).build(),
            Self::SetAttribute => {
                opcode::SetXattr::new(name, value.cast_const().cast(), path, value_bytes).build()
            }
            Self::GetAttribute => {
                opcode::GetXattr::new(name, value.cast(), path, value_bytes).build()
            }
            Self::Unlink(flags) => {
                opcode::UnlinkAt::new(at, path).flags(flags.bits().cast_signed()).build()
            }
            Self::Mkdir => opcode::MkDirAt::new(at, path).mode(0o755).build(),
            Self::Write(_) | Self::Read(_) | Self::Truncate(_) | Self::Allocate(_) => {
                return None;
            }
        })
    }
}

/// Where the name of a file begins in its path, which ends with NUL.
fn last_component(path: *const libc::c_char) -> *const libc::c_char {
    // SAFETY: the slot's path was put there with its NUL, and stays until the entry has completed.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let directory_bytes = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    path.wrapping_add(directory_bytes)
}
