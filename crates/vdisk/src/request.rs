//! The seam of the virtual disk: a request, its completion, and the trait that every device model
//! and every layer over one implements.
//!
//! Time is an integer number of nanoseconds that the caller states. Nothing here reads a clock, so
//! that the same model serves wall time and virtual time.

/// Bytes of a sector, the unit of addresses.
pub const SECTOR_BYTES: u64 = 512;
/// Tags of a driver are below this number: so many of its requests can be outstanding at most.
pub const HOST_TAGS: usize = 256;
/// Tags of all requests, those that a layer sends to the model below it included.
pub const ALL_TAGS: usize = HOST_TAGS + 64;

/// What is asked of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Read,
    Write,
    /// Every write that completed before this request was submitted is on the medium when it
    /// completes.
    Flush,
    /// The contents of these sectors are not needed any more.
    Discard,
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Names it until it completes; no two outstanding requests have the same.
    pub tag: u16,
    pub op: Op,
    /// First sector; 0 for a flush.
    pub sector: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u32,
    /// Of a write: it is on the medium when it completes (force unit access).
    pub fua: bool,
}

impl Request {
    /// A read.
    #[must_use]
    pub fn read(tag: u16, sector: u64, sectors: u32) -> Self {
        Self { tag, op: Op::Read, sector, sectors, fua: false }
    }

    /// A write.
    #[must_use]
    pub fn write(tag: u16, sector: u64, sectors: u32) -> Self {
        Self { tag, op: Op::Write, sector, sectors, fua: false }
    }

    /// A write that is on the medium when it completes.
    #[must_use]
    pub fn write_fua(tag: u16, sector: u64, sectors: u32) -> Self {
        Self { fua: true, ..Self::write(tag, sector, sectors) }
    }

    /// A flush.
    #[must_use]
    pub fn flush(tag: u16) -> Self {
        Self { tag, op: Op::Flush, sector: 0, sectors: 0, fua: false }
    }

    /// A discard.
    #[must_use]
    pub fn discard(tag: u16, sector: u64, sectors: u32) -> Self {
        Self { tag, op: Op::Discard, sector, sectors, fua: false }
    }

    /// First sector behind it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }

    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }

    /// Whether a layer of the device sent it, and not the driver: no command and no data cross the
    /// interface for it.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        usize::from(self.tag) >= HOST_TAGS
    }
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Done,
    /// The driver reports an input/output error (EIO); nothing was read or written.
    MediumError,
    /// Reported as done, but only this many sectors of the write are on the medium.
    Torn {
        sectors: u32,
    },
}

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Tag of the request.
    pub tag: u16,
    /// When it completed.
    pub at_ns: u64,
    pub outcome: Outcome,
}

/// A device, or a layer over one: a pure function of the history of its calls.
///
/// The caller states times that never decrease. Whatever happens up to and including a stated time
/// happens before the call has an effect; so asking more often changes nothing. Nothing is
/// allocated after construction.
pub trait DeviceModel {
    /// Takes a request. Its tag is below [`ALL_TAGS`] and of no other outstanding request.
    fn submit(&mut self, now_ns: u64, request: Request);

    /// The next completion that is due, in the order of time; call it until there is none.
    fn poll(&mut self, now_ns: u64) -> Option<Completion>;

    /// When to poll next: nothing completes before that. `None`: nothing happens until a request is
    /// submitted.
    fn next_event_ns(&self) -> Option<u64>;
}

impl<M: DeviceModel + ?Sized> DeviceModel for Box<M> {
    fn submit(&mut self, now_ns: u64, request: Request) {
        (**self).submit(now_ns, request);
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        (**self).poll(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        (**self).next_event_ns()
    }
}
