//! One operation of a sequence, as it is carried out: plain system calls on named files.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Name of the root of the file system.
pub const ROOT: &str = ".";
/// Name of the extended attribute that operations set.
pub const ATTRIBUTE: &str = "user.fsarena";
/// Unit of a byte's value: bytes of one sector that one operation wrote are equal.
const SECTOR: u64 = 512;

/// Mode of fallocate(2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// Mode 0: room, and the size grows.
    Extend,
    /// FALLOC_FL_KEEP_SIZE.
    KeepSize,
    /// FALLOC_FL_ZERO_RANGE.
    ZeroRange,
    /// FALLOC_FL_ZERO_RANGE with FALLOC_FL_KEEP_SIZE.
    ZeroRangeKeepSize,
    /// FALLOC_FL_PUNCH_HOLE with FALLOC_FL_KEEP_SIZE.
    PunchHole,
}

impl Allocation {
    pub const ALL: [Self; 5] =
        [Self::Extend, Self::KeepSize, Self::ZeroRange, Self::ZeroRangeKeepSize, Self::PunchHole];

    #[must_use]
    pub fn keeps_size(self) -> bool {
        !matches!(self, Self::Extend | Self::ZeroRange)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Extend => "0",
            Self::KeepSize => "keep_size",
            Self::ZeroRange => "zero_range",
            Self::ZeroRangeKeepSize => "zero_range|keep_size",
            Self::PunchHole => "punch_hole|keep_size",
        }
    }
}

/// Bytes of a file, and the number that their values are made of ([`byte_at`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Extent {
    pub offset: u64,
    pub bytes: u64,
    pub fill: u8,
}

/// An operation. Files that are open stay so until they are closed, and are used by what is done
/// to their names; others are opened for the one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOp {
    /// open(2) with O_CREAT, for reading and writing; it stays open.
    Open {
        file: String,
    },
    Close {
        file: String,
    },
    Mkdir {
        dir: String,
    },
    Rmdir {
        dir: String,
    },
    Write {
        file: String,
        extent: Extent,
    },
    /// With O_DIRECT, through a descriptor of its own.
    DirectWrite {
        file: String,
        extent: Extent,
    },
    /// Room where the file is too short (fallocate), mmap, store, msync with MS_SYNC, munmap.
    MmapWrite {
        file: String,
        extent: Extent,
    },
    Fallocate {
        file: String,
        mode: Allocation,
        offset: u64,
        bytes: u64,
    },
    Truncate {
        file: String,
        bytes: u64,
    },
    Link {
        from: String,
        to: String,
    },
    /// `target` is the text of the link.
    Symlink {
        target: String,
        link: String,
    },
    Rename {
        from: String,
        to: String,
    },
    Unlink {
        file: String,
    },
    /// remove(3): unlink of a file, rmdir of a directory.
    Remove {
        path: String,
    },
    /// Sets [`ATTRIBUTE`].
    SetXattr {
        file: String,
        fill: u8,
    },
    RemoveXattr {
        file: String,
    },
    Fsync {
        path: String,
    },
    Fdatasync {
        file: String,
    },
    /// sync(2), which waits in Linux.
    Sync,
    /// Nothing is done for so long: what is written back meanwhile is the kernel's choice.
    Sleep {
        duration_ns: u64,
    },
}

impl FileOp {
    /// Whether something is promised to be on the disk when it returns.
    #[must_use]
    pub fn persists(&self) -> bool {
        matches!(
            self,
            Self::Fsync { .. } | Self::Fdatasync { .. } | Self::Sync | Self::MmapWrite { .. }
        )
    }

    /// Whether it changes what is in the file system.
    #[must_use]
    pub fn modifies(&self) -> bool {
        !matches!(
            self,
            Self::Close { .. }
                | Self::Fsync { .. }
                | Self::Fdatasync { .. }
                | Self::Sync
                | Self::Sleep { .. }
        )
    }
}

impl fmt::Display for FileOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { file } => write!(f, "open {file} (O_CREAT)"),
            Self::Close { file } => write!(f, "close {file}"),
            Self::Mkdir { dir } => write!(f, "mkdir {dir}"),
            Self::Rmdir { dir } => write!(f, "rmdir {dir}"),
            Self::Write { file, extent } => write!(f, "write {file} {extent}"),
            Self::DirectWrite { file, extent } => write!(f, "write {file} {extent} (O_DIRECT)"),
            Self::MmapWrite { file, extent } => write!(f, "mmap, store, msync {file} {extent}"),
            Self::Fallocate { file, mode, offset, bytes } => {
                write!(f, "fallocate {file} {} {offset}+{bytes}", mode.words())
            }
            Self::Truncate { file, bytes } => write!(f, "truncate {file} {bytes}"),
            Self::Link { from, to } => write!(f, "link {from} {to}"),
            Self::Symlink { target, link } => write!(f, "symlink {target} {link}"),
            Self::Rename { from, to } => write!(f, "rename {from} {to}"),
            Self::Unlink { file } => write!(f, "unlink {file}"),
            Self::Remove { path } => write!(f, "remove {path}"),
            Self::SetXattr { file, .. } => write!(f, "fsetxattr {file} {ATTRIBUTE}"),
            Self::RemoveXattr { file } => write!(f, "removexattr {file} {ATTRIBUTE}"),
            Self::Fsync { path } => write!(f, "fsync {path}"),
            Self::Fdatasync { file } => write!(f, "fdatasync {file}"),
            Self::Sync => f.write_str("sync"),
            Self::Sleep { duration_ns } => write!(f, "sleep {:.3} s", *duration_ns as f64 / 1e9),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.offset, self.bytes)
    }
}

/// The value of a byte at this place of a file, by the number of the operation that wrote it: never
/// 0, and mostly another one in each sector and for each operation.
#[must_use]
pub fn byte_at(fill: u8, offset: u64) -> u8 {
    let mixed = crate::stamp::mixed(u64::from(fill) << 32 | (offset / SECTOR));
    (mixed % 255) as u8 + 1
}

/// The bytes of an extent.
#[must_use]
pub fn bytes_of(extent: Extent) -> Vec<u8> {
    let end = extent.offset.saturating_add(extent.bytes);
    (extent.offset..end).map(|at| byte_at(extent.fill, at)).collect()
}

/// The text of the extended attribute that an operation of this number sets.
#[must_use]
pub fn attribute_text(fill: u8) -> String {
    format!("value-{fill}")
}

/// The directory that a name is in, and the last part of it.
#[must_use]
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((ROOT, path))
}
