//! A rate, and how well it is known.

use statrs::distribution::{Beta, ContinuousCDF as _};
use std::fmt;

/// So many of so many.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub hits: usize,
    pub of: usize,
}

impl Rate {
    /// How many of `all` are hits.
    pub fn count(all: impl IntoIterator<Item = bool>) -> Self {
        all.into_iter().fold(Self { hits: 0, of: 0 }, |rate, hit| Self {
            hits: rate.hits + usize::from(hit),
            of: rate.of + 1,
        })
    }

    /// Observed, in percent.
    pub fn percent(self) -> f64 {
        100.0 * self.hits as f64 / self.of as f64
    }

    /// The exact 95 % interval, in percent: C. Clopper, E. Pearson, "The use of confidence or
    /// fiducial limits illustrated in the case of the binomial", Biometrika 26 (1934).
    pub fn exact(self) -> (f64, f64) {
        let (hits, rest) = (self.hits as f64, (self.of - self.hits) as f64);
        let beta = |a, b, share| Beta::new(a, b).unwrap().inverse_cdf(share) * 100.0;
        let low = if self.hits == 0 { 0.0 } else { beta(hits, rest + 1.0, 0.025) };
        let high = if self.hits == self.of { 100.0 } else { beta(hits + 1.0, rest, 0.975) };
        (low, high)
    }

    /// Fails where the observed rate is above `limit` percent.
    #[track_caller]
    pub fn at_most(self, limit: f64, what: &str) {
        self.show(what);
        assert!(self.percent() <= limit, "{what}: {self}, at most {limit} % allowed");
    }

    /// Fails where the observed rate is further than `slack` from `wanted`, both in percent.
    #[track_caller]
    pub fn near(self, wanted: f64, slack: f64, what: &str) {
        self.show(what);
        let away = (self.percent() - wanted).abs();
        assert!(away <= slack, "{what}: {self}, expected {wanted} ± {slack} %");
    }

    #[allow(clippy::print_stdout, reason = "the figures are for whoever asks for them")]
    pub fn show(self, what: &str) {
        println!("{what}: {self}");
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.exact();
        let Self { hits, of } = self;
        write!(f, "{:.2} % ({hits} of {of}; exact 95 %: {low:.2} to {high:.2})", self.percent())
    }
}

/// The interval of 5 of 100 as every table has it.
#[test]
fn clopper_and_pearson() {
    let (low, high) = Rate { hits: 5, of: 100 }.exact();
    assert!((low - 1.643).abs() < 1e-3 && (high - 11.283).abs() < 1e-3, "{low} {high}");
    assert_eq!(Rate { hits: 0, of: 10 }.exact().0, 0.0);
    assert_eq!(Rate { hits: 10, of: 10 }.exact().1, 100.0);
}
