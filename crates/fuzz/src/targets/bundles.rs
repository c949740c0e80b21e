//! Bundles of RUNs, made by somebody else.

use crate::scratch;
use crate::target::{PLAIN, Target};
use fsarena_bundle::{Contents, Part, pack, unpack};
use std::io::Write as _;

pub(super) const BUNDLE: Target = Target {
    name: "bundle",
    reads: "bundles: tar in zstd, with a list of hashes",
    seeds,
    run: bundle,
    ..PLAIN
};

fn packed(parts: &[(&str, &str)]) -> Vec<u8> {
    let part = |(name, text): &(&str, &str)| Part {
        name: (*name).to_owned(),
        contents: Contents::Bytes((*text).into()),
    };
    let mut bundle = Vec::new();
    let parts: Vec<Part> = parts.iter().map(part).collect();
    pack(&mut bundle, ("fsarena-0", 7), &parts).expect("memory");
    bundle
}

/// The plain tar: the target compresses it, so that a change reaches what is inside.
fn seeds() -> Vec<Vec<u8>> {
    let parts = [("README.txt", "read"), ("figures/a.svg", "<svg/>")];
    let plain = zstd::decode_all(packed(&parts).as_slice()).expect("it was just packed");
    vec![plain, packed(&parts)]
}

/// What is unpacked lies in the directory, and is what is said to be there.
fn bundle(input: &[u8]) {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("memory");
    encoder.write_all(input).expect("memory");
    let compressed = encoder.finish().expect("memory");
    for bytes in [input, compressed.as_slice()] {
        let outer = scratch::empty_dir("bundle");
        let dir = outer.join("inner");
        std::fs::create_dir(&dir).expect("a directory of our own");
        match unpack(bytes, &dir) {
            Ok(unpacked) => {
                assert!(unpacked.names.iter().all(|name| dir.join(name).is_file()));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        let beside = std::fs::read_dir(&outer).expect("our directory").count();
        assert_eq!(beside, 1, "something left the directory");
        scratch::remove(&outer);
    }
}
