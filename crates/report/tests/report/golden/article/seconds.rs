//! RUNs of ours in the shape of an article of seconds.

use crate::golden::plain;
use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheState, Drained, MemoryRecord, Outcome, TrialRecord};
use fsarena_model::run::{Clock, RunHeader, RunState};
use fsarena_model::work::{OpError, VerifyReport};
use fsarena_report::{OwnPhase, OwnRun, article, in_shape_of};
use fsarena_study::{Study, study};
use fsarena_testkit::records::{self, SECOND_NS, contender, small_files};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

/// Two tests of the article of this year, by phases of the sample.
pub(crate) fn phases(tests: [&str; 2]) -> Vec<OwnPhase> {
    let own = |(test, phase): (&str, &str)| OwnPhase {
        title: test.to_owned(),
        workload: "small-files".to_owned(),
        phase: phase.to_owned(),
    };
    tests.into_iter().zip(["create", "delete"]).map(own).collect()
}

/// Three blocks of these file systems; every trial takes a little longer than the one before it.
pub(crate) fn sample(file_systems: &[&str]) -> (RunHeader, Vec<TrialRecord>) {
    let contenders = file_systems.iter().map(|fs| contender(fs, fs, 1)).collect();
    let header = records::header(contenders, vec![small_files()], 3);
    let mut records: Vec<TrialRecord> =
        (0..header.plan.schedule.len() as u32).map(|at| records::record(&header, at)).collect();
    for (at, record) in (0u64..).zip(&mut records) {
        for phase in &mut record.phases {
            phase.clocks.returned_ns = SECOND_NS * (10 + at) / 2;
            phase.clocks.durable_ns = Some(SECOND_NS * (11 + at));
            if record.filesystem.name == "tmpfs" {
                phase.cache.state = CacheState::WarmByNature;
                phase.cache.why = "it lives in memory".to_owned();
                phase.clocks.drained = Drained::NoDevice;
            }
        }
    }
    (header, records)
}

/// The views of a sample that is done.
pub(crate) fn done(header: &RunHeader, records: &[TrialRecord]) -> Study {
    study(header, RunState::Done, &[], records)
}

