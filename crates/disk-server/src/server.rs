//! Carries the messages of one connection to the disk behind it.

use super::message::{self, Description, MESSAGE_BYTES, Message, Op, Request, Status, VERSION};
use fsarena_vdisk::{View, WriteLog};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};

/// The latest time of a message: 146 years after the guest was booted. Models add to it.
const TIME_MOST_NS: u64 = 1 << 62;

/// A device with its contents.
pub trait Disk: Send {
    /// How the guest is to see it; asked once.
    fn description(&self) -> Description;

    /// Takes a request; `data` are those of a write. Times never decrease.
    ///
    /// # Errors
    /// A request that no guest may send: the guest panics.
    fn submit(&mut self, now_ns: u64, request: &Request, data: &[u8]) -> Result<(), DiskError>;

    /// The next request that is done by now; called until there is none. A disk that answers at
    /// once ([`Features::at_once`](message::Features)) has done the request that it was given last.
    ///
    /// # Errors
    /// Where nothing will ever be done any more: the guest panics.
    fn poll(&mut self, now_ns: u64) -> Result<Option<(u32, Status)>, DiskError>;

    /// The same with the time at which it was done, ns: what a driver in real time needs, who is
    /// late.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    fn poll_at(&mut self, now_ns: u64) -> Result<Option<(u32, Status, u64)>, DiskError> {
        Ok(self.poll(now_ns)?.map(|(tag, status)| (tag, status, now_ns)))
    }

    /// The data of a read that is done.
    ///
    /// # Errors
    /// Where the contents cannot be read: the guest panics.
    fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError>;

    /// When to poll next; `None`: not before the next request.
    fn next_event_ns(&self) -> Option<u64>;

    /// A file whose contents the guest maps instead of asking, where the device is mapped.
    fn mapped(&self) -> Option<&File> {
        None
    }

    /// Takes other contents, in the place of these and of all that was written to it.
    ///
    /// # Errors
    /// Where there are none: the guest panics.
    fn take_next_contents(&mut self) -> Result<(), DiskError> {
        Err(DiskError::Refused("it has no further contents".to_owned()))
    }

    /// Its contents, where they are those after a power cut.
    fn view(&self) -> Option<&View<'_>> {
        None
    }

    /// What was written to it, where it is logged.
    fn log(&self) -> Option<&WriteLog> {
        None
    }
}

/// Why a disk does not go on. An error that a device reports to its driver is a [`Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error("the disk refused a request of the guest: {0}")]
    Refused(String),
    #[error("the contents of the disk: {0}")]
    Contents(#[from] io::Error),
    #[error("the power was cut at {at_ns} ns")]
    PowerCut { at_ns: u64 },
}

/// Why a connection was given up.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the connection of the guest broke: {0}")]
    Connection(String),
    #[error(
        "the guest speaks version {0} of the disk protocol, and this program version {VERSION}"
    )]
    Version(u64),
    #[error("the guest sent a message that there is not: {0}")]
    Unknown(u32),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl ServeError {
    fn refused(why: String) -> Self {
        Self::Disk(DiskError::Refused(why))
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Connection(error.to_string())
    }
}

/// Answers until the guest ends; how many messages there were.
///
/// # Errors
/// When the guest cannot be answered any more.
pub fn serve(stream: &mut (impl Read + Write), disk: &mut dyn Disk) -> Result<u64, ServeError> {
    let about = disk.description();
    let (outstanding, data) = (HashMap::new(), Vec::new());
    let mut session = Session { disk, about, outstanding, data, now_ns: 0 };
    let mut count = 0;
    let mut bytes = [0; MESSAGE_BYTES];
    while begins(stream, &mut bytes)? {
        count += 1;
        let answer = match Message::decoded(&bytes) {
            Some(message) => session.answer(stream, message),
            None => {
                let [a, b, c, d, ..] = bytes;
                Err(ServeError::Unknown(u32::from_le_bytes([a, b, c, d])))
            }
        };
        match answer {
            Ok(answer) => stream.write_all(&answer)?,
            Err(error) => {
                // The guest says so in its last line; whether that comes through does not matter.
                let _ = stream.write_all(&message::reply(None, 0, 1));
                return Err(error);
            }
        }
    }
    Ok(count)
}

/// Reads a message; `false` at the end of the stream.
fn begins(stream: &mut impl Read, bytes: &mut [u8; MESSAGE_BYTES]) -> io::Result<bool> {
    let ended = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
    };
    match stream.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if ended(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

struct Session<'d> {
    disk: &'d mut dyn Disk,
    about: Description,
    /// What the disk has, by tag: at most as many as its queue is deep.
    outstanding: HashMap<u32, Request>,
    /// Of the write that is taken.
    data: Vec<u8>,
    /// Of the latest message: a disk is never told an earlier time.
    now_ns: u64,
}

