//! Every known input holds: the seeds of all targets, and the files of the corpus, most of which
//! have failed before they were mended.

use fsarena_fuzz::{TARGETS, blind, corpus_dir, inputs, target};
use std::fs;

/// Size of the corpus, bytes; tidy holds it too.
const CORPUS_MOST_BYTES: u64 = 1 << 20;

#[test]
fn every_known_input_holds() {
    let mut failed = Vec::new();
    let mut count = 0;
    for target in TARGETS {
        for (name, input) in inputs(target).expect("a corpus that can be read") {
            count += 1;
            if !blind::holds(target, &input) {
                failed.push(format!("{}: {name}", target.name));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(count > 200, "only {count}");
}

#[test]
fn every_directory_of_the_corpus_is_that_of_a_target() {
    let root = corpus_dir("");
    let mut bytes = 0;
    for entry in fs::read_dir(root).expect("the corpus is there") {
        let dir = entry.expect("the corpus can be read").path();
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(target(&name).is_some(), "{name} is no target");
        for file in fs::read_dir(&dir).expect("a directory of inputs") {
            bytes += file.and_then(|file| file.metadata()).expect("an input").len();
        }
    }
    assert!(bytes < CORPUS_MOST_BYTES, "{bytes} bytes");
}
