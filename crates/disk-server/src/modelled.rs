//! A device model with its contents and, where it is asked for, its write log, as a guest's disk.

use super::message::{Description, Features, Op, Request, Status};
use super::server::{Disk, DiskError};
use fsarena_vdisk::{
    Completion, DeviceError, DeviceOptions, Discarded, Fault, Outcome, Piece,
    Request as ModelRequest, SECTOR_BYTES, Store, Strike, UnknownModel, View, VirtualDevice,
    WriteLog, builtin,
};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::path::Path;

/// Largest read or write: the default of most disks.
const TRANSFER_MAX_BYTES: u32 = 1 << 20;

/// A disk to be made: its model and size, and where its contents are kept.
#[derive(Clone, Copy, Debug)]
pub struct DiskOrder<'a> {
    pub model: &'a str,
    pub size_bytes: u64,
    /// A directory, for a file without a name; absent: memory.
    pub store_dir: Option<&'a Path>,
}

/// Why a disk could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DiskOrderError {
    #[error(transparent)]
    Model(#[from] UnknownModel),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("a file for the disk: {0}")]
    File(#[from] io::Error),
}

impl DiskOrder<'_> {
    /// An empty one whose angle at the start comes from the seed.
    ///
    /// # Errors
    /// Where there is no such model, it cannot have this size, or its file cannot be made.
    pub fn make(&self, seed: u64) -> Result<ModelledDisk, DiskOrderError> {
        self.made(self.device(seed)?, None)
    }

    /// The same, and its writes go into `log`.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    pub fn make_logged(&self, seed: u64, log: WriteLog) -> Result<ModelledDisk, DiskOrderError> {
        self.made(self.device(seed)?, Some(log))
    }

    /// The same, and these faults strike.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    pub fn make_faulty(
        &self,
        seed: u64,
        log: WriteLog,
        faults: Vec<Fault>,
    ) -> Result<ModelledDisk, DiskOrderError> {
        self.made(self.device_with(seed, faults)?, Some(log))
    }

    /// The model with contents that are there already, as they are after the writes of `log` that
    /// are `there`, which a flash device has in its map. What is written to it goes into a log
    /// where that `is_logged`. Discards are not announced.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    pub fn make_over<'v>(
        &self,
        seed: u64,
        view: View<'v>,
        (log, there): (&WriteLog, impl Iterator<Item = Piece>),
        is_logged: bool,
    ) -> Result<ModelledDisk<View<'v>>, DiskOrderError> {
        let mut device = self.device(seed)?;
        let ahead_ns = if device.is_rotating() { 0 } else { written_ns(&mut device, log, there) };
        let written = is_logged.then(WriteLog::in_memory);
        let disk = ModelledDisk::new(device, view, written);
        Ok(ModelledDisk { ahead_ns, has_discard: false, ..disk })
    }

    /// The device alone, without contents.
    pub fn device(&self, seed: u64) -> Result<VirtualDevice, DiskOrderError> {
        self.device_with(seed, Vec::new())
    }

    fn device_with(&self, seed: u64, faults: Vec<Fault>) -> Result<VirtualDevice, DiskOrderError> {
        let sheet = builtin(self.model)?;
        let size_bytes = Some(self.size_bytes);
        let options = DeviceOptions { size_bytes, seed, faults, ..DeviceOptions::default() };
        Ok(VirtualDevice::new(&sheet, &options)?)
    }

    fn made(
        &self,
        device: VirtualDevice,
        log: Option<WriteLog>,
    ) -> Result<ModelledDisk, DiskOrderError> {
        let store = match self.store_dir {
            None => Store::in_memory(self.size_bytes, Discarded::Zeros),
            Some(dir) => {
                let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
                let file = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR);
                let file = File::from(file.map_err(io::Error::from)?);
                Store::over(file, self.size_bytes, Discarded::Zeros)?
            }
        };
        Ok(ModelledDisk::new(device, store, log))
    }
}

