//! A request of a block device, and what the kernel's letters for it mean.

/// A block device by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockDevice {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// `7:0`, as in sysfs.
impl std::fmt::Display for BlockDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Read,
    /// Writes, also zeros that the device makes itself (`REQ_OP_WRITE_ZEROES`), which its counter
    /// counts as written.
    Write,
    /// Discards, or erases.
    Discard,
    /// Flushes the cache of the device.
    Flush,
    /// None of these.
    Other,
}

/// A request that the device has carried out, wholly or in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When, `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// Where it begins on the device.
    pub start_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
    /// What it does.
    pub kind: Kind,
    /// Whether it bears `REQ_META`. A request that was put together from several bears the flag
    /// of the first.
    pub is_metadata: bool,
}

/// What letters mean, besides themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RequestFields {
    /// First sector of the request, 0 where it has none.
    pub(crate) sector: u64,
    /// Sectors of the request.
    pub(crate) sectors: u64,
    /// Whether the device counts zeros that it makes itself as written.
    pub(crate) counts_zeros: bool,
}

/// Reads the letters of a request: `blk_fill_rwbs` of `kernel/trace/blktrace.c`.
///
/// An `F` before the operation is `REQ_PREFLUSH`; one after it is `REQ_FUA`. Zeros made by the
/// device have no letter: they are an `N`, as are commands that are passed through to the driver;
/// but those have neither sector nor counter (`blk_rq_trace_sector`, `blk_account_io_start`).
pub(crate) fn kind_of(rwbs: &[u8], around: RequestFields) -> (Kind, bool) {
    let end = rwbs.iter().position(|byte| *byte == 0).unwrap_or(rwbs.len());
    let letters = &rwbs[..end];
    let (operation, flags) = match letters {
        [b'F', operation @ (b'R' | b'W' | b'D' | b'F' | b'N' | b'Z'), flags @ ..] => {
            (*operation, flags)
        }
        [operation, flags @ ..] => (*operation, flags),
        [] => return (Kind::Other, false),
    };
    let kind = match (operation, flags.first()) {
        (b'R', _) => Kind::Read,
        // An empty write with a flush before it, as block_bio_queue shows a flush.
        (b'W', _) if around.sectors == 0 && letters[0] == b'F' => Kind::Flush,
        (b'W', _) => Kind::Write,
        (b'Z', Some(b'A')) => Kind::Write,
        (b'D', _) => Kind::Discard,
        (b'F', _) => Kind::Flush,
        (b'N', _) if around.sector > 0 && around.sectors > 0 && around.counts_zeros => Kind::Write,
        _ => Kind::Other,
    };
    (kind, flags.contains(&b'M'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AROUND: RequestFields = RequestFields { sector: 8, sectors: 8, counts_zeros: true };

    #[test]
    fn letters_of_this_kernel_are_known() {
        let of = |text: &str| kind_of(text.as_bytes(), AROUND);
        for (text, expected) in [
            ("W", (Kind::Write, false)),
            ("WSM\0\0\0\0\0\0\0", (Kind::Write, true)),
            ("WFSM", (Kind::Write, true)),
            ("FWFSM", (Kind::Write, true)),
            ("FWS", (Kind::Write, false)),
            ("FF", (Kind::Flush, false)),
            ("F", (Kind::Flush, false)),
            ("FFS", (Kind::Flush, false)),
            ("RAM", (Kind::Read, true)),
            ("DS", (Kind::Discard, false)),
            ("DE", (Kind::Discard, false)),
            ("ZAS", (Kind::Write, false)),
            ("ZR", (Kind::Other, false)),
            ("NS", (Kind::Write, false)),
            ("", (Kind::Other, false)),
            ("\0W", (Kind::Other, false)),
        ] {
            assert_eq!(of(text), expected, "{text:?}");
        }
        let passed = RequestFields { sector: 0, ..AROUND };
        assert_eq!(kind_of(b"N", passed), (Kind::Other, false));
        let uncounted = RequestFields { counts_zeros: false, ..AROUND };
        assert_eq!(kind_of(b"NS", uncounted), (Kind::Other, false));
        let empty = RequestFields { sectors: 0, ..AROUND };
        assert_eq!(kind_of(b"FWS", empty), (Kind::Flush, false), "a flush as a bio");
    }

    proptest! {
        #[test]
        fn any_letters_are_read(letters in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = kind_of(&letters, AROUND);
        }
    }
}
