//! What bringing flash into a stated state costs, before each trial.
//!
//! The figures are those of the default of `fsarena-devices`, at the speed of a slow SSD.

use fsarena_model::contender::Levels;
use fsarena_model::device::SsdPolicy;

/// Passes over the device of a preconditioning.
const FILL_PASSES: u64 = 2;
/// Rounds of random writes until it is steady: five are looked at, the first ones are not steady.
const ROUNDS: u64 = 8;
/// A round is as long as the device is large, and no longer than 60 s of 100 MB/s.
const MAX_ROUND_BYTES: u64 = 6_000_000_000;
const FILL_NS_PER_BYTE: f64 = 2.0;
const ROUND_NS_PER_BYTE: f64 = 10.0;

/// Bytes that conditioning writes to a device before one trial: for `precondition` two fills and
/// eight rounds of random writes. A discard writes nothing to speak of.
#[must_use]
pub fn conditioning_bytes(levels: &Levels) -> u64 {
    let size = levels.device.size_bytes().unwrap_or(0);
    match levels.ssd {
        SsdPolicy::None | SsdPolicy::Blkdiscard => 0,
        SsdPolicy::Precondition => {
            size.saturating_mul(FILL_PASSES).saturating_add(round_bytes(size))
        }
    }
}

fn round_bytes(device_bytes: u64) -> u64 {
    device_bytes.min(MAX_ROUND_BYTES).saturating_mul(ROUNDS)
}

/// Time of it.
pub(super) fn conditioning_ns(levels: &Levels) -> f64 {
    let all = conditioning_bytes(levels);
    if all == 0 {
        return 0.0;
    }
    let rounds = round_bytes(levels.device.size_bytes().unwrap_or(0));
    (all - rounds) as f64 * FILL_NS_PER_BYTE + rounds as f64 * ROUND_NS_PER_BYTE
}
