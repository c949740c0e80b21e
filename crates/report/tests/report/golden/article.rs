//! The table of the article, and this machine's values next to it.

mod published;
pub(crate) mod seconds;

use crate::golden::plain;
use fsarena_model::record::{CacheState, MemoryRecord, TrialRecord};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::work::VerifyReport;
use fsarena_reference::{Article, Shape};
use fsarena_report::{OwnRun, article};
use fsarena_study::study;
use fsarena_testkit::records::{self, contender, small_files};

/// A plan on these file systems and its trials, all cold and limited to 64 MiB.
fn limited(file_systems: &[&str], blocks: u32) -> (RunHeader, Vec<TrialRecord>) {
    let contenders = file_systems.iter().map(|fs| contender(fs, fs, 1)).collect();
    let header = records::header(contenders, vec![small_files()], blocks);
    let mut records: Vec<TrialRecord> =
        (0..header.plan.schedule.len() as u32).map(|at| records::record(&header, at)).collect();
    for phase in records.iter_mut().flat_map(|record| &mut record.phases) {
        phase.memory = MemoryRecord::Limited {
            limit_bytes: 64 << 20,
            by: "cgroup v2".to_owned(),
            peak_bytes: None,
            syncs: 2,
        };
    }
    (header, records)
}

/// The article of 2003 with these tests alone.
pub(crate) fn of_2003(tests: &[&str]) -> Article {
    let mut article = fsarena_reference::study(2003).unwrap();
    article.tables[0].rows.retain(|row| tests.iter().any(|test| row.head.starts_with(test)));
    let Shape::Rates { tests: own, .. } = &mut article.shape else { panic!("another shape") };
    own.retain(|test| tests.contains(&test.name));
    article
}

const WRITE: &str = "write 5000 files of 256 B";
const DELETE: &str = "delete 50000 files of 256 B";

/// These tests next to ours, whose creation and deletion repeat the first and the second.
fn compared(
    tests: [&str; 2],
    header: &RunHeader,
    records: &[TrialRecord],
    state: RunState,
) -> String {
    let study = study(header, state, &[], records);
    let run = OwnRun { header, records, study: &study, notes: &[] };
    let width = if tests.contains(&"") { 120 } else { 80 };
    article(&of_2003(&tests), &seconds::phases(tests), &[run], width, plain())
}

