//! Names of an archive that have to be remembered, in as little memory as is possible: two keyed
//! hashes of 64 bits each stand for a name, however long it is. Keys are random, so nobody can
//! make an archive in which two names meet.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

/// Stands for a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Mark(u64, u64);

/// Makes marks; those of different markers have nothing in common.
#[derive(Debug, Default)]
pub(super) struct Marker(RandomState, RandomState);

impl Marker {
    /// Those of the directories that a name of `parts` lies in, outermost first, and last its own.
    pub(super) fn along<'a>(&self, parts: &'a [&'a [u8]]) -> impl Iterator<Item = Mark> + use<'a> {
        let (mut one, mut other) = (self.0.build_hasher(), self.1.build_hasher());
        parts.iter().map(move |part| {
            for hasher in [&mut one, &mut other] {
                hasher.write(part);
                hasher.write_u8(b'/');
            }
            Mark(one.finish(), other.finish())
        })
    }

    /// That of a name of `parts`; nothing where there are none.
    pub(super) fn of(&self, parts: &[&[u8]]) -> Option<Mark> {
        self.along(parts).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_mark() {
        let marker = Marker::default();
        let along: Vec<Mark> = marker.along(&[b"a", b"bc", b"d"]).collect();
        assert_eq!(along.len(), 3);
        assert_eq!(marker.of(&[b"a", b"bc"]), Some(along[1]));
        assert_eq!(marker.of(&[b"a", b"bc", b"d"]), Some(along[2]));
        assert_ne!(marker.of(&[b"ab", b"c"]), Some(along[1]));
        assert_ne!(along[0], along[1]);
        assert_eq!(marker.of(&[]), None);
    }
}
