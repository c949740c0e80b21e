//! Tables as they are shown, at 80 and 120 columns, over hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::record::{
    CacheState, Drained, MemoryRecord, Notice, Outcome, TrialRecord, Window,
};
use fsarena_model::run::{NotRun, RateStyle, RunHeader, RunState};
use fsarena_model::work::{OpError, VerifyReport};
use fsarena_report::{
    ArticleCell, ArticleRow, PlanCost, PlanCostRow, RunLine, Style, article_2003, ledger_tables,
    phase_tables, plan_table, raw_values, runs_list,
};
use fsarena_study::{Study, study};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};

fn plain() -> Style {
    Style::default()
}

/// One workload, one phase (create), the contenders of a quick look.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let mut workload = small_files();
    workload.phases.truncate(1);
    let contenders = vec![
        contender("ext4#1", "ext4", 1),
        contender("ext4#2", "ext4", 2),
        contender(
            "ext4 data=writeback,noatime,commit=600 on a file system with a very long label",
            "ext3",
            1,
        ),
        contender("xfs", "xfs", 1),
        contender("tmpfs", "tmpfs", 1),
        contender("btrfs", "btrfs", 1),
        contender("bcachefs", "bcachefs", 1),
    ];
    let mut header = records::header(contenders, vec![workload], 3);
    let reason = "mkfs.bcachefs is missing; install the package bcachefs-tools".to_owned();
    header.plan.not_run.push(NotRun { contender: 6, workload: None, reason });
    header.plan.schedule.retain(|slot| slot.contender != 6);
    let mut records = Vec::new();
    for sequence in 0..header.plan.schedule.len() as u32 {
        let mut record = records::record(&header, sequence);
        shape(&mut record, header.plan.schedule[sequence as usize].contender);
        records.push(record);
    }
    records.pop();
    (header, records)
}

/// What is special about each contender.
fn shape(record: &mut TrialRecord, contender: usize) {
    let sequence = u64::from(record.key.sequence);
    let phase = &mut record.phases[0];
    phase.clocks.durable_ns = Some(SECOND_NS + sequence * SECOND_NS / 100);
    match contender {
        1 if sequence > 6 => {
            phase.cache.state = CacheState::Warm;
            phase.cache.why = "the mount left 812 resident pages".to_owned();
        }
        2 => {
            let reason = "no idle 200 ms within 60 s".to_owned();
            phase.clocks.drained = Drained::NotDrained { reason };
            record.filesystem.name = "ext3".to_owned();
            record.filesystem.served_by = Some("ext4".to_owned());
        }
        3 => {
            let reason = "no cgroup controller for memory".to_owned();
            phase.memory = MemoryRecord::NotLimited { limit_bytes: 64 << 20, reason };
            record.verify = Some(VerifyReport {
                files: 5000,
                bytes: 1_280_000,
                bad_files: u64::from(sequence == 3),
                examples: Vec::new(),
            });
        }
        4 => {
            phase.cache.state = CacheState::WarmByNature;
            phase.cache.why = "it lives in memory".to_owned();
            phase.clocks.drained = Drained::NoDevice;
            phase.clocks.durable_ns = phase.clocks.durable_ns.map(|ns| ns / 100);
            phase.clocks.returned_ns /= 100;
            for counters in phase.windows.values_mut() {
                counters.retain(|name, value| {
                    *value /= 100;
                    !name.starts_with("device.")
                });
            }
        }
        5 => {
            phase.error = Some(OpError {
                op_index: 17,
                call: "write".to_owned(),
                path: "f00000017".to_owned(),
                errno: 28,
                text: "No space left on device".to_owned(),
            });
            record.outcome = Outcome::Failed {
                step: "measure".to_owned(),
                error: "write f00000017: No space left on device".to_owned(),
                remedy: Some("take a larger image".to_owned()),
            };
        }
        _ => {}
    }
    record.notices.push(Notice {
        code: "loop-in-memory".to_owned(),
        text: "the image lies on tmpfs: a loop on tmpfs is memory, not a disk".to_owned(),
        remedy: Some("Choose an --image-dir on a disk.".to_owned()),
        measure: None,
    });
}

fn sample_study() -> Study {
    let (header, records) = sample();
    study(&header, RunState::Interrupted, &records)
}

