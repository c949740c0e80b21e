//! Made words, few of them in most places and most of them in few, as in any language.

use super::page::{Page, Slot, slot};
use super::random::SplitMix;
use std::collections::BTreeSet;

const SLOTS: usize = 8192;
const WORDS: usize = 1500;
/// How often the first words come, and how slowly that falls, of `SLOTS`.
const WEIGHT: usize = 1400;
const FLATTENED: usize = 3;

const ONSETS: [&str; 32] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pl",
    "br", "gr", "gl", "th", "ch", "cl", "dr", "sp", "pr", "fl", "k", "qu", "j", "",
];
const MIDDLES: [&str; 16] =
    ["a", "e", "i", "o", "u", "e", "a", "o", "i", "ea", "ou", "ai", "ee", "io", "y", "au"];
const ENDS: [&str; 16] =
    ["", "", "n", "r", "s", "t", "l", "d", "m", "", "ng", "st", "nd", "lk", "x", "rm"];

/// The words of one dataset. A slot stands for each chance that a word is chosen.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Each with a blank behind it, some with a comma before that.
    plain: Vec<Slot>,
    /// Each with nothing behind it.
    bare: Vec<Slot>,
    /// The first word of a sentence.
    first: Vec<Slot>,
    /// The last word of a sentence, a full stop and a blank.
    last: Vec<Slot>,
    version: Vec<Slot>,
}

impl Vocabulary {
    pub(super) fn new(key: u64) -> Self {
        let mut rng = SplitMix::new(key);
        let words = words(&mut rng);
        let mut chances = Vec::with_capacity(SLOTS);
        for (rank, word) in words.iter().enumerate() {
            let chance = (WEIGHT / (rank + FLATTENED)).max(1).min(SLOTS - chances.len());
            chances.extend(std::iter::repeat_n(word, chance));
        }
        // What rounding down leaves.
        let left = SLOTS - chances.len();
        chances.extend(words.iter().cycle().take(left));
        let table = |all: &[&String], text: &mut dyn FnMut(&str) -> String| -> Vec<Slot> {
            all.iter().map(|word| slot(&text(word))).collect()
        };
        // Every eighth chance is enough where a word is seldom chosen.
        let eighth: Vec<&String> = chances.iter().copied().step_by(8).collect();
        let mut with_comma = |word: &str| match rng.below(12) {
            0 => format!("{word}, "),
            _ => format!("{word} "),
        };
        let plain = table(&chances, &mut with_comma);
        let first = table(&eighth, &mut |word| {
            let (letter, rest) = word.split_at(1);
            format!("{}{rest} ", letter.to_ascii_uppercase())
        });
        Self {
            plain,
            bare: table(&chances, &mut str::to_owned),
            first,
            last: table(&eighth, &mut |word| format!("{word}. ")),
            version: (0..256).map(|_| slot(&version(&mut rng))).collect(),
        }
    }

    /// `count` words, each with a blank behind it.
    #[inline]
    pub(super) fn words(&self, count: u32, rng: &mut SplitMix, page: &mut Page<'_>) {
        for _ in 0..count / 4 {
            self.four(rng, page);
        }
        for _ in 0..count % 4 {
            page.slot(&self.plain[rng.bits() as usize % SLOTS]);
        }
    }

    /// Four words, each with a blank behind it.
    #[inline]
    pub(super) fn four(&self, rng: &mut SplitMix, page: &mut Page<'_>) {
        let bits = rng.bits() as usize;
        for shift in [0, 13, 26, 39] {
            page.slot(&self.plain[(bits >> shift) % SLOTS]);
        }
    }

    pub(super) fn bare(&self, rng: &mut SplitMix) -> &Slot {
        &self.bare[rng.bits() as usize % SLOTS]
    }

    pub(super) fn first(&self, bits: u64) -> &Slot {
        &self.first[bits as usize % (SLOTS / 8)]
    }

    pub(super) fn last(&self, bits: u64) -> &Slot {
        &self.last[bits as usize % (SLOTS / 8)]
    }

    /// A version such as `1.4.2`, low ones of the table more often.
    pub(super) fn version(&self, rng: &mut SplitMix) -> &Slot {
        &self.version[rng.low_below(self.version.len())]
    }
}

/// Distinct words, short ones first, of 1 to 13 letters.
fn words(rng: &mut SplitMix) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut words = Vec::with_capacity(WORDS);
    while words.len() < WORDS {
        let syllables = match words.len() {
            0..60 => 1,
            60..600 => 1 + rng.below(2),
            _ => 2 + rng.below(2),
        };
        let mut word = String::new();
        for _ in 0..syllables {
            word.push_str(rng.one(&ONSETS));
            word.push_str(rng.one(&MIDDLES));
        }
        word.push_str(rng.one(&ENDS));
        if word.len() <= 13 && known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn version(rng: &mut SplitMix) -> String {
    let (major, minor, patch) = (rng.below(4), rng.below(12), rng.below(20));
    if patch < 8 { format!("{major}.{minor}") } else { format!("{major}.{minor}.{patch}") }
}
