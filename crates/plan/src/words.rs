//! Words of the format: each kind of them is one table, for reading and for the JSON Schema.

use crate::error::{PlanError, Span};
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

/// The words of an enum of the model are the names of its variants.
macro_rules! named {
    ($($type:ident: $kind:literal;)*) => {
        words! { $($type: $kind = $type::ALL.map(|known| (known.name(), known));)* }
    };
}

named! {
    Backend: "backend";
    By: "worker";
    Clock: "clock";
    Compression: "compression";
    Fsync: "fsync policy";
    Metric: "metric";
    Op: "op";
    Order: "order";
    Overrun: "kind of overrun";
    RateStyle: "rate style";
    Sharing: "sharing";
    SourcePlace: "place of the source";
}
