//! Families: whole RUNs of several contenders played on a tape, and what their verdicts are worth
//! where all contenders are truly equal, and where they differ by a known factor.
//!
//! A [`FamilyTape`] holds complete blocks of a RUN whose contenders were interleaved. A play begins
//! at a block drawn at random and takes the blocks that follow as a RUN, with contenders drawn at
//! random from those of the tape. All are made truly equal ([`Truth`]), the noise of one of them
//! and the lengths of one (or of all rivals of the baseline) are multiplied by known factors
//! ([`Scenario`]), and the judge that carries real RUNs out decides.

mod covariates;
mod noise;
mod play;
mod power;
mod replays;
mod rules;
mod scenario;
#[cfg(test)]
mod synthetic;
mod tally;
mod tape;

pub use covariates::{Adjusted, Covariate, Explained, PhaseCovariates, covariates};
pub use noise::{LAGS, PhaseNoise, noise};
pub use power::{POWER, PhasePower, Power, PowerConfig, QUICK_CONTENDERS, TO_BE_FOUND, power};
pub use replays::{
    FamiliesReplayed, FamilyConfig, FamilyTapeFacts, ScenarioFigures, blocks_needed,
    replay_families,
};
pub use rules::{Course, FamilyRule, Quick, courses, longest_play, one_look};
pub use scenario::{AskedPairs, EFFECTS, NOISES, Odd, SESSION_BLOCKS, Scenario, Truth, scenarios};
pub use tally::{FamilyFigures, PhaseFigures};
pub use tape::{FamilyTape, FamilyTapeError, TapePhase, TapeTrial, family_tape};

#[cfg(test)]
mod tests;
