//! What two of the studies say about reliability, for which they have no figures, and the
//! experiments that have some.

/// What is to be judged by figures of today.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReliabilityClaim {
    /// That there can hardly be figures.
    HardlyInFigures,
    /// That the journal mode `data=writeback` loses more than `data=ordered`.
    WritebackLosesMore,
}

/// A sentence of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReliabilitySentence {
    /// When it was said.
    pub year: u16,
    /// In our words.
    pub says: &'static str,
    pub claim: ReliabilityClaim,
}

/// The sentence that a built-in experiment has figures for.
#[must_use]
pub fn reliability_sentence(experiment: &str) -> Option<ReliabilitySentence> {
    match experiment {
        "2003-reliability" => Some(ReliabilitySentence {
            year: 2003,
            says: "reliability can hardly be compared in figures",
            claim: ReliabilityClaim::HardlyInFigures,
        }),
        "2010-writeback-safety" => Some(ReliabilitySentence {
            year: 2010,
            says: "writeback is less reliable to some degree",
            claim: ReliabilityClaim::WritebackLosesMore,
        }),
        _ => None,
    }
}
