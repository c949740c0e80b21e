//! Views over hand-made records: what counts, what is compared, and what is only said.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::record::{
    CacheState, Drained, MemoryRecord, Notice, Outcome, TimeBase, TrialRecord, Window,
};
use fsarena_model::run::{Clock, NotRun, RateStyle, RunHeader, RunState};
use fsarena_model::work::{OpError, VerifyReport};
use fsarena_study::{Absence, CpuLoad, PhaseTable, RateUnit, SpreadNs, Study, study};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};

/// ext4 and xfs, small files, three blocks; records 0, 2, 4 are ext4, 1, 3, 5 xfs.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![small_files()], 3);
    let records = (0..6).map(|at| records::record(&header, at)).collect();
    (header, records)
}

fn done(header: &RunHeader, records: &[TrialRecord]) -> Study {
    study(header, RunState::Done, &[], records)
}

fn create(study: &Study) -> &PhaseTable {
    &study.tables[0]
}

#[test]
fn medians_and_rates_of_the_compared_clock() {
    let (mut header, mut records) = sample();
    for (at, factor) in [(0, 1), (2, 2), (4, 4)] {
        records[at].phases[0].clocks.durable_ns = Some(factor * SECOND_NS);
    }
    let view = done(&header, &records);
    let row = &create(&view).rows[0];
    let spread = row.compared.unwrap();
    assert_eq!((spread.n, spread.min_ns, spread.median_ns), (3, SECOND_NS, 2 * SECOND_NS));
    assert_eq!(row.compared, row.durable);
    assert!((row.rates.bytes_per_s.unwrap().median - 640_000.0).abs() < 1e-6);
    assert!((row.rates.files_per_s.unwrap().median - 2500.0).abs() < 1e-9);
    assert!((row.returned_rates.files_per_s.unwrap().median - 10_000.0).abs() < 1e-9);
    assert!((row.ratio_of_medians.unwrap() - 2.0).abs() < 1e-9, "xfs took one second");

    header.plan.compared_clock = Clock::Returned;
    let row = &create(&done(&header, &records)).rows[0].clone();
    assert_eq!(row.compared, row.returned);
    assert!((row.rates.files_per_s.unwrap().median - 10_000.0).abs() < 1e-9);
}

#[test]
fn what_has_no_device_has_drained_when_it_is_durable() {
    let (mut header, mut records) = sample();
    header.plan.compared_clock = Clock::Drained;
    for record in &mut records {
        record.phases[0].clocks.drained = Drained::NoDevice;
    }
    let reason = "cap".to_owned();
    records[0].phases[0].clocks.drained = Drained::NotDrained { reason };
    let view = done(&header, &records);
    let row = &create(&view).rows[0];
    assert_eq!(row.compared.unwrap().median_ns, SECOND_NS);
    assert_eq!(row.compared.unwrap().n, 2, "not drained is no value");
    assert_eq!((row.n, row.drained.no_device, row.drained.not_drained), (3, 2, 1));
    assert_eq!((row.drained.spread, row.drained.reasons.as_slice()), (None, &["cap".into()][..]));
}

#[test]
fn cold_and_warm_are_never_in_one_ratio() {
    let (header, mut records) = sample();
    records[0].phases[0].cache.state = CacheState::Warm;
    records[0].phases[0].cache.why = "pages were left".to_owned();
    for at in [1, 3, 5] {
        records[at].phases[0].cache.state = CacheState::WarmByNature;
        records[at].phases[0].clocks.durable_ns = Some(SECOND_NS / 1000);
    }
    let view = done(&header, &records);
    let rows = &create(&view).rows;
    let states: Vec<_> = rows.iter().map(|r| (r.label.as_str(), r.cache, r.n)).collect();
    assert_eq!(
        states,
        [
            ("ext4", CacheState::Cold, 2),
            ("ext4", CacheState::Warm, 1),
            ("xfs", CacheState::WarmByNature, 3)
        ]
    );
    assert_eq!(rows[0].ratio_of_medians, None, "the only cold row");
    assert!((rows[1].ratio_of_medians.unwrap() - 1000.0).abs() < 1e-6);
    assert_eq!(rows[1].not_cold_because.as_deref(), Some("pages were left"));
    assert_eq!(rows[0].not_cold_because, None);
}