#[test]
fn article_80() {
    let (header, mut records) = limited(&["ext4", "xfs"], 1);
    records.truncate(1);
    let text = compared([WRITE, DELETE], &header, &records, RunState::Interrupted);
    insta::assert_snapshot!(text, @r"
    Rates / CPU load, %, as printed
                                        ext3 (Linux)        reiserfs     jfs (Linux)
                                                             (Linux)
    --------------------------------------------------------------------------------
    write 5000 files of 256 B, KB/s   127.03 / 95.83  1041.67 / 99.3  518.67 / 48.54
    delete 50000 files of 256 B,       14620 / 95.32    4188 / 91.87    1916 / 28.36
    files/s

                                       xfs (Linux)  UFS1 (FreeBSD)  UFS1+SoftUpdates
                                                                           (FreeBSD)
    --------------------------------------------------------------------------------
    write 5000 files of 256 B,      372.02 / 76.79  135.71 / 31.78    650.41 / 93.49
    KB/s
    delete 50000 files of 256 B,       1430 / 64.4     595 / 17.65     10175 / 93.64
    files/s

                                          UFS2 (FreeBSD)  UFS2+SoftUpdates
                                                                 (FreeBSD)
    ----------------------------------------------------------------------
    write 5000 files of 256 B, KB/s       126.98 / 30.79       640.00 / 98
    delete 50000 files of 256 B, files/s      588 / 18.5      9846 / 93.24
    KB = 1024 bytes. CPU load: the whole machine is 100 %.

    What becomes of its conclusions: 10 hold, 3 fall, 2 cannot be told
    HOLDS  Of the file systems of Linux ext3 alone breaks down from 5,000 files to
           50,000.
        ext3 127.03 KB/s and 31.17 KB/s: 4.08 times less; the others: reiserfs 1.29,
        jfs 1.27, xfs 1.38 times less.
    HOLDS  Even UFS without soft updates writes 50,000 small files several times as
           fast as ext3.
        times the rate of ext3: UFS1 3.87, UFS2 3.82; of 5,000 files: UFS1 1.07,
        UFS2 1.00.
    FALLS  reiserfs leads in writing small files and in most of the other tests.
        first in both tests of writing small files, and in 2 of the 5 others; its
        places there, of 8: 6, 1, 3, 1, 4.
    HOLDS  All write and read the big file well.
        fastest ÷ slowest: 1.06 writing, 1.20 reading.
    HOLDS  The UFS family reads the big file 10 % slower.
        12.6 % by the means of both families, which is 10 % to the nearest ten; pair
        by pair 9.4 to 16.4 %.
    HOLDS  Reading small files in order reiserfs is the best and jfs clearly the
           worst.
        reiserfs 1418.84 KB/s, 2.12 times the next; jfs 231.48 KB/s, 2.15 times less
        than the next.
    FALLS  jfs reads small files at half the rate at which it writes them.
        written ÷ read: 406.90 / 231.48 = 1.76, not 2; of the others: ext3 0.05,
        reiserfs 0.57, xfs 0.54, UFS1 0.19, UFS1+SoftUpdates 0.96, UFS2 0.19,
        UFS2+SoftUpdates 1.03.
    HOLDS  Reading small files in random order is almost too much for all of them.
        times slower than in order: ext3 31.74, reiserfs 31.54, jfs 12.16, xfs
        18.38, UFS1 22.40, UFS1+SoftUpdates 21.35, UFS2 23.97, UFS2+SoftUpdates
        22.77.
    FALLS  Reading in random order reiserfs is a little better than the others.
        it is first, and by more than a little: 1.56 times the next
        (UFS1+SoftUpdates), 2.36 times the last (jfs).
    HOLDS  ext3 deletes faster than all others.
        ext3 14620 files/s, 1.44 times the next (UFS1+SoftUpdates).
    HOLDS  Deleting, UFS with soft updates follows, and reiserfs far behind them.
        times the rate of reiserfs: UFS1+SoftUpdates 2.43, UFS2+SoftUpdates 2.35.
    HOLDS  The time of UFS without soft updates is over.
        with ÷ without them, 50,000 small files: written UFS1 4.92, UFS2 5.05;
        deleted UFS1 17.10, UFS2 16.74; read UFS1 0.98, UFS2 0.94.
    CANNOT BE TOLD  UFS2 is neither faster nor slower than UFS1.
        UFS2 ÷ UFS1 is 0.89 to 1.01, and below 1 in 12 of 14 pairs; without repeats
        nobody knows how much of that is chance.
    HOLDS  Over all, reiserfs is first and UFS with soft updates second.
        geometric means over the 7 tests, as shares of the best: reiserfs 1.00,
        UFS1+SoftUpdates 0.84, UFS2+SoftUpdates 0.81, xfs 0.51, jfs 0.50, ext3 0.45,
        UFS1 0.36, UFS2 0.34.
    CANNOT BE TOLD  With 64 MB of memory the cache has no influence.
        50,000 files of 256 B are 12.2 MiB, in blocks of 4 KiB 195 MiB; 5,000 files
        1.2 MiB or 20 MiB, which 64 MB hold: whether the program waited for the disk
        is not stated.

    As in 2003: RUN 0123456789abcdef, rates / CPU load, %, by `returned` (as the
    article)
                                                  ext4  xfs
    -------------------------------------------------------
    write 5000 files of 256 B, KB/s       2500.00 / 25    -
    delete 50000 files of 256 B, files/s    10000 / 25    -

    As in 2003: RUN 0123456789abcdef, rates / CPU load, %, by `durable`
                                                  ext4  xfs
    -------------------------------------------------------
    write 5000 files of 256 B, KB/s       1250.00 / 25    -
    delete 50000 files of 256 B, files/s     5000 / 25    -

    How the figures of ours are read
    Ours: medians over trials, CPU from start to `durable` in all tables (- where
    the phase was too short for a figure). Without a mark: cold, of all planned
    trials, in 64 MiB of memory.
    ");
    let alone = article(&of_2003(&[WRITE, DELETE]), &[], &[], 160, plain());
    insta::assert_snapshot!("article_160", alone);
}

/// Blocks of ext4, xfs, jfs, btrfs and tmpfs.
#[test]
fn values_under_other_conditions_are_marked() {
    let (header, mut records) = limited(&["ext4", "xfs", "jfs", "btrfs", "tmpfs"], 3);
    for (at, record) in records.iter_mut().enumerate() {
        let warm = |record: &mut TrialRecord, state, why: &str| {
            record.phases[0].cache.state = state;
            record.phases[0].cache.why = why.to_owned();
            record.phases[0].clocks.returned_ns /= 1000;
        };
        match at % 5 {
            0 if at > 5 => warm(record, CacheState::Warm, "the mount left 812 resident pages"),
            1 => {
                let reason = "no cgroup controller for memory".to_owned();
                let memory = MemoryRecord::NotLimited { limit_bytes: 64 << 20, reason };
                record.phases[0].memory = memory;
            }
            2 => {
                let bad_files = u64::from(at == 2);
                let examples = Vec::new();
                record.verify = Some(VerifyReport { files: 1, bytes: 256, bad_files, examples });
            }
            3 => {
                let examples = Vec::new();
                record.verify = Some(VerifyReport { files: 1, bytes: 256, bad_files: 1, examples });
            }
            4 => {
                warm(record, CacheState::WarmByNature, "it lives in memory");
                record.phases[0].memory = MemoryRecord::Whole;
            }
            _ => {}
        }
    }
    let text = compared([WRITE, ""], &header, &records, RunState::Done);
    let ours = text.split_once("As in 2003").unwrap().1;
    insta::assert_snapshot!(ours, @r"
    : RUN 0123456789abcdef, rates / CPU load, %, by `returned` (as the article)
                                           ext4               xfs                   jfs       btrfs                    tmpfs
    ------------------------------------------------------------------------------------------------------------------------
    write 5000 files of 256    2500.00 / 25 [a]  2500.00 / 25 [b]  2500.00 / 25 [c] [d]  failed [e]  2500000.00 / 25 [f] [g]
    B, KB/s
    [a] 2 of 3 planned trials; not among them: 1 warm, though cold was asked for: the mount left 812 resident pages
    [b] memory not limited to 64 MiB: no cgroup controller for memory
    [c] 2 of 3 planned trials
    [d] WRONG CONTENTS after 1 trial: in no figure
    [e] WRONG CONTENTS after 3 trials: in no figure
    [f] warm by nature: it lives in memory
    [g] memory not limited, as asked

    As in 2003: RUN 0123456789abcdef, rates / CPU load, %, by `durable`
                                              ext4               xfs                   jfs       btrfs                 tmpfs
    ------------------------------------------------------------------------------------------------------------------------
    write 5000 files of 256 B,    1250.00 / 25 [a]  1250.00 / 25 [b]  1250.00 / 25 [c] [d]  failed [e]  1250.00 / 25 [f] [g]
    KB/s
    [a] 2 of 3 planned trials; not among them: 1 warm, though cold was asked for: the mount left 812 resident pages
    [b] memory not limited to 64 MiB: no cgroup controller for memory
    [c] 2 of 3 planned trials
    [d] WRONG CONTENTS after 1 trial: in no figure
    [e] WRONG CONTENTS after 3 trials: in no figure
    [f] warm by nature: it lives in memory
    [g] memory not limited, as asked

    How the figures of ours are read
    Ours: medians over trials, CPU from start to `durable` in all tables (- where the phase was too short for a figure).
    Without a mark: cold, of all planned trials, in 64 MiB of memory.
    ");
}

#[test]
fn a_contender_is_shown_by_its_trials_under_the_conditions_of_the_article() {
    let (header, mut records) = limited(&["ext4"], 3);
    let warm = |record: &mut TrialRecord| {
        record.phases[0].cache.state = CacheState::Warm;
        record.phases[0].clocks.returned_ns /= 1000;
    };
    let shown = |records: &[TrialRecord]| {
        let text = compared([WRITE, ""], &header, records, RunState::Done);
        let (before, _) = text.split_once("by `durable`").unwrap();
        let line = before.lines().rfind(|line| line.starts_with("write")).unwrap();
        line.split_once("KB/s").unwrap().1.trim().to_owned()
    };
    assert_eq!(shown(&records), "2500.00 / 25", "all as the article had it: no mark");
    warm(&mut records[0]);
    warm(&mut records[1]);
    assert_eq!(shown(&records), "2500.00 / 25 [a]", "the only cold trial, not the two warm ones");
    warm(&mut records[2]);
    assert_eq!(shown(&records), "2500000.00 / 25 [a]", "nothing else to show, and it is said");
}
