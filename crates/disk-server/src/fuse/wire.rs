//! The protocol of `/dev/fuse` (`linux/fuse.h`), as far as a directory with one file needs it.

use std::ops::Range;

/// Node of the file; that of the directory is 1.
const FILE_NODE: u64 = 2;
const HEADER_BYTES: usize = 40;
/// Largest read or write: that of the file and of FUSE itself (256 pages).
pub const TRANSFER_MAX_BYTES: usize = 1 << 20;
/// A request with its data fits into so many bytes.
pub const BUFFER_BYTES: usize = TRANSFER_MAX_BYTES + 4096;
/// Requests that the kernel may have outstanding: its default of 12 would be the depth of the disk.
const BACKGROUND: u16 = 512;

const ASYNC_READ: u32 = 1;
const BIG_WRITES: u32 = 1 << 5;
const ASYNC_DIO: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;
/// Of the open file: no page cache, and writes beside each other.
const OPEN_FLAGS: u32 = 1 | 1 << 6;
/// How far the kernel may read ahead of a file that is in the page cache.
const READ_AHEAD_BYTES: u32 = 128 << 10;
/// Code of a notification that contents have changed.
const INVALIDATE_INODE: u32 = 2;

/// The file as its kernel sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServedFile {
    pub size_bytes: u64,
    /// What is read of it stays in the page cache, and more than was asked for is read.
    pub is_cached: bool,
}
const PUNCH_HOLE: u32 = 2;
const ZERO_RANGE: u32 = 16;

/// A request of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// Names it in the reply.
    pub unique: u64,
    pub what: What<'a>,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum What<'a> {
    Read {
        at: u64,
        bytes: usize,
    },
    Write {
        at: u64,
        data: &'a [u8],
    },
    Flush,
    /// These bytes are zero afterwards, or not needed any more where `may_discard`.
    Zero {
        at: u64,
        bytes: u64,
        may_discard: bool,
    },
    /// The answer is known.
    Answer(Vec<u8>),
    /// An error number.
    Fails(i32),
    /// Nothing is answered.
    Silent,
    /// The kernel has let go of the file system.
    End,
}

/// Reads a request; `None` where it is none.
pub fn decoded(bytes: &[u8], file: ServedFile) -> Option<Asked<'_>> {
    let ServedFile { size_bytes, is_cached } = file;
    let opcode = word(bytes, 4)?;
    let (unique, node) = (long(bytes, 8)?, long(bytes, 16)?);
    let body = bytes.get(HEADER_BYTES..)?;
    let what = match opcode {
        // LOOKUP: whatever it is called, so that the kernel shows a name that says whose it is.
        1 => What::Answer(entry(size_bytes)),
        // FORGET, BATCH_FORGET, INTERRUPT.
        2 | 42 | 36 => What::Silent,
        // GETATTR, SETATTR: it has one size and one mode.
        3 | 4 => What::Answer(attributes(node, size_bytes)),
        // OPEN, OPENDIR.
        14 => What::Answer(opened(if is_cached { 0 } else { OPEN_FLAGS })),
        27 => What::Answer(opened(0)),
        15 => What::Read { at: long(body, 8)?, bytes: usize::try_from(word(body, 16)?).ok()? },
        16 => {
            let len = usize::try_from(word(body, 16)?).ok()?;
            What::Write { at: long(body, 8)?, data: body.get(40..40 + len)? }
        }
        17 => What::Answer(vec![0; 80]),
        // RELEASE, FLUSH (of close, not of the disk), RELEASEDIR.
        18 | 25 | 29 => What::Answer(Vec::new()),
        20 => What::Flush,
        26 => What::Answer(init(if is_cached { READ_AHEAD_BYTES } else { 0 })),
        38 => What::End,
        43 => {
            let (at, bytes, mode) = (long(body, 8)?, long(body, 16)?, word(body, 24)?);
            let may_discard = mode & PUNCH_HOLE != 0;
            if may_discard || mode & ZERO_RANGE != 0 {
                What::Zero { at, bytes, may_discard }
            } else {
                What::Fails(errno::EOPNOTSUPP)
            }
        }
        _ => What::Fails(errno::ENOSYS),
    };
    Some(Asked { unique, what })
}

/// Numbers of Linux on the architectures that there are.
pub(super) mod errno {
    pub const EIO: i32 = 5;
    pub const EINVAL: i32 = 22;
    pub const ENOSYS: i32 = 38;
    pub const EOPNOTSUPP: i32 = 95;
}

/// The head of a reply with so many bytes after it; `error` is a positive number, 0 for none.
pub fn reply(unique: u64, error: i32, bytes: usize) -> [u8; 16] {
    let mut head = [0; 16];
    let len = u32::try_from(16 + bytes).unwrap_or(u32::MAX);
    head[..4].copy_from_slice(&len.to_le_bytes());
    head[4..8].copy_from_slice(&(-error).to_le_bytes());
    head[8..].copy_from_slice(&unique.to_le_bytes());
    head
}

