//! A whole device: a model with the layers that its sheet and the options ask for, behind the
//! limits that a driver has to keep.

use crate::card::Card;
use crate::constant::Constant;
use crate::flash::Flash;
use crate::layers::{Fault, Faults, LyingFlush, Strike, WriteCache};
use crate::request::{Completion, DeviceModel, HOST_TAGS, Op, Request, SECTOR_BYTES};
use crate::rotating::{Geometry, Rotating};
use crate::sheet::Sheet;

/// Largest read or write, in sectors: 16 MiB.
pub const MOST_SECTORS: u32 = 1 << 15;

/// What is asked of a device besides its sheet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceOptions {
    /// Size that the driver sees, from the first sector; `None`: the whole capacity. Of a rotating
    /// disk it is the outer part; flash has as much more as the whole device has.
    pub size_bytes: Option<u64>,
    /// Decides the angle of the disk at the time 0, the first die, and which requests faults
    /// strike.
    pub seed: u64,
    /// A flush completes after this time and does nothing.
    pub lying_flush_ns: Option<u64>,
    pub faults: Vec<Fault>,
}

/// What no device can be made of.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeviceError {
    #[error(
        "{model}: {size_bytes} bytes are more than the {capacity_bytes} of the device; ask for less"
    )]
    TooLarge { model: String, size_bytes: u64, capacity_bytes: u64 },
    #[error("{model}: a device of {size_bytes} bytes is too small; ask for at least {least_bytes}")]
    TooSmall { model: String, size_bytes: u64, least_bytes: u64 },
    #[error("{model}: {size_bytes} bytes are no whole sectors; ask for a multiple of 4096")]
    NotAligned { model: String, size_bytes: u64 },
    #[error(
        "{model}: the map of {size_bytes} bytes of flash does not fit into memory; ask for at most \
         {most_bytes}"
    )]
    MapTooLarge { model: String, size_bytes: u64, most_bytes: u64 },
}

/// A request that a driver must not send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    #[error("tag {tag}: the queue has {depth}")]
    Tag { tag: u16, depth: u32 },
    #[error("tag {tag} is of a request that is outstanding")]
    TagInUse { tag: u16 },
    #[error("sectors {sector} to {end} are not on a device of {sectors}")]
    BeyondEnd { sector: u64, end: u64, sectors: u64 },
    #[error("{sectors} sectors in one request: 1 to {MOST_SECTORS}")]
    Size { sectors: u32 },
}

/// Smallest device.
const LEAST_BYTES: u64 = 1 << 20;
/// Largest map of a translation layer, in units.
const UNITS_MOST: u64 = 1 << 28;

/// A device with its layers.
pub struct VirtualDevice {
    stack: Faults<Box<dyn DeviceModel + Send>>,
    size_bytes: u64,
    queue_depth: u32,
    has_volatile_cache: bool,
    is_rotating: bool,
    geometry: Option<Geometry>,
    outstanding: Vec<bool>,
    count: u32,
}

impl VirtualDevice {
    /// A device as its sheet describes it, fresh from the factory.
    ///
    /// # Errors
    /// Where it cannot have the size that is asked for.
    pub fn new(sheet: &Sheet, options: &DeviceOptions) -> Result<Self, DeviceError> {
        let size_bytes = checked_size(sheet, options)?;
        let mut geometry = None;
        let model: Box<dyn DeviceModel + Send> = if let Some(disk) = &sheet.rotating {
            let disk = Rotating::new(disk, sheet.capacity_bytes, options.seed);
            geometry = Some(disk.geometry().clone());
            match &sheet.write_cache {
                Some(cache) => Box::new(WriteCache::new(cache, disk)),
                None => Box::new(disk),
            }
        } else if let Some(flash) = &sheet.flash {
            Box::new(Flash::new(flash, size_bytes, options.seed))
        } else if let Some(card) = &sheet.card {
            Box::new(Card::new(card))
        } else {
            let constant = sheet.constant.as_ref().expect("a sheet that was read has one model");
            match &sheet.write_cache {
                Some(cache) => Box::new(WriteCache::new(cache, Constant::new(constant))),
                None => Box::new(Constant::new(constant)),
            }
        };
        let model: Box<dyn DeviceModel + Send> = match options.lying_flush_ns {
            Some(flush_ns) => Box::new(LyingFlush::new(model, flush_ns)),
            None => model,
        };
        Ok(Self {
            stack: Faults::new(model, options.faults.clone(), options.seed),
            size_bytes,
            queue_depth: sheet.queue_depth,
            has_volatile_cache: sheet.has_volatile_cache(),
            is_rotating: sheet.rotating.is_some(),
            geometry,
            outstanding: vec![false; HOST_TAGS],
            count: 0,
        })
    }

    /// Its size.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Requests that a driver may have outstanding; their tags are below this number.
    #[must_use]
    pub fn queue_depth(&self) -> u32 {
        self.queue_depth
    }

    /// Whether a driver has to announce a write cache, so that flushes are sent at all.
    #[must_use]
    pub fn has_volatile_cache(&self) -> bool {
        self.has_volatile_cache
    }

    /// Whether a driver announces it as rotating.
    #[must_use]
    pub fn is_rotating(&self) -> bool {
        self.is_rotating
    }

