//! Compression of archives, with the levels that the command-line programs have by default.
//!
//! What comes out depends on what goes in alone, not on the number of processors: gzip is made by
//! one thread; bzip2 as streams of chunks of a fixed size, one behind the other, as the format
//! allows; xz and zstd by their own threads, whose blocks have fixed sizes too. Reading takes all
//! of a file: streams behind the first too, and anything else behind them is an error.

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use fsarena_model::job::Compression;
use liblzma::stream::{Check, MtStreamBuilder};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Levels of gzip, bzip2, xz and zstd where none is given.
const GZIP_LEVEL: u32 = 6;
const BZIP2_LEVEL: u32 = 9;
const XZ_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
/// What becomes one stream of bzip2, bytes: just less than a block of level 9, so that most streams
/// are one block.
const CHUNK_BYTES: usize = 899_900;

/// What a compressed `input` holds.
///
/// # Errors
/// What the decompressor says when it is set up; damage comes out of the reader.
pub fn reader<'a>(
    compression: Compression,
    input: impl Read + 'a,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(MultiGzDecoder::new(input)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(input)),
        Compression::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(input)),
        Compression::Zstd => Box::new(zstd::Decoder::new(input)?),
    })
}

/// Compresses what is written to it and writes it to `out`; [`Writer::finish`] has to be called.
/// Compresses with as many threads as there are processors.
///
/// # Errors
/// What the compressor says when it is set up.
pub fn writer<W: Write>(compression: Compression, out: W) -> io::Result<Writer<W>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    with_threads(compression, out, threads)
}

fn with_threads<W: Write>(
    compression: Compression,
    out: W,
    threads: usize,
) -> io::Result<Writer<W>> {
    let threads = threads.clamp(1, 64);
    let number = threads as u32;
    Ok(Writer(match compression {
        Compression::None => Inner::None(out),
        Compression::Gzip => {
            let level = flate2::Compression::new(GZIP_LEVEL);
            Inner::Gzip(flate2::write::GzEncoder::new(out, level))
        }
        Compression::Bzip2 => Inner::Bzip2(Chunks::new(out, threads)),
        Compression::Xz => {
            let mut builder = MtStreamBuilder::new();
            builder.threads(number).preset(XZ_LEVEL).check(Check::Crc64);
            Inner::Xz(liblzma::write::XzEncoder::new_stream(out, builder.encoder()?))
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(out, ZSTD_LEVEL)?;
            // One thread too: without any, other bytes come out.
            encoder.multithread(number)?;
            encoder.include_checksum(true)?;
            Inner::Zstd(encoder)
        }
    }))
}

/// A compressor; see [`writer`].
pub struct Writer<W: Write>(Inner<W>);

enum Inner<W: Write> {
    None(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(Chunks<W>),
    Xz(liblzma::write::XzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Writer<W> {
    /// Writes what is left and the end; gives back what was written to.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Inner::None(out) => Ok(out),
            Inner::Gzip(encoder) => encoder.finish(),
            Inner::Bzip2(chunks) => chunks.finish(),
            Inner::Xz(encoder) => encoder.finish(),
            Inner::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::None(out) => out.write(bytes),
            Inner::Gzip(encoder) => encoder.write(bytes),
            Inner::Bzip2(chunks) => chunks.take(bytes).map(|()| bytes.len()),
            Inner::Xz(encoder) => encoder.write(bytes),
            Inner::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Does nothing: a flush in the middle would change what comes out.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// bzip2 by chunks: each is compressed by a thread of its own, `threads` at a time at most, and
/// written in order.
struct Chunks<W: Write> {
    out: W,
    threads: usize,
    chunk: Vec<u8>,
    /// Streams that are being made, the first to be written first.
    pending: VecDeque<Receiver<io::Result<Vec<u8>>>>,
    started: bool,
}

impl<W: Write> Chunks<W> {
    fn new(out: W, threads: usize) -> Self {
        let chunk = Vec::with_capacity(CHUNK_BYTES);
        Self { out, threads, chunk, pending: VecDeque::new(), started: false }
    }

    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
            if self.chunk.len() == CHUNK_BYTES {
                self.start()?;
            }
        }
        Ok(())
    }

    /// Has the chunk at hand compressed; waits for one of the earlier ones if too many are pending.
    fn start(&mut self) -> io::Result<()> {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        if self.pending.len() >= self.threads {
            self.write_first()?;
        }
        let (made, result) = channel();
        thread::Builder::new().name("bzip2".to_owned()).spawn(move || {
            // Nobody listens where writing has failed.
            made.send(bzip2_stream(&chunk)).ok();
        })?;
        self.pending.push_back(result);
        self.started = true;
        Ok(())
    }

    fn write_first(&mut self) -> io::Result<()> {
        let Some(first) = self.pending.pop_front() else { return Ok(()) };
        let ended = |_| io::Error::other("the thread that compresses has ended");
        self.out.write_all(&first.recv().map_err(ended)??)
    }

    fn finish(mut self) -> io::Result<W> {
        // Nothing at all is one empty stream.
        if !self.chunk.is_empty() || !self.started {
            self.start()?;
        }
        while !self.pending.is_empty() {
            self.write_first()?;
        }
        Ok(self.out)
    }
}

/// One whole stream of bzip2.
fn bzip2_stream(chunk: &[u8]) -> io::Result<Vec<u8>> {
    let out = Vec::with_capacity(chunk.len() / 2);
    let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::new(BZIP2_LEVEL));
    encoder.write_all(chunk)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Lines that compress, more than a chunk of bzip2 and not a multiple of anything.
    fn lines(bytes: usize) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut number = 1u64;
        while lines.len() < bytes {
            number = fsarena_model::dataset::mix(number) >> 40;
            lines.extend(format!("{number} is {}\n", number % 7).bytes());
        }
        lines.truncate(bytes);
        lines
    }

