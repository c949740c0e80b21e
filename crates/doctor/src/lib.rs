//! `fsarena doctor`: the objections of a critical reader, before a RUN.
//!
//! Each check reads something through [`fsarena_metrics::Roots`] or `fsarena-targets`, and says
//! what it read, why that matters and what mends it. Nothing is changed. A reading that could not
//! be had is [`Weight::Unknown`] with its reason, never fine.
//!
//! One check is one file, and one line in `table`. [`noise`] judges what two minutes of equal
//! runs have shown. Nothing here prints, and no serial number gets into a finding.
#![forbid(unsafe_code)]

mod below;
mod check;
mod device;
mod directory;
mod host;
mod layers;
pub mod noise;
mod read;
mod sample;
mod scene;
#[cfg(test)]
mod stage;
mod subject;
mod table;

pub use below::{Below, Piece, below};
pub use subject::{NoSubject, Subject};

use fsarena_metrics::Roots;
use fsarena_model::finding::{Finding, Weight};
use fsarena_targets::cmd::SearchPath;
use scene::Scene;
use std::time::Duration;

/// Carries out every check that concerns the subjects; the machine itself is always looked at. In
/// the order of the table of checks. For as long as `watched` it does nothing but watch the load.
#[must_use]
pub fn examine(roots: &Roots, subjects: &[Subject], watched: Duration) -> Vec<Finding> {
    let scene = Scene::read(roots, subjects, SearchPath::from_env(), watched);
    judge(&scene)
}

/// Names of all checks, in their order.
pub fn codes() -> impl Iterator<Item = &'static str> {
    table::CHECKS.iter().map(|check| check.code)
}

fn judge(scene: &Scene) -> Vec<Finding> {
    let unseen = scene.unseen.iter().map(|(place, reason)| Finding {
        code: table::UNSEEN.to_owned(),
        place: place.clone(),
        weight: Weight::Unknown,
        reading: reason.clone(),
        why: String::new(),
        remedy: None,
        command: None,
    });
    table::CHECKS.iter().flat_map(|check| check.findings(scene)).chain(unseen).collect()
}

#[cfg(test)]
mod tests;