#[test]
fn times_of_two_bases_are_never_in_one_median_nor_ratio() {
    let (header, mut records) = sample();
    let table = |records: &[TrialRecord]| create(&done(&header, records)).clone();
    let rows = table(&records).rows;
    let of_first = |record: &&mut TrialRecord| {
        record.key.contender == header.plan.contenders[0].id() && record.key.block > 0
    };
    let mut simulated = 0;
    for record in records.iter_mut().filter(of_first) {
        record.time_base = TimeBase::Virtual;
        simulated += 1;
    }
    let split = table(&records).rows;
    assert_eq!(split.len(), rows.len() + 1);
    let own: Vec<_> = split.iter().filter(|row| row.contender == 0).collect();
    assert_eq!(own.iter().map(|row| row.n).collect::<Vec<_>>(), [rows[0].n - simulated, simulated]);
    assert_eq!(own[1].time_base, TimeBase::Virtual);
    assert_eq!(own[1].ratio_of_medians, None, "nothing else was counted in its time");
    assert!(!own[0].is_comparable_with(own[1]) && own[0].ratio_of_medians.is_some());
}

#[test]
fn limited_and_not_limited_are_never_in_one_ratio() {
    let (header, mut records) = sample();
    for at in [1, 3, 5] {
        records[at].phases[0].memory =
            MemoryRecord::NotLimited { limit_bytes: 1, reason: "no cgroup".to_owned() };
    }
    let view = done(&header, &records);
    assert!(create(&view).rows.iter().all(|row| row.ratio_of_medians.is_none()));
}

#[test]
fn processor_load_is_of_the_whole_machine_and_not_of_short_phases() {
    let (header, mut records) = sample();
    // 1.98 s idle of 2 s: 1 %. Then a phase of 99 ticks: no figure.
    for (name, ns) in [("user", 0), ("system", 20), ("idle", 1980), ("iowait", 0)] {
        let counters = records[0].phases[0].windows.get_mut(&Window::Durable).unwrap();
        counters.insert(format!("cpu.{name}_ns"), ns * 1_000_000);
    }
    for (name, ns) in [("user", 0), ("system", 490), ("idle", 500), ("iowait", 0)] {
        let counters = records[1].phases[0].windows.get_mut(&Window::Durable).unwrap();
        counters.insert(format!("cpu.{name}_ns"), ns * 1_000_000);
    }
    let of = |at: usize| CpuLoad::of_phase(&records[at].phases[0]);
    assert!(matches!(of(0), CpuLoad::Percent { percent } if (percent.median - 1.0).abs() < 1e-9));
    assert_eq!(of(1), CpuLoad::TooShort);
    assert!(matches!(of(2), CpuLoad::Percent { percent } if (percent.median - 25.0).abs() < 1e-9));
    records[3].phases[0].windows.clear();
    let CpuLoad::Percent { percent } = create(&done(&header, &records)).rows[1].cpu else {
        panic!("trial 5 has a figure");
    };
    assert_eq!((percent.n, percent.median), (1, 25.0));
}

#[test]
fn only_complete_phases_count_and_the_rest_is_said() {
    let (mut header, mut records) = sample();
    header.plan.contenders.push(contender("jfs", "jfs", 1));
    header.plan.not_run.push(NotRun { contender: 2, workload: None, reason: "gone".to_owned() });
    for at in [1, 3, 5] {
        let record = &mut records[at];
        record.phases.truncate(1);
        record.phases[0].error = Some(OpError {
            op_index: 3,
            thread: None,
            call: "write".to_owned(),
            path: "f00000003".to_owned(),
            errno: 28,
            text: "No space left on device".to_owned(),
        });
        if at < 5 {
            record.outcome = Outcome::Failed {
                step: "measure".to_owned(),
                error: "disk full".to_owned(),
                remedy: None,
            };
        }
    }
    records[4].outcome = Outcome::Interrupted;
    records[4].phases.truncate(2);
    let view = done(&header, &records);
    assert_eq!(create(&view).rows.len(), 1);
    assert_eq!(create(&view).rows[0].n, 3, "a phase before the interruption counts");
    let delete = &view.tables[2];
    assert_eq!((delete.rows[0].n, delete.rows[0].n_planned), (2, 3));
    let absent: Vec<_> = delete.absent.iter().map(|a| (a.label.as_str(), a.why)).collect();
    assert_eq!(absent, [("xfs", Absence::Failed), ("jfs", Absence::NotRun)]);
    let said: Vec<_> =
        view.failures.iter().map(|f| (f.error.as_str(), f.sequences.as_slice())).collect();
    assert_eq!(
        said,
        [
            ("disk full", &[1, 3][..]),
            ("interrupted", &[4][..]),
            ("write f00000003: No space left on device", &[5][..])
        ]
    );
    assert_eq!(view.not_run[0].label, "jfs");
}