impl Session<'_> {
    fn answer(&mut self, stream: &mut impl Read, message: Message) -> Result<Vec<u8>, ServeError> {
        match message {
            Message::Hello { version } if version == u64::from(VERSION) => {
                let mut answer = message::reply(None, 0, 0).to_vec();
                answer.extend(self.about.encoded());
                Ok(answer)
            }
            Message::Hello { version } => Err(ServeError::Version(version)),
            Message::Next if self.outstanding.is_empty() => {
                self.disk.take_next_contents()?;
                Ok(message::reply(None, 0, 0).to_vec())
            }
            Message::Next => {
                let why = "other contents are asked for while it has requests".to_owned();
                Err(ServeError::refused(why))
            }
            Message::Poll { now_ns } => {
                let now_ns = self.time(now_ns)?;
                Ok(self.poll(now_ns)?)
            }
            Message::Submit { now_ns, request } => {
                let now_ns = self.time(now_ns)?;
                self.take_data(stream, &request)?;
                let in_use = self.outstanding.insert(request.tag, request).is_some();
                if in_use || request.tag >= self.about.queue_depth {
                    let why = format!("tag {} is in use or beyond the queue", request.tag);
                    return Err(ServeError::refused(why));
                }
                self.disk.submit(now_ns, &request, &self.data)?;
                if self.about.features.at_once {
                    return Ok(self.poll(now_ns)?);
                }
                Ok(message::reply(self.disk.next_event_ns(), 0, 0).to_vec())
            }
        }
    }

    /// The time of a message.
    fn time(&mut self, now_ns: u64) -> Result<u64, ServeError> {
        if now_ns > TIME_MOST_NS {
            return Err(ServeError::refused(format!("it is {now_ns} ns, which no guest runs for")));
        }
        self.now_ns = self.now_ns.max(now_ns);
        Ok(self.now_ns)
    }

    fn take_data(&mut self, stream: &mut impl Read, request: &Request) -> Result<(), ServeError> {
        let is_data = matches!(request.op, Op::Read | Op::Write);
        if is_data && request.bytes > u64::from(self.about.transfer_max_bytes) {
            let why = format!("{} bytes in one request", request.bytes);
            return Err(ServeError::refused(why));
        }
        let bytes = if request.op == Op::Write { request.bytes } else { 0 };
        self.data.resize(usize::try_from(bytes).expect("below the limit of a transfer"), 0);
        Ok(stream.read_exact(&mut self.data)?)
    }

    fn poll(&mut self, now_ns: u64) -> Result<Vec<u8>, DiskError> {
        let (mut count, mut body) = (0, Vec::new());
        while let Some((tag, status)) = self.disk.poll(now_ns)? {
            let Some(request) = self.outstanding.remove(&tag) else { continue };
            count += 1;
            let is_read = request.op == Op::Read && status == Status::Done;
            let data_bytes = if is_read { request.bytes } else { 0 };
            let data_bytes = u32::try_from(data_bytes).expect("below the limit of a transfer");
            body.extend(message::completion(tag, status, data_bytes));
            if is_read {
                let from = body.len();
                body.resize(from + data_bytes as usize, 0);
                self.disk.read(&request, &mut body[from..])?;
            }
        }
        let mut answer = message::reply(self.disk.next_event_ns(), count, 0).to_vec();
        answer.append(&mut body);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConstantDisk, CrashViewDisk};
    use fsarena_vdisk::{Discarded, Store};
    use std::os::unix::net::UnixStream;

    /// A guest: what it sends and what it is answered.
    struct Client(UnixStream);

    impl Client {
        fn send(&mut self, words: [u64; 4], op: u32, tag: u32, data: &[u8]) {
            let [now_ns, sector, bytes, flags] = words;
            let mut message = Vec::new();
            message.extend(op.to_le_bytes());
            message.extend(tag.to_le_bytes());
            for word in [now_ns, sector, bytes, flags] {
                message.extend(word.to_le_bytes());
            }
            message.extend(data);
            self.0.write_all(&message).unwrap();
        }

        fn get(&mut self, bytes: usize) -> Vec<u8> {
            let mut got = vec![0; bytes];
            self.0.read_exact(&mut got).unwrap();
            got
        }

        fn next_event_ns(&mut self) -> u64 {
            u64::from_le_bytes(self.get(16)[..8].try_into().unwrap())
        }
    }

    fn with_disk(talk: impl FnOnce(&mut Client)) -> Result<u64, ServeError> {
        with(&mut ConstantDisk::new(1 << 20, 1000), talk)
    }

    fn with(disk: &mut dyn Disk, talk: impl FnOnce(&mut Client)) -> Result<u64, ServeError> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let served = scope.spawn(move || serve(&mut theirs, disk));
            let mut client = Client(ours);
            talk(&mut client);
            drop(client);
            served.join().unwrap()
        })
    }

    #[test]
    fn what_was_written_is_read_when_its_time_has_come() {
        let count = with_disk(|guest| {
            guest.send([0, 0, 4, 0], 0, 0, &[]);
            assert_eq!(guest.get(16)[12..], [0; 4]);
            assert_eq!(&guest.get(56)[..8], b"FSVDISK1");
            guest.send([100, 8, 512, 0], 3, 0, &[7; 512]);
            assert_eq!(guest.next_event_ns(), 1100);
            guest.send([1099, 0, 0, 0], 1, 0, &[]);
            assert_eq!(guest.get(16)[8..12], [0; 4], "not before its time");
            guest.send([1100, 0, 0, 0], 1, 0, &[]);
            assert_eq!(guest.get(16)[8..12], [1, 0, 0, 0]);
            assert_eq!(guest.get(16), completion_done(0, 0));
            guest.send([1200, 8, 1024, 0], 2, 0, &[]);
            assert_eq!(guest.next_event_ns(), 2200);
            guest.send([3000, 0, 0, 0], 1, 0, &[]);
            guest.get(16);
            assert_eq!(guest.get(16), completion_done(0, 1024));
            let data = guest.get(1024);
            assert!(data[..512] == [7; 512] && data[512..] == [0; 512]);
        });
        assert_eq!(count.unwrap(), 6);
    }

    #[test]
    fn a_disk_that_answers_at_once_completes_in_the_reply() {
        let base = Store::in_memory(1 << 20, Discarded::Zeros);
        let log = WriteLog::in_memory();
        let later = std::iter::once(Ok(View::prefix(&base, &log, 0)));
        let first = View::prefix(&base, &log, 0);
        let mut disk = CrashViewDisk::in_turn(first, Box::new(later), 1 << 20);
        let count = with(&mut disk, |guest| {
            guest.send([0, 0, 4, 0], 0, 0, &[]);
            guest.get(16);
            assert_eq!(guest.get(56)[52], 1 | 2 | 8, "it says that it does");
            let done = [[0xff; 8], [1, 0, 0, 0, 0, 0, 0, 0]].concat();
            guest.send([100, 8, 512, 0], 3, 5, &[7; 512]);
            assert_eq!((guest.get(16), guest.get(16)), (done.clone(), completion_done(5, 0)));
            guest.send([100, 8, 1024, 0], 2, 6, &[]);
            assert_eq!((guest.get(16), guest.get(16)), (done, completion_done(6, 1024)));
            let data = guest.get(1024);
            assert!(data[..512] == [7; 512] && data[512..] == [0; 512]);
            guest.send([0; 4], 7, 0, &[]);
            assert_eq!(guest.get(16), [[0xff; 8], [0; 8]].concat());
            guest.send([200, 8, 512, 0], 2, 7, &[]);
            assert_eq!(guest.get(32)[16..], completion_done(7, 512));
            assert_eq!(guest.get(512), [0; 512], "what was written is gone");
        });
        assert_eq!(count.unwrap(), 5);
    }

    #[test]
    fn a_disk_is_never_told_an_earlier_time() {
        let count = with_disk(|guest| {
            guest.send([5000, 0, 0, 0], 1, 0, &[]);
            assert_eq!(guest.get(16)[8..12], [0; 4]);
            guest.send([100, 8, 512, 0], 3, 0, &[7; 512]);
            assert_eq!(guest.next_event_ns(), 6000);
        });
        assert_eq!(count.unwrap(), 2);
    }

    fn completion_done(tag: u32, data_bytes: u32) -> Vec<u8> {
        message::completion(tag, Status::Done, data_bytes).to_vec()
    }

    #[test]
    fn what_no_guest_may_send_is_refused_and_the_guest_is_told() {
        let refused = |words: [u64; 4], op: u32, tag: u32| {
            let error = with_disk(|guest| {
                guest.send(words, op, tag, &[]);
                assert_eq!(guest.get(16)[12..], [1, 0, 0, 0]);
            });
            error.unwrap_err().to_string()
        };
        assert!(refused([0, 0, 1, 0], 0, 0).contains("version 1 of the disk protocol"));
        assert!(refused([0; 4], 99, 0).ends_with("that there is not: 99"));
        assert!(refused([0; 4], 7, 0).contains("no further contents"));
        assert!(refused([0, 0, 512, 0], 2, 200).contains("tag 200 is in use or beyond"));
        assert!(refused([0, 0, 1 << 30, 0], 2, 0).contains("1073741824 bytes in one request"));
        assert!(refused([0, 1 << 40, 512, 0], 2, 0).contains("beyond the end"));
        assert!(refused([u64::MAX, 0, 512, 0], 2, 0).contains("which no guest runs for"));
        assert!(refused([u64::MAX, 0, 0, 0], 1, 0).contains("which no guest runs for"));
    }
}
