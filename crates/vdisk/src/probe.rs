//! What a device can be asked for in figures: the kinds of measurement, by the names and units that
//! data sheets and benchmarks use.

use serde::Deserialize;

/// A measurement.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Probe {
    /// Reads in the order of sectors, beginning at this share of the capacity.
    SequentialRead {
        at: f64,
        #[serde(default = "mebibyte")]
        bytes: u32,
        #[serde(default = "one")]
        depth: u16,
    },
    /// The same for writes; `after_bytes` are written before the measurement begins.
    SequentialWrite {
        at: f64,
        #[serde(default = "mebibyte")]
        bytes: u32,
        #[serde(default = "one")]
        depth: u16,
        #[serde(default)]
        after_bytes: u64,
    },
    /// Reads at random places of the whole device, which has been written before.
    RandomRead {
        #[serde(default = "page")]
        bytes: u32,
        depth: u16,
    },
    /// Writes at random places.
    RandomWrite {
        #[serde(default = "page")]
        bytes: u32,
        depth: u16,
        #[serde(default)]
        state: State,
    },
    /// 4 KiB written to one place, a flush after each.
    Fsync,
    /// Seek time, without command and rotation.
    Seek { stroke: Stroke },
    /// Mean time of reads of one sector, to and fro between two places, given as shares of the
    /// capacity; seek, rotation and command included.
    Access { from: f64, to: f64 },
    /// Reads of 4 KiB that were read just before.
    CacheHit,
    /// Writes that fill allocation units in pieces, `units` of them side by side.
    Pieces { bytes: u32, units: u16 },
}

/// What was written to a device before the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing.
    #[default]
    Fresh,
    /// Every sector in order, and then as many random writes as it holds.
    Used,
}

/// Which cylinders a seek goes between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stroke {
    /// From the first to the last.
    Full,
    /// Over half, a third, a quarter of all cylinders.
    Half,
    Third,
    Quarter,
    /// To the next.
    Track,
    /// Between any two.
    Average,
}

fn mebibyte() -> u32 {
    1 << 20
}

fn page() -> u32 {
    4096
}

fn one() -> u16 {
    1
}

impl Probe {
    /// Requests in flight.
    #[must_use]
    pub fn depth(&self) -> u16 {
        match self {
            Self::SequentialRead { depth, .. }
            | Self::SequentialWrite { depth, .. }
            | Self::RandomRead { depth, .. }
            | Self::RandomWrite { depth, .. } => *depth,
            _ => 1,
        }
    }

    /// The unit of its figure.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            Self::SequentialRead { .. } | Self::SequentialWrite { .. } | Self::Pieces { .. } => {
                "MB/s"
            }
            Self::RandomRead { .. } | Self::RandomWrite { .. } | Self::Fsync => "1/s",
            Self::Seek { .. } | Self::Access { .. } | Self::CacheHit => "ms",
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::SequentialRead { at, bytes, depth } => {
                format!("sequential read {}, {}{}", region(*at), size(*bytes), queue(*depth))
            }
            Self::SequentialWrite { at, bytes, depth, after_bytes } => {
                let after = match after_bytes {
                    0 => String::new(),
                    bytes => format!(" after {} GB", bytes / 1_000_000_000),
                };
                let place = region(*at);
                format!("sequential write {place}, {}{}{after}", size(*bytes), queue(*depth))
            }
            Self::RandomRead { bytes, depth } => {
                format!("random read {}, QD {depth}", size(*bytes))
            }
            Self::RandomWrite { bytes, depth, state } => {
                let state = match state {
                    State::Fresh => "",
                    State::Used => ", used device",
                };
                format!("random write {}, QD {depth}{state}", size(*bytes))
            }
            Self::Fsync => "fsyncs of 4 KiB at one place".to_owned(),
            Self::Seek { stroke } => format!("seek, {}", stroke.words()),
            Self::Access { from, to } => {
                format!("access between {} % and {} %", from * 100.0, to * 100.0)
            }
            Self::CacheHit => "read again 4 KiB".to_owned(),
            Self::Pieces { bytes, units } => {
                format!("units in pieces of {}, {units} at once", size(*bytes))
            }
        }
    }
}

impl Stroke {
    fn words(self) -> &'static str {
        match self {
            Self::Full => "full stroke",
            Self::Half => "half stroke",
            Self::Third => "a third of the stroke",
            Self::Quarter => "a quarter of the stroke",
            Self::Track => "one track",
            Self::Average => "average",
        }
    }
}

/// Where on the device.
fn region(at: f64) -> String {
    if at <= 0.0 {
        "at the start".to_owned()
    } else if at >= 1.0 {
        "at the end".to_owned()
    } else if (at - 0.5).abs() < 1e-9 {
        "in the middle".to_owned()
    } else {
        format!("at {:.0} %", at * 100.0)
    }
}

fn size(bytes: u32) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

fn queue(depth: u16) -> String {
    if depth == 1 { String::new() } else { format!(", QD {depth}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_have_words_and_units() {
        let read = Probe::SequentialRead { at: 0.5, bytes: 1 << 20, depth: 1 };
        assert_eq!(
            (read.words().as_str(), read.unit()),
            ("sequential read in the middle, 1 MiB", "MB/s")
        );
        let write = Probe::RandomWrite { bytes: 4096, depth: 32, state: State::Used };
        assert_eq!(write.words(), "random write 4 KiB, QD 32, used device");
        assert_eq!((write.unit(), write.depth()), ("1/s", 32));
        assert_eq!(Probe::Seek { stroke: Stroke::Third }.words(), "seek, a third of the stroke");
    }
}
