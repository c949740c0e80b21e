//! The slots of a tape as a rule takes them, one after the other.

use crate::Tape;
use fsarena_model::seed::SeededRng;
use fsarena_model::verdict::Metric;

/// Which of the two contenders a slot is said to be of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    /// The one that nothing is done to.
    A,
    /// The one whose values are multiplied by the injected factor.
    B,
}

/// One play of a rule: slots from a start onwards, and what they cost.
pub struct Slots<'a> {
    tape: &'a Tape,
    next: usize,
    factor: f64,
    rng: SeededRng,
    labels: Vec<Label>,
    machine_s: f64,
}

impl<'a> Slots<'a> {
    /// From slot `start` of `tape`, with the values of B multiplied by `factor`. Coins and
    /// resamples come from `rng`.
    #[must_use]
    pub fn new(tape: &'a Tape, start: usize, factor: f64, rng: SeededRng) -> Self {
        Self { tape, next: start, factor, rng, labels: Vec::new(), machine_s: 0.0 }
    }

    /// The value of the next slot, run for `label`.
    ///
    /// # Panics
    /// Past the end of the tape: a window never wraps around, because its last slots would then be
    /// hours older than its first ones.
    pub fn take(&mut self, label: Label) -> f64 {
        let (value, elapsed_s) = (self.tape.values[self.next], self.tape.elapsed_s[self.next]);
        let factor = if label == Label::B { self.factor } else { 1.0 };
        self.next += 1;
        self.labels.push(label);
        // A phase that takes longer keeps the machine busy for longer; more bytes need not.
        let longer_s = match self.tape.metric {
            Metric::Time => value * (factor - 1.0) * 1e-9,
            _ => 0.0,
        };
        self.machine_s += elapsed_s + longer_s;
        value * factor
    }

    /// `count` slots in a row for `label`.
    pub fn take_all(&mut self, label: Label, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.take(label)).collect()
    }

    /// A slot for each of the two in random order: the values of A and B.
    pub fn take_pair(&mut self) -> (f64, f64) {
        if self.rng.below(2) == 0 {
            let a = self.take(Label::A);
            (a, self.take(Label::B))
        } else {
            let b = self.take(Label::B);
            (self.take(Label::A), b)
        }
    }

    /// The generator of this play, for resamples.
    pub fn rng(&mut self) -> &mut SeededRng {
        &mut self.rng
    }

    /// The labels of the slots taken so far, in order.
    #[must_use]
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// How long the machine worked for the slots taken so far, s: whole trials, with reset, mount
    /// and teardown.
    #[must_use]
    pub fn machine_s(&self) -> f64 {
        self.machine_s
    }
}
