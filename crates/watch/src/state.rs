//! What the view shows: the last samples, and what they come to since the start.

use crate::place::Place;
use crate::watcher::Tick;
use fsarena_model::sample::Counters;
use fsarena_study::watched::Watched;
use std::collections::VecDeque;

/// Samples that the picture can go back.
const HISTORY: usize = 512;

/// A watch as it stands.
#[derive(Clone, Debug)]
pub struct State {
    /// What is watched.
    pub place: Place,
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
    /// Share of one processor that the watching itself uses.
    pub own_share: Option<f64>,
    /// What has to be said beside it.
    pub said: Option<String>,
    /// Counters since the start.
    pub totals: Counters,
    /// Values, oldest first, one list a quantity.
    history: Vec<VecDeque<Option<f64>>>,
    sums: Vec<(f64, u64, f64)>,
}

impl State {
    /// Before the first sample.
    #[must_use]
    pub fn new(place: Place, every_ns: u64, for_ns: Option<u64>, recorded: String) -> Self {
        let said = place.notices.first().map(|notice| notice.text.clone());
        Self {
            place,
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
            sums: vec![(0.0, 0, 0.0); Watched::ALL.len()],
        }
    }

    /// Takes up what one look has shown.
    pub fn add(&mut self, tick: Tick) {
        self.t_ns = tick.t_ns;
        self.totals = tick.totals;
        if tick.t_ns == 0 {
            // The first sample has no stretch before it.
            return;
        }
        let own = self.history.iter_mut().zip(&mut self.sums);
        for ((values, sum), value) in own.zip(tick.values) {
            if values.len() == HISTORY {
                values.pop_front();
            }
            values.push_back(value);
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1, sum.2.max(value));
            }
        }
    }

    /// The same, for a picture that is held.
    #[must_use]
    pub fn held(&self) -> Self {
        Self { is_paused: true, ..self.clone() }
    }

    fn place_of(quantity: Watched) -> usize {
        Watched::ALL.iter().position(|one| *one == quantity).unwrap_or(0)
    }

    /// The latest value.
    #[must_use]
    pub fn now(&self, quantity: Watched) -> Option<f64> {
        self.history[Self::place_of(quantity)].back().copied().flatten()
    }

    /// Mean of the samples so far.
    #[must_use]
    pub fn mean(&self, quantity: Watched) -> Option<f64> {
        let (sum, count, _) = self.sums[Self::place_of(quantity)];
        (count > 0).then(|| sum / count as f64)
    }

    /// Largest of the samples so far.
    #[must_use]
    pub fn max(&self, quantity: Watched) -> Option<f64> {
        let (_, count, max) = self.sums[Self::place_of(quantity)];
        (count > 0).then_some(max)
    }

    /// The last values, at most `most`, oldest first.
    pub fn last(&self, quantity: Watched, most: usize) -> impl Iterator<Item = Option<f64>> {
        let values = &self.history[Self::place_of(quantity)];
        values.iter().skip(values.len().saturating_sub(most)).copied()
    }
}
