//! Work of which it is known where its bytes go.

use crate::{TraceFixture, assert_attributed, level, part};
use fsarena_model::account::{Account, Part, Written};
use fsarena_model::contender::FsLevel;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const MIB: u64 = 1 << 20;
const FILES: u64 = 1000;

fn written(first_bytes: u64, again_bytes: u64) -> Written {
    Written { first_bytes, again_bytes }
}

/// One file written over ten times, with fsync each time.
fn overwritten(fixture: &TraceFixture, level: &FsLevel, size_bytes: u64) -> Option<Account> {
    let contents = vec![7; usize::try_from(MIB).unwrap()];
    let prepare = |mnt: &Path| fs::write(mnt.join("file"), &contents).unwrap();
    let work = |mnt: &Path| {
        let file = File::options().write(true).open(mnt.join("file")).unwrap();
        for _ in 0..10 {
            file.write_all_at(&contents, 0).unwrap();
            file.sync_all().unwrap();
        }
    };
    fixture.account(level, size_bytes, prepare, work)
}

#[test]
fn loop_a_file_overwritten_ten_times_is_once_new_and_nine_times_again() {
    let Some(fixture) = TraceFixture::enter() else { return };
    for (name, size_bytes) in [("ext4", 64 * MIB), ("xfs", 300 * MIB)] {
        let Some(account) = overwritten(&fixture, &FsLevel::plain(name), size_bytes) else {
            continue;
        };
        assert_eq!(part(&account, Part::Data), written(MIB, 9 * MIB), "{name}");
        assert_eq!(part(&account, Part::Rounding), written(0, 0), "{name}");
        assert_eq!(part(&account, Part::Gone), written(0, 0), "{name}");
        assert!(part(&account, Part::Journal).bytes() > 0, "{name}");
        assert_eq!((account.files, account.contents_bytes), (1, MIB));
        assert_attributed(&account);
    }
}

/// A thousand files of one byte.
fn small_files(fixture: &TraceFixture, level: &FsLevel, size_bytes: u64) -> Option<Account> {
    let work = |mnt: &Path| {
        for number in 0..FILES {
            fs::write(mnt.join(number.to_string()), [7]).unwrap();
        }
    };
    fixture.account(level, size_bytes, |_| (), work)
}

#[test]
fn loop_rounding_as_written_is_told_from_rounding_as_allocated() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let large = level("xfs", &[("block_size", "65536")], &[]);
    if let Some(account) = small_files(&fixture, &large, 300 * MIB) {
        assert_eq!(part(&account, Part::Data).bytes(), FILES);
        assert_eq!(part(&account, Part::Rounding).bytes(), FILES * 65535);
        assert_eq!(account.allocated_bytes, FILES * 65536);
        assert_attributed(&account);
    }
    let clusters = level("ext4", &[("cluster_size", "64K")], &[]);
    if let Some(account) = small_files(&fixture, &clusters, 256 * MIB) {
        assert_eq!(part(&account, Part::Data).bytes(), FILES);
        assert_eq!(part(&account, Part::Rounding).bytes(), FILES * 4095);
        assert_eq!(account.allocated_bytes, FILES * 65536);
        assert_attributed(&account);
    }
}

#[test]
fn loop_renames_write_journal_and_metadata_alone() {
    let Some(fixture) = TraceFixture::enter() else { return };
    for (name, size_bytes) in [("ext4", 64 * MIB), ("ext2", 64 * MIB), ("xfs", 300 * MIB)] {
        let prepare = |mnt: &Path| {
            for number in 0..FILES {
                fs::write(mnt.join(number.to_string()), [7; 5000]).unwrap();
            }
        };
        let work = |mnt: &Path| {
            for number in 0..FILES {
                fs::rename(mnt.join(number.to_string()), mnt.join(format!("new-{number}")))
                    .unwrap();
            }
        };
        let plain = FsLevel::plain(name);
        let Some(account) = fixture.account(&plain, size_bytes, prepare, work) else { continue };
        let parts = account.parts();
        let wrong = parts.keys().find(|part| !matches!(part, Part::Journal | Part::Metadata));
        assert_eq!(wrong, None, "{name}: {parts:?}");
        assert_eq!(part(&account, Part::Journal).bytes() > 0, name != "ext2", "{name}");
        // xfs has its log alone on the device after a sync; it writes the blocks back when it must.
        assert!(name == "xfs" || part(&account, Part::Metadata).bytes() > 0, "{name}");
        assert_attributed(&account);
    }
}

#[test]
fn loop_contents_in_a_journal_are_told_from_those_in_their_place() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let journaled = level("ext4", &[], &["data=journal"]);
    let Some(account) = overwritten(&fixture, &journaled, 64 * MIB) else { return };
    // Each time into the journal; some of the times into its place too.
    assert!(part(&account, Part::Journal).bytes() >= 10 * MIB);
    assert_eq!(part(&account, Part::Data).first_bytes, MIB);
    assert_attributed(&account);
}

#[test]
fn loop_btrfs_is_placed_through_its_chunks() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let Some(account) = overwritten(&fixture, &FsLevel::plain("btrfs"), 256 * MIB) else { return };
    // Copy on write: each time elsewhere, and only the last one is still there.
    assert_eq!(part(&account, Part::Data), written(MIB, 0));
    assert_eq!(part(&account, Part::Gone).bytes(), 9 * MIB);
    assert!(part(&account, Part::Metadata).bytes() > 0);
    assert_attributed(&account);
}
