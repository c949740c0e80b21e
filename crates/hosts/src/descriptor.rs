//! A connection of a rank on its way to the process that speaks for the rank in a phase: the runner
//! has it, and hands it over a Unix socket in a directory of its own.

use crate::handshake::{HandshakeError, message, of_connection, say};
use fsarena_bounded::Bounded;
use fsarena_model::visible;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::ErrorKind::{Interrupted, WouldBlock};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

const WITH_CONNECTION: u8 = b'+';
const WITHOUT: u8 = b'-';
/// Bytes of the number of a rank, at most.
const QUESTION_MOST_BYTES: usize = 16;
/// Bytes of a reason, at most.
const REASON_MOST_BYTES: u64 = 1000;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The runner cannot be asked.
    #[error("the runner cannot be asked: {0}")]
    Runner(#[from] io::Error),
    /// There is none.
    #[error("{0}")]
    None(String),
}

/// Asks the runner at the other end for the connection of a rank, which has been told to begin.
///
/// # Errors
/// When the runner is gone, or the rank is.
pub fn request_connection(runner: &mut UnixStream, rank: u32) -> Result<TcpStream, RequestError> {
    say(runner, &rank).map_err(|error| io::Error::other(error.to_string()))?;
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    rustix::io::retry_on_intr(|| recvmsg(&*runner, &mut into, &mut control, flags))
        .map_err(io::Error::from)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    if let Some(descriptor) = descriptor {
        return Ok(descriptor.into());
    }
    let reason = Bounded::new(runner, REASON_MOST_BYTES).beginning()?;
    let reason = String::from_utf8_lossy(&reason);
    if byte[0] != WITHOUT || reason.is_empty() {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Err(RequestError::None(visible::one_line(&reason).into_owned()))
}

/// A process that asks for the connection of a rank.
#[derive(Debug)]
pub(crate) struct Request {
    process: UnixStream,
    line: Vec<u8>,
}

impl Request {
    pub(crate) fn new(process: UnixStream) -> Self {
        Self { process, line: Vec::new() }
    }

    /// The rank that it asks for, once all of the question has come; waits as the socket does.
    ///
    /// # Errors
    /// When it is gone, or asks for something else.
    pub(crate) fn rank(&mut self) -> Result<Option<u32>, HandshakeError> {
        let mut bytes = [0; QUESTION_MOST_BYTES];
        let count = match self.process.read(&mut bytes) {
            Ok(0) => return Err(HandshakeError::Closed),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), WouldBlock | Interrupted) => return Ok(None),
            Err(error) => return Err(of_connection(error)),
        };
        self.line.extend_from_slice(&bytes[..count]);
        match self.line.split_last() {
            Some((b'\n', line)) => message(line).map(Some),
            _ if self.line.len() < QUESTION_MOST_BYTES => Ok(None),
            _ => Err(HandshakeError::Foreign),
        }
    }

    /// Answers with the connection, or with the reason why there is none.
    ///
    /// # Errors
    /// When the process is gone. It takes nothing then: the rank sees its connection end.
    pub(crate) fn answer(mut self, connection: Result<TcpStream, String>) -> io::Result<()> {
        match connection {
            Ok(connection) => send(&self.process, &connection),
            Err(reason) => {
                self.process.write_all(&[WITHOUT])?;
                self.process.write_all(reason.as_bytes())
            }
        }
    }
}

impl AsFd for Request {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }
}

fn send(process: &UnixStream, connection: &TcpStream) -> io::Result<()> {
    let descriptors: [BorrowedFd<'_>; 1] = [connection.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    let from = [IoSlice::new(&[WITH_CONNECTION])];
    rustix::io::retry_on_intr(|| sendmsg(process, &from, &mut control, SendFlags::NOSIGNAL))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_goes_to_another_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        let (mut asks, answers) = UnixStream::pair().unwrap();
        let runner = std::thread::spawn(move || {
            let mut request = Request::new(answers);
            assert_eq!(request.rank().unwrap(), Some(5));
            request.answer(Ok(ours)).unwrap();
        });
        let mut connection = request_connection(&mut asks, 5).unwrap();
        runner.join().unwrap();
        connection.write_all(b"x").unwrap();
        drop(connection);
        let mut all = String::new();
        far.read_to_string(&mut all).unwrap();
        assert_eq!(all, "x", "no other descriptor is left open");
    }

    #[test]
    fn without_a_connection_there_is_a_reason() {
        let (mut asks, answers) = UnixStream::pair().unwrap();
        let runner = std::thread::spawn(move || {
            let mut request = Request::new(answers);
            request.rank().unwrap();
            request.answer(Err("it has ended".to_owned())).unwrap();
        });
        let error = request_connection(&mut asks, 0).unwrap_err();
        runner.join().unwrap();
        assert_eq!(error.to_string(), "it has ended");
        let (mut asks, answers) = UnixStream::pair().unwrap();
        drop(answers);
        assert!(matches!(request_connection(&mut asks, 0), Err(RequestError::Runner(_))));
        let (mut asks, answers) = UnixStream::pair().unwrap();
        asks.write_all(&[b'1'; QUESTION_MOST_BYTES]).unwrap();
        let foreign = Request::new(answers).rank();
        assert!(matches!(foreign, Err(HandshakeError::Foreign)), "{foreign:?}");
    }
}
