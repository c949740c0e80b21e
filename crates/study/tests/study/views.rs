//! Points, curves, traces and the matrix of ratios, over hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::client::{ClientCounts, ClientRecord};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::{CacheState, Drained, MemoryRecord, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::{Clock, RunHeader, RunState};
use fsarena_model::sample::{LatencyPeriod, LatencySeries, Series};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{Limits, Pairs, Rule, Verdict, VerdictPlan};
use fsarena_model::work::{OpError, VerifyReport, WorkerUsage};
use fsarena_study::{
    CURVE_POINTS_MAX, HeatView, Quantity, TrialTrace, curves, heat, points, study, traces,
};
use fsarena_testkit::records::{
    self, SECOND_NS, asked, big_file, contender, database, small_files,
};

/// ext4 and xfs, small files, three blocks; records 0, 2, 4 are ext4, 1, 3, 5 xfs.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![small_files()], 3);
    let records = all(&header);
    (header, records)
}

fn all(header: &RunHeader) -> Vec<TrialRecord> {
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    (0..count).map(|at| records::record(header, at)).collect()
}

fn broken(phase: &mut PhaseRecord) {
    phase.clocks.durable_ns = None;
    phase.error = Some(OpError {
        op_index: 3,
        thread: None,
        call: "write".to_owned(),
        path: "f00000003".to_owned(),
        errno: 28,
        text: "No space left on device".to_owned(),
    });
}

fn wrong_contents() -> Option<VerifyReport> {
    Some(VerifyReport { files: 5000, bytes: 1_280_000, bad_files: 2, examples: Vec::new() })
}

fn heat_of(header: &RunHeader, records: &[TrialRecord]) -> Option<HeatView> {
    heat(&study(header, RunState::Done, &[], records), None)
}

#[test]
fn every_trial_is_a_point_in_the_order_in_which_it_was_run() {
    let (mut header, mut records) = sample();
    header.plan.compared_clock = Clock::Drained;
    records[0].started_unix_ns = u64::MAX;
    broken(&mut records[1].phases[0]);
    records[2].verify = wrong_contents();
    records[3].phases[0].clocks.drained = Drained::NotDrained { reason: "cap".to_owned() };
    records[4].phases[0].clocks.drained = Drained::NoDevice;
    records[5].phases.truncate(1);
    records[5].phases[0].clocks.durable_ns = None;
    records[5].phases[0].clocks.drained = Drained::NoDevice;
    let views = points(&header.plan, &records);
    let names: Vec<_> = views.iter().map(|v| (v.phase.as_str(), v.points.len())).collect();
    assert_eq!(names, [("create", 6), ("read-random", 5), ("delete", 5)]);
    let create = &views[0].points;
    let order: Vec<_> = create.iter().map(|p| (p.trial, p.block, p.label.as_str())).collect();
    assert_eq!(order[0], (2, 1, "xfs"), "numbers are from 1");
    assert_eq!(order[5], (1, 1, "ext4"), "it was done again at the end");
    let spoiled: Vec<_> = create.iter().map(|p| p.spoiled.as_deref()).collect();
    assert_eq!(
        spoiled,
        [
            Some("ended early: write f00000003: No space left on device"),
            Some("wrong contents: 2 of 5000 files"),
            None,
            None,
            Some("ended early"),
            None
        ]
    );
    let clocks = |at: usize| (create[at].compared_ns, create[at].drained_ns);
    assert_eq!(clocks(5), (Some(SECOND_NS * 5 / 4), Some(SECOND_NS * 5 / 4)));
    assert_eq!(clocks(3), (Some(SECOND_NS), None), "what has no device has drained when durable");
    assert_eq!(clocks(2), (None, None));
    assert_eq!(clocks(4), (None, None), "what was never made durable has no such clock");
    assert_eq!(create[2].not_drained.as_deref(), Some("cap"));
}