#[test]
fn phase_tables_80() {
    insta::assert_snapshot!(phase_tables(&sample_study(), 80, plain()), @r"
    sample: A sample by hand
    RUN 0123456789abcdef, 2026-01-01 00:00 UTC, interrupted, 17 of 18 trials.
    Not all trials were done: the figures are of those that were.

    small-files / create: 5,000 files of 256 B, in order; cold (warm rows are not
    compared with cold ones)
    file system                 rate        CPU  durable  returned      drained    n
    --------------------------------------------------------------------------------
    ext4#1             4,717 files/s     25.0 %   1.06 s    500 ms       1.25 s    3
    ext4#2             4,950 files/s     25.0 %   1.01 s    500 ms       1.25 s  1/3
    ext4#2 (warm)      4,549 files/s     25.0 %   1.10 s    500 ms       1.25 s  2/3
    [a]
    ext4 data=write    4,630 files/s     25.0 %   1.08 s    500 ms  not drained    3
    back,noatime,co
    mmit=600 on a
    file system
    with a very
    long label [b]
    xfs [c] [d]        4,587 files/s     25.0 %   1.09 s    500 ms       1.25 s    3
    tmpfs (warm)     454,545 files/s  too short  11.0 ms   5.00 ms    no device    3
    [e]
    btrfs                     failed
    bcachefs                 not run
    [a] warm, though cold was asked for: the mount left 812 resident pages
    [b] not drained in 3 of 3 trials: no idle 200 ms within 60 s
    [c] memory not limited to 64 MiB: no cgroup controller for memory
    [d] WRONG CONTENTS after 1 trial
    [e] warm by nature: it lives in memory

    Medians over trials, each from a reset state. Compared: time to `durable`; rates
    are computed from it. CPU: the whole machine is 100 %, from start to `durable`.
    Whether a difference is real is not decided here.

    Contents
      - 15,000 files read again after 3 trials (3.66 MiB): 1 WRONG, missing or
        unreadable
    Failed
      - btrfs, small-files, measure (trials 5, 11): write f00000017: No space left
        on device; take a larger image
    Not run
      - bcachefs: mkfs.bcachefs is missing; install the package bcachefs-tools
    Notices
      - the image lies on tmpfs: a loop on tmpfs is memory, not a disk. Choose an
        --image-dir on a disk. [all trials]
      - ext3 is served by the ext4 driver [3 trials of ext4
        data=writeback,noatime,commit=600 on a file system with a very long label]
    Sampling took 170 samples and 0.10 % of one processor.
    ");
}

#[test]
fn phase_tables_120() {
    insta::assert_snapshot!("phase_tables_120", phase_tables(&sample_study(), 120, plain()));
}

#[test]
fn article_style_80() {
    let mut header = records::header(
        vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)],
        vec![small_files(), big_file()],
        1,
    );
    header.plan.rate = RateStyle::Article2003;
    let records: Vec<_> = (0..4).map(|at| records::record(&header, at)).collect();
    let study = study(&header, RunState::Done, &records);
    insta::assert_snapshot!(phase_tables(&study, 80, plain()), @r"
    sample: A sample by hand
    RUN 0123456789abcdef, 2026-01-01 00:00 UTC, done, 4 trials.

    small-files / create: 5,000 files of 256 B, in order; cold
    file system          rate     CPU  durable  min - max  returned  drained  n
    ---------------------------------------------------------------------------
    ext4         1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    small-files / read-random: 5,000 files of 256 B, in random order; cold
    file system          rate     CPU  durable  min - max  returned  drained  n
    ---------------------------------------------------------------------------
    ext4         1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    small-files / delete: 5,000 files of 256 B, in order; cold
    file system           rate     CPU  durable  min - max  returned  drained  n
    ----------------------------------------------------------------------------
    ext4         5,000 files/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          5,000 files/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    big-file / write: one file of 100 MiB; cold
    file system            rate     CPU  durable  min - max  returned  drained  n
    -----------------------------------------------------------------------------
    ext4         102400.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          102400.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    Medians over trials, each from a reset state. Compared: time to `durable`; rates
    are computed from it. CPU: the whole machine is 100 %, from start to `durable`;
    KB = 1024 bytes. Whether a difference is real is not decided here.

    Sampling took 80 samples and 0.10 % of one processor.
    ");
}