/// Writes these pieces one after the other; the time of the device when it is done, ns.
fn written_ns(
    device: &mut VirtualDevice,
    log: &WriteLog,
    there: impl Iterator<Item = Piece>,
) -> u64 {
    let mut now_ns = 0;
    let is_write = |piece: &Piece| {
        log.entries().get(piece.entry as usize).is_some_and(|entry| entry.kind.is_write())
    };
    for Piece { sector, sectors, .. } in there.filter(is_write) {
        let Ok(sectors) = u32::try_from(sectors) else { continue };
        // One that the device refuses is of no log of it.
        if device.submit(now_ns, ModelRequest::write(0, sector, sectors)).is_ok() {
            while device.poll(now_ns).is_none() {
                let Some(next_ns) = device.next_event_ns() else { break };
                now_ns = now_ns.max(next_ns);
            }
        }
    }
    now_ns
}

/// What is on a disk.
pub trait Contents: Send {
    /// Reads whole sectors.
    ///
    /// # Errors
    /// Of the files behind it.
    fn read(&self, sector: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes whole sectors.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()>;

    /// Sectors are not needed any more.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn discard(&mut self, sector: u64, sectors: u64) -> io::Result<()>;
}

impl Contents for Store {
    fn read(&self, sector: u64, into: &mut [u8]) -> io::Result<()> {
        self.read(sector, into)
    }

    fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()> {
        self.write(sector, data)
    }

    fn discard(&mut self, sector: u64, sectors: u64) -> io::Result<()> {
        self.discard(sector, sectors)
    }
}

impl Contents for View<'_> {
    fn read(&self, sector: u64, into: &mut [u8]) -> io::Result<()> {
        self.read(sector, into)
    }

    fn write(&mut self, sector: u64, data: &[u8]) -> io::Result<()> {
        self.write(sector, data)
    }

