//! The size of a file in a description: a number, a list, or a distribution. Nothing is corrected
//! here to come to a total.

use fsarena_model::dataset::{Distribution, Draw};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// How large the files of a class are, bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Size {
    /// All of one size.
    Fixed(u64),
    /// These, in turn.
    Listed(Vec<u64>),
    Drawn(Distribution),
}

impl Size {
    /// The smallest and the largest that there can be, bytes.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        match self {
            Self::Fixed(bytes) => (*bytes, *bytes),
            Self::Listed(sizes) => {
                let (min, max) = (sizes.iter().min(), sizes.iter().max());
                (min.copied().unwrap_or(0), max.copied().unwrap_or(0))
            }
            Self::Drawn(
                Distribution::Uniform { min, max } | Distribution::Lognormal { min, max, .. },
            ) => (*min, *max),
            Self::Drawn(Distribution::Weighted { values }) => {
                let sizes = || values.iter().filter(|value| value.1 > 0).map(|value| value.0);
                (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
            }
        }
    }

    /// What many of them come to on average, bytes; of a lognormal distribution no more than that:
    /// half of its sizes have the median or more.
    #[must_use]
    pub fn average(&self) -> u64 {
        let mean = |sum: u128, of: u128| u64::try_from(sum / of.max(1)).unwrap_or(u64::MAX);
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Listed(sizes) => {
                mean(sizes.iter().copied().map(u128::from).sum(), sizes.len() as u128)
            }
            Self::Drawn(Distribution::Uniform { min, max }) => max.midpoint(*min),
            Self::Drawn(Distribution::Lognormal { median, min, max, .. }) => {
                (*median).min(*max).div_ceil(2).max(*min)
            }
            Self::Drawn(Distribution::Weighted { values }) => {
                let weights = values.iter().map(|value| u128::from(value.1)).sum();
                let sum = values.iter().map(|value| u128::from(value.0) * u128::from(value.1));
                mean(sum.sum(), weights)
            }
        }
    }

    /// The sizes by number; `salt` tells classes apart.
    pub(crate) fn by_number(&self, salt: u64) -> impl Fn(u64) -> u64 + '_ {
        let (listed, draw) = match self {
            Self::Fixed(bytes) => (&[][..], Draw::Fixed(*bytes)),
            Self::Listed(sizes) => (&sizes[..], Draw::Fixed(0)),
            Self::Drawn(distribution) => (&[][..], distribution.draw(salt)),
        };
        move |number| match listed {
            [] => draw.value_at(number),
            sizes => sizes[(number % sizes.len() as u64) as usize],
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(bytes) => bytes.serialize(serializer),
            Self::Listed(sizes) => sizes.serialize(serializer),
            Self::Drawn(distribution) => distribution.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl<'de> Visitor<'de> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of bytes, a list, or { kind = \"uniform\", … }")
    }

    fn visit_u64<E: Error>(self, bytes: u64) -> Result<Size, E> {
        Ok(Size::Fixed(bytes))
    }

    fn visit_i64<E: Error>(self, bytes: i64) -> Result<Size, E> {
        let bytes = u64::try_from(bytes);
        bytes.map(Size::Fixed).map_err(|_| E::custom("a size cannot be below 0"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Size, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Size::Listed)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Size, A::Error> {
        Distribution::deserialize(MapAccessDeserializer::new(map)).map(Size::Drawn)
    }
}