/// Tells the kernel that what it has of these bytes of the file in the page cache is old; of no
/// bytes: of all up to the last.
pub fn contents_changed(of: &Range<u64>) -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[0] = 40;
    bytes[4..8].copy_from_slice(&INVALIDATE_INODE.to_le_bytes());
    bytes[16..24].copy_from_slice(&FILE_NODE.to_le_bytes());
    bytes[24..32].copy_from_slice(&of.start.to_le_bytes());
    bytes[32..].copy_from_slice(&(of.end - of.start).to_le_bytes());
    bytes
}

/// The body of a reply to a write.
pub fn written(bytes: usize) -> [u8; 8] {
    (bytes as u64).to_le_bytes()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn init(read_ahead_bytes: u32) -> Vec<u8> {
    let mut body = Vec::with_capacity(64);
    // Version 7.31.
    for value in [7, 31, read_ahead_bytes, ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES] {
        body.extend(u32::to_le_bytes(value));
    }
    for value in [BACKGROUND, BACKGROUND] {
        body.extend(value.to_le_bytes());
    }
    for value in [TRANSFER_MAX_BYTES as u32, 1] {
        body.extend(value.to_le_bytes());
    }
    body.extend(((TRANSFER_MAX_BYTES / 4096) as u16).to_le_bytes());
    body.resize(64, 0);
    body
}

/// Valid for ever.
const VALID_S: u64 = u32::MAX as u64;

fn entry(size_bytes: u64) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    for value in [FILE_NODE, 0, VALID_S, VALID_S, 0] {
        body.extend(u64::to_le_bytes(value));
    }
    put_attributes(&mut body, FILE_NODE, size_bytes);
    body
}

fn attributes(node: u64, size_bytes: u64) -> Vec<u8> {
    let mut body = Vec::with_capacity(104);
    for value in [VALID_S, 0] {
        body.extend(u64::to_le_bytes(value));
    }
    put_attributes(&mut body, node, size_bytes);
    body
}

fn put_attributes(body: &mut Vec<u8>, node: u64, size_bytes: u64) {
    let is_file = node == FILE_NODE;
    let size_bytes = if is_file { size_bytes } else { 0 };
    for value in [node, size_bytes, size_bytes / 512, 0, 0, 0] {
        body.extend(value.to_le_bytes());
    }
    let mode = if is_file { 0o100_600 } else { 0o40_700 };
    for value in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
        body.extend(u32::to_le_bytes(value));
    }
}

fn opened(flags: u32) -> Vec<u8> {
    let mut body = vec![0; 8];
    body.extend(flags.to_le_bytes());
    body.extend([0; 4]);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: ServedFile = ServedFile { size_bytes: 8192, is_cached: false };

    fn message(opcode: u32, node: u64, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&opcode.to_le_bytes());
        bytes[8] = 7;
        bytes[16..24].copy_from_slice(&node.to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn what(opcode: u32, body: &[u8]) -> String {
        let bytes = message(opcode, 2, body);
        let asked = decoded(&bytes, FILE).unwrap();
        assert_eq!(asked.unique, 7);
        format!("{:?}", asked.what)
    }

    #[test]
    fn requests_of_the_disk_are_read() {
        let mut body = vec![0; 40];
        (body[9], body[17]) = (16, 2);
        assert_eq!(what(15, &body), "Read { at: 4096, bytes: 512 }");
        (body[17], body[16]) = (0, 2);
        body.extend([5, 6]);
        assert_eq!(what(16, &body), "Write { at: 4096, data: [5, 6] }");
        body.pop();
        assert_eq!(decoded(&message(16, 2, &body), FILE), None, "a write that is cut");
        assert_eq!(what(20, &[0; 16]), "Flush");
        let mut body = [0; 32];
        (body[9], body[17], body[24]) = (16, 16, 3);
        assert_eq!(what(43, &body), "Zero { at: 4096, bytes: 4096, may_discard: true }");
        body[24] = 17;
        assert_eq!(what(43, &body), "Zero { at: 4096, bytes: 4096, may_discard: false }");
        body[24] = 0;
        assert_eq!(what(43, &body), "Fails(95)");
        assert_eq!(decoded(&[0; 20], FILE), None);
    }

    /// Sizes are those of `linux/fuse.h`.
    #[test]
    fn replies_have_the_sizes_of_the_protocol() {
        let size = |opcode, body: &[u8]| match decoded(&message(opcode, 2, body), FILE) {
            Some(Asked { what: What::Answer(body), .. }) => body.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            [size(26, &[]), size(1, b"disk\0"), size(3, &[]), size(14, &[])],
            [64, 128, 104, 16]
        );
        let cached = ServedFile { is_cached: true, ..FILE };
        let answer = |opcode, file| match decoded(&message(opcode, 2, &[]), file) {
            Some(Asked { what: What::Answer(body), .. }) => body,
            other => panic!("{other:?}"),
        };
        assert_eq!((answer(14, FILE)[8], answer(14, cached)[8]), (0b100_0001, 0));
        assert_eq!((answer(26, FILE)[8..12].to_vec(), answer(26, cached)[10]), (vec![0; 4], 2));
        assert_eq!(what(99, &[]), "Fails(38)");
        assert_eq!(reply(7, 5, 0)[..9], [16, 0, 0, 0, 251, 255, 255, 255, 7]);
    }
}