#[test]
fn figures_of_a_point_are_those_of_the_tables() {
    let (header, mut records) = sample();
    for window in [Window::Durable, Window::Unmounted] {
        let counters = records[0].phases[0].windows.get_mut(&window).unwrap();
        counters.insert("cpu.steal_ns".to_owned(), SECOND_NS / 2);
        counters.insert("device.flushes".to_owned(), 7);
    }
    records[1].phases[0].windows.clear();
    records[1].phases[0].latency = None;
    let views = points(&header.plan, &records);
    let one = &views[0].points[0];
    let row = &study(&header, RunState::Done, &[], &records[..1]).tables[0].rows[0];
    let amplification = one.write_amplification.unwrap();
    assert!((amplification - row.write_amplification.unwrap().median).abs() < 1e-12);
    assert!((one.cpu_share.unwrap() - 0.2).abs() < 1e-12, "of 2.5 s half a second");
    assert!((one.steal_share.unwrap() - 0.2).abs() < 1e-12);
    assert_eq!(row.cpu.share(), one.cpu_share);
    assert_eq!((one.device_read_bytes, one.device_flushes), (Some(4096), Some(7)));
    assert_eq!(one.device_written_bytes, Some(3 * 1_280_000));
    assert_eq!(one.p99_ns, row.latency.unwrap().p99_ns);
    assert_eq!(one.max_ns, Some((1 << 20) + 7));
    let bare = &views[0].points[1];
    assert_eq!((bare.cpu_share, bare.steal_share, bare.device_flushes), (None, None, None));
    assert_eq!((bare.device_written_bytes, bare.write_amplification), (None, None));
    assert_eq!((bare.p50_ns, bare.p99_ns, bare.max_ns), (None, None, None));
    assert_eq!(views[0].points[2].steal_share, None, "a counter that is missing is no 0");
}

#[test]
fn what_later_phases_wrote_before_the_unmount_is_marked() {
    let (header, mut records) = sample();
    let shared = |records: &[TrialRecord]| -> Vec<bool> {
        points(&header.plan, records).iter().map(|view| view.points[0].shares_unmount).collect()
    };
    assert!(shared(&records).iter().all(|shared| !shared), "each is followed by an unmount");
    for record in &mut records {
        record.steps.retain(|step| step.step != "chill");
    }
    let found = shared(&records);
    let (last, others) = found.split_last().unwrap();
    assert!(!last && !others.is_empty() && others.iter().all(|shared| *shared), "{found:?}");
}

#[test]
fn of_another_program_nobody_knows_the_processor_time() {
    let (header, mut records) = sample();
    records[1].phases[0].worker = WorkerUsage::default();
    let used = |header: &RunHeader, records: &[TrialRecord]| -> Vec<_> {
        let views = points(&header.plan, records);
        views[0].points[..2].iter().map(|p| (p.worker_user_ns, p.worker_system_ns)).collect()
    };
    let known = (Some(SECOND_NS / 10), Some(0));
    assert_eq!(used(&header, &records), [known, (Some(0), Some(0))], "a 0 of ours is one");
    let mut contenders = header.plan.contenders;
    for contender in &mut contenders {
        let (program, what) = ("fio".to_owned(), contender.label.clone());
        contender.levels.device = DeviceLevel::Elsewhere { program, what };
    }
    let header = records::header(contenders, vec![small_files()], 3);
    let mut records = all(&header);
    records[1].phases[0].worker = WorkerUsage::default();
    assert_eq!(used(&header, &records), [known, (None, None)]);
}

#[test]
fn strangers_and_empty_plans_make_no_points() {
    let (header, mut records) = sample();
    records[0].key.contender.0 = "0".repeat(64);
    assert_eq!(points(&header.plan, &records)[0].points.len(), 5);
    assert!(points(&header.plan, &[]).iter().all(|view| view.points.is_empty()));
    assert!(curves(&header.plan, &[]).is_empty() && traces(&header.plan, &[]).is_empty());
    assert_eq!(heat_of(&header, &[]), None);
}

#[test]
fn curves_are_of_all_ops_of_a_state_of_the_cache() {
    let (header, mut records) = sample();
    records[0].phases[0].cache.state = CacheState::Warm;
    broken(&mut records[1].phases[0]);
    records[3].verify = wrong_contents();
    let all = curves(&header.plan, &records);
    assert_eq!(all.len(), 3);
    let told: Vec<_> = all[0].curves.iter().map(|c| (c.label.as_str(), c.cache, c.ops)).collect();
    assert_eq!(
        told,
        [
            ("ext4", CacheState::Cold, 10_000),
            ("ext4", CacheState::Warm, 5000),
            ("xfs", CacheState::Cold, 5000)
        ]
    );
    let curve = &all[0].curves[1];
    assert!(curve.points.len() <= CURVE_POINTS_MAX && !all[0].writes_alone);
    assert_eq!(curve.points[0], (0.0, 10_000));
    let (share, ns) = *curve.points.last().unwrap();
    assert!((share - 0.9998).abs() < 1e-12 && ns < 11_000, "all ops but the longest");
    assert_eq!(curve.max_ns, (1 << 20) + 7);
    assert!(curve.points.windows(2).all(|p| p[0].0 < p[1].0 && p[0].1 <= p[1].1));
}

