//! What a member of an archive is. Who looks at an archive and who unpacks it ask here, so that
//! both take it for the same.

use tar::EntryType;

/// What a member of an archive is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemberKind {
    /// A regular file.
    File,
    Dir,
    /// A symbolic link.
    Symlink,
    /// A further name of an earlier member.
    HardLink,
    /// A file with holes, in the format of GNU tar. Those of PAX are told by its records alone.
    Sparse,
    /// Records of PAX for all members behind it; nothing is made of it.
    Global,
    /// A device node.
    Device,
    Fifo,
    /// Anything else, with the letter of its kind.
    Unknown(u8),
}

/// What a member of this type and `name` is.
///
/// A file with a slash at the end of its name is a directory, in every format: so it was written
/// before there was a type for directories, and so tar unpacks it.
#[must_use]
pub fn member_kind(of: EntryType, name: &[u8]) -> MemberKind {
    match of {
        EntryType::Regular | EntryType::Continuous if name.ends_with(b"/") => MemberKind::Dir,
        EntryType::Regular | EntryType::Continuous => MemberKind::File,
        EntryType::Directory => MemberKind::Dir,
        EntryType::Symlink => MemberKind::Symlink,
        EntryType::Link => MemberKind::HardLink,
        EntryType::GNUSparse => MemberKind::Sparse,
        EntryType::XGlobalHeader => MemberKind::Global,
        EntryType::Char | EntryType::Block => MemberKind::Device,
        EntryType::Fifo => MemberKind::Fifo,
        other => MemberKind::Unknown(other.as_byte()),
    }
}

/// What lies directly in a directory or an archive, as far as some programs want it there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TopLevel {
    /// Files that `*.wav` is for a shell.
    pub wavs: u64,
    /// Whether make finds something to do.
    pub has_makefile: bool,
}

impl TopLevel {
    /// Takes in a file, by the parts of its name.
    pub(super) fn count(&mut self, parts: &[&[u8]]) {
        let [name] = parts else { return };
        self.wavs += u64::from(name.ends_with(b".wav") && !name.starts_with(b"."));
        self.has_makefile |= [&b"Makefile"[..], b"makefile", b"GNUmakefile"].contains(name);
    }
}