    /// Is not announced.
    fn discard(&mut self, _sector: u64, _sectors: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A virtual device and what is on it.
///
/// A write is in the contents when it completes, and a read sees what is there when it completes.
/// Force unit access is not announced, so that the kernel sends a flush behind the write instead,
/// as to a SATA disk and to a loop device.
pub struct ModelledDisk<C = Store> {
    device: VirtualDevice,
    contents: C,
    log: Option<WriteLog>,
    /// The time of the device is so much later than that of the guest.
    ahead_ns: u64,
    /// Whether discards are announced where the device has them.
    has_discard: bool,
    /// By tag.
    outstanding: Vec<Outstanding>,
}

/// A request that the device has.
struct Outstanding {
    request: ModelRequest,
    submitted_ns: u64,
    /// Of a write.
    data: Vec<u8>,
}

impl<C: Contents> ModelledDisk<C> {
    /// The device with these contents, which have its size.
    #[must_use]
    pub fn new(device: VirtualDevice, contents: C, log: Option<WriteLog>) -> Self {
        let nothing =
            |_| Outstanding { request: ModelRequest::flush(0), submitted_ns: 0, data: Vec::new() };
        let outstanding = (0..device.queue_depth()).map(nothing).collect();
        Self { device, contents, log, ahead_ns: 0, has_discard: true, outstanding }
    }

    /// The first requests that a fault has struck, and how many there were in all.
    #[must_use]
    pub fn strikes(&self) -> (&[Strike], u64) {
        self.device.strikes()
    }

    /// What is on it, before it is used.
    pub fn contents_mut(&mut self) -> &mut C {
        &mut self.contents
    }

    /// What is on it, and its log.
    #[must_use]
    pub fn into_contents(self) -> (C, Option<WriteLog>) {
        (self.contents, self.log)
    }

    /// What became of a request has come to pass: it is in the contents and in the log.
    fn complete(&mut self, done: &Completion) -> Result<(), DiskError> {
        let Outstanding { request, submitted_ns, data } = &self.outstanding[usize::from(done.tag)];
        match (request.op, done.outcome) {
            (_, Outcome::MediumError) => {}
            (fsarena_vdisk::Op::Write, Outcome::Done) => {
                self.contents.write(request.sector, data)?
            }
            (fsarena_vdisk::Op::Write, Outcome::Torn { sectors }) => {
                let there = bytes_of(u64::from(sectors)).min(data.len());
                self.contents.write(request.sector, &data[..there])?;
            }
            (fsarena_vdisk::Op::Discard, _) => {
                self.contents.discard(request.sector, u64::from(request.sectors))?;
            }
            (fsarena_vdisk::Op::Read | fsarena_vdisk::Op::Flush, _) => {}
        }
        if let Some(log) = &mut self.log {
            // Without a cache that loses its contents, a write is on the medium when it is done.
            let is_forced = request.fua || !self.device.has_volatile_cache();
            let request = ModelRequest { fua: is_forced, ..*request };
            log.completed(&request, *submitted_ns, done, data)?;
        }
        Ok(())
    }
}

impl<C: Contents> Disk for ModelledDisk<C> {
    fn description(&self) -> Description {
        let sectors = self.device.size_bytes() / SECTOR_BYTES;
        // Disks had no discard; flash and cards do.
        let is_rotating = self.device.is_rotating();
        let has_discard = self.has_discard && !is_rotating;
        let discard_max_sectors = if has_discard { u32::MAX >> 9 } else { 0 };
        Description {
            queue_depth: self.device.queue_depth(),
            transfer_max_bytes: TRANSFER_MAX_BYTES,
            discard_max_sectors,
            write_zeroes_max_sectors: 0,
            features: Features {
                volatile_cache: self.device.has_volatile_cache(),
                fua: false,
                rotational: is_rotating,
                at_once: false,
                mapped: false,
            },
            ..Description::with_sectors(sectors)
        }
    }

    fn submit(&mut self, now_ns: u64, request: &Request, data: &[u8]) -> Result<(), DiskError> {
        let asked = model_request(request)
            .ok_or_else(|| DiskError::Refused(format!("{request:?} is none that was announced")))?;
        let taken = self.device.submit(now_ns.saturating_add(self.ahead_ns), asked);
        taken.map_err(|refused| DiskError::Refused(refused.to_string()))?;
        let outstanding = &mut self.outstanding[usize::from(asked.tag)];
        outstanding.request = asked;
        outstanding.submitted_ns = now_ns;
        outstanding.data.clear();
        outstanding.data.extend_from_slice(data);
        Ok(())
    }

    fn poll(&mut self, now_ns: u64) -> Result<Option<(u32, Status)>, DiskError> {
        Ok(self.poll_at(now_ns)?.map(|(tag, status, _)| (tag, status)))
    }

    fn poll_at(&mut self, now_ns: u64) -> Result<Option<(u32, Status, u64)>, DiskError> {
        let done = self.device.poll(now_ns.saturating_add(self.ahead_ns));
        if let Some(at_ns) = self.device.power_cut_ns() {
            let at_ns = at_ns.saturating_sub(self.ahead_ns);
            return Err(DiskError::PowerCut { at_ns });
        }
        let Some(mut done) = done else { return Ok(None) };
        done.at_ns = done.at_ns.saturating_sub(self.ahead_ns);
        self.complete(&done)?;
        let status = match done.outcome {
            Outcome::MediumError => Status::IoError,
            // The device says that it is done.
            Outcome::Done | Outcome::Torn { .. } => Status::Done,
        };
        Ok(Some((u32::from(done.tag), status, done.at_ns)))
    }

    fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError> {
        Ok(self.contents.read(request.sector, into)?)
    }

    fn next_event_ns(&self) -> Option<u64> {
        Some(self.device.next_event_ns()?.saturating_sub(self.ahead_ns))
    }

    fn log(&self) -> Option<&WriteLog> {
        self.log.as_ref()
    }
}

/// A size in memory.
fn bytes_of(sectors: u64) -> usize {
    usize::try_from(sectors * SECTOR_BYTES).unwrap_or(usize::MAX)
}

/// The same for a model; `None` where it is none that the description allows for.
fn model_request(request: &Request) -> Option<ModelRequest> {
    let op = match request.op {
        Op::Read => fsarena_vdisk::Op::Read,
        Op::Write => fsarena_vdisk::Op::Write,
        Op::Flush => fsarena_vdisk::Op::Flush,
        Op::Discard => fsarena_vdisk::Op::Discard,
        Op::WriteZeroes => return None,
    };
    let sectors = u32::try_from(request.bytes / SECTOR_BYTES).ok()?;
    let is_whole = request.bytes.is_multiple_of(SECTOR_BYTES);
    let (tag, sector, fua) = (u16::try_from(request.tag).ok()?, request.sector, request.fua);
    is_whole.then_some(ModelRequest { tag, op, sector, sectors, fua })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{EntryKind, FaultKind};

    const SIZE_BYTES: u64 = 1 << 30;

    fn disk(model: &str, faults: Vec<Fault>) -> ModelledDisk {
        let sheet = fsarena_vdisk::builtin(model).unwrap();
        let options = DeviceOptions { size_bytes: Some(SIZE_BYTES), faults, ..Default::default() };
        let device = VirtualDevice::new(&sheet, &options).unwrap();
        let store = Store::in_memory(SIZE_BYTES, Discarded::Zeros);
        ModelledDisk::new(device, store, Some(WriteLog::in_memory()))
    }

    fn request(tag: u32, op: Op, sector: u64, bytes: u64) -> Request {
        Request { tag, op, sector, bytes, fua: false, flags: 0 }
    }

    #[test]
    fn a_write_is_durable_when_it_is_done_where_no_cache_can_lose_it() {
        for (model, kind) in [("const", EntryKind::WriteFua), ("hdd-2007", EntryKind::Write)] {
            let mut disk = disk(model, Vec::new());
            disk.submit(0, &request(1, Op::Write, 8, 4096), &[7; 4096]).unwrap();
            wait(&mut disk);
            let (_, log) = disk.into_contents();
            assert_eq!(log.unwrap().entries()[0].kind, kind, "{model}");
        }
    }

    /// Waits for the one that is outstanding; when it was done, and how.
    fn wait<C: Contents>(disk: &mut ModelledDisk<C>) -> (u64, Status) {
        let mut now_ns = 0;
        loop {
            now_ns = disk.next_event_ns().expect("something is outstanding").max(now_ns);
            if let Some((_, status)) = disk.poll(now_ns).unwrap() {
                return (now_ns, status);
            }
        }
    }

    #[test]
    fn a_write_takes_as_long_as_on_the_model_and_is_read_and_logged() {
        let mut disk = disk("hdd-2007", Vec::new());
        assert!(disk.description().features.volatile_cache);
        assert_eq!(disk.description().discard_max_sectors, 0);
        let write = request(0, Op::Write, 4096, 4096);
        disk.submit(1000, &write, &[7; 4096]).unwrap();
        let mut got = [0; 4096];
        disk.read(&request(0, Op::Read, 4096, 4096), &mut got).unwrap();
        assert_eq!(got, [0; 4096], "not before it is done");
        let (done_ns, status) = wait(&mut disk);
        assert!(done_ns > 1000 && status == Status::Done);
        disk.submit(done_ns, &request(1, Op::Flush, 0, 0), &[]).unwrap();
        let (flushed_ns, _) = wait(&mut disk);
        assert!(flushed_ns - done_ns > 1_000_000, "a flush of a disk takes a seek: {flushed_ns}");
        disk.submit(flushed_ns, &request(0, Op::Read, 4096, 4096), &[]).unwrap();
        wait(&mut disk);
        disk.read(&request(0, Op::Read, 4096, 4096), &mut got).unwrap();
        assert_eq!(got, [7; 4096]);
        let (_, log) = disk.into_contents();
        let kinds: Vec<EntryKind> = log.unwrap().entries().iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [EntryKind::Write, EntryKind::Flush]);
    }

    #[test]
    fn faults_of_the_device_are_what_the_guest_meets() {
        let mut bad = disk("const", vec![Fault::every(FaultKind::MediumError)]);
        bad.submit(0, &request(0, Op::Write, 0, 4096), &[7; 4096]).unwrap();
        assert_eq!(wait(&mut bad).1, Status::IoError);
        let mut torn = disk("const", vec![Fault::every(FaultKind::Torn)]);
        torn.submit(0, &request(0, Op::Write, 0, 4096), &[7; 4096]).unwrap();
        assert_eq!(wait(&mut torn).1, Status::Done);
        let mut got = [0; 4096];
        torn.read(&request(0, Op::Read, 0, 4096), &mut got).unwrap();
        assert!(got[..2048] == [7; 2048] && got[2048..] == [0; 2048]);
        let mut cut = disk("const", vec![Fault::every(FaultKind::PowerCut)]);
        cut.submit(5, &request(0, Op::Write, 0, 4096), &[7; 4096]).unwrap();
        let error = cut.poll(1_000_000_000).unwrap_err();
        assert!(matches!(error, DiskError::PowerCut { at_ns: 5 }), "{error}");
    }

    #[test]
    fn a_view_takes_as_long_as_the_model_and_flash_has_it_in_its_map() {
        let base = Store::in_memory(SIZE_BYTES, Discarded::Zeros);
        let mut log = WriteLog::in_memory();
        let done = Completion { tag: 0, at_ns: 5, outcome: Outcome::Done };
        log.completed(&ModelRequest::write(0, 4096, 8), 0, &done, &[7; 4096]).unwrap();
        let piece = Piece { entry: 0, sector: 4096, sectors: 8 };
        for (model, read_ns) in [("hdd-2007", 1_000_000..40_000_000), ("ssd-x25m", 50_000..400_000)]
        {
            let order = DiskOrder { model, size_bytes: SIZE_BYTES, store_dir: None };
            let view = View::of_pieces(&base, &log, [piece]);
            let mut disk = order.make_over(3, view, (&log, [piece].into_iter()), true).unwrap();
            assert_eq!(disk.description().discard_max_sectors, 0, "{model}");
            let read = request(0, Op::Read, 4096, 4096);
            disk.submit(0, &read, &[]).unwrap();
            let (done_ns, _) = wait(&mut disk);
            assert!(read_ns.contains(&done_ns), "{model}: {done_ns}");
            let mut got = [0; 4096];
            disk.read(&read, &mut got).unwrap();
            assert_eq!(got, [7; 4096]);
            disk.submit(done_ns, &request(0, Op::Write, 8, 512), &[9; 512]).unwrap();
            let (written_ns, _) = wait(&mut disk);
            let written = disk.into_contents().1.unwrap();
            let entry = &written.entries()[0];
            assert_eq!((entry.submitted_ns, entry.completed_ns), (done_ns, written_ns), "{model}");
        }
    }

    #[test]
    fn what_was_not_announced_is_refused() {
        let mut disk = disk("const", Vec::new());
        let error = disk.submit(0, &request(0, Op::WriteZeroes, 0, 4096), &[]).unwrap_err();
        assert!(error.to_string().contains("none that was announced"), "{error}");
        let beyond = request(0, Op::Read, SIZE_BYTES / 512, 4096);
        let error = disk.submit(0, &beyond, &[]).unwrap_err().to_string();
        assert!(error.contains("are not on a device of"), "{error}");
    }
}