#[test]
fn writes_among_reads_have_a_curve_of_their_own() {
    let header = records::header(vec![contender("ext4", "ext4", 1)], vec![database()], 2);
    let all = curves(&header.plan, &all(&header));
    let told: Vec<_> =
        all.iter().map(|c| (c.phase.as_str(), c.writes_alone, c.curves[0].ops)).collect();
    assert_eq!(told, [("mixed", false, 1024), ("mixed", true, 512)]);
}

#[test]
fn a_limit_that_was_not_to_be_had_makes_another_curve() {
    let (header, mut records) = sample();
    let reason = "no cgroup".to_owned();
    records[0].phases[0].memory = MemoryRecord::NotLimited { limit_bytes: 1, reason };
    let all = curves(&header.plan, &records);
    let labels: Vec<_> = all[0].curves.iter().map(|c| (c.label.as_str(), c.ops)).collect();
    assert_eq!(labels, [("ext4", 10_000), ("ext4 (memory not limited)", 5000), ("xfs", 15_000)]);
}

/// Four samples, the first 5 ms before the start; the third reading of the device is missing.
fn four_samples() -> Series {
    let ms = |ms: u64| Some(ms * 1_000_000);
    let columns = [
        ("device.read_bytes", vec![Some(0), Some(10_000_000), None, Some(30_000_000)]),
        ("device.written_bytes", vec![Some(0), Some(0), Some(5_000_000), Some(5_000_000)]),
        ("device.busy_ns", vec![ms(0), ms(50), ms(200), ms(201)]),
        ("device.queue_ns", vec![ms(0), ms(200), ms(200), ms(500)]),
        ("mem.dirty_bytes", vec![Some(1 << 20), Some(2 << 20), None, Some(0)]),
        ("mem.writeback_bytes", vec![Some(0), Some(1 << 20), Some(0), Some(0)]),
        ("cpu.user_ns", vec![ms(0), ms(50), ms(150), ms(150)]),
        ("cpu.system_ns", vec![ms(0), ms(50), ms(50), ms(50)]),
        ("cpu.idle_ns", vec![ms(0), ms(100), ms(90), ms(100)]),
        ("net.received_bytes", vec![Some(0), Some(2_000_000), Some(2_000_000), None]),
        ("net.sent_bytes", vec![Some(0), Some(0), Some(100_000), Some(100_000)]),
    ];
    Series {
        period_ns: 100_000_000,
        t_ns: vec![-5_000_000, 95_000_000, 195_000_000, 205_000_000],
        columns: columns.map(|(name, column)| (name.to_owned(), column)).into(),
    }
}

fn line(trace: &TrialTrace, quantity: Quantity) -> Vec<(f64, Option<f64>)> {
    let found = trace.phases[0].lines.iter().find(|line| line.quantity == quantity);
    found.map(|line| line.points.clone()).unwrap_or_default()
}

fn values(trace: &TrialTrace, quantity: Quantity) -> Vec<Option<f64>> {
    let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
    line(trace, quantity).into_iter().map(|point| point.1.map(rounded)).collect()
}

#[test]
fn rates_are_of_the_stretch_that_ends_there_and_nothing_is_invented() {
    let (header, mut records) = sample();
    records.truncate(1);
    records[0].phases[0].series = Some(four_samples());
    let all = traces(&header.plan, &records);
    let trace = &all[0];
    assert_eq!((all.len(), trace.chosen.as_str(), trace.trial), (1, "the only one", 1));
    let times: Vec<f64> = line(trace, Quantity::ReadMbPerS).iter().map(|p| p.0).collect();
    assert_eq!(times, [0.0, 0.095, 0.195, 0.205], "the sample before the start is at the start");
    assert_eq!(values(trace, Quantity::ReadMbPerS), [None, Some(100.0), None, None]);
    assert_eq!(values(trace, Quantity::WrittenMbPerS), [None, Some(0.0), Some(50.0), Some(0.0)]);
    let busy = [None, Some(50.0), Some(100.0), Some(10.0)];
    assert_eq!(values(trace, Quantity::BusyPercent), busy, "150 ms of 100 are 100 %");
    assert_eq!(values(trace, Quantity::QueueDepth), [None, Some(2.0), Some(0.0), Some(30.0)]);
    assert_eq!(values(trace, Quantity::DirtyMib), [Some(1.0), Some(3.0), None, Some(0.0)]);
    let load = values(trace, Quantity::CpuPercent);
    assert_eq!(load, [None, Some(50.0), Some(100.0), None], "one tick is too short to say");
    assert_eq!(values(trace, Quantity::ReceivedMbPerS), [None, Some(20.0), Some(0.0), None]);
    assert_eq!(values(trace, Quantity::SentMbPerS), [None, Some(0.0), Some(1.0), Some(0.0)]);
    assert_eq!(Quantity::ALL.len(), trace.phases[0].lines.len());
}

