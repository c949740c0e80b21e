//! What whole records show: steady state inside phases, and foreign load.

use super::Noise;
use fsarena_model::record::{TrialRecord, Window};
use fsarena_model::run::RunHeader;
use fsarena_model::sample::Series;
use fsarena_testkit::records::{self, SECOND_NS, contender};
use fsarena_verdict::watchers::{FindingKind, foreign, inside, steady};
use std::collections::BTreeMap;

/// ext4 and xfs, one big file each, in six blocks.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![records::big_file()], 6);
    let records = (0..12).map(|at| records::record(&header, at)).collect();
    (header, records)
}

/// Sixty samples in six seconds; the rate is `before` for two seconds, then `after`, MiB/s.
fn series(noise: &mut Noise, column: &str, before: f64, after: f64) -> Series {
    let mut written = 0.0;
    let mut values = vec![Some(0)];
    for interval in 0..60 {
        let rate = if interval < 20 { before } else { after };
        written += rate * (1.0 + 0.05 * noise.normal()) * f64::from(1 << 20) / 10.0;
        values.push(Some(written as u64));
    }
    Series {
        period_ns: SECOND_NS / 10,
        t_ns: (0..61).map(|at| at * 100_000_000).collect(),
        columns: BTreeMap::from([(column.to_owned(), values)]),
    }
}

fn give(record: &mut TrialRecord, series: Series) {
    let phase = &mut record.phases[0];
    phase.clocks.returned_ns = 6 * SECOND_NS;
    phase.series = Some(series);
}

#[test]
fn a_rate_that_falls_is_seen() {
    let (_, mut records) = sample();
    let mut noise = Noise(1);
    for column in ["worker.dirtied_bytes", "device.written_bytes"] {
        give(&mut records[0], series(&mut noise, column, 400.0, 100.0));
        let found = inside(&records[0]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].kind, FindingKind::NoSteadyState);
        let text = &found[0].text;
        assert!(text.starts_with("write: ") && text.contains(" for 2.00 s, then "), "{text}");
        assert!(text.contains("; without the first "), "{text}");
    }
    let mut quiet = 0;
    for seed in 0..100 {
        let steady = series(&mut Noise(seed), "worker.dirtied_bytes", 200.0, 200.0);
        give(&mut records[0], steady);
        quiet += usize::from(inside(&records[0]).is_empty());
    }
    // One in a hundred is expected; five or more have a probability under 0.4 %.
    assert!(quiet > 95, "{quiet}");
}

#[test]
fn short_phases_and_bursts_are_not_judged() {
    let (_, mut records) = sample();
    assert!(inside(&records[0]).is_empty(), "three samples");
    let falling = series(&mut Noise(1), "worker.dirtied_bytes", 400.0, 100.0);
    give(&mut records[0], falling.clone());
    records[0].phases[0].clocks.returned_ns = 3 * SECOND_NS;
    assert!(inside(&records[0]).is_empty(), "30 intervals before the calls came back");
    let mut bursts = falling;
    let column: Vec<Option<u64>> = (0..61).map(|at: u64| Some(at / 10 * 1_000_000)).collect();
    bursts.columns.insert("worker.dirtied_bytes".to_owned(), column);
    give(&mut records[0], bursts);
    assert!(inside(&records[0]).is_empty(), "bursts are no progress");
}

#[test]
fn trials_without_a_steady_state_are_counted() {
    let (header, mut records) = sample();
    let mut noise = Noise(8);
    for (at, record) in records.iter_mut().enumerate() {
        let before = if at % 2 == 0 { 400.0 } else { 100.0 };
        give(record, series(&mut noise, "worker.dirtied_bytes", before, 100.0));
    }
    let found = steady(&header.plan, &records);
    assert_eq!(found.len(), 1, "{found:?}");
    let text = &found[0].text;
    assert!(text.starts_with("big-file on ext4: no steady state inside 6 of 6 trials"), "{text}");
    assert!(steady(&header.plan, &records[..1]).is_empty(), "one trial may be chance");
}

/// Sets the processor time of a trial: user time of others and steal, ms of 2 × 10 s.
fn load(record: &mut TrialRecord, others_ms: u64, steal_ms: u64) {
    const MS: u64 = 1_000_000;
    let phase = &mut record.phases[0];
    let counters = phase.windows.get_mut(&Window::Durable).expect("a window");
    let worker_ns = phase.worker.user_ns;
    counters.insert("cpu.user_ns".to_owned(), worker_ns + others_ms * MS);
    counters.insert("cpu.system_ns".to_owned(), 2 * SECOND_NS);
    counters.insert("cpu.steal_ns".to_owned(), steal_ms * MS);
    let busy_ns = worker_ns + (others_ms + steal_ms) * MS + 2 * SECOND_NS;
    counters.insert("cpu.iowait_ns".to_owned(), 0);
    counters.insert("cpu.idle_ns".to_owned(), 20 * SECOND_NS - busy_ns);
}

#[test]
fn steal_from_one_contender_alone_is_said() {
    let (header, mut records) = sample();
    for (at, record) in records.iter_mut().enumerate() {
        let steal_ms = if at % 2 == 0 { 1000 } else { 100 } + at as u64 * 7 % 30;
        load(record, 200, steal_ms);
    }
    let found = foreign(&header.plan, &records);
    assert_eq!(found.len(), 1, "{found:?}");
    let text = &found[0].text;
    assert!(text.starts_with("big-file write: 5.1 % of the machine's CPU time"), "{text}");
    assert!(text.contains("in trials of ext4, 0.6 % in those of xfs (p < 0.0001)"), "{text}");
}

#[test]
fn a_block_that_others_used_is_named_once() {
    let (header, mut records) = sample();
    for (at, record) in records.iter_mut().enumerate() {
        let others_ms = if at / 2 == 3 { 4000 } else { 300 } + at as u64 * 13 % 50;
        load(record, others_ms, 10);
    }
    let found = foreign(&header.plan, &records);
    assert_eq!(found.len(), 1, "{found:?}");
    let text = &found[0].text;
    assert!(text.contains("ran other programs than the worker in block 4, 1."), "{text}");
    assert_eq!((found[0].kind, found[0].p), (FindingKind::ForeignLoad, None));
}

#[test]
fn a_quiet_machine_is_not_mentioned() {
    let (header, mut records) = sample();
    for (at, record) in records.iter_mut().enumerate() {
        load(record, 200 + at as u64 * 13 % 50, 10 + at as u64 % 3);
    }
    assert!(foreign(&header.plan, &records).is_empty());
    for record in &mut records {
        record.phases[0].windows.clear();
    }
    assert!(foreign(&header.plan, &records).is_empty(), "no counters");
}
