//! What the view shows: the last samples, and what they come to since the start.

use crate::target::WatchTarget;
use crate::watcher::Tick;
use fsarena_model::sample::Counters;
use fsarena_study::watched::{Ratio, Watched};
use std::collections::VecDeque;

/// Samples that the picture can go back.
const HISTORY: usize = 512;

/// A watch as it stands.
#[derive(Clone, Debug)]
pub struct State {
    /// What is watched.
    pub target: WatchTarget,
    /// Period, ns.
    pub every_ns: u64,
    /// When it ends by itself, ns after its start.
    pub for_ns: Option<u64>,
    /// Where it is recorded: `RUN 12`.
    pub recorded: String,
    /// Time since the first sample, ns.
    pub t_ns: u64,
    /// The picture is held.
    pub is_paused: bool,
    /// The help is shown.
    pub has_help: bool,
    /// Share of one CPU core that the watching itself uses.
    pub own_share: Option<f64>,
    /// What has to be said next to it.
    pub said: Option<String>,
    /// Counters since the start.
    pub totals: Counters,
    /// Values, oldest first, one list a quantity.
    history: Vec<VecDeque<Option<f64>>>,
    /// All stretches together, and the largest of their values.
    sums: Vec<Option<(Ratio, f64)>>,
}

impl State {
    /// Before the first sample.
    #[must_use]
    pub fn new(target: WatchTarget, every_ns: u64, for_ns: Option<u64>, recorded: String) -> Self {
        let said = target.notices.first().map(|notice| notice.text.clone());
        Self {
            target,
            every_ns,
            for_ns,
            recorded,
            t_ns: 0,
            is_paused: false,
            has_help: false,
            own_share: None,
            said,
            totals: Counters::new(),
            history: vec![VecDeque::with_capacity(HISTORY); Watched::ALL.len()],
            sums: vec![None; Watched::ALL.len()],
        }
    }

    /// Takes up what one look has shown.
    pub fn add(&mut self, tick: &Tick) {
        self.t_ns = tick.t_ns;
        self.totals.clone_from(&tick.totals);
        if tick.t_ns == 0 {
            // The first sample has no stretch before it.
            return;
        }
        let own = self.history.iter_mut().zip(&mut self.sums);
        for ((values, sum), ((_, value), ratio)) in own.zip(tick.values().zip(&tick.ratios)) {
            if values.len() == HISTORY {
                values.pop_front();
            }
            values.push_back(value);
            if let (Some(value), Some(ratio)) = (value, ratio) {
                let (all, max) = sum.unwrap_or((Ratio { sum: 0.0, by: 0.0 }, value));
                let all = Ratio { sum: all.sum + ratio.sum, by: all.by + ratio.by };
                *sum = Some((all, max.max(value)));
            }
        }
    }

    /// The same, for a picture that is held.
    #[must_use]
    pub fn held(&self) -> Self {
        Self { is_paused: true, ..self.clone() }
    }

    fn index_of(quantity: Watched) -> usize {
        Watched::ALL.iter().position(|one| *one == quantity).unwrap_or(0)
    }

    /// The latest value.
    #[must_use]
    pub fn now(&self, quantity: Watched) -> Option<f64> {
        self.history[Self::index_of(quantity)].back().copied().flatten()
    }

    /// Mean since the start; a long stretch counts for more than a short one.
    #[must_use]
    pub fn mean(&self, quantity: Watched) -> Option<f64> {
        quantity.over(self.sums[Self::index_of(quantity)].map(|(all, _)| all))
    }

    /// Largest of the stretches so far.
    #[must_use]
    pub fn max(&self, quantity: Watched) -> Option<f64> {
        self.sums[Self::index_of(quantity)].map(|(_, max)| max)
    }

    /// The last values, at most `most`, oldest first.
    pub fn last(&self, quantity: Watched, most: usize) -> impl Iterator<Item = Option<f64>> {
        let values = &self.history[Self::index_of(quantity)];
        values.iter().skip(values.len().saturating_sub(most)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_stretch_counts_for_more_in_the_mean() {
        let target = serde_json::json!({ "asked": "/x", "name": "sda", "path": "/dev/sda",
            "kind": "disk", "size_bytes": 1, "diskseq": null, "fstype": null, "mounted_at": null,
            "mount_options": null, "below": [], "notices": [] });
        let target = serde_json::from_value(target).unwrap();
        let mut state = State::new(target, 1_000_000_000, None, "RUN 1".to_owned());
        let written = Watched::WrittenBytesPerS;
        for (t_s, bytes, length_s) in [(1, 6_010.0, 1.0), (601, 0.0, 600.0)] {
            let mut ratios = vec![None; Watched::ALL.len()];
            ratios[State::index_of(written)] = Some(Ratio { sum: bytes, by: length_s });
            state.add(&Tick { t_ns: t_s * 1_000_000_000, ratios, totals: Counters::new() });
        }
        assert_eq!(state.mean(written), Some(10.0));
        assert_eq!((state.max(written), state.now(written)), (Some(6_010.0), Some(0.0)));
        assert_eq!(state.mean(Watched::DirtyBytes), None);
    }
}