#[test]
fn hosts_of_ranks_have_lines_of_their_own() {
    let (header, mut records) = sample();
    records.truncate(1);
    let phase = &mut records[0].phases[0];
    phase.series = Some(Series::default());
    let host = |name: &str, series: Option<Series>| ClientRecord {
        hostname: name.to_owned(),
        counts: ClientCounts { series, ..ClientCounts::default() },
        ..ClientRecord::default()
    };
    phase.clients = vec![host("a", Some(four_samples())), host("b", None)];
    let trace = &traces(&header.plan, &records)[0];
    let hosts = &trace.phases[0].hosts;
    assert_eq!((hosts.len(), hosts[0].hostname.as_str()), (1, "a"), "b took no samples");
    assert_eq!(hosts[0].lines.len(), Quantity::ALL.len());
    assert!(trace.phases[0].lines.is_empty());
}

#[test]
fn phases_follow_each_other_and_may_have_no_series() {
    let (header, mut records) = sample();
    records.truncate(1);
    records[0].phases[1].series = None;
    let phases = &traces(&header.plan, &records)[0].phases;
    let at: Vec<_> = phases.iter().map(|p| (p.at_s, p.length_s, p.lines.len())).collect();
    assert_eq!(at, [(0.0, 1.25, 0), (1.25, 1.25, 0), (2.5, 1.25, 0)], "one reading is no rate");
    let lines = |column: Vec<Option<u64>>| {
        let mut records = records.clone();
        let series = records[0].phases[0].series.as_mut().unwrap();
        series.columns.insert("device.read_bytes".to_owned(), column);
        traces(&header.plan, &records)[0].phases[0].lines.len()
    };
    assert_eq!(lines(vec![Some(0), Some(1), Some(2)]), 1);
    assert_eq!(lines(vec![Some(0), Some(1)]), 0, "a column that does not fit its times");
    assert_eq!(lines(vec![None, None, None]), 0);
    let (durable, drained) = (phases[0].durable_s.unwrap(), phases[0].drained_s.unwrap());
    assert!((phases[0].returned_s, durable, drained) == (0.5, 1.0, 1.25));
    for phase in &mut records[0].phases {
        phase.series = None;
    }
    assert!(traces(&header.plan, &records).is_empty(), "none without time series");
}

#[test]
fn the_middle_trial_is_by_the_longest_phase_and_no_spoiled_one() {
    let (header, mut records) = sample();
    for (at, seconds) in [(0, 9), (2, 7), (4, 8), (1, 5), (3, 6), (5, 4)] {
        records[at].phases[1].clocks.durable_ns = Some(seconds * SECOND_NS);
    }
    let of = |records: &[TrialRecord]| -> Vec<(u32, String)> {
        traces(&header.plan, records).into_iter().map(|t| (t.trial, t.chosen)).collect()
    };
    let words = |count: u32| format!("the middle one of {count} by the time of read-random");
    assert_eq!(of(&records), [(5, words(3)), (2, words(3))]);
    records[4].verify = wrong_contents();
    broken(&mut records[1].phases[1]);
    assert_eq!(of(&records), [(3, words(2)), (6, words(2))], "of two the faster one");
    records[2].phases[1].cache.state = CacheState::Warm;
    assert_eq!(of(&records)[0], (1, "the only one".to_owned()), "cold before warm");
    for record in &mut records {
        broken(&mut record.phases[1]);
    }
    assert!(of(&records)[1].1.ends_with("the middle one of 3 by the time of create"));
}

#[test]
fn ratios_are_to_the_one_that_can_be_compared_with_most() {
    let contenders = ["tmpfs", "ext4", "xfs"].map(|name| contender(name, name, 1));
    let header = records::header(contenders.to_vec(), vec![small_files(), big_file()], 2);
    let mut records = all(&header);
    for record in &mut records {
        let index = header.plan.contenders.iter().position(|c| c.id() == record.key.contender);
        for phase in &mut record.phases {
            match index {
                Some(0) => phase.cache.state = CacheState::WarmByNature,
                Some(2) => phase.clocks.durable_ns = Some(2 * SECOND_NS),
                _ => {}
            }
        }
    }
    let view = heat_of(&header, &records).unwrap();
    assert_eq!((view.reference.as_str(), view.columns.len(), view.rows.len()), ("ext4", 4, 3));
    assert_eq!(view.columns[3], ("big-file".to_owned(), "write".to_owned()));
    let row = |at: usize| view.rows[at].cells.iter().map(|c| c.ratio).collect::<Vec<_>>();
    assert_eq!(row(0), [None; 4], "warm by nature is not compared with cold");
    assert_eq!(row(1), [Some(1.0); 4]);
    assert_eq!(row(2), [Some(2.0); 4]);
    assert!(view.rows.iter().flat_map(|r| &r.cells).all(|c| c.verdict.is_none()));
    let two: Vec<_> = records
        .iter()
        .filter(|r| r.key.contender != header.plan.contenders[2].id())
        .cloned()
        .collect();
    assert_eq!(heat_of(&header, &two), None, "nobody is left to compare with");
    let one = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 2);
    assert_eq!(heat_of(&one, &all(&one)), None);
}

