//! The messages as bytes, and back.

/// Version of the protocol.
pub const VERSION: u32 = 4;
/// At the beginning of a description.
const MAGIC: &[u8; 8] = b"FSVDISK1";
/// `next_event_ns` where nothing will happen by itself.
const NO_EVENT: u64 = u64::MAX;
/// Bytes of a message.
pub const MESSAGE_BYTES: usize = 40;

/// What a message asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Read,
    Write,
    Flush,
    Discard,
    WriteZeroes,
}

/// A request of the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Names it until it completes.
    pub tag: u32,
    pub op: Op,
    /// First sector of 512 bytes; 0 for a flush.
    pub sector: u64,
    /// Size; 0 for a flush.
    pub bytes: u64,
    /// Of a write: it is on the medium when it completes (force unit access).
    pub fua: bool,
    /// All flags, hints for a log included.
    pub flags: u32,
}

/// A message of the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    Hello {
        version: u64,
    },
    Poll {
        now_ns: u64,
    },
    /// The next contents.
    Next,
    Submit {
        now_ns: u64,
        request: Request,
    },
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Done,
    IoError,
    MediumError,
    NoSpace,
    Unsupported,
}

/// What a device can.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Else the guest sends no flush.
    pub volatile_cache: bool,
    pub fua: bool,
    pub rotational: bool,
    /// Requests are done when they are submitted: the reply to one is followed by its completion.
    pub at_once: bool,
    /// The guest has the contents, and sends no requests.
    pub mapped: bool,
}

/// A device as the guest is to see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description {
    /// Requests outstanding at one time: 1 to 256.
    pub queue_depth: u32,
    pub capacity_sectors: u64,
    pub logical_block_bytes: u32,
    pub physical_block_bytes: u32,
    /// Largest read or write.
    pub transfer_max_bytes: u32,
    /// Pieces of memory in one request.
    pub segments_max: u32,
    /// 0: it takes no discard.
    pub discard_max_sectors: u32,
    pub discard_granularity_bytes: u32,
    /// 0: it takes no write of zeros.
    pub write_zeroes_max_sectors: u32,
    pub features: Features,
}

impl Description {
    /// A device of this size with blocks of 4 KiB behind sectors of 512 bytes, one request at a
    /// time and a volatile cache.
    #[must_use]
    pub fn with_sectors(capacity_sectors: u64) -> Self {
        Self {
            queue_depth: 1,
            capacity_sectors,
            logical_block_bytes: 512,
            physical_block_bytes: 4096,
            transfer_max_bytes: 1 << 20,
            segments_max: 256,
            discard_max_sectors: u32::MAX >> 9,
            discard_granularity_bytes: 4096,
            write_zeroes_max_sectors: u32::MAX >> 9,
            features: Features { volatile_cache: true, fua: true, ..Features::default() },
        }
    }

    /// As the reply to HELLO carries it.
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        let features = u32::from(self.features.volatile_cache)
            | u32::from(self.features.fua) << 1
            | u32::from(self.features.rotational) << 2
            | u32::from(self.features.at_once) << 3
            | u32::from(self.features.mapped) << 4;
        let mut bytes = MAGIC.to_vec();
        for word in [VERSION, self.queue_depth] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.capacity_sectors.to_le_bytes());
        for word in [
            self.logical_block_bytes,
            self.physical_block_bytes,
            self.transfer_max_bytes,
            self.segments_max,
            self.discard_max_sectors,
            self.discard_granularity_bytes,
            self.write_zeroes_max_sectors,
            features,
        ] {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }
}

impl Message {
    /// Reads a message; `None` for an op that there is not in this version.
    #[must_use]
    pub fn decoded(bytes: &[u8; MESSAGE_BYTES]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes of forty"))
        };
        let long = |at: usize| {
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes of forty"))
        };
        let now_ns = long(8);
        let op = match word(0) {
            0 => return Some(Self::Hello { version: long(24) }),
            1 => return Some(Self::Poll { now_ns }),
            2 => Op::Read,
            3 => Op::Write,
            4 => Op::Flush,
            5 => Op::Discard,
            6 => Op::WriteZeroes,
            7 => return Some(Self::Next),
            _ => return None,
        };
        let flags = word(32);
        let (sector, bytes) = (long(16), long(24));
        let request = Request { tag: word(4), op, sector, bytes, fua: flags & 1 != 0, flags };
        Some(Self::Submit { now_ns, request })
    }
}

/// The head of a reply.
#[must_use]
pub fn reply(next_event_ns: Option<u64>, completions: u32, error: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&next_event_ns.unwrap_or(NO_EVENT).to_le_bytes());
    bytes[8..12].copy_from_slice(&completions.to_le_bytes());
    bytes[12..].copy_from_slice(&error.to_le_bytes());
    bytes
}

/// The head of a completion.
#[must_use]
pub fn completion(tag: u32, status: Status, data_bytes: u32) -> [u8; 16] {
    let status: u32 = match status {
        Status::Done => 0,
        Status::IoError => 1,
        Status::MediumError => 2,
        Status::NoSpace => 3,
        Status::Unsupported => 4,
    };
    let mut bytes = [0; 16];
    for (at, word) in [tag, status, data_bytes].into_iter().enumerate() {
        bytes[at * 4..at * 4 + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and places are those of `kernel/PROTOCOL.md`.
    #[test]
    fn bytes_are_where_the_description_has_them() {
        let about = Description { queue_depth: 32, ..Description::with_sectors(0x0102) };
        let bytes = about.encoded();
        assert_eq!(bytes.len(), 56);
        assert_eq!(&bytes[..16], b"FSVDISK1\x04\0\0\0\x20\0\0\0");
        assert_eq!(&bytes[16..24], [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[24..32], [0, 2, 0, 0, 0, 16, 0, 0]);
        assert_eq!(bytes[52], 3);
        let at_once = Features { at_once: true, ..Features::default() };
        assert_eq!(Description { features: at_once, ..about }.encoded()[52], 8);
        let mapped = Features { mapped: true, ..Features::default() };
        assert_eq!(Description { features: mapped, ..about }.encoded()[52], 16);
        assert_eq!(reply(None, 1, 2)[..9], [255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(completion(7, Status::NoSpace, 512)[..10], [7, 0, 0, 0, 3, 0, 0, 0, 0, 2]);
    }

    #[test]
    fn messages_are_read() {
        let mut bytes = [0; MESSAGE_BYTES];
        bytes[24] = 1;
        assert_eq!(Message::decoded(&bytes), Some(Message::Hello { version: 1 }));
        (bytes[0], bytes[4], bytes[8], bytes[16], bytes[25], bytes[32]) = (3, 9, 5, 8, 16, 3);
        bytes[24] = 0;
        let request =
            Request { tag: 9, op: Op::Write, sector: 8, bytes: 4096, fua: true, flags: 3 };
        assert_eq!(Message::decoded(&bytes), Some(Message::Submit { now_ns: 5, request }));
        bytes[0] = 1;
        assert_eq!(Message::decoded(&bytes), Some(Message::Poll { now_ns: 5 }));
        bytes[0] = 7;
        assert_eq!(Message::decoded(&bytes), Some(Message::Next));
        bytes[0] = 8;
        assert_eq!(Message::decoded(&bytes), None);
    }
}
