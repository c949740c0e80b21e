//! Made-up RUNs for pages: rich ones, and those that a page gets wrong first.

use crate::page::sample::Sample;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::{Drained, PhaseRecord, TrialRecord};
use fsarena_model::run::{Clock, RunState};
use fsarena_model::sample::{LatencyHistogram, Series};
use fsarena_model::verdict::Rule;
use fsarena_model::work::{Op, OpError, Order, Phase, Workload};
use fsarena_testkit::records::{
    SECOND_NS, add_account, big_file, block_sizes, contender, in_ranks, periodic as periodic_work,
    small_files,
};
use std::collections::BTreeMap;

/// What would run if a name went into the page as markup.
pub const HOSTILE: &str = "<script>window.hacked = 1</script>";
/// The same in the value of an attribute.
pub const HOSTILE_TITLE: &str = "\"><img src=x onerror='window.hacked = 2'>&lt;";

/// Six contenders, two of them with names that no one should have, two workloads of two phases,
/// eight blocks, verdicts, latencies and time series.
pub fn rich() -> Sample {
    let long = "a label of two hundred characters ".repeat(6)[..200].to_owned();
    let labels = ["ext4", "xfs", "btrfs", "f2fs, no barrier", HOSTILE, &long];
    let mut sample = planned(&labels, two_workloads(), 8);
    sample.header.title = format!("A rich sample {HOSTILE_TITLE}");
    done(sample)
}

/// Three contenders, and the phases of `quick`: one of the contenders deletes faster, one is about
/// the same, and the noise leaves much open.
pub fn quick() -> Sample {
    let work = |name: &str, title: &str, phases: &[&str]| {
        let mut work = small_files();
        let first = work.phases[0].clone();
        let phase = |name: &&str| Phase { name: (*name).to_owned(), ..first.clone() };
        (work.name, work.title) = (name.to_owned(), title.to_owned());
        work.phases = phases.iter().map(phase).collect();
        work
    };
    let small = ["create", "read", "read-random", "stat", "delete"];
    let workloads = vec![
        work("small-files", "10,000 files of 4 KiB in 100 directories", &small),
        work("big-file", "one file of 256 MiB in calls of 1 MiB", &["big-write", "big-read"]),
        work(
            "metadata-threads",
            "8,000 files of 4 KiB in 64 directories that 4 threads share",
            &["create", "stat", "rename", "delete"],
        ),
        work(
            "fsync-latency",
            "1,000 random writes of 4 KiB, an fsync after each",
            &["write-fsync"],
        ),
    ];
    let mut sample = planned(&["ext4", "ext2", "ext3"], workloads, 4);
    sample.header.title = "ext2, ext3 and ext4: small files, one big file, threads, fsync".into();
    let plan = sample.header.plan.clone();
    let mut dice = 7_u64;
    sample.carry_out(|record| {
        let slot = plan.schedule[record.key.sequence as usize];
        for phase in &mut record.phases {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            let noise = (dice >> 40) as f64 / (1_u64 << 24) as f64 * 0.12 - 0.06;
            let by = match (slot.contender, phase.name.as_str()) {
                (1, "delete") => 0.7,
                (2, "stat") => 1.3,
                _ => 1.0,
            };
            slowed(phase, by * (1.0 + noise));
        }
    });
    sample
}

/// Five contenders, four workloads, ten blocks: two hundred trials.
pub fn two_hundred_trials() -> Sample {
    let mut workloads = two_workloads();
    workloads.extend(
        two_workloads()
            .into_iter()
            .map(|work| Workload { name: format!("{}-again", work.name), ..work }),
    );
    done(planned(&["ext4", "xfs", "btrfs", "f2fs", "nilfs2"], workloads, 10))
}