#[test]
fn ledger_80() {
    insta::assert_snapshot!(ledger_tables(&sample_study(), 80, plain()), @r"
    small-files / create: 5,000 files of 256 B, in order; cold (warm rows are not
    compared with cold ones)
    file system          p50      p99      max   read   written  to unmount  w. amp.
    --------------------------------------------------------------------------------
    ext4#1           10.1 µs  10.1 µs  1.05 ms  4 KiB  2.44 MiB    3.66 MiB     3.00
    ext4#2           10.1 µs  10.1 µs  1.05 ms  4 KiB  2.44 MiB    3.66 MiB     3.00
    ext4#2 (warm)    10.1 µs  10.1 µs  1.05 ms  4 KiB  2.44 MiB    3.66 MiB     3.00
    ext4 data=write  10.1 µs  10.1 µs  1.05 ms  4 KiB  2.44 MiB    3.66 MiB     3.00
    back,noatime,co
    mmit=600 on a
    file system
    with a very
    long label
    xfs              10.1 µs  10.1 µs  1.05 ms  4 KiB  2.44 MiB    3.66 MiB     3.00
    tmpfs (warm)     10.1 µs  10.1 µs  1.05 ms      -         -           -        -

    Space after the last phase
    file system        workload     used empty      used    stored  amp.  unmount  n
    --------------------------------------------------------------------------------
    ext4#1             small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ext4#2             small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ext4 data=writeba  small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ck,noatime,commit
    =600 on a file
    system with a
    very long label
    xfs                small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    tmpfs              small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    btrfs              small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  2

    Latency of single ops, all trials together. Device: bytes read and written from
    the phase's start to `durable`, to `drained` and to the end of the next unmount.
    w. amp.: bytes written to the device up to the unmount per byte of contents
    written. Space amplification: growth of used space per byte stored.
    ");
}

#[test]
fn raw_80() {
    let (header, records) = sample();
    insta::assert_snapshot!(raw_values(&header, &records[..6], 80, plain()), @r"
    small-files / create
    trial  file system                        returned        durable        drained
    --------------------------------------------------------------------------------
        0  ext4#1                          500,000,000  1,000,000,000  1,250,000,000
        1  ext4#2                          500,000,000  1,010,000,000  1,250,000,000
        2  ext4 data=writeback,noatime,co  500,000,000  1,020,000,000    not drained
           mmit=600 on a file system with
           a very long label
        3  xfs                             500,000,000  1,030,000,000  1,250,000,000
        4  tmpfs                             5,000,000     10,400,000      no device
        5  btrfs (ended early)             500,000,000  1,050,000,000  1,250,000,000

    Times in ns from the phase's first clock read; device bytes: written to the
    device up to the next unmount. Blocks and trials are counted from 0. Everything
    else: --json.
    ");
}

#[test]
fn list_80() {
    let run = |id: i64, state, note: Option<&str>, trials_done| RunLine {
        id,
        uid: "0123456789abcdef".to_owned(),
        experiment: "2003-linux-vs-freebsd".to_owned(),
        title: "Seven rows of 2003".to_owned(),
        created_unix_ns: records::NEW_YEAR_UNIX_NS,
        state,
        note: note.map(str::to_owned),
        trials_done,
        trials_planned: 30,
    };
    let runs = [run(1, RunState::Done, None, 30), run(2, RunState::Interrupted, Some("Ctrl-C"), 7)];
    insta::assert_snapshot!(runs_list(&runs, 80, plain()), @r"
    RUN  id        experiment             started (UTC)     state        trials
    ---------------------------------------------------------------------------
      1  01234567  2003-linux-vs-freebsd  2026-01-01 00:00  done             30
      2  01234567  2003-linux-vs-freebsd  2026-01-01 00:00  interrupted    7/30
    ");
    insta::assert_snapshot!(runs_list(&[], 80, plain()), @r"
    No RUN has been stored yet.
    ");
}

#[test]
fn plan_80() {
    let (header, _) = sample();
    let cost = PlanCost {
        rows: (0..3)
            .map(|contender| PlanCostRow {
                contender,
                workload: 0,
                trials: 3,
                expected_s: (contender < 2).then_some(12.5),
                written_bytes: 3 << 20,
                source: "calibration".to_owned(),
            })
            .collect(),
        total_s: 125.0,
        written_bytes: 9 << 20,
        image_bytes: 1 << 30,
        source: "Figures of a short calibration: the first RUN makes them better".to_owned(),
    };
    insta::assert_snapshot!(plan_table(&header.plan, &cost, 80, plain()), @r"
    Contenders
    contender                     file system  on             cache  memory  discard
    --------------------------------------------------------------------------------
    ext4#1                        ext4         loop of 1 GiB  cold   whole      none
    ext4#2                        ext4         loop of 1 GiB  cold   whole      none
    ext4 data=writeback,noatime,  ext3         loop of 1 GiB  cold   whole      none
    commit=600 on a file system
    with a very long label
    xfs                           xfs          loop of 1 GiB  cold   whole      none
    tmpfs                         tmpfs        loop of 1 GiB  cold   whole      none
    btrfs                         btrfs        loop of 1 GiB  cold   whole      none
    bcachefs                      bcachefs     loop of 1 GiB  cold   whole      none

    Trials
    workload     contender               trials  expected time  written  known from
    --------------------------------------------------------------------------------
    small-files  ext4#1                       3         12.5 s    3 MiB  calibration
    small-files  ext4#2                       3         12.5 s    3 MiB  calibration
    small-files  ext4 data=writeback,no       3              -    3 MiB  calibration
                 atime,commit=600 on a
                 file system with a
                 very long label

    Not run
      - bcachefs: mkfs.bcachefs is missing; install the package bcachefs-tools

    18 trials in 3 blocks: expected 2m05s, 9 MiB written; images take 1 GiB at one
    time. Figures of a short calibration: the first RUN makes them better. Nothing
    has been touched.
    ");
}

fn article_rows() -> Vec<ArticleRow> {
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
    let header = records::header(
        vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)],
        vec![small_files()],
        1,
    );
    let records = [records::record(&header, 0)];
    let study = study(&header, RunState::Interrupted, &records);
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
    short for a figure).
    ");
    insta::assert_snapshot!("article_160", article_2003(&article_rows(), None, 160, plain()));
}

#[test]
fn json_is_one_document_with_base_units() {
    let (header, records) = sample();
    let study = study(&header, RunState::Interrupted, &records);
    let value = fsarena_report::json::show(&header, &study, &records);
    assert_eq!(value["schema"], 1);
    assert_eq!(value["study"]["tables"][0]["rows"][0]["durable"]["median_ns"], 1_060_000_000u64);
    assert_eq!(value["records"].as_array().unwrap().len(), records.len());
    let back: Vec<TrialRecord> = serde_json::from_value(value["records"].clone()).unwrap();
    assert_eq!(back, records, "the records are in it as they are");
    assert!(!value.to_string().contains("null,null,null,null"), "no figure became nothing");
}

#[test]
fn an_empty_run_is_said_to_be_empty() {
    let (header, _) = sample();
    let text = phase_tables(&study(&header, RunState::Interrupted, &[]), 80, plain());
    assert!(text.contains("no trial yet") && text.contains("0 of 18 trials"), "{text}");
}

#[test]
fn colour_only_where_asked() {
    let study = sample_study();
    assert!(!phase_tables(&study, 80, plain()).contains('\u{1b}'));
    let style = Style { colour: true, ..plain() };
    assert!(phase_tables(&study, 80, style).contains("\u{1b}[1m"));
}

#[test]
fn write_amplification_is_of_the_unmounted_window() {
    let (_, records) = sample();
    assert_eq!(records[0].phases[0].windows[&Window::Unmounted]["device.written_bytes"], 3_840_000);
    let study = sample_study();
    let spread = study.tables[0].rows[0].write_amplification.unwrap();
    assert!((spread.median - 3.0).abs() < 1e-9);
}

mod width {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    fn fits(text: &str, width: usize) -> Result<(), TestCaseError> {
        for line in text.lines() {
            prop_assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever stands in labels, reasons and errors, and however large the figures are.
        #[test]
        fn nothing_is_wider_than_asked(
            label in ".{0,60}",
            reason in ".{0,200}",
            factor in 1u64..u64::MAX / SECOND_NS / 100,
            width in 80usize..180,
        ) {
            let (mut header, mut records) = sample();
            header.title.clone_from(&reason);
            header.experiment.clone_from(&label);
            header.plan.contenders[0].label.clone_from(&label);
            header.plan.workloads[0].name.clone_from(&label);
            header.plan.not_run[0].reason.clone_from(&reason);
            for record in &mut records {
                record.key.workload.clone_from(&label);
                let phase = &mut record.phases[0];
                phase.clocks.durable_ns = Some(factor * SECOND_NS);
                phase.clocks.returned_ns = factor;
                phase.cache.why.clone_from(&reason);
            }
            let study = study(&header, RunState::Interrupted, &records);
            fits(&phase_tables(&study, width, plain()), width)?;
            fits(&ledger_tables(&study, width, plain()), width)?;
            fits(&raw_values(&header, &records, width, plain()), width)?;
            fits(&plan_table(&header.plan, &PlanCost::default(), width, plain()), width)?;
            let mut rows = article_rows();
            rows[0].title.clone_from(&label);
            rows[0].cells[0].column.clone_from(&reason);
            rows[0].ours = Some((label, "create".to_owned()));
            fits(&article_2003(&rows, Some(&study), width, plain()), width)?;
        }
    }
}
