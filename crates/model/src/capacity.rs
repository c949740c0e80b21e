//! Capacity of a file system: what a new one is expected to offer, and how it allocates its room.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// What statfs(2) is expected to tell right after a file system was made and mounted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Predicted {
    /// Room that a user without rights finds free (`f_bavail`), bytes.
    pub free_bytes: u64,
    /// Files and directories that can be made (`f_ffree`); absent where there is no fixed number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inodes: Option<u64>,
}

/// The share by which a prediction may differ from what statfs(2) tells.
pub const PREDICTION_SHARE: f64 = 0.03;

impl Predicted {
    /// What differs by more than [`PREDICTION_SHARE`] from what was found, in words.
    #[must_use]
    pub fn is_off(&self, found: &Self) -> Option<String> {
        let off = |predicted: u64, found: u64| {
            let most = predicted.max(found) as f64;
            predicted.abs_diff(found) as f64 > PREDICTION_SHARE * most
        };
        let mut parts = Vec::new();
        if off(self.free_bytes, found.free_bytes) {
            parts.push(format!("{} B free, predicted {}", found.free_bytes, self.free_bytes));
        }
        if let (Some(predicted), Some(found)) = (self.inodes, found.inodes)
            && off(predicted, found)
        {
            parts.push(format!("{found} inodes free, predicted {predicted}"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// How a file system allocates its room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// What there is.
    pub predicted: Predicted,
    /// Room beyond that which is kept for root, bytes.
    pub kept_for_root_bytes: u64,
    /// Contents take whole units of this many bytes: a block or a cluster.
    pub unit_bytes: u64,
    /// Files up to this size take no unit.
    pub inline_max_bytes: u64,
    /// What a file takes in addition to its contents from the same room, bytes; 0 where inodes
    /// have theirs.
    pub inode_bytes: u64,
    /// A directory takes whole units of this many bytes.
    pub dir_unit_bytes: u64,
    /// Whether what is written over goes to another place first, the old one being freed later.
    pub moves_on_write: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_is_off_by_more_than_its_share() {
        let of = |free_bytes, inodes| Predicted { free_bytes, inodes };
        assert_eq!(of(1000, Some(100)).is_off(&of(971, Some(103))), None);
        assert_eq!(of(1000, None).is_off(&of(1000, Some(7))), None);
        let text = of(1000, Some(100)).is_off(&of(900, Some(1))).unwrap();
        assert_eq!(text, "900 B free, predicted 1000; 1 inodes free, predicted 100");
    }
}