/// More contenders than hues, or rows of a screen.
pub fn sixty_contenders() -> Sample {
    let labels: Vec<String> = (1..=60).map(|at| format!("ext4, variant {at}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    done(planned(&labels, two_workloads()[..1].to_vec(), 2))
}

/// Nothing to compare with.
pub fn one_contender() -> Sample {
    done(planned(&["ext4"], two_workloads()[..1].to_vec(), 4))
}

/// It was interrupted before its first trial was recorded.
pub fn without_trials() -> Sample {
    let mut sample = planned(&["ext4", "xfs"], two_workloads(), 8);
    sample.state = RunState::Interrupted;
    sample.study_again();
    sample
}

/// Contenders that have not done the same: one came to one of the workloads alone, and a phase of
/// it has failed.
pub fn uneven() -> Sample {
    let mut sample = planned(&["ext4", "xfs", "btrfs"], two_workloads(), 4);
    let last = sample.header.plan.contenders[2].id();
    sample.carry_out(|record| {
        each_phase(record, 1.0);
        if record.key.contender == last {
            record.phases[1].error = Some(OpError {
                op_index: 3,
                thread: None,
                call: "write".to_owned(),
                path: "d0/f3".to_owned(),
                errno: 28,
                text: "No space left on device".to_owned(),
            });
        }
    });
    sample.leave(|record| record.key.contender != last || record.key.workload != "big-file");
    sample
}

/// A periodic application on blocks of many sizes, four times three cycles with a second load in
/// the third, as in 2007; one account has lost events.
pub fn periodic() -> Sample {
    let mut contenders = block_sizes("ext4", &[1024, 2048, 4096]);
    contenders.extend(block_sizes("xfs", &[1024, 4096, 16384, 65536]));
    let mut sample = Sample::planned(contenders, vec![periodic_work()], 4);
    sample.header.plan.account = true;
    sample.ask(Rule::Fixed { blocks: 4 });
    sample.article = fsarena_reference::study(2007);
    let plan = sample.header.plan.clone();
    sample.carry_out(|record| {
        let slot = plan.schedule[record.key.sequence as usize];
        let noise = 0.002 * f64::from((slot.block * 7 + slot.position * 3) % 5);
        let by = [1.01, 1.0, 1.01, 1.5, 1.0, 1.3, 1.6][slot.contender] + noise;
        for phase in &mut record.phases {
            add_account(phase, if record.key.sequence == 1 { 1234 } else { 0 });
            slowed_cycles(phase, by);
        }
    });
    sample
}

/// 1 to 8 ranks: creating and reading scale less and less, deleting does not.
pub fn scaling() -> Sample {
    let mut sample = Sample::planned(in_ranks(&[1, 2, 4, 8]), vec![small_files()], 8);
    sample.ask(Rule::Fixed { blocks: 8 });
    let plan = sample.header.plan.clone();
    sample.carry_out(|record| {
        let slot = plan.schedule[record.key.sequence as usize];
        let noise = 1.0 + 0.02 * f64::from((slot.block * 7 + slot.position * 3) % 5);
        for phase in &mut record.phases {
            let speed_up = match phase.name.as_str() {
                "delete" => [1.0, 1.02, 0.99, 0.7],
                _ => [1.0, 1.9, 3.1, 3.1],
            };
            slowed(phase, noise / speed_up[slot.contender]);
        }
    });
    sample
}

fn slowed_cycles(phase: &mut PhaseRecord, by: f64) {
    let longer = |ns: u64| (ns as f64 * by) as u64;
    for cycle in phase.cycles.iter_mut().flat_map(|all| &mut all.cycles) {
        let started_ns = cycle.report.started_ns;
        let since = |ns: u64| started_ns + longer(ns - started_ns);
        let report = &mut cycle.report;
        let ends = report.durable_ns.iter_mut().chain([&mut report.returned_ns]);
        ends.for_each(|ns| *ns = since(*ns));
        for name in ["device.written_bytes", "device.busy_ns"] {
            cycle.period.entry(name.to_owned()).and_modify(|value| *value = longer(*value));
        }
    }
    phase.clocks.returned_ns = 900 * SECOND_NS;
    phase.clocks.durable_ns = Some(910 * SECOND_NS);
    phase.series = Some(series(900 * SECOND_NS));
}

/// A device that another application used for a minute.
pub fn watched() -> Sample {
    let mut contender = contender("loop0", "ext4", 1);
    let what = format!("/dev/loop0, 64 MiB, ext4 at /mnt {HOSTILE}");
    let program = "fsarena watch".to_owned();
    contender.levels.device = DeviceLevel::Elsewhere { program, what: what.clone() };
    let mut work = big_file();
    (work.name, work.title) = ("watched".to_owned(), "loop0 watched".to_owned());
    work.phases[0].name = "watched".to_owned();
    let mut sample = Sample::planned(vec![contender], vec![work], 1);
    sample.header.experiment = "watch".to_owned();
    sample.header.title = "loop0 watched".to_owned();
    sample.header.plan.sample_period_ns = SECOND_NS;
    sample.header.plan.compared_clock = Clock::Returned;
    sample.carry_out(|record| {
        record.device.insert("watched".to_owned(), what.clone());
        record.space = None;
        for phase in &mut record.phases {
            phase.op = Op::Watched;
            (phase.ops, phase.asked_bytes, phase.latency) = (0, 0, None);
            phase.clocks.returned_ns = 60 * SECOND_NS;
            phase.clocks.durable_ns = None;
            phase.clocks.drained =
                Drained::NotWaitedFor { reason: "a watch only looks".to_owned() };
            phase.series = Some(series(60 * SECOND_NS));
        }
    });
    sample.header.plan.workloads[0].phases[0].op = Op::Watched;
    sample.study_again();
    sample
}

/// How many timed phases all workloads have.
pub fn phases(sample: &Sample) -> usize {
    let timed = |work: &Workload| work.phases.iter().filter(|phase| phase.timed).count();
    sample.header.plan.workloads.iter().map(timed).sum()
}

fn two_workloads() -> Vec<Workload> {
    let mut small = small_files();
    small.phases.truncate(2);
    let mut big = big_file();
    let read = Phase::new("read", Op::Read, 1 << 20);
    big.phases.push(Phase { order: Order::Sequential, ..read });
    vec![small, big]
}

fn planned(labels: &[&str], workloads: Vec<Workload>, blocks: u32) -> Sample {
    let contenders = labels.iter().zip(1..).map(|(label, at)| contender(label, "ext4", at));
    let mut sample = Sample::planned(contenders.collect(), workloads, blocks);
    sample.ask(Rule::Fixed { blocks });
    sample
}

/// Each contender takes a seventh longer than the one before it, give or take three percent.
fn done(mut sample: Sample) -> Sample {
    let plan = sample.header.plan.clone();
    let mut dice = 1_u64;
    sample.carry_out(|record| {
        let slot = plan.schedule[record.key.sequence as usize];
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let noise = (dice >> 40) as f64 / (1_u64 << 24) as f64 * 0.06 - 0.03;
        each_phase(record, (1.0 + slot.contender as f64 / 7.0) * (1.0 + noise));
    });
    sample
}

fn each_phase(record: &mut TrialRecord, by: f64) {
    record.phases.iter_mut().for_each(|phase| slowed(phase, by));
}

fn slowed(phase: &mut PhaseRecord, by: f64) {
    let longer = |ns: u64| (ns as f64 * by) as u64;
    phase.clocks.returned_ns = longer(phase.clocks.returned_ns);
    phase.clocks.durable_ns = phase.clocks.durable_ns.map(longer);
    if let Drained::Frozen { drained_ns } = &mut phase.clocks.drained {
        *drained_ns = longer(*drained_ns);
    }
    let count = phase.ops.max(16);
    let buckets: Vec<(u64, u64)> = vec![
        (8 << 10, count / 2),
        (16 << 10, count / 4),
        (64 << 10, count / 8),
        (1 << 20, count - count / 2 - count / 4 - count / 8),
    ];
    let sum_ns = buckets.iter().map(|(ns, count)| ns * count).sum();
    phase.latency = Some(LatencyHistogram {
        precision_bits: 6,
        buckets,
        min_ns: 8 << 10,
        max_ns: (1 << 20) + 7,
        sum_ns,
    });
    phase.series = Some(series(phase.clocks.returned_ns));
}

/// Fifty samples: the device fills up in waves.
fn series(length_ns: u64) -> Series {
    let t_ns: Vec<i64> = (0..50).map(|at| at * (length_ns as i64) / 45).collect();
    let column = |value: fn(u64) -> u64| (0..50).map(|at| Some(value(at))).collect();
    let columns: [(&str, Vec<Option<u64>>); 6] = [
        ("cpu.idle_ns", column(|at| at * SECOND_NS / 100)),
        ("cpu.user_ns", column(|at| at * SECOND_NS / 50 + (at % 7) * SECOND_NS / 900)),
        ("device.busy_ns", column(|at| at * SECOND_NS / 80)),
        ("device.queue_ns", column(|at| at * SECOND_NS / 20)),
        ("device.written_bytes", column(|at| at * (1 << 20) + (at % 5) * (1 << 18))),
        ("mem.dirty_bytes", column(|at| (at % 10) << 22)),
    ];
    let columns = BTreeMap::from(columns.map(|(name, values)| (name.to_owned(), values)));
    Series { period_ns: length_ns / 45, t_ns, columns }
}