    fn packed(compression: Compression, bytes: &[u8], threads: usize) -> Vec<u8> {
        let mut writer = with_threads(compression, Vec::new(), threads).unwrap();
        for part in bytes.chunks(70_001) {
            writer.write_all(part).unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap()
    }

    fn unpacked(compression: Compression, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reader(compression, bytes)?.read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn what_goes_in_comes_out_whatever_the_number_of_threads() {
        for compression in Compression::ALL {
            for bytes in [0, 1, 1_000_123] {
                let lines = lines(bytes);
                let one = packed(compression, &lines, 1);
                assert!(one == packed(compression, &lines, 4), "{compression:?} of {bytes}");
                assert!(unpacked(compression, &one).unwrap() == lines, "{compression:?}");
                let smaller = one.len() < bytes / 2 + 100;
                assert!(smaller || compression == Compression::None, "{}", one.len());
            }
        }
    }

    #[test]
    fn the_real_programs_read_it() {
        let lines = lines(1_000_123);
        for compression in Compression::ALL {
            let Some(program) = compression.program() else { continue };
            let child = Command::new(program)
                .arg("-dc")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn();
            let Ok(mut child) = child else {
                println!("not run: there is no {program} here");
                continue;
            };
            let mut input = child.stdin.take().unwrap();
            let archive = packed(compression, &lines, 2);
            let feeder = thread::spawn(move || input.write_all(&archive));
            let output = child.wait_with_output().unwrap();
            feeder.join().unwrap().unwrap();
            assert!(output.status.success() && output.stdout == lines, "{program}");
        }
    }

    #[test]
    fn what_is_cut_off_damaged_or_followed_by_something_is_an_error() {
        let lines = lines(300_000);
        for compression in Compression::ALL {
            if compression == Compression::None {
                continue;
            }
            let whole = packed(compression, &lines, 2);
            for cut in [whole.len() - 1, whole.len() / 2, 7] {
                assert!(unpacked(compression, &whole[..cut]).is_err(), "{compression:?} {cut}");
            }
            let mut damaged = whole.clone();
            damaged[whole.len() / 2] ^= 0x55;
            let read = unpacked(compression, &damaged);
            assert!(read.is_err(), "{compression:?}");
            let mut followed = whole.clone();
            followed.extend(b"and then some more text");
            assert!(unpacked(compression, &followed).is_err(), "{compression:?}");
            let twice = [whole.clone(), whole].concat();
            let read = unpacked(compression, &twice).unwrap();
            assert!(read.len() == 2 * lines.len(), "{compression:?}");
        }
    }

    #[test]
    fn an_error_of_what_is_written_to_comes_out() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(28))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for compression in Compression::ALL {
            let mut writer = with_threads(compression, Full, 2).unwrap();
            let written = writer.write_all(&lines(1_100_000));
            let error = written.and_then(|()| writer.finish().map(|_| ())).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(28), "{compression:?}");
        }
    }
}
