//! Tables as they are shown, at 80 and 120 columns, over hand-made records.

mod ageing;
mod answer;
mod article;
mod devices;
mod engine;
mod forest;
mod history;
mod markdown;
mod parameters;
mod periodic;
mod plan;
mod programs;
mod scaling;
mod tables;
mod verdict;
mod width;

use fsarena_model::record::{CacheState, Drained, MemoryRecord, Notice, Outcome, TrialRecord};
use fsarena_model::run::{NotRun, RunHeader, RunState};
use fsarena_model::work::{OpError, VerifyReport};
use fsarena_report::{PlanCost, PlanCostRow, RunLine, Style, plan_table, raw_values, runs_list};
use fsarena_study::{Study, study};
use fsarena_testkit::records::{self, SECOND_NS, contender, small_files};
use fsarena_verdict::Verdicts;

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
            phase.ops = 17 + sequence;
            phase.error = Some(OpError {
                op_index: 17,
                thread: None,
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
        text: "the image is on tmpfs: a loop on tmpfs is memory, not a disk".to_owned(),
        remedy: Some("Choose an --image-dir on a disk.".to_owned()),
        measure: None,
    });
}

fn sample_study() -> Study {
    let (header, records) = sample();
    study(&header, RunState::Interrupted, &[], &records)
}

#[test]
fn raw_80() {
    let (header, records) = sample();
    insta::assert_snapshot!("raw_80", raw_values(&header, &records[..6], 80, plain()));
}

#[test]
fn list_80() {
    let run = |id: i64, state, note: Option<&str>, trials_done| RunLine {
        id,
        uid: "0123456789abcdef".to_owned(),
        experiment: "2003-linux-vs-freebsd".to_owned(),
        title: "Seven rows of 2003".to_owned(),
        has_own_title: false,
        created_unix_ns: records::NEW_YEAR_UNIX_NS,
        state,
        note: note.map(str::to_owned),
        host: "alpha".to_owned(),
        trials_done,
        trials_planned: 30,
        crash_runs_done: 0,
    };
    let runs = [run(1, RunState::Done, None, 30), run(2, RunState::Interrupted, Some("Ctrl-C"), 7)];
    insta::assert_snapshot!(runs_list(&runs, 80, plain()), @r"
    RUN  id        what                   started (UTC)     state        trials
    ---------------------------------------------------------------------------
      1  01234567  2003-linux-vs-freebsd  2026-01-01 00:00  done             30
      2  01234567  2003-linux-vs-freebsd  2026-01-01 00:00  interrupted    7/30

    RUN 2: Ctrl-C
    ");
    let far = RunLine { host: "beta".to_owned(), ..run(3, RunState::Done, None, 30) };
    let unknown = RunLine { host: String::new(), ..run(4, RunState::Done, None, 30) };
    let runs = [run(1, RunState::Done, None, 30), far, unknown];
    insta::assert_snapshot!(runs_list(&runs, 80, plain()), @r"
    RUN  id        what                   host   started (UTC)     state  trials
    ----------------------------------------------------------------------------
      1  01234567  2003-linux-vs-freebsd  alpha  2026-01-01 00:00  done       30
      3  01234567  2003-linux-vs-freebsd  beta   2026-01-01 00:00  done       30
      4  01234567  2003-linux-vs-freebsd  -      2026-01-01 00:00  done       30
    ");
    let options =
        RunLine { experiment: "command-line".to_owned(), ..run(5, RunState::Done, None, 30) };
    let titled = RunLine { has_own_title: true, ..run(6, RunState::Done, None, 30) };
    insta::assert_snapshot!(runs_list(&[options, titled], 100, plain()), @r"
    RUN  id        what                                       started (UTC)     state  trials
    -----------------------------------------------------------------------------------------
      5  01234567  Seven rows of 2003                         2026-01-01 00:00  done       30
      6  01234567  2003-linux-vs-freebsd: Seven rows of 2003  2026-01-01 00:00  done       30
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
                least_trials: 3,
                expected_s: (contender < 2).then_some(12.5),
                written_bytes: 3 << 20,
                source: "calibration".to_owned(),
            })
            .collect(),
        total_s: 125.0,
        least_s: 125.0,
        written_bytes: 9 << 20,
        least_written_bytes: 9 << 20,
        image_bytes: 1 << 30,
        source: "Figures of a short calibration: the first RUN makes them better".to_owned(),
        crash_runs_s: None,
        needs: Vec::new(),
        full_size: None,
    };
    insta::assert_snapshot!(plan_table(&header.plan, &cost, 80, plain()), @r"
    Not run
      - bcachefs: mkfs.bcachefs is missing; install the package bcachefs-tools

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

    18 trials in 3 blocks: expected 2m05s, 9 MiB written; images take 1 GiB at one
    time. Figures of a short calibration: the first RUN makes them better. Nothing
    has been touched.
    ");
}

#[test]
fn json_is_one_document_with_base_units() {
    let (header, records) = sample();
    let study = study(&header, RunState::Interrupted, &[], &records);
    let sessions = [records::session("b", 0)];
    let run = run_of(&header, &records, &study, None);
    let value = fsarena_report::json::show(&fsarena_report::Run { sessions: &sessions, ..run });
    assert_eq!(value["schema"], 2);
    assert_eq!(value["study"]["tables"][0]["rows"][0]["durable"]["median_ns"], 1_060_000_000u64);
    assert_eq!(value["sessions"][0]["boot_id"], "b");
    let row = &value["study"]["tables"][0]["rows"][0];
    assert!(row["files_per_s"]["median"].is_number(), "{row}");
    assert!(row["returned_files_per_s"]["median"].is_number(), "{row}");
    assert_eq!(value["records"].as_array().unwrap().len(), records.len());
    let back: Vec<TrialRecord> = serde_json::from_value(value["records"].clone()).unwrap();
    assert_eq!(back, records, "the records are in it as they are");
    assert!(!value.to_string().contains("null,null,null,null"), "no figure became nothing");
}

/// A RUN with these views, as sections take it.
fn run_of<'a>(
    header: &'a RunHeader,
    records: &'a [TrialRecord],
    study: &'a Study,
    verdicts: Option<&'a Verdicts>,
) -> fsarena_report::Run<'a> {
    fsarena_report::Run {
        id: 1,
        header,
        sessions: &[],
        records,
        study,
        verdicts,
        crash: None,
        article: None,
    }
}
