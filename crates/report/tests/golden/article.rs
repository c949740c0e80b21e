//! The table of the article, and this machine's values beside it.

mod published;
pub(crate) mod seconds;

use crate::plain;
use fsarena_model::record::{CacheState, MemoryRecord, TrialRecord};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::work::VerifyReport;
use fsarena_report::{ArticleCell, ArticleRow, article_2003};
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

pub(crate) fn article_rows() -> Vec<ArticleRow> {
    let columns = [
        ("ext3", "Linux", 127.03, 95.83, 14620.0, 95.32),
        ("reiserfs", "Linux", 1041.67, 99.3, 4188.0, 91.87),
        ("jfs", "Linux", 518.67, 48.54, 1916.0, 28.36),
        ("xfs", "Linux", 372.02, 76.79, 1430.0, 64.4),
        ("UFS1", "FreeBSD", 135.71, 31.78, 595.0, 17.65),
        ("UFS1+SoftUpdates", "FreeBSD", 650.41, 93.49, 10175.0, 93.64),
    ];
    let row = |title: &str, unit: &str, phase: &str, delete: bool| ArticleRow {
        title: title.to_owned(),
        unit: unit.to_owned(),
        ours: Some(("small-files".to_owned(), phase.to_owned())),
        cells: columns
            .iter()
            .map(|&(column, os, kb, kb_cpu, files, files_cpu)| ArticleCell {
                column: column.to_owned(),
                os: os.to_owned(),
                value: if delete { files } else { kb },
                cpu_percent: if delete { files_cpu } else { kb_cpu },
            })
            .collect(),
    };
    vec![
        row("write 5000 files of 256 B", "KB/s", "create", false),
        row("delete 50000 files of 256 B", "files/s", "delete", true),
    ]
}

#[test]
fn article_80() {
    let (header, mut records) = limited(&["ext4", "xfs"], 1);
    records.truncate(1);
    let study = study(&header, RunState::Interrupted, &[], &records);
    insta::assert_snapshot!(article_2003(&article_rows(), Some(&study), 80, plain()), @r"
    The article of 2003: rate / CPU load, %
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

    This machine, RUN 0123456789abcdef, by `returned` (as the article)
                                                  ext4  xfs
    -------------------------------------------------------
    write 5000 files of 256 B, KB/s       2500.00 / 25    -
    delete 50000 files of 256 B, files/s    10000 / 25    -

    This machine, RUN 0123456789abcdef, by `durable`
                                                  ext4  xfs
    -------------------------------------------------------
    write 5000 files of 256 B, KB/s       1250.00 / 25    -
    delete 50000 files of 256 B, files/s     5000 / 25    -

    KB = 1024 bytes. CPU load: the whole machine is 100 %. Ours: medians over
    trials, CPU from start to `durable` in both tables (- where the phase was too
    short for a figure). Without a mark: cold, of all planned trials, in 64 MiB of
    memory.
    ");
    insta::assert_snapshot!("article_160", article_2003(&article_rows(), None, 160, plain()));
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
    let study = study(&header, RunState::Done, &[], &records);
    let text = article_2003(&article_rows()[..1], Some(&study), 120, plain());
    let ours = text.split_once("This machine").unwrap().1;
    insta::assert_snapshot!(ours, @r"
    , RUN 0123456789abcdef, by `returned` (as the article)
                                                 ext4               xfs                   jfs
    -----------------------------------------------------------------------------------------
    write 5000 files of 256 B, KB/s  2500.00 / 25 [a]  2500.00 / 25 [b]  2500.00 / 25 [c] [d]

                                          btrfs                    tmpfs
    --------------------------------------------------------------------
    write 5000 files of 256 B, KB/s  failed [e]  2500000.00 / 25 [f] [g]

    This machine, RUN 0123456789abcdef, by `durable`
                                                 ext4               xfs                   jfs
    -----------------------------------------------------------------------------------------
    write 5000 files of 256 B, KB/s  1250.00 / 25 [a]  1250.00 / 25 [b]  1250.00 / 25 [c] [d]

                                          btrfs                 tmpfs
    -----------------------------------------------------------------
    write 5000 files of 256 B, KB/s  failed [e]  1250.00 / 25 [f] [g]

    [a] 2 of 3 planned trials; not among them: 1 warm, though cold was asked for: the mount left 812 resident pages
    [b] memory not limited to 64 MiB: no cgroup controller for memory
    [c] 2 of 3 planned trials
    [d] WRONG CONTENTS after 1 trial: in no figure
    [e] WRONG CONTENTS after 3 trials: in no figure
    [f] warm by nature: it lives in memory
    [g] memory not limited, as asked

    KB = 1024 bytes. CPU load: the whole machine is 100 %. Ours: medians over trials, CPU from start to `durable` in both
    tables (- where the phase was too short for a figure). Without a mark: cold, of all planned trials, in 64 MiB of memory.
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
        let study = study(&header, RunState::Done, &[], records);
        let text = article_2003(&article_rows()[..1], Some(&study), 120, plain());
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
