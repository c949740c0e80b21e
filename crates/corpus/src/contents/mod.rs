//! The bytes of made files: what a class of a description calls `contents`.
//!
//! A [`Generator`] belongs to one dataset. What it makes follows from the seed of the dataset, the
//! number of the file, the [`Kind`] and the size of the file, and from nothing else: whole numbers
//! only, no map without an order, every number stored low byte first. So a file is the same byte
//! for byte on every machine, and any range of it can be made without the rest.
//!
//! It must never draw from the seed of a RUN, the clock or the machine.

mod c;
mod form;
mod head;
mod kind;
mod page;
mod prose;
mod random;
mod recipe;
mod vocabulary;
mod wav;

#[cfg(test)]
mod tests;

pub use head::Head;
pub use kind::{Kind, Percent};

use page::Page;
use random::{SplitMix, key};

/// What text-like contents are made in, in bytes: any block can be made without those before it.
pub const BLOCK_BYTES: u64 = 64 << 10;

impl Kind {
    /// The size in bytes from which on a file is what its kind says. Smaller files can be made:
    /// of sources only a comment, of the others the beginning.
    #[must_use]
    pub fn least_bytes(&self) -> u64 {
        match self {
            Self::C | Self::CMain | Self::CHeader | Self::CMakefile => c::least_bytes(*self),
            Self::Headed(head) => head.bytes(),
            Self::Wav => wav::HEAD_BYTES as u64,
            Self::Random | Self::Mixed { .. } | Self::Text | Self::Html => 0,
            Self::Ebuild { .. } | Self::Makefile { .. } => 0,
        }
    }
}

/// The tables shared by all files of one dataset.
#[derive(Debug)]
pub struct Generator {
    seed: u64,
    vocabulary: vocabulary::Vocabulary,
    html: prose::Html,
    ebuild: recipe::Recipe,
    makefile: recipe::Recipe,
    patterns: random::Patterns,
    sound: wav::Sound,
}

impl Generator {
    /// The maker of the dataset whose seed is `seed`; takes some milliseconds.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let vocabulary = vocabulary::Vocabulary::new(key(seed, u64::MAX));
        Self {
            seed,
            html: prose::Html::new(),
            ebuild: recipe::Recipe::ebuild(&vocabulary, key(seed, u64::MAX - 2)),
            makefile: recipe::Recipe::makefile(&vocabulary, key(seed, u64::MAX - 3)),
            patterns: random::Patterns::new(key(seed, u64::MAX - 1)),
            sound: wav::Sound::new(),
            vocabulary,
        }
    }

    /// Makes the bytes from `offset` (in bytes) on of file number `file`, which is of `kind` and
    /// `size_bytes` long, until `out` is full.
    ///
    /// However a file is cut into ranges, its bytes are the same. Sources in C are made whole
    /// each time, so a range of them costs as much as the file.
    ///
    /// # Panics
    /// If the range reaches past the end of the file.
    pub fn fill(&self, kind: &Kind, file: u64, size_bytes: u64, offset: u64, out: &mut [u8]) {
        let end = offset.checked_add(out.len() as u64);
        assert!(end.is_some_and(|end| end <= size_bytes), "a range past the end of the file");
        if out.is_empty() {
            return;
        }
        let key = key(self.seed, file);
        match *kind {
            Kind::Random => random::fill(key, offset, out),
            Kind::Headed(head) => {
                random::fill(key, offset, out);
                head.overlay(size_bytes, offset, out);
            }
            Kind::Mixed { random_percent } => {
                self.patterns.fill(key, random_percent, offset, out);
            }
            Kind::Text => in_blocks(key, size_bytes, offset, out, |_, rng, page| {
                prose::text(&self.vocabulary, rng, page);
            }),
            Kind::Html => in_blocks(key, size_bytes, offset, out, |block, rng, page| {
                self.html.fill(&self.vocabulary, block == 0, rng, page);
            }),
            Kind::Ebuild { unique_percent } => {
                in_blocks(key, size_bytes, offset, out, |block, rng, page| {
                    self.ebuild.fill(&self.vocabulary, key, unique_percent, block == 0, rng, page);
                });
            }
            Kind::Makefile { unique_percent } => {
                in_blocks(key, size_bytes, offset, out, |block, rng, page| {
                    let first = block == 0;
                    self.makefile.fill(&self.vocabulary, key, unique_percent, first, rng, page);
                });
            }
            Kind::C | Kind::CMain | Kind::CHeader | Kind::CMakefile => {
                let whole = c::make(*kind, key, file, size_bytes, &self.vocabulary);
                let from = usize::try_from(offset).expect("a range within a file in memory");
                out.copy_from_slice(&whole[from..from + out.len()]);
            }
            Kind::Wav => self.sound.fill(key, size_bytes, offset, out),
        }
    }
}

/// Makes lines block by block. A block, the last of a file too, ends with the end of a line.
fn in_blocks(
    key: u64,
    size_bytes: u64,
    offset: u64,
    out: &mut [u8],
    make: impl Fn(u64, &mut SplitMix, &mut Page<'_>),
) {
    let mut at = offset;
    let mut rest = out;
    while !rest.is_empty() {
        let (block, within) = (at / BLOCK_BYTES, (at % BLOCK_BYTES) as usize);
        let block_bytes = (size_bytes - block * BLOCK_BYTES).min(BLOCK_BYTES) as usize;
        let (part, others) = rest.split_at_mut((block_bytes - within).min(rest.len()));
        let mut rng = SplitMix::new(random::key(key, block));
        if within == 0 {
            make(block, &mut rng, &mut Page::new(part));
        } else {
            let mut whole = vec![0; within + part.len()];
            make(block, &mut rng, &mut Page::new(&mut whole));
            part.copy_from_slice(&whole[within..]);
        }
        if within + part.len() == block_bytes {
            part[part.len() - 1] = b'\n';
        }
        at += part.len() as u64;
        rest = others;
    }
}
