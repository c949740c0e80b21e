//! The study of stored records: verdicts, comparisons, tables and what explains them.
//!
//! Here: views over phases of the whole engine and of real devices, from hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

mod ageing;
mod compare;
mod cycles;
mod fairness;
mod history;
mod parameters;
mod programs;
mod scaling;
mod study;
mod views;

use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_model::dataset::Distribution;
use fsarena_model::device::{Conditioning, QueueLevel, SsdPolicy, WriteCache};
use fsarena_model::record::{Notice, Outcome, TrialRecord, Window};
use fsarena_model::run::{RateStyle, RunHeader, RunSession, RunState};
use fsarena_model::work::{Dataset, Op, OpError, Workload};
use fsarena_study::{Absence, PartialPhase, RateUnit, Study, study};
use fsarena_testkit::records::{
    self, contender, database, fio_job, memory_device, metadata, small_files,
};

fn sample(workload: Workload, blocks: u32) -> (RunHeader, Vec<TrialRecord>) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    with(contenders, workload, blocks)
}

fn with(
    contenders: Vec<Contender>,
    workload: Workload,
    blocks: u32,
) -> (RunHeader, Vec<TrialRecord>) {
    let header = records::header(contenders, vec![workload], blocks);
    let trials = header.plan.schedule.len() as u32;
    let records = (0..trials).map(|sequence| records::record(&header, sequence)).collect();
    (header, records)
}

fn view(header: &RunHeader, records: &[TrialRecord]) -> Study {
    study(header, RunState::Done, &[], records)
}

#[test]
fn units_follow_the_op_and_the_mean_size() {
    let small = Dataset::uniform(1000, 4096, 10);
    let large = Dataset::uniform(10, 1 << 20, 1);
    // One in ten is of 1 MiB, the others are empty: over 64 KiB on average.
    let mixed = Dataset {
        sizes: Some(Distribution::Weighted { values: vec![(0, 9), (1 << 20, 1)] }),
        ..Dataset::uniform(1000, 1 << 20, 10)
    };
    let mostly_small = Dataset {
        sizes: Some(Distribution::Weighted { values: vec![(0, 99), (1 << 20, 1)] }),
        ..mixed.clone()
    };
    let unit = |op, set| RateUnit::for_op(RateStyle::Auto, op, set);
    for op in [Op::Create, Op::Read, Op::Overwrite] {
        assert_eq!(unit(op, &small), RateUnit::Files, "{op:?}");
        assert_eq!(unit(op, &large), RateUnit::Bytes, "{op:?}");
        assert_eq!(unit(op, &mixed), RateUnit::Bytes, "{op:?}");
        assert_eq!(unit(op, &mostly_small), RateUnit::Files, "{op:?}");
    }
    for op in [Op::Stat, Op::Rename, Op::Delete, Op::Append] {
        assert_eq!(unit(op, &large), RateUnit::Files, "{op:?}");
    }
    for op in [Op::Mkdir, Op::Rmdir, Op::List] {
        assert_eq!(unit(op, &large), RateUnit::Dirs, "{op:?}");
    }
    for op in [Op::BigWrite, Op::BigRead, Op::BigOverwrite] {
        assert_eq!(unit(op, &small), RateUnit::Bytes, "{op:?}");
    }
    for op in [Op::RandRead, Op::RandWrite, Op::RandRw, Op::Fio] {
        assert_eq!(unit(op, &large), RateUnit::Ops, "{op:?}");
    }
}

#[test]
fn each_rate_stands_where_it_means_something() {
    let (header, records) = sample(database(), 1);
    let row = view(&header, &records).tables[0].rows[0].clone();
    assert!((row.rates.calls_per_s.unwrap().median - 512.0).abs() < 1e-9);
    assert!((row.returned_rates.calls_per_s.unwrap().median - 1024.0).abs() < 1e-9);
    assert!((row.rates.bytes_per_s.unwrap().median - 2_097_152.0).abs() < 1e-6);
    assert_eq!((row.rates.files_per_s, row.rates.dirs_per_s), (None, None));

    let (header, records) = sample(metadata(), 1);
    let study = view(&header, &records);
    let list = &study.tables[1].rows[0];
    assert!((list.rates.dirs_per_s.unwrap().median - 4.0).abs() < 1e-9);
    assert_eq!((list.rates.files_per_s, list.rates.calls_per_s), (None, None));
    let rename = &study.tables[2].rows[0];
    assert!((rename.rates.files_per_s.unwrap().median - 4000.0).abs() < 1e-9);
    assert_eq!(rename.rates.bytes_per_s, None);
}