#[test]
fn refused_trials_are_not_run_and_unfinished_ones_not_yet() {
    let (header, mut records) = sample();
    records.truncate(2);
    for record in &mut records {
        record.phases.clear();
    }
    records[0].outcome = Outcome::NotRun { reason: "no loop device".to_owned() };
    let second = records.remove(1);
    let view = done(&header, &records);
    let absent: Vec<_> = create(&view).absent.iter().map(|a| a.why).collect();
    assert_eq!(absent, [Absence::NotRun, Absence::NotYet]);
    assert_eq!(view.not_run[0].reason, "no loop device");
    let interrupted = TrialRecord { outcome: Outcome::Interrupted, ..second };
    let view = done(&header, &[interrupted]);
    assert_eq!(create(&view).absent[1].why, Absence::Interrupted);
}

#[test]
fn amplification_counts_all_work_up_to_the_unmount() {
    let (header, mut records) = sample();
    let of = |records: &[TrialRecord]| {
        create(&done(&header, records)).rows[0].write_amplification.unwrap().median
    };
    assert!((of(&records) - 3.0).abs() < 1e-9, "3 bytes at the device for each written");
    // Without a chill after it, the account of `create` holds the next phase as well.
    for record in &mut records {
        record.steps.retain(|step| step.step != "chill");
        record.phases[1].op = fsarena_model::work::Op::Create;
    }
    assert!((of(&records) - 1.5).abs() < 1e-9);
    let view = done(&header, &records);
    assert_eq!(view.tables[2].rows[0].write_amplification, None, "delete writes no contents");
    let space = view.trials[0].space_amplification.unwrap();
    assert!((space.median - 2.0).abs() < 1e-9, "growth of used space per byte stored");
}

#[test]
fn notices_are_said_once_with_their_trials() {
    let (header, mut records) = sample();
    let notice = |text: &str| Notice {
        code: "loop-in-memory".to_owned(),
        text: text.to_owned(),
        remedy: None,
        measure: None,
    };
    for record in &mut records {
        record.notices.push(notice("a loop on tmpfs is memory"));
        record.notices.push(notice("a loop on tmpfs is memory"));
    }
    records[3].filesystem.served_by = Some("other".to_owned());
    let view = done(&header, &records);
    assert_eq!(view.notices.len(), 2);
    assert_eq!((view.notices[0].trials, view.notices[0].labels.len()), (6, 2));
    assert_eq!(view.notices[1].text, "xfs is served by the other driver");
    assert_eq!(view.sampler.unwrap().samples, 180);
    assert!((view.sampler.unwrap().share - 0.001).abs() < 1e-12);
}

#[test]
fn of_notices_with_a_figure_the_worst_is_shown() {
    let (header, mut records) = sample();
    for (record, share) in records.iter_mut().zip([0.06, 0.5, 0.2]) {
        record.notices.push(Notice {
            code: "steal".to_owned(),
            text: format!("{share}"),
            remedy: None,
            measure: Some(share),
        });
    }
    let view = done(&header, &records);
    assert_eq!(view.notices.len(), 1);
    assert_eq!((view.notices[0].text.as_str(), view.notices[0].trials), ("0.5", 3));
}

fn wrong_contents(bad_files: u64) -> Option<VerifyReport> {
    let examples = vec!["f00000001: byte 0".to_owned()];
    Some(VerifyReport { files: 5000, bytes: 1_280_000, bad_files, examples })
}

#[test]
fn wrong_contents_are_a_result_of_their_own() {
    let (header, mut records) = sample();
    records[2].verify = wrong_contents(2);
    let view = done(&header, &records);
    assert_eq!(view.verify.as_ref().unwrap().bad_files, 2);
    assert_eq!(create(&view).rows[0].trials_with_bad_contents, 1);
    assert_eq!((create(&view).rows[0].n, create(&view).rows[0].n_planned), (2, 3));
    assert_eq!(view.trials[1].verify, None);
}

