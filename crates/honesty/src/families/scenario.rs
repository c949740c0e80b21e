//! What is made of a tape before a RUN is played on it: whose noise is how large, and what the
//! truth is.

use fsarena_model::verdict::Pairs;
use serde::Serialize;

/// Which pairs a played RUN asks about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AskedPairs {
    /// Every pair.
    All,
    /// Each contender with one of them.
    Baseline,
}

impl AskedPairs {
    pub(super) fn planned(self) -> Pairs {
        match self {
            Self::All => Pairs::All,
            Self::Baseline => Pairs::Baseline { contender: BASELINE },
        }
    }
}

/// What makes the contenders truly equal, and what the noise of one is.
///
/// A value is a contender's level, what all contenders of the block have in common (the machine's
/// drift), and the rest, which is the contender's own noise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Truth {
    /// In each block the rests are dealt out to the contenders at random: nothing but chance can
    /// make one of them faster, whatever their noises are. Where those of one are multiplied, it is
    /// moved by as much as skewed rests would move its typical ratio to the others.
    Exchangeable,
    /// Each has its own rests; all have one median over the whole tape. A slow drift of one against
    /// another is a false verdict.
    Tape,
    /// Each has its own rests; all have one median over the [`SESSION_BLOCKS`] blocks around the
    /// played ones: what a verdict says of its own session is judged by that session.
    Session,
    /// As [`Truth::Tape`], and the odd one reacts so many times as strongly to the machine's
    /// drift: its noise is what it deviates from its median, drift and rest.
    Reaction,
}

/// Blocks that are a session, those that are played among them. They share their noise with their
/// centre, so that false verdicts are a little rarer than they ought to be: of 8 blocks an eighth
/// of the variance of their mean is missing, of 32 a half.
pub const SESSION_BLOCKS: usize = 64;

/// The contender whose noise is not as it was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Odd {
    /// None: all noise is as it was recorded.
    None,
    /// The baseline.
    Baseline,
    /// One that is not the baseline.
    Another,
}

/// Place of the baseline among the contenders of a played RUN.
pub(super) const BASELINE: usize = 0;
/// Place of the other odd one, and of the one that an effect is injected into where all pairs are
/// asked.
const OTHER: usize = 1;

/// A RUN to be played: all contenders are truly equal, but for the injected factor.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Scenario {
    /// Contenders, drawn at random from those of the tape.
    pub contenders: usize,
    pub pairs: AskedPairs,
    pub truth: Truth,
    /// What the noise of the odd one is multiplied by (logarithms).
    pub noise: f64,
    pub odd: Odd,
    /// What is injected: every rival of the baseline takes so many times as long as it; where all
    /// pairs are asked, one contender as the others.
    pub factor: f64,
}

impl Scenario {
    /// All equal, noise as it was recorded.
    #[must_use]
    pub fn equal(contenders: usize, pairs: AskedPairs) -> Self {
        let (truth, odd) = (Truth::Exchangeable, Odd::None);
        Self { contenders, pairs, truth, noise: 1.0, odd, factor: 1.0 }
    }

    /// Whether the contender at `place` is the odd one.
    pub(super) fn is_odd(&self, place: usize) -> bool {
        match self.odd {
            Odd::None => false,
            Odd::Baseline => place == BASELINE,
            Odd::Another => place == OTHER,
        }
    }

    /// What the noise of the odd one is multiplied by; 1 where there is none.
    pub(super) fn noise_of_odd(&self) -> f64 {
        if self.odd == Odd::None { 1.0 } else { self.noise }
    }

    /// What the noise of the contender at `place` is multiplied by.
    pub(super) fn noise_at(&self, place: usize) -> f64 {
        if self.is_odd(place) { self.noise } else { 1.0 }
    }

    /// The logarithm of what the lengths of the contender at `place` are multiplied by.
    pub(super) fn effect_at(&self, place: usize) -> f64 {
        let has_effect = match self.pairs {
            AskedPairs::All => place == OTHER,
            AskedPairs::Baseline => place != BASELINE,
        };
        if has_effect { self.factor.ln() } else { 0.0 }
    }

    /// Pairs of one question.
    pub(super) fn pairs_asked(&self) -> usize {
        match self.pairs {
            AskedPairs::All => self.contenders * (self.contenders - 1) / 2,
            AskedPairs::Baseline => self.contenders - 1,
        }
    }

    /// Of these, those of which one has the injected effect.
    pub(super) fn pairs_with_effect(&self) -> usize {
        if self.factor == 1.0 { 0 } else { self.contenders - 1 }
    }
}

/// Factors that the noise of the odd one is multiplied by.
pub const NOISES: [f64; 3] = [3.0, 5.0, 0.2];
/// Injected factors, besides the margin.
pub const EFFECTS: [f64; 3] = [1.05, 1.10, 1.30];

/// Everything that is played for families of `contenders`: unequal noise without an effect and with
/// one of exactly the margin, equal noise with every effect; false verdicts by every truth.
#[must_use]
pub fn scenarios(contenders: usize, margin: f64) -> Vec<Scenario> {
    let mut all = Vec::new();
    // Of two contenders both ways of asking are the same.
    let asked: &[AskedPairs] = if contenders == 2 {
        &[AskedPairs::Baseline]
    } else {
        &[AskedPairs::Baseline, AskedPairs::All]
    };
    for &pairs in asked {
        let equal = Scenario::equal(contenders, pairs);
        let mut noises = vec![equal];
        for noise in NOISES {
            noises.push(Scenario { noise, odd: Odd::Another, ..equal });
        }
        if pairs == AskedPairs::Baseline {
            for noise in NOISES {
                noises.push(Scenario { noise, odd: Odd::Baseline, ..equal });
            }
        }
        let edge = 1.0 + margin;
        for one in noises {
            all.push(one);
            all.push(Scenario { factor: edge, ..one });
            all.push(Scenario { truth: Truth::Tape, ..one });
            all.push(Scenario { truth: Truth::Session, ..one });
            if one.odd != Odd::None {
                all.push(Scenario { truth: Truth::Reaction, ..one });
            }
        }
        let others = EFFECTS.iter().filter(|factor| (**factor - edge).abs() > 1e-9);
        all.extend(others.map(|&factor| Scenario { factor, ..equal }));
    }
    all
}