#[test]
fn what_was_asked_is_answered_by_its_verdict() {
    let (mut header, _) = sample();
    let plan = &header.plan;
    let ask = VerdictPlan {
        pairs: Pairs::Baseline { contender: 1 },
        limits: Limits::default(),
        ..asked(plan, Rule::Fixed { blocks: 6 })
    };
    header = records::header(header.plan.contenders.clone(), vec![small_files()], 6);
    header.plan.verdict = Some(ask);
    let mut records = all(&header);
    for (at, record) in records.iter_mut().enumerate() {
        let block = at as u64 / 2;
        let factor = if at.is_multiple_of(2) { 1 } else { 2 };
        let jitter_ns = (block % 3) * 1_000_000;
        record.phases[0].clocks.durable_ns = Some(factor * (SECOND_NS + jitter_ns));
    }
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let verdicts = fsarena_verdict::verdicts(&header, &[], &scores, None, &[]).unwrap();
    let view = heat(&study(&header, RunState::Done, &[], &records), Some(&verdicts)).unwrap();
    assert_eq!(view.reference, "xfs", "the baseline");
    let cell = view.rows[0].cells[0];
    assert!((cell.ratio.unwrap() - 0.5).abs() < 1e-9);
    let (low, high) = cell.interval.unwrap();
    assert!(low <= 0.5 && (0.5..1.0).contains(&high), "{low} {high}");
    assert_eq!(cell.verdict, Some(Verdict::Faster));
    let same = view.rows[0].cells[1];
    assert_eq!(same.verdict, Some(Verdict::Same), "equal times are proved to be so");
    let pair = &verdicts.questions[1].pairs[0];
    assert_eq!(same.interval, pair.same_low.zip(pair.same_high), "the one that SAME is said by");
    assert_ne!(same.interval, pair.low.zip(pair.high));
    let own = view.rows[1].cells[0];
    assert_eq!((own.ratio, own.interval, own.verdict), (Some(1.0), None, None));
}

#[test]
fn sixty_contenders_have_a_row_each() {
    let contenders = (0..60).map(|at| contender(&format!("fs{at}"), &format!("fs{at}"), 1));
    let header = records::header(contenders.collect(), vec![big_file()], 1);
    let records = all(&header);
    let view = heat_of(&header, &records).unwrap();
    assert_eq!((view.rows.len(), view.reference.as_str()), (60, "fs0"));
    assert_eq!(traces(&header.plan, &records).len(), 60);
    assert_eq!(curves(&header.plan, &records)[0].curves.len(), 60);
    assert_eq!(points(&header.plan, &records)[0].points.len(), 60);
}

#[test]
fn ops_over_time_are_lines_with_gaps_where_none_ended() {
    let contenders = vec![records::contender("ext4", "ext4", 1)];
    let header = records::header(contenders, vec![records::small_files()], 1);
    let mut record = records::record(&header, 0);
    let period = |ops| LatencyPeriod { ops, p50_ns: 1_000_000, p99_ns: 0, max_ns: 10_000_000 };
    let periods = [100, 0, 40].map(period).to_vec();
    record.phases[0].latency_series = Some(LatencySeries { period_ns: 500_000_000, periods });
    record.phases[0].clocks.returned_ns = 1_250_000_000;
    let traces = traces(&header.plan, &[record]);
    let points = |quantity| line(&traces[0], quantity)[..3].to_vec();
    let rates = [(0.5, Some(200.0)), (1.0, Some(0.0)), (1.25, Some(160.0))];
    assert_eq!(points(Quantity::OpsPerS), rates);
    assert_eq!(points(Quantity::MedianLatencyMs)[1], (1.0, None));
    assert_eq!(points(Quantity::LongestLatencyMs)[0], (0.5, Some(10.0)));
}