#[test]
fn threads_writes_and_programs_have_figures_of_their_own() {
    let (header, records) = sample(metadata(), 2);
    let study = view(&header, &records);
    let threads = study.tables[0].rows[0].threads.unwrap();
    assert_eq!((threads.threads, threads.first_done.n), (4, 2));
    assert_eq!(threads.first_done.median_ns, 400_000_000);
    assert_eq!(threads.last_done.median_ns, 500_000_000);
    assert!(threads.imbalance.unwrap().median > 1.1);
    assert_eq!(study.tables[1].rows[0].threads, None);

    let (header, records) = sample(database(), 1);
    let row = view(&header, &records).tables[0].rows[0].clone();
    assert_eq!((row.latency.unwrap().ops, row.write_latency.unwrap().ops), (512, 256));
    let writes = row.write_latency.unwrap();
    assert!(writes.p99_ns.unwrap() < writes.max_ns);
    assert_eq!(writes.p999_ns, None, "256 ops are too few");

    let (header, records) = sample(fio_job(), 1);
    let row = view(&header, &records).tables[0].rows[0].clone();
    assert_eq!(row.program.unwrap().own.unwrap().median_ns, 300_000_000);
    // By its clock up to `returned`, and by ours from there to `durable`: 0.3 s and 0.5 s.
    let ops = records[0].phases[0].ops as f64;
    assert!((row.returned_rates.calls_per_s.unwrap().median - ops / 0.3).abs() < 1e-6);
    assert!((row.rates.calls_per_s.unwrap().median - ops / 0.8).abs() < 1e-6);
    assert_eq!(row.write_amplification, None, "it only read");
}

#[test]
fn amplification_is_of_what_was_written_not_of_what_was_read() {
    let (header, mut records) = sample(database(), 1);
    for record in &mut records {
        let counters = record.phases[0].windows.get_mut(&Window::Unmounted).unwrap();
        counters.insert("device.written_bytes".to_owned(), 3 << 20);
    }
    // 2 MiB were asked for, half of it written.
    let row = view(&header, &records).tables[0].rows[0].clone();
    assert!((row.write_amplification.unwrap().median - 3.0).abs() < 1e-12);
}

#[test]
fn a_phase_that_ended_early_is_partial_and_in_no_figure() {
    let (header, mut records) = sample(small_files(), 2);
    let error = |op_index| {
        Some(OpError {
            op_index,
            thread: None,
            call: "write".to_owned(),
            path: "f".to_owned(),
            errno: 28,
            text: "No space left on device".to_owned(),
        })
    };
    // ext4 once, xfs always; one of them was stopped in the middle, without an error of its own.
    for (at, ops) in [(0, 100), (1, 300), (3, 200)] {
        let record = &mut records[at];
        record.phases.truncate(1);
        record.phases[0].ops = ops;
        record.phases[0].error = error(ops);
        record.outcome = Outcome::Failed {
            step: "measure".to_owned(),
            error: "no space".to_owned(),
            remedy: None,
        };
    }
    let study = view(&header, &records);
    let create = &study.tables[0];
    assert_eq!((create.rows.len(), create.rows[0].n, create.rows[0].trials_partial), (1, 1, 1));
    assert_eq!(create.absent[0].why, Absence::Partial);
    assert_eq!(study.tables[1].absent[0].why, Absence::Failed, "it never began");
    let partial = |least_ops, most_ops| {
        let phase = "create".to_owned();
        Some(PartialPhase { phase, least_ops, most_ops, planned_ops: Some(5000) })
    };
    let said: Vec<_> = study.failures.iter().map(|row| row.partial.clone()).collect();
    assert_eq!(said, [partial(100, 100), partial(200, 300)]);
    assert_eq!(study.failures[1].sequences, [1, 3]);

    records[3].phases[0].error = None;
    records[3].phases[0].clocks.durable_ns = None;
    records[3].outcome = Outcome::Interrupted;
    let study = view(&header, &records);
    assert_eq!(study.tables[0].absent[0].why, Absence::Partial);
    assert_eq!(study.failures[2].partial, partial(200, 200));
}