#[test]
fn what_did_not_keep_the_contents_is_in_no_figure() {
    let (header, mut records) = sample();
    // Fast, small and wrong: neither the best of the table nor in the medians of its row.
    records[2].verify = wrong_contents(5000);
    records[2].unmount_ns = Some(1);
    records[2].space.as_mut().unwrap().used_bytes = 8 << 20;
    let fast = &mut records[2].phases[0];
    fast.clocks.returned_ns = 1;
    fast.clocks.durable_ns = Some(2);
    fast.clocks.drained = Drained::NotDrained { reason: "cap".to_owned() };
    fast.latency.as_mut().unwrap().max_ns = u64::MAX;
    fast.windows.values_mut().for_each(|counters| counters.values_mut().for_each(|v| *v = 1));
    let view = done(&header, &records);
    let row = &create(&view).rows[0];
    let second = SpreadNs { n: 2, min_ns: SECOND_NS, median_ns: SECOND_NS, max_ns: SECOND_NS };
    assert_eq!((row.compared, row.durable), (Some(second), Some(second)));
    assert_eq!(row.returned.unwrap().min_ns, SECOND_NS / 2);
    assert_eq!((row.drained.spread.unwrap().n, row.drained.not_drained), (2, 0));
    assert!((row.rates.files_per_s.unwrap().max - 5000.0).abs() < 1e-9);
    assert!(row.latency.unwrap().max_ns < SECOND_NS);
    assert_eq!(row.write_amplification.unwrap().n, 2);
    assert_eq!(row.ratio_of_medians, Some(1.0));
    assert_eq!(create(&view).rows[1].ratio_of_medians, Some(1.0));
    let trials = &view.trials[0];
    assert_eq!((trials.n, trials.space_amplification.unwrap().n), (2, 2));
    assert_eq!(trials.unmount.unwrap().min_ns, SECOND_NS / 20);
}

#[test]
fn a_row_with_only_wrong_contents_is_flagged_and_has_no_figure() {
    let (header, mut records) = sample();
    for at in [0, 2, 4] {
        records[at].verify = wrong_contents(1);
        records[at].phases[0].clocks.durable_ns = Some(2);
    }
    let view = done(&header, &records);
    let row = &create(&view).rows[0];
    assert_eq!((row.label.as_str(), row.n, row.n_planned), ("ext4", 0, 3));
    assert_eq!(row.trials_with_bad_contents, 3);
    assert_eq!((row.compared, row.returned, row.durable), (None, None, None));
    assert_eq!((row.rates.files_per_s, row.latency, row.ratio_of_medians), (None, None, None));
    assert_eq!((row.cpu, row.device.as_slice()), (CpuLoad::Unknown, &[][..]));
    assert_eq!(create(&view).rows[1].ratio_of_medians, None, "nothing to be compared with");
}

#[test]
fn whole_and_limited_memory_are_never_in_one_ratio() {
    let (header, mut records) = sample();
    let limited = |limit_bytes| MemoryRecord::Limited {
        limit_bytes,
        by: "cgroup v2".to_owned(),
        peak_bytes: None,
        syncs: 3,
    };
    for at in [1, 3, 5] {
        records[at].phases[0].memory = limited(64 << 20);
    }
    let view = done(&header, &records);
    assert!(create(&view).rows.iter().all(|row| row.ratio_of_medians.is_none()));
    for at in [0, 2, 4] {
        records[at].phases[0].memory = limited(64 << 20);
    }
    let MemoryRecord::Limited { syncs, .. } = &mut records[0].phases[0].memory else { panic!() };
    *syncs = 0;
    let view = done(&header, &records);
    let rows = &create(&view).rows;
    assert_eq!(rows.len(), 2, "syncs are no group of their own");
    assert!(rows.iter().all(|row| row.n == 3 && row.ratio_of_medians == Some(1.0)));
}

#[test]
fn units_of_rates() {
    let small = small_files();
    let big = big_file();
    let unit = |style, at: usize| RateUnit::for_op(style, small.phases[at].op, &small.dataset);
    assert_eq!(unit(RateStyle::Auto, 0), RateUnit::Files);
    assert_eq!(unit(RateStyle::Article2003, 0), RateUnit::Bytes);
    assert_eq!(unit(RateStyle::Article2003, 2), RateUnit::Files);
    assert_eq!(RateUnit::for_op(RateStyle::Auto, big.phases[0].op, &big.dataset), RateUnit::Bytes);
}

#[test]
fn no_record_at_all_is_no_panic() {
    let (header, _) = sample();
    let view = study(&header, RunState::Failed, &[], &[]);
    assert_eq!((view.trials_recorded, view.tables.len()), (0, 3));
    assert_eq!((view.sampler, view.verify), (None, None));
}
