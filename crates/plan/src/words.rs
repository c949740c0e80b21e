//! Words of the format: each kind of them is one table, for reading and for the JSON Schema.

use crate::error::PlanError;
use crate::span::Span;
use fsarena_model::clock::Clock;
use fsarena_model::cycle::Overrun;
use fsarena_model::io::{Backend, Fsync, Sharing};
use fsarena_model::job::{By, Compression, SourcePlace};
use fsarena_model::op::Op;
use fsarena_model::phase::Order;
use fsarena_model::run::RateStyle;
use fsarena_model::verdict::Metric;

/// What is one of a few words.
pub(crate) trait Words: Copy + 'static {
    /// What the words are, as an error says it.
    const KIND: &'static str;
    /// The words and what they mean.
    fn words() -> Vec<(&'static str, Self)>;
}

/// The meaning of a word.
///
/// # Errors
/// A word that there is not, with the nearest of those that there are.
pub(crate) fn word<T: Words>(text: &str, place: &Span) -> Result<T, PlanError> {
    let words = T::words();
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        PlanError::unknown(place, T::KIND, text, &known)
    })
}

macro_rules! words {
    ($($type:ty: $kind:literal = $words:expr;)*) => {
        $(impl $crate::words::Words for $type {
            const KIND: &'static str = $kind;

            fn words() -> Vec<(&'static str, Self)> {
                $words.into()
            }
        })*
    };
}

pub(crate) use words;

words! {
    Backend: "backend" = Backend::ALL;
    By: "worker" = [("program", By::Program), ("engine", By::Engine)];
    Clock: "clock" =
        [Clock::Returned, Clock::Durable, Clock::Drained].map(|clock| (clock.name(), clock));
    Compression: "compression" = Compression::ALL.map(|known| (known.name(), known));
    Fsync: "fsync policy" = Fsync::ALL;
    Metric: "metric" = Metric::ALL.map(|metric| (metric.name(), metric));
    Op: "op" = Op::ALL.map(|op| (op.name(), op));
    Order: "order" = [("sequential", Order::Sequential), ("random", Order::Random)];
    Overrun: "kind of overrun" = Overrun::ALL;
    RateStyle: "rate style" =
        [("auto", RateStyle::Auto), ("article-2003", RateStyle::Article2003)];
    Sharing: "sharing" = Sharing::ALL;
    SourcePlace: "place of the source" =
        [SourcePlace::Same, SourcePlace::Other, SourcePlace::Memory]
            .map(|place| (place.name(), place));
}
