//! Heads of known formats, so that programs and people take a file for what it stands for.
//!
//! Only the head is real: what follows it in a made file is random bytes, which no player or
//! viewer can read.

use serde::{Deserialize, Serialize};

/// A format whose head is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    Jpeg,
    /// A picture of few colours.
    Gif,
    /// A picture without loss.
    Png,
    /// Compressed sound, with an ID3 tag.
    Mp3,
    /// A film in RIFF.
    Avi,
    /// The image of a disc: ISO 9660, whose descriptors lie at 32768 bytes.
    Iso,
    /// Sound compressed without loss.
    Flac,
}

/// Where the descriptors of ISO 9660 begin, in bytes.
const ISO_AT: usize = 32_768;
const ISO_SECTOR: usize = 2048;

impl Head {
    /// Its name, as in a description.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Png => "png",
            Self::Mp3 => "mp3",
            Self::Avi => "avi",
            Self::Iso => "iso",
            Self::Flac => "flac",
        }
    }

    /// The length of the head in bytes.
    pub(super) const fn bytes(self) -> u64 {
        match self {
            Self::Jpeg => 39,
            Self::Gif => 13,
            Self::Png => 41,
            Self::Mp3 => 33,
            Self::Avi => 224,
            Self::Iso => (ISO_AT + 2 * ISO_SECTOR) as u64,
            Self::Flac => 42,
        }
    }

    /// Overwrites what of `out` belongs to the head of a file of `size_bytes`.
    pub(super) fn overlay(self, size_bytes: u64, offset: u64, out: &mut [u8]) {
        if offset >= self.bytes() {
            return;
        }
        let head = self.make(size_bytes);
        let rest = &head[offset as usize..];
        let len = rest.len().min(out.len());
        out[..len].copy_from_slice(&rest[..len]);
    }

    fn make(self, size_bytes: u64) -> Vec<u8> {
        match self {
            Self::Jpeg => jpeg(),
            // 1024 × 768, a table of 256 colours.
            Self::Gif => b"GIF89a\x00\x04\x00\x03\xf7\x00\x00".to_vec(),
            Self::Png => png(size_bytes),
            Self::Mp3 => mp3(),
            Self::Avi => avi(size_bytes),
            Self::Iso => iso(size_bytes),
            Self::Flac => flac(size_bytes),
        }
    }
}

/// What is left of a file behind `before` bytes, as far as 32 bits hold it.
pub(super) fn rest_u32(size_bytes: u64, before: u64) -> u32 {
    u32::try_from(size_bytes.saturating_sub(before)).unwrap_or(u32::MAX)
}

fn jpeg() -> Vec<u8> {
    let mut head = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x00\x00".to_vec();
    // The frame: 8 bits, 1536 × 2048, three components.
    head.extend(b"\xff\xc0\x00\x11\x08\x06\x00\x08\x00\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01");
    head
}

fn png(size_bytes: u64) -> Vec<u8> {
    let mut head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d".to_vec();
    // 1024 × 768, 8 bits, red, green and blue.
    let chunk = b"IHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x02\x00\x00\x00";
    head.extend(chunk);
    let mut sum = flate2::Crc::new();
    sum.update(chunk);
    head.extend(sum.sum().to_be_bytes());
    head.extend(rest_u32(size_bytes, 41 + 4).min(0x7fff_ffff).to_be_bytes());
    head.extend(b"IDAT");
    head
}

fn mp3() -> Vec<u8> {
    // One frame of a tag, of 19 bytes: the title.
    let mut head = b"ID3\x03\x00\x00\x00\x00\x00\x13TIT2\x00\x00\x00\x09\x00\x00\x00".to_vec();
    head.extend(b"made one");
    // MPEG 1, layer III, 128 kbit/s, 44.1 kHz, joint stereo.
    head.extend(b"\xff\xfb\x90\x64");
    head
}

fn avi(size_bytes: u64) -> Vec<u8> {
    fn chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let mut chunk = name.to_vec();
        chunk.extend((body.len() as u32).to_le_bytes());
        chunk.extend(body);
        chunk
    }
    fn numbers(all: &[u32]) -> Vec<u8> {
        all.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
    let frames = rest_u32(size_bytes / 4096, 0);
    // 25 frames a second, one stream, 640 × 480.
    let main = numbers(&[40_000, 0, 0, 0x10, frames, 0, 1, 65_536, 640, 480, 0, 0, 0, 0]);
    let mut stream = b"vidsXVID".to_vec();
    stream.extend(numbers(&[0, 0, 0, 1, 25, 0, frames, 65_536, u32::MAX, 0, 0, 0]));
    let mut format = numbers(&[40, 640, 480, 0x0018_0001]);
    format.extend(b"XVID");
    format.extend(numbers(&[640 * 480 * 3, 0, 0, 0, 0]));
    let mut streams = b"strl".to_vec();
    streams.extend(chunk(b"strh", &stream));
    streams.extend(chunk(b"strf", &format));
    let mut list = b"hdrl".to_vec();
    list.extend(chunk(b"avih", &main));
    list.extend(chunk(b"LIST", &streams));
    let mut head = b"RIFF".to_vec();
    head.extend(rest_u32(size_bytes, 8).to_le_bytes());
    head.extend(b"AVI ");
    head.extend(chunk(b"LIST", &list));
    head.extend(b"LIST");
    head.extend(rest_u32(size_bytes, head.len() as u64 + 4).to_le_bytes());
    head.extend(b"movi");
    head
}

fn iso(size_bytes: u64) -> Vec<u8> {
    let mut head = vec![0; ISO_AT + 2 * ISO_SECTOR];
    let (first, last) = head[ISO_AT..].split_at_mut(ISO_SECTOR);
    let mut put = |at: usize, bytes: &[u8]| first[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x01CD001\x01");
    put(8, &[b' '; 64]);
    put(8, b"LINUX");
    put(40, b"MADE");
    let sectors = rest_u32(size_bytes / ISO_SECTOR as u64, 0);
    // Numbers stand twice in a descriptor: low byte first, then high byte first.
    put(80, &sectors.to_le_bytes());
    put(84, &sectors.to_be_bytes());
    put(120, &[1, 0, 0, 1]);
    put(124, &[1, 0, 0, 1]);
    put(128, &[0, 8, 8, 0]);
    put(881, &[1]);
    last[..7].copy_from_slice(b"\xffCD001\x01");
    head
}

fn flac(size_bytes: u64) -> Vec<u8> {
    let mut head = b"fLaC\x80\x00\x00\x22".to_vec();
    // Blocks of 4096 samples; the sizes of frames are not known.
    head.extend(b"\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00");
    // 44.1 kHz in 20 bits, 2 channels in 3, 16 bits in 5, then the samples in 36.
    let samples = (size_bytes * 3 / 8).min((1 << 36) - 1);
    head.extend((44_100_u64 << 44 | 1 << 41 | 15 << 36 | samples).to_be_bytes());
    head.extend([0; 16]);
    head
}
