//! Sound like music: voices that change with the chords, over a little noise.
//!
//! Time is cut into beats, and beats into bars. Every note begins and ends within one bar, so a
//! sample follows from its number alone. Steps of pitch are those of equal temperament, in whole
//! numbers of 2^-16; the wave is a table.

use super::head::rest_u32;
use super::random::{SplitMix, key as key_of, mix};

/// The head of the file, in bytes.
pub(super) const HEAD_BYTES: usize = 44;
const FRAME_BYTES: u64 = 4;
const FRAMES_A_SECOND: u32 = 44_100;

/// Frames in a beat: 0.19 s.
const BEAT_FRAMES: u64 = 8192;
const BEATS_IN_BAR: u64 = 16;
/// Frames made at once.
const CHUNK_FRAMES: usize = 1024;

/// For how many frames a note is as loud as at the first of them.
const STEADY: u32 = 32;

const WAVE_BITS: u32 = 12;
const WAVE: usize = 1 << WAVE_BITS;

/// 2^(n/12) in 2^-16.
const SEMITONES: [u64; 12] = [
    65_536, 69_433, 73_562, 77_936, 82_570, 87_480, 92_682, 98_193, 104_032, 110_218, 116_772,
    123_715,
];
/// What the phase of 55 Hz grows by each frame, in 2^-32 of a turn.
const LOWEST: u64 = 5_356_535;
/// Roots of the chords a bar can have, in semitones over the key.
const ROOTS: [u64; 6] = [0, 5, 7, 9, 2, 4];
/// The scale the melody keeps to.
const SCALE: [u64; 7] = [0, 2, 4, 5, 7, 9, 11];

/// The waves all files share.
#[derive(Debug)]
pub(super) struct Sound {
    /// One turn of a tone with overtones, at most ±32767.
    wave: Vec<i16>,
}

/// A note, as it sounds in one beat.
struct Note {
    /// Growth of the phase a frame, in 2^-32 of a turn.
    step: u32,
    /// Frames since it began, at the beginning of the beat.
    age: u64,
    /// Its length in frames is 2 to this.
    length_bits: u32,
    /// Loudness left and right, 0 to 255.
    loud: [i32; 2],
}

impl Sound {
    pub(super) fn new() -> Self {
        let overtones: [(usize, i64); 5] = [(1, 20), (2, 6), (3, 4), (5, 2), (8, 1)];
        let wave = (0..WAVE).map(|at| {
            let sum: i64 = overtones.iter().map(|(n, part)| sine(at * n) * part).sum();
            (sum / 33) as i16
        });
        Self { wave: wave.collect() }
    }

    /// The bytes from `offset` on of the sound whose key is `key`.
    pub(super) fn fill(&self, key: u64, size_bytes: u64, offset: u64, out: &mut [u8]) {
        let head_bytes = HEAD_BYTES as u64;
        let in_head = (head_bytes.saturating_sub(offset)).min(out.len() as u64) as usize;
        let (head, mut rest) = out.split_at_mut(in_head);
        if !head.is_empty() {
            let from = offset as usize;
            head.copy_from_slice(&make_head(size_bytes)[from..from + in_head]);
        }
        let mut at = offset.max(head_bytes) - head_bytes;
        let mut frames = [[0; 2]; CHUNK_FRAMES];
        while !rest.is_empty() {
            let first = at / FRAME_BYTES;
            let within = (at % FRAME_BYTES) as usize;
            // A chunk never reaches into the next beat.
            let left = CHUNK_FRAMES - (first % CHUNK_FRAMES as u64) as usize;
            let wanted = (within + rest.len()).div_ceil(FRAME_BYTES as usize).min(left);
            self.chunk(key, first, &mut frames[..wanted]);
            let bytes = (wanted * FRAME_BYTES as usize - within).min(rest.len());
            let (part, others) = rest.split_at_mut(bytes);
            store(&frames[..wanted], within, part);
            at += bytes as u64;
            rest = others;
        }
    }

    /// Samples left and right from frame `first` on, all in one beat.
    fn chunk(&self, key: u64, first: u64, frames: &mut [[i32; 2]]) {
        let beat = first / BEAT_FRAMES;
        let within = first % BEAT_FRAMES;
        noise(key, beat, within, frames);
        for note in notes(key, beat) {
            let mut age = (note.age + within) as u32;
            let mut rest = &mut *frames;
            while !rest.is_empty() {
                let count = ((STEADY - age % STEADY) as usize).min(rest.len());
                let (steady, others) = rest.split_at_mut(count);
                self.add(&note, age, steady);
                age += count as u32;
                rest = others;
            }
        }
    }

    /// Adds `note` from its frame `age` on, as loud as it is in these few frames.
    #[inline]
    fn add(&self, note: &Note, age: u32, frames: &mut [[i32; 2]]) {
        let wave: &[i16; WAVE] = self.wave[..].try_into().expect("a table of that length");
        let envelope = envelope(age - age % STEADY, note.length_bits);
        let [left, right] = note.loud.map(|loud| (loud * envelope) >> 9);
        let mut phase = note.step.wrapping_mul(age);
        for frame in frames {
            let value = i32::from(wave[(phase >> (32 - WAVE_BITS)) as usize]);
            frame[0] += (value * left) >> 12;
            frame[1] += (value * right) >> 12;
            phase = phase.wrapping_add(note.step);
        }
    }
}