    /// The layout of a rotating disk.
    #[must_use]
    pub fn geometry(&self) -> Option<&Geometry> {
        self.geometry.as_ref()
    }

    /// Requests that have not completed.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.count
    }

    /// When the power went, where a fault cut it: nothing completes any more.
    #[must_use]
    pub fn power_cut_ns(&self) -> Option<u64> {
        self.stack.power_cut_ns()
    }

    /// The first requests that a fault has struck, and how many there were in all.
    #[must_use]
    pub fn strikes(&self) -> (&[Strike], u64) {
        (self.stack.strikes(), self.stack.struck())
    }

    /// Submits a request at a time that is not before that of any earlier call.
    ///
    /// # Errors
    /// A request that a driver must not send; nothing has happened then.
    pub fn submit(&mut self, now_ns: u64, request: Request) -> Result<(), Refused> {
        let tag = request.tag;
        if u32::from(tag) >= self.queue_depth {
            return Err(Refused::Tag { tag, depth: self.queue_depth });
        }
        if self.outstanding[usize::from(tag)] {
            return Err(Refused::TagInUse { tag });
        }
        if request.op != Op::Flush {
            let sectors = self.size_bytes / SECTOR_BYTES;
            if request.sector.saturating_add(request.sectors.into()) > sectors {
                let (sector, end) = (request.sector, request.end());
                return Err(Refused::BeyondEnd { sector, end, sectors });
            }
            let is_data = request.op != Op::Discard;
            if request.sectors == 0 || is_data && request.sectors > MOST_SECTORS {
                return Err(Refused::Size { sectors: request.sectors });
            }
        }
        self.outstanding[usize::from(tag)] = true;
        self.count += 1;
        self.stack.submit(now_ns, request);
        Ok(())
    }

    /// The next completion that is due; call it until there is none.
    pub fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        let done = self.stack.poll(now_ns)?;
        self.outstanding[usize::from(done.tag)] = false;
        self.count -= 1;
        Some(done)
    }

    /// When to poll next; `None`: not before the next request.
    #[must_use]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.stack.next_event_ns()
    }
}

fn checked_size(sheet: &Sheet, options: &DeviceOptions) -> Result<u64, DeviceError> {
    let model = || sheet.name.clone();
    let capacity_bytes = sheet.capacity_bytes;
    let size_bytes = options.size_bytes.unwrap_or(capacity_bytes);
    if size_bytes > capacity_bytes {
        return Err(DeviceError::TooLarge { model: model(), size_bytes, capacity_bytes });
    }
    if !size_bytes.is_multiple_of(SECTOR_BYTES) {
        return Err(DeviceError::NotAligned { model: model(), size_bytes });
    }
    let flash = sheet.flash.as_ref();
    let least_bytes = flash.map_or(LEAST_BYTES, |flash| LEAST_BYTES.max(flash.program_bytes * 64));
    if size_bytes < least_bytes {
        return Err(DeviceError::TooSmall { model: model(), size_bytes, least_bytes });
    }
    if let Some(flash) = flash {
        let most_bytes = UNITS_MOST * flash.unit_bytes;
        if size_bytes > most_bytes {
            return Err(DeviceError::MapTooLarge { model: model(), size_bytes, most_bytes });
        }
    }
    Ok(size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::sheet;

    #[test]
    fn sizes_that_cannot_be_are_refused_in_one_sentence() {
        let disk = sheet("hdd-2007").unwrap();
        let with =
            |size_bytes| DeviceOptions { size_bytes: Some(size_bytes), ..Default::default() };
        let error = |size_bytes| {
            VirtualDevice::new(&disk, &with(size_bytes)).err().expect("refused").to_string()
        };
        assert!(error(1 << 42).contains("hdd-2007: 4398046511104 bytes are more than the"));
        assert!(error(4096).contains("too small; ask for at least 1048576"));
        assert!(error((8 << 30) + 1).contains("no whole sectors"));
        let device = VirtualDevice::new(&disk, &with(8 << 30)).unwrap();
        assert_eq!((device.size_bytes(), device.is_rotating()), (8 << 30, true));
    }

    #[test]
    fn what_a_driver_must_not_send_is_refused_and_does_nothing() {
        let options = DeviceOptions { size_bytes: Some(1 << 30), ..Default::default() };
        let mut device = VirtualDevice::new(&sheet("hdd-2012").unwrap(), &options).unwrap();
        let end = (1 << 30) / SECTOR_BYTES;
        let depth = device.queue_depth();
        let too_many = u16::try_from(depth).unwrap();
        assert_eq!(
            device.submit(0, Request::read(too_many, 0, 8)),
            Err(Refused::Tag { tag: too_many, depth })
        );
        assert!(matches!(
            device.submit(0, Request::read(0, end - 4, 8)),
            Err(Refused::BeyondEnd { .. })
        ));
        assert_eq!(
            device.submit(0, Request::read(0, 0, MOST_SECTORS + 1)),
            Err(Refused::Size { sectors: MOST_SECTORS + 1 })
        );
        assert_eq!(device.outstanding(), 0);
        device.submit(0, Request::read(0, end - 8, 8)).unwrap();
        assert_eq!(device.submit(0, Request::read(0, 0, 8)), Err(Refused::TagInUse { tag: 0 }));
        assert_eq!(device.outstanding(), 1);
    }
}