#[test]
fn contenders_in_rows_beside_the_article() {
    let (header, records) = sample(&["ext4 data=ordered", "ext4 data=writeback"]);
    let study = done(&header, &records);
    let runs = [OwnRun { header: &header, records: &records, study: &study, notes: &[] }];
    let found = fsarena_reference::study(2010).unwrap();
    let text = article(&found, &phases(["flac_copy_s", "portage_delete_s"]), &runs, 80, plain());
    let ours = text.split_once("As in 2010").unwrap();
    assert!(ours.0.starts_with("Minutes and seconds, as printed\n"), "the article comes first");
    insta::assert_snapshot!(ours.1, @r"
    : RUN 0123456789abcdef, seconds by `returned` (as the article)
                           Flac  Portage     Avi     Iso  Portage
                         copied   copied  copied  copied  deleted
    -------------------------------------------------------------
    ext4 data=ordered      6.00        -       -       -     6.00
    ext4 data=writeback    6.50        -       -       -     6.50

    As in 2010: RUN 0123456789abcdef, seconds by `durable`
                           Flac  Portage     Avi     Iso  Portage
                         copied   copied  copied  copied  deleted
    -------------------------------------------------------------
    ext4 data=ordered      13.0        -       -       -     13.0
    ext4 data=writeback    14.0        -       -       -     14.0

    How the figures of ours are read
    Ours: medians over trials. Without a mark: cold, of all planned trials.
    ");
}

#[test]
fn scaled_datasets_and_one_clock_are_said() {
    let (mut header, records) = sample(&["ext4"]);
    header.plan.scale = 0.1;
    header.plan.compared_clock = Clock::Returned;
    let study = done(&header, &records);
    let runs = [OwnRun { header: &header, records: &records, study: &study, notes: &[] }];
    let found = fsarena_reference::study(2005).unwrap();
    let phases = phases(["data_copy_s", "data_delete_s"]);
    insta::assert_snapshot!(in_shape_of(&found, &phases, &runs, 120, plain()), @r"
    As in 2005: RUN 0123456789abcdef, seconds by `returned` (as the article)
          Data    Data  Ports  Ports   Ports   Big
          copy  delete  untar   copy  delete  file
                                              copy
    ----------------------------------------------
    ext4  5.50    5.50      -      -       -     -

    How the figures of ours are read
    Ours: medians over trials. Without a mark: cold, of all planned trials. Datasets are scaled by 0.1: these figures are
    not to be compared with the article's, only with each other.
    ");
}

/// Makes what is done on these file systems warm: as asked in the first phase, and in the last
/// where cold was asked for.
fn warm(records: &mut [TrialRecord], file_systems: &[&str]) {
    let names = |record: &&mut TrialRecord| file_systems.contains(&&*record.filesystem.name);
    for record in records.iter_mut().filter(names) {
        for phase in &mut record.phases {
            phase.cache.state = CacheState::Warm;
            phase.cache.asked = Cache::Cold;
            phase.cache.why = "812 pages were left".to_owned();
        }
        record.phases[0].cache.asked = Cache::Warm;
    }
}

/// Two machines in the shape of 2008, ext3 warm. On the first, xfs is cold, the second trial of
/// ext3 is partial, that of xfs has wrong contents, and the third of xfs failed before it; the
/// second has limited memory and half of the data.
fn two_machines() -> String {
    let (mut header, mut records) = sample(&["tmpfs", "ext3", "xfs"]);
    header.host.cpu_model = Some("Duron".to_owned());
    warm(&mut records, &["ext3"]);
    records[4].phases[0].error = Some(OpError {
        call: "cp".to_owned(),
        path: ".".to_owned(),
        errno: 28,
        text: "no space left".to_owned(),
        op_index: 7,
        thread: None,
    });
    let verify = VerifyReport { files: 1, bytes: 256, bad_files: 1, examples: Vec::new() };
    records[5].verify = Some(verify);
    records[8].phases.clear();
    let (step, error) = ("mkfs".to_owned(), "busy".to_owned());
    records[8].outcome = Outcome::Failed { step, error, remedy: None };
    let first = done(&header, &records);
    let (mut other, mut others) = sample(&["tmpfs", "ext3"]);
    other.uid = "fedcba9876543210".to_owned();
    other.plan.scale = 0.5;
    for phase in others.iter_mut().flat_map(|record| &mut record.phases) {
        if phase.cache.state != CacheState::WarmByNature {
            phase.memory = MemoryRecord::Limited {
                limit_bytes: 64 << 20,
                by: "cgroup v2".to_owned(),
                peak_bytes: None,
                syncs: 0,
            };
        }
    }
    warm(&mut others, &["ext3"]);
    let second = done(&other, &others);
    let notes = ["root does the work".to_owned()];
    let runs = [
        OwnRun { header: &header, records: &records, study: &first, notes: &[] },
        OwnRun { header: &other, records: &others, study: &second, notes: &notes },
    ];
    let found = fsarena_reference::study(2008).unwrap();
    in_shape_of(&found, &phases(["untar", "wav2flac"]), &runs, 140, plain())
}

#[test]
fn machines_stand_side_by_side_with_ratios() {
    let text = two_machines();
    let (tables, _) = text.split_once("\n\nAppendix").unwrap();
    insta::assert_snapshot!(tables, @r"
    As in 2008: 2 machines, seconds by `returned` (as the article)
                  untar (1)     untar  tar+bzip2  tar+bzip2  tar+gzip  tar+gzip      wav2flac (1)  wav2flac (2)  wav2ogg  wav2ogg
                                  (2)        (1)        (2)       (1)       (2)                                      (1)      (2)
    -----------------------------------------------------------------------------------------------------------------------------
    tmpfs              6.50      6.00          -          -         -         -              6.50          6.00        -        -
    ext3           7.00 [a]  6.50 [b]          -          -         -         -          7.00 [c]  6.50 [c] [b]        -        -
    xfs    6.00 [d] [e] [f]         -          -          -         -         -  6.00 [d] [e] [f]             -        -        -
    [a] 2 of 3 planned trials
    [b] memory 64 MiB by cgroup v2
    [c] warm, though cold was asked for: 812 pages were left
    [d] cold, as asked
    [e] 1 of 3 planned trials
    [f] WRONG CONTENTS after 1 trial: in no figure

    As in 2008: 2 machines, seconds by `durable`
                  untar (1)     untar  tar+bzip2  tar+bzip2  tar+gzip  tar+gzip      wav2flac (1)  wav2flac (2)  wav2ogg  wav2ogg
                                  (2)        (1)        (2)       (1)       (2)                                      (1)      (2)
    -----------------------------------------------------------------------------------------------------------------------------
    tmpfs              14.0      13.0          -          -         -         -              14.0          13.0        -        -
    ext3           15.0 [a]  14.0 [b]          -          -         -         -          15.0 [c]  14.0 [c] [b]        -        -
    xfs    13.0 [d] [e] [f]         -          -          -         -         -  13.0 [d] [e] [f]             -        -        -
    [a] 2 of 3 planned trials
    [b] memory 64 MiB by cgroup v2
    [c] warm, though cold was asked for: 812 pages were left
    [d] cold, as asked
    [e] 1 of 3 planned trials
    [f] WRONG CONTENTS after 1 trial: in no figure

    In memory / on disk, ratios of medians by `returned`
                     untar  untar  tar+bzip2  tar+bzip2  tar+gzip  tar+gzip  wav2flac  wav2flac  wav2ogg  wav2ogg
                       (1)    (2)        (1)        (2)       (1)       (2)       (1)       (2)      (1)      (2)
    -------------------------------------------------------------------------------------------------------------
    tmpfs / ext3  0.93 [a]  - [b]          -          -         -         -  0.93 [c]     - [b]        -        -
    tmpfs / xfs      - [d]      -          -          -         -         -     - [d]         -        -        -
    [a] 2 of 3 planned trials
    [b] not divided: not in the same memory
    [c] warm, though cold was asked for: 812 pages were left
    [d] not divided: one is warm, the other cold

    In memory / on disk, ratios of medians by `durable`
                     untar  untar  tar+bzip2  tar+bzip2  tar+gzip  tar+gzip  wav2flac  wav2flac  wav2ogg  wav2ogg
                       (1)    (2)        (1)        (2)       (1)       (2)       (1)       (2)      (1)      (2)
    -------------------------------------------------------------------------------------------------------------
    tmpfs / ext3  0.93 [a]  - [b]          -          -         -         -  0.93 [c]     - [b]        -        -
    tmpfs / xfs      - [d]      -          -          -         -         -     - [d]         -        -        -
    [a] 2 of 3 planned trials
    [b] not divided: not in the same memory
    [c] warm, though cold was asked for: 812 pages were left
    [d] not divided: one is warm, the other cold

    Machines
    - (1) Linux, 2 × Duron, RUN 0123456789abcdef
    - (2) Linux, 2 × CPUs, RUN fedcba9876543210

    How the figures of ours are read
    Ours: medians over trials. Without a mark: warm, or in memory, of all planned trials. Datasets (2) are scaled by 0.5: these figures are not
    to be compared with the article's, and machines of different scale not even with each other.
    ");
}

#[test]
fn what_a_cold_start_leaves_warm_is_said_so() {
    let (mut header, mut records) = sample(&["ext4"]);
    header.plan.contenders[0].levels.cache = Cache::ColdStart;
    for record in &mut records {
        record.key.contender = header.plan.contenders[0].id();
        let last = record.phases.last_mut().unwrap();
        (last.cache.asked, last.cache.state) = (Cache::Warm, CacheState::Warm);
    }
    let study = done(&header, &records);
    let notes = ["cp -a instead of cp -r".to_owned()];
    let runs = [OwnRun { header: &header, records: &records, study: &study, notes: &notes }];
    let found = fsarena_reference::study(2005).unwrap();
    let phases = phases(["data_copy_s", "data_delete_s"]);
    let text = in_shape_of(&found, &phases, &runs, 80, plain());
    let by_durable = &text[text.rfind("As in 2005").unwrap()..];
    insta::assert_snapshot!(by_durable, @r"
    As in 2005: RUN 0123456789abcdef, seconds by `durable`
          Data      Data  Ports  Ports   Ports   Big
          copy    delete  untar   copy  delete  file
                                                copy
    ------------------------------------------------
    ext4  12.0  12.0 [a]      -      -       -     -
    [a] warm by the experiment: cold only at the start

    How the figures of ours are read
    Ours: medians over trials. Without a mark: cold, of all planned trials.

    Ours, otherwise than the article
    - cp -a instead of cp -r
    ");
}

#[test]
fn every_trial_stands_in_the_appendix() {
    let text = two_machines();
    let (_, appendix) = text.split_once("\n\nAppendix").unwrap();
    insta::assert_snapshot!(appendix, @r"
    : every trial, seconds by `returned`, RUN 0123456789abcdef (1)
                       tmpfs      ext3               xfs
    ----------------------------------------------------
    untar, block 1      5.00      5.50              6.00
    untar, block 2      6.50  7.00 [a]          7.50 [b]
    untar, block 3      8.00      8.50            failed
    untar, median       6.50  7.00 [c]  6.00 [d] [e] [f]
    wav2flac, block 1   5.00  5.50 [g]              6.00
    wav2flac, block 2   6.50  7.00 [g]          7.50 [b]
    wav2flac, block 3   8.00  8.50 [g]            failed
    wav2flac, median    6.50  7.00 [g]  6.00 [d] [e] [f]
    [a] partial: ended before the end of the work, in no figure
    [b] WRONG CONTENTS: in no figure
    [c] 2 of 3 planned trials
    [d] cold, as asked
    [e] 1 of 3 planned trials
    [f] WRONG CONTENTS after 1 trial: in no figure
    [g] warm, though cold was asked for: 812 pages were left

    Appendix: every trial, seconds by `returned`, RUN fedcba9876543210 (2)
                       tmpfs          ext3
    --------------------------------------
    untar, block 1      5.00          5.50
    untar, block 2      6.00          6.50
    untar, block 3      7.00          7.50
    untar, median       6.00      6.50 [a]
    wav2flac, block 1   5.00      5.50 [b]
    wav2flac, block 2   6.00      6.50 [b]
    wav2flac, block 3   7.00      7.50 [b]
    wav2flac, median    6.00  6.50 [b] [a]
    [a] memory 64 MiB by cgroup v2
    [b] warm, though cold was asked for: 812 pages were left
    - is a trial that is not there.

    Ours, otherwise than the article
    - root does the work
    ");
}

#[test]
fn rates_of_several_machines_have_a_column_each() {
    let (header, records) = sample(&["ext4"]);
    let study = done(&header, &records);
    let run = OwnRun { header: &header, records: &records, study: &study, notes: &[] };
    let found = fsarena_reference::study(2003).unwrap();
    let phases = phases(["write 5000 files of 256 B", "delete 50000 files of 256 B"]);
    let text = article(&found, &phases, &[run, run], 160, plain());
    assert_eq!(text.matches("As in 2003: 2 machines").count(), 2, "two clocks: {text}");
    assert!(text.contains("ext4 (1)  ") && text.contains("- (2) Linux"), "{text}");
    let alone = in_shape_of(&found, &phases, &[run], 160, plain());
    assert!(alone.starts_with("As in 2003: RUN 0123"), "{alone}");
    assert!(!alone.contains("reiserfs"), "what is printed is left out: {alone}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever stands in labels and reasons, and however long a trial took.
    #[test]
    fn nothing_is_wider_than_asked_and_nothing_controls_the_terminal(
        label in ".{0,60}",
        reason in ".{0,200}",
        returned_ns in any::<u64>(),
        width in 80usize..180,
    ) {
        let (mut header, mut records) = sample(&["tmpfs", "ext3"]);
        header.plan.contenders[1].label.clone_from(&label);
        header.host.cpu_model = Some(reason.clone());
        header.uid.clone_from(&label);
        for record in &mut records {
            let phase = &mut record.phases[0];
            phase.clocks.returned_ns = returned_ns;
            phase.cache.why.clone_from(&reason);
        }
        let study = done(&header, &records);
        let run = OwnRun { header: &header, records: &records, study: &study, notes: &[] };
        for year in [2003, 2005, 2008, 2010] {
            let found = fsarena_reference::study(year).unwrap();
            let mut phases = phases(["untar", "iso_copy_s"]);
            phases.extend(self::phases(["data_copy_s", "write 5000 files of 256 B"]));
            for runs in [&[run][..], &[run, run]] {
                for line in article(&found, &phases, runs, width, plain()).lines() {
                    prop_assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
                    prop_assert!(!line.chars().any(char::is_control), "{line:?}");
                }
            }
        }
    }
}