/// A sine of ±32767 after `at` of `WAVE` parts of a turn, by the rational form of Bhaskara.
fn sine(at: usize) -> i64 {
    let half = WAVE as i64 / 2;
    let at = (at % WAVE) as i64;
    let x = at % half;
    let product = x * (half - x);
    let value = 16 * product * 32_767 / (5 * half * half - 4 * product);
    if at < half { value } else { -value }
}

/// Loudness at `age` of a note: up within 512 frames, then down to nothing; 0 to 4096.
#[inline]
fn envelope(age: u32, length_bits: u32) -> i32 {
    let up = (age * 8).min(4096);
    // Notes are not longer than 2^17 frames, so this stays within 32 bits.
    let down = (((1 << length_bits) - age) << 12) >> length_bits;
    up.min(down) as i32
}

/// The notes that sound in `beat`: a bass, three of a chord and two of a melody.
fn notes(key: u64, beat: u64) -> [Note; 6] {
    let bar = beat / BEATS_IN_BAR;
    let in_bar = beat % BEATS_IN_BAR;
    let base = key % 12;
    let mut of_bar = SplitMix::new(key_of(key, bar * 4));
    let root = base + of_bar.one(&ROOTS);
    let minor = u64::from(of_bar.below(3) == 0);
    // Beats are a power of two.
    let note = |semitones: u64, beats: u64, loud: [i32; 2]| {
        let step = ((LOWEST << (semitones / 12)) * SEMITONES[(semitones % 12) as usize]) >> 16;
        let length_bits = (beats * BEAT_FRAMES).ilog2();
        Note { step: step as u32, age: in_bar % beats * BEAT_FRAMES, length_bits, loud }
    };
    let tune = |beats: u64, octave: u64, loud: [i32; 2]| {
        let mut rng = SplitMix::new(key_of(key, (beat / beats) * 4 + octave % 3 + 1));
        note(octave * 12 + base + rng.one(&SCALE), beats, loud)
    };
    let third = root + 28 - minor;
    [
        note(root, 4, [90, 90]),
        note(root + 24, 16, [52, 28]),
        note(third, 16, [40, 40]),
        note(root + 31, 8, [28, 52]),
        tune(2, 3, [60, 44]),
        tune(1, 4, [24, 46]),
    ]
}

/// Noise that is always there, and a beat of it every second beat, which fades.
fn noise(key: u64, beat: u64, within: u64, frames: &mut [[i32; 2]]) {
    let key = key_of(key, u64::MAX - beat);
    for (at, frame) in (within..).zip(frames) {
        let bits = mix(key ^ at) as u32;
        let fade = (BEAT_FRAMES - at) as i32 >> 3;
        let loud = NOISE + if beat % 2 == 1 { (fade * BEATEN) >> 10 } else { 0 };
        // Two numbers of ±2^15: one half the same on both sides.
        let both = i32::from(bits as u16 as i16) >> 1;
        let side = i32::from((bits >> 16) as u16 as i16) >> 1;
        frame[0] = ((both + side) * loud) >> 15;
        frame[1] = ((both - side) * loud) >> 15;
    }
}

/// The greatest value of the noise that is always there.
const NOISE: i32 = 320;
/// The greatest value of that of the beats.
const BEATEN: i32 = 1500;

/// Stores the bytes from `within` on of the frames; what is over 16 bits is cut off.
fn store(frames: &[[i32; 2]], within: usize, out: &mut [u8]) {
    let bytes = |frame: &[i32; 2]| {
        let [left, right] = frame.map(|x| x.clamp(-32_768, 32_767) as i16 as u16);
        (u32::from(left) | u32::from(right) << 16).to_le_bytes()
    };
    let (first, rest) = out.split_at_mut(if within == 0 { 0 } else { out.len().min(4 - within) });
    first.copy_from_slice(&bytes(&frames[0])[within..within + first.len()]);
    let frames = &frames[usize::from(within > 0)..];
    for (to, frame) in rest.chunks_mut(4).zip(frames) {
        let len = to.len();
        to.copy_from_slice(&bytes(frame)[..len]);
    }
}

fn make_head(size_bytes: u64) -> Vec<u8> {
    let mut head = b"RIFF".to_vec();
    head.extend(rest_u32(size_bytes, 8).to_le_bytes());
    head.extend(b"WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00");
    head.extend(FRAMES_A_SECOND.to_le_bytes());
    head.extend((FRAMES_A_SECOND * FRAME_BYTES as u32).to_le_bytes());
    head.extend(b"\x04\x00\x10\x00data");
    head.extend(rest_u32(size_bytes, HEAD_BYTES as u64).to_le_bytes());
    head
}
