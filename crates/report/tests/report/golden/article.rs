//! The table of the article, and this machine's values next to it.

mod published;
pub(crate) mod seconds;

use crate::golden::plain;
use fsarena_model::record::{CacheState, MemoryRecord, TaskCpu, TrialRecord, Window};
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
    insta::assert_snapshot!("article_80", text);
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
    insta::assert_snapshot!(ours, @"
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
    Ours: medians over trials, CPU from start to `durable` in all tables (where the phase was too short for a load,
    processor time of an op; - where neither is known). Without a mark: cold, of all planned trials, in 64 MiB of memory.
    ");
}

/// Of ext4 other programs are in the CPU load, xfs was too short for one.
#[test]
fn cpu_loads_are_marked_and_short_phases_have_the_time_of_an_op() {
    let (header, mut records) = limited(&["ext4", "xfs"], 1);
    let phase = &mut records[0].phases[0];
    phase.worker.user_ns = 0;
    let others = phase.windows.get_mut(&Window::Durable).unwrap();
    others.insert("cpu.user_ns".to_owned(), 300_000_000);
    let phase = &mut records[1].phases[0];
    phase.task_cpu = Some(TaskCpu { worker_ns: 150_000_000, kernel_threads_ns: Some(56_000_000) });
    for value in phase.windows.get_mut(&Window::Durable).unwrap().values_mut() {
        *value /= 100;
    }
    let text = compared([WRITE, ""], &header, &records, RunState::Done);
    let ours = text.split_once("As in 2003").unwrap().1;
    insta::assert_snapshot!(ours.split("As in 2003").next().unwrap(), @"
    : RUN 0123456789abcdef, rates / CPU load, %, by `returned` (as the article)
                                                    ext4                   xfs
    --------------------------------------------------------------------------
    write 5000 files of 256 B, KB/s  2500.00 / 31.82 [a]  2500.00 / 41.2 µs/op
    [a] CPU: other programs used up to 14 % of the machine
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
