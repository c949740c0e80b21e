//! Sweeps of block and cluster sizes: each level is made and mounted, reads back as it was asked
//! for, and has the room that was predicted.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::record::Outcome;

#[test]
fn every_level_of_a_sweep_is_made_as_it_is_named() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    let fs = "ext4:mkfs.cluster_size=16K..32K,ext4:mkfs.cluster_size=256K,\
              xfs:mkfs.block_size=1024..2048,xfs:mkfs.block_size=32768..65536";
    let on = ["--fs", fs, "--on", "loop:400M", "--cache", "warm"];
    let work = ["--workload", "tiny-files", "--scale", "0.01", "--sample-period", "0 ms"];
    env.run_once(&[&on[..], &work].concat()).good();
    let records = env.records(1);
    let mut made = Vec::new();
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
        let argv = record.filesystem.mkfs_argv.join(" ");
        let off = record.notices.iter().find(|notice| notice.code == "prediction-off");
        assert_eq!(off, None, "{argv}");
        let features = &record.filesystem.features;
        let (asked, is) = match features.get("data.bsize") {
            Some(block) => (format!("-b size={block} "), block),
            None => (format!("-C {} ", features["cluster_size"]), &features["cluster_size"]),
        };
        assert!(argv.contains(&asked), "{asked:?} is not in {argv}");
        made.push(is.parse::<u64>().unwrap());
    }
    made.sort_unstable();
    let wanted = [1024, 2048, 16384, 32768, 32768, 65536, 262_144];
    // Blocks beyond a page are not run on an older kernel.
    let small: Vec<u64> = vec![1024, 2048, 16384, 32768, 262_144];
    assert!(made == wanted || made == small, "{made:?}");
    assert_nothing_left(&env);
}

/// Refused before anything is made: no level is left, and too few inodes.
#[test]
fn what_cannot_be_is_said_before_the_run() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = ["--on", "loop:400M", "--workload", "tiny-files"];
    let run = |fs: &str| env.run_once(&[&["--fs", fs], &work[..]].concat());
    run("ext3:mkfs.cluster_size=16K..64K").refused(2, &["only for ext4"]);
    let words = ["free inodes", "mkfs.inode_ratio=32768"];
    run("ext4:mkfs.inode_ratio=262144").refused(2, &words);
    assert_nothing_left(&env);
}