#[test]
fn conditioning_is_counted_and_what_is_not_steady_is_said() {
    let disk = |label: &str, ssd| {
        let mut contender = contender(label, label, 1);
        contender.levels.ssd = ssd;
        contender
    };
    let contenders = vec![
        disk("ext4", SsdPolicy::Precondition),
        disk("xfs", SsdPolicy::Blkdiscard),
        disk("btrfs", SsdPolicy::None),
    ];
    let (header, mut records) = with(contenders, small_files(), 2);
    records[0].conditioning = Some(records::preconditioned(true));
    records[3].conditioning = Some(records::preconditioned(false));
    records[1].conditioning =
        Some(Conditioning::Discarded { discarded_bytes: 1 << 30, elapsed_ns: 5 });
    let reason = "the device cannot discard".to_owned();
    records[4].conditioning = Some(Conditioning::NotDone { reason: reason.clone() });
    let study = view(&header, &records);
    let rows = &study.conditioning;
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].policy, rows[0].n, rows[0].steady), ("precondition", 2, Some(1)));
    assert!((rows[0].last_round_ops_per_s.unwrap().median - 2000.0).abs() < 1e-9);
    assert!((rows[0].rounds.unwrap().median - 25.0).abs() < 1e-12);
    assert_eq!((rows[1].policy, rows[1].n, rows[1].steady), ("blkdiscard", 1, None));
    assert_eq!((rows[1].whole_bytes, &rows[1].not_done), (Some(1 << 30), &vec![reason]));
    let said: Vec<_> = study.notices.iter().map(|n| (n.code.as_str(), n.trials)).collect();
    assert_eq!(said, [("not-steady", 1), ("not-conditioned", 1)]);
    // What the trial says itself is not said twice.
    records[3].notices.push(Notice {
        code: "not-steady".to_owned(),
        text: "not steady after 25 rounds".to_owned(),
        remedy: None,
        measure: None,
    });
    assert_eq!(view(&header, &records).notices.len(), 2);
}

#[test]
fn queues_are_shown_as_they_were_and_compared_with_what_was_asked() {
    let mut asked = contender("xfs", "xfs", 1);
    asked.levels.queue = QueueLevel {
        scheduler: Some("bfq".to_owned()),
        read_ahead_bytes: Some(1 << 20),
        write_cache: Some(WriteCache::WriteThrough),
    };
    let (header, mut records) = with(vec![asked, contender("ext4", "ext4", 1)], small_files(), 2);
    let facts = [("scheduler", "bfq"), ("read_ahead_kib", "1024"), ("write_cache", "write back")];
    for record in &mut records {
        for (name, value) in facts {
            record.device.insert(name.to_owned(), value.to_owned());
        }
    }
    let study = view(&header, &records);
    assert_eq!(study.queues.len(), 2);
    assert_eq!((study.queues[0].trials, study.queues[0].read_ahead_bytes), (2, Some(1 << 20)));
    let said: Vec<&str> = study.notices.iter().map(|notice| notice.text.as_str()).collect();
    let cache = "the write cache of the device was write back, not write through as asked";
    assert_eq!(said, [cache]);
    assert_eq!(study.notices[0].labels, ["xfs"]);
}

#[test]
fn sessions_and_boots_are_said_where_there_are_several() {
    let (header, records) = sample(small_files(), 2);
    let of = |sessions: &[RunSession]| study(&header, RunState::Done, sessions, &records);
    let one = [records::session("b", 0)];
    assert_eq!((of(&one).sessions, of(&one).boots, of(&one).notices.len()), (1, 1, 0));
    let two = [records::session("b", 0), records::session("b", 1), records::session("c", 3)];
    let study = of(&two);
    assert_eq!((study.sessions, study.boots, study.notices.len()), (3, 2, 1));
    assert!(study.notices[0].text.starts_with("measured in 3 sessions, 2 boots"));
    assert_eq!(study.notices[0].trials, records.len());
}

#[test]
fn devices_are_named_by_their_kind() {
    let on = |device: DeviceLevel| {
        let mut contender = contender("xfs", "xfs", 1);
        contender.levels.device = device;
        let (header, records) = with(vec![contender], small_files(), 1);
        view(&header, &records).devices
    };
    let size_bytes = 1 << 30;
    assert_eq!(on(memory_device("zram", size_bytes)), ["zram of 1 GiB, compressed memory"]);
    assert_eq!(on(memory_device("brd", size_bytes)), ["brd of 1 GiB, memory"]);
    let at_once = "null_blk of 1 GiB, memory that answers at once";
    assert_eq!(on(memory_device("null-blk", size_bytes)), [at_once]);
    let path = "/dev/disk/by-id/secret-serial".into();
    assert_eq!(on(DeviceLevel::Block { path, size_bytes }), ["block device of 1 GiB"]);
    let path = |path: &str| DeviceLevel::Block { path: path.into(), size_bytes };
    let members = vec![path("/dev/sdb"), path("/dev/sdc")];
    let disks = ["2 × block device of 2 GiB in all"];
    assert_eq!(on(DeviceLevel::Several { members }), disks);
    let members = vec![DeviceLevel::Loop { size_bytes }, path("/dev/sdb")];
    let mixed = ["2 devices of 2 GiB in all (loop:1G+/dev/sdb)"];
    assert_eq!(on(DeviceLevel::Several { members }), mixed);
}
