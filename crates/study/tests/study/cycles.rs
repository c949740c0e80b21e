//! Views of a periodic application: cycles, accounts, sweeps, and figures that are a cycle's.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::account::{AccountRecord, Part, Written};
use fsarena_model::record::{Drained, TrialRecord};
use fsarena_model::run::{Clock, RunHeader, RunState};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Verdict;
use fsarena_study::account::AccountPart;
use fsarena_study::{Study, SweepMeasure, points, study};
use fsarena_testkit::records::{
    ASKED_BYTES, CYCLE_WRITTEN_BYTES, SECOND_NS, add_account, block_sizes, header, periodic, record,
};

fn planned(sizes: &[u64], blocks: u32) -> RunHeader {
    header(block_sizes("xfs", sizes), vec![periodic()], blocks)
}

/// All records of a plan, as `change` leaves them.
fn records(header: &RunHeader, mut change: impl FnMut(&mut TrialRecord)) -> Vec<TrialRecord> {
    let count = u32::try_from(header.plan.schedule.len()).unwrap();
    let of = |sequence| {
        let mut record = record(header, sequence);
        change(&mut record);
        record
    };
    (0..count).map(of).collect()
}

fn viewed(header: &RunHeader, records: &[TrialRecord]) -> Study {
    study(header, RunState::Done, &[], records)
}

#[test]
fn every_figure_is_a_cycles_and_undisturbed() {
    let header = planned(&[65536], 2);
    let records = records(&header, |_| {});
    let row = &viewed(&header, &records).tables[0].rows[0];
    // The third cycle takes twice as long and is left out.
    assert_eq!(row.returned.unwrap().median_ns, 150 * SECOND_NS);
    assert_eq!(row.durable.unwrap().median_ns, 160 * SECOND_NS);
    assert_eq!(row.drained.spread.unwrap().median_ns, 180 * SECOND_NS);
    assert_eq!(row.drained.not_drained, 0);
    let rate = row.rates.bytes_per_s.unwrap().median;
    assert!((rate - ASKED_BYTES as f64 / 160.0).abs() < 1e-6, "{rate}");
    assert!((row.write_amplification.unwrap().median - 9.1).abs() < 1e-9);
    // 60 s of busy processors of 600 s.
    assert!((row.cpu.share().unwrap() - 0.1).abs() < 1e-9);
    let point = points(&header.plan, &records)[0].points[0].clone();
    let score = TrialScore::from_record(&records[0]).phases[0].clone();
    assert_eq!(point.returned_ns, score.returned_ns);
    assert_eq!((point.durable_ns, point.drained_ns), (score.durable_ns, score.drained_ns));
    assert_eq!(point.device_written_bytes, score.written_bytes);
    assert_eq!(score.written_bytes, Some(CYCLE_WRITTEN_BYTES));
    assert_eq!((point.asked_bytes, point.ops), (ASKED_BYTES, 40_000));
}

#[test]
fn a_device_that_is_not_quiet_and_one_that_is_not_there() {
    let header = planned(&[65536], 2);
    let mut records = records(&header, |_| {});
    let cycles = records[0].phases[0].cycles.as_mut().unwrap();
    cycles.cycles[0].quiet_ns = None;
    records[1].phases[0].clocks.drained = Drained::NoDevice;
    let study = viewed(&header, &records);
    let drained = &study.tables[0].rows[0].drained;
    assert_eq!((drained.spread, drained.no_device, drained.not_drained), (None, 1, 1));
    assert!(drained.reasons[0].contains("did not become quiet"), "{drained:?}");
    assert_eq!(records[1].phases[0].ns(Clock::Drained), Some(160 * SECOND_NS));
    let plain = study.cycles[0].rows[0].plain.clone().unwrap();
    assert_eq!((plain.not_quiet, plain.quiet.unwrap().n), (1, 2));
}

#[test]
fn cycles_stand_by_their_number_and_disturbed_ones_apart() {
    let header = planned(&[65536], 3);
    let records = records(&header, |record| {
        // Block by block the load costs a little more.
        let block = u64::from(record.key.block);
        let cycle = &mut record.phases[0].cycles.as_mut().unwrap().cycles[2];
        cycle.report.returned_ns += block * 3 * SECOND_NS;
    });
    let study = viewed(&header, &records);
    let view = &study.cycles[0];
    assert_eq!((view.workload.as_str(), view.cycle.cycles), ("periodic", 3));
    let row = &view.rows[0];
    let numbers: Vec<(u32, bool, usize)> =
        row.cycles.iter().map(|one| (one.number, one.disturbed, one.figures.cycles)).collect();
    assert_eq!(numbers, [(1, false, 3), (2, false, 3), (3, true, 3)]);
    let plain = row.plain.as_ref().unwrap();
    let disturbed = row.disturbed.as_ref().unwrap();
    assert_eq!((plain.cycles, disturbed.cycles), (6, 3));
    assert_eq!(disturbed.work.unwrap().median_ns, 303 * SECOND_NS);
    assert!((plain.busy_share.unwrap().median - 0.44).abs() < 1e-12);
    assert!((disturbed.busy_share.unwrap().median - 0.85).abs() < 1e-12);
    assert!((plain.written_bytes_per_s.unwrap().median - 9.1e6).abs() < 1e-3);
    assert!((plain.queue_depth.unwrap().median - 0.88).abs() < 1e-12);
    // 264 s of requests, 60,000 of them.
    assert!((plain.write_latency_ns.unwrap().median - 4.4e6).abs() < 1e-6);
    assert_eq!(plain.worst.unwrap().worst_ns, 3 * SECOND_NS / 2);
    assert_eq!((plain.not_quiet, disturbed.not_quiet), (0, 3));
    let effect = row.effect.as_ref().unwrap();
    let work = effect.work.unwrap();
    assert!((work.factor - 2.02).abs() < 1e-3, "{work:?}");
    let (low, high) = (work.low.unwrap(), work.high.unwrap());
    assert!(1.9 < low && low < 2.0 && 2.04 < high && high < 2.1, "{work:?}");
    assert!((effect.busy.unwrap().factor - 255.0 / 132.0).abs() < 1e-9);
    let got = row.disturber.as_ref().unwrap();
    assert_eq!((got.asked_ops_per_s, got.ops_per_s.unwrap().median), (Some(100.0), 50.0));
    // Of two cycles with 1.5 s each, and one with 3 s.
    assert!((effect.worst.unwrap().factor - 2.0).abs() < 1e-9, "{effect:?}");
    assert_eq!((got.worst_ns, got.late_ns), (SECOND_NS, 10 * SECOND_NS));
    assert_eq!(got.latency.unwrap().ops, 3000);
}

#[test]
fn two_trials_have_a_factor_and_no_interval() {
    let header = planned(&[65536], 2);
    let records = records(&header, |_| {});
    let study = viewed(&header, &records);
    let work = study.cycles[0].rows[0].effect.as_ref().unwrap().work.unwrap();
    assert_eq!((work.n, work.factor.round(), work.low), (2, 2.0, None));
}

#[test]
fn work_that_meets_the_next_start_is_counted() {
    let header = planned(&[65536], 1);
    let records = records(&header, |record| {
        let all = record.phases[0].cycles.as_mut().unwrap();
        all.skipped = vec![4];
        let late = &mut all.cycles[1];
        late.report.started_ns += 10 * SECOND_NS;
        late.report.returned_ns += 310 * SECOND_NS;
        late.report.durable_ns = Some(late.report.returned_ns);
        // Its calls come back in time, and it is durable too late.
        let last = &mut all.cycles[2].report;
        assert_eq!(last.returned_ns - last.started_ns, 300 * SECOND_NS);
        last.beside = 1;
        all.cycles[2].report.collisions = 5;
    });
    let study = viewed(&header, &records);
    assert_eq!(study.tables[0].rows[0].overlapped_cycles, Some(1));
    assert_eq!(study.cycles[0].rows[0].plain.as_ref().unwrap().beside, 0);
    assert_eq!(study.cycles[0].rows[0].disturbed.as_ref().unwrap().beside, 1);
    let overruns = study.cycles[0].rows[0].overruns;
    assert!(overruns.is_any());
    let counts = [overruns.begun, overruns.outlasted, overruns.overlapped, overruns.skipped];
    assert_eq!(counts, [3, 2, 1, 1]);
    assert_eq!((overruns.late, overruns.latest_ns, overruns.collisions), (1, 10 * SECOND_NS, 5));
}

#[test]
fn a_cycle_that_met_the_load_of_another_is_in_no_plain_figure() {
    let header = planned(&[65536], 2);
    let records = records(&header, |record| {
        let cycles = &mut record.phases[0].cycles.as_mut().unwrap().cycles;
        // The second cycle is at work until the disturbed third has begun.
        cycles[1].report.durable_ns = Some(cycles[2].report.started_ns + 1);
        cycles[1].report.returned_ns = cycles[2].report.started_ns;
        cycles[1].report.worst_ns = 9 * SECOND_NS;
        cycles[1].period.insert("device.written_bytes".to_owned(), 1);
    });
    let study = viewed(&header, &records);
    let row = &study.cycles[0].rows[0];
    assert_eq!(row.met_load, 2);
    assert_eq!(row.cycles.iter().map(|one| one.met_load).collect::<Vec<_>>(), [0, 2, 0]);
    let plain = row.plain.as_ref().unwrap();
    assert_eq!((plain.cycles, plain.work.unwrap().median_ns), (2, 150 * SECOND_NS));
    assert_eq!(plain.worst.unwrap().number, 1);
    let work = row.effect.as_ref().unwrap().work.unwrap();
    assert!((work.factor - 2.0).abs() < 1e-9, "{work:?}");
    // What verdicts and tables compare is of the first cycle alone.
    let score = TrialScore::from_record(&records[0]).phases[0].clone();
    assert_eq!(score.returned_ns, 150 * SECOND_NS);
    assert_eq!(score.written_bytes, Some(CYCLE_WRITTEN_BYTES));
    assert_eq!(points(&header.plan, &records)[0].points[0].cycles, Some(1));
}

#[test]
fn an_account_adds_up_to_the_counter() {
    let header = planned(&[65536], 2);
    let records = records(&header, |record| add_account(&mut record.phases[0], 0));
    let study = viewed(&header, &records);
    let view = &study.accounts[0];
    assert!(view.per_cycle);
    let row = &view.rows[0];
    let means = row.means.as_ref().unwrap();
    assert_eq!((row.n, means.cycles, row.spoilt.len()), (2, 3.0, 0));
    assert_eq!(means.disturbed_cycles, 1.0);
    let scope = "mean of all 3 cycles, 1 of them with the second load, unmount included";
    assert_eq!(means.scope().as_deref(), Some(scope));
    // 1,000 files of 8 kB by the second load in one cycle of three.
    let by_disturber = means.asked_by_disturber_bytes;
    assert!((by_disturber - 8e6 / 3.0).abs() < 1e-3);
    assert!((means.asked_bytes - by_disturber - ASKED_BYTES as f64).abs() < 1e-3);
    let sum: f64 = means.lines.iter().map(|line| line.bytes).sum();
    assert!((sum - CYCLE_WRITTEN_BYTES as f64).abs() < 1.0, "{sum}");
    assert_eq!(means.bytes(AccountPart::Again), 30e6);
    assert_eq!(means.bytes(AccountPart::Journal), 240e6);
    let check = means.check;
    assert!((check.attributed_bytes - 2_675_400_000.0).abs() < 1.0, "{check:?}");
    assert!((check.unseen_bytes - 44_600_000.0).abs() < 1.0, "{check:?}");
    assert!((check.unattributed_share.unwrap() - 0.02).abs() < 1e-6, "{check:?}");
    assert_eq!(means.allocated.rounding_bytes, 40_000.0 * 65536.0 - ASKED_BYTES as f64);
    insta::assert_snapshot!(row.words.join("\n"));
}

/// Bytes asked for that never reached the device, of one trial with these parts in each cycle.
fn never_written(asked_bytes: u64, unknown_bytes: u64, parts: &[(Part, u64, u64)]) -> f64 {
    let header = planned(&[4096], 1);
    let records = records(&header, |record| {
        let phase = &mut record.phases[0];
        add_account(phase, 0);
        for cycle in &mut phase.cycles.as_mut().unwrap().cycles {
            cycle.report.asked_bytes = asked_bytes;
            cycle.report.disturb = None;
        }
        let Some(AccountRecord::Taken(account)) = &mut phase.account else { unreachable!() };
        let written = |&(part, first_bytes, again_bytes): &(Part, u64, u64)| {
            (part, Written { first_bytes, again_bytes })
        };
        for span in &mut account.spans {
            span.parts = parts.iter().map(written).collect();
        }
        let named: u64 = parts.iter().map(|(_, first, again)| first + again).sum();
        account.total_bytes = (named + unknown_bytes) * account.spans.len() as u64;
    });
    let row = viewed(&header, &records).accounts[0].rows[0].clone();
    row.means.unwrap().never_written_bytes.unwrap()
}

#[test]
fn what_was_written_again_did_reach_the_device() {
    const MB: u64 = 1_000_000;
    // A file overwritten ten times, each time with fsync.
    let ten = [(Part::Data, MB, 9 * MB), (Part::Journal, MB, MB)];
    assert_eq!(never_written(10 * MB, 0, &ten), 0.0);
    // Eight of ten files deleted before they were written back, and what may have been of them.
    assert_eq!(never_written(10 * MB, 0, &[(Part::Data, 2 * MB, 0)]), 8e6);
    let less = [(Part::Data, 2 * MB, 0), (Part::Gone, MB, MB)];
    assert_eq!(never_written(10 * MB, MB, &less), 5e6);
}

#[test]
fn a_trace_that_saw_more_than_the_counter_says_so() {
    let header = planned(&[4096], 1);
    let records = records(&header, |record| {
        add_account(&mut record.phases[0], 0);
        if let Some(AccountRecord::Taken(account)) = &mut record.phases[0].account {
            let seen: u64 = account.parts().values().map(|written| written.bytes()).sum();
            account.total_bytes = seen - 3_000_000;
            account.notes = vec!["The files were not looked at after cycle 2.".to_owned()];
        }
        record.phases[0].cycles.as_mut().unwrap().cycles[2].report.beside = 1;
    });
    let row = viewed(&header, &records).accounts[0].rows[0].clone();
    assert!(row.notes[1].starts_with("1 of 3 cycles began while another"), "{:?}", row.notes);
    let means = row.means.unwrap();
    // 10 MB of nobody and 1 MB too many in a cycle.
    assert!((means.bytes(AccountPart::Unattributed) - 11e6).abs() < 1e-3);
    let sum: f64 = means.lines.iter().map(|line| line.bytes).sum();
    assert!((sum - means.check.counter_bytes - 2e6).abs() < 1e-3, "{sum}");
    let last = row.words.last().unwrap();
    assert!(last.contains("the trace saw 1.00 MB more than the counter"), "{last}");
    let at = |what: &str| row.words.iter().position(|text| text.contains(what)).unwrap();
    assert_eq!(at("The files were not looked at"), at("In addition it wrote") + 1);
}

#[test]
fn a_spoilt_account_is_in_no_mean_and_said() {
    let header = planned(&[65536], 2);
    let records = records(&header, |record| {
        let lost = if record.key.block == 0 { 7 } else { 0 };
        add_account(&mut record.phases[0], lost);
        if let Some(AccountRecord::Taken(account)) = &mut record.phases[0].account
            && lost > 0
        {
            account.total_bytes *= 10;
        }
    });
    let row = viewed(&header, &records).accounts[0].rows[0].clone();
    assert_eq!((row.n, row.spoilt[0].block, row.spoilt[0].lost_events), (1, 1, 7));
    let counter = row.means.as_ref().unwrap().check.counter_bytes;
    assert!((counter - CYCLE_WRITTEN_BYTES as f64).abs() < 1.0);
    let last = row.words.last().unwrap();
    assert!(last.contains("1 trial more is spoilt by 7 lost events"), "{last}");
    let all = records
        .into_iter()
        .map(|mut record| {
            add_account(&mut record.phases[0], 3);
            record
        })
        .collect::<Vec<_>>();
    let row = viewed(&header, &all).accounts[0].rows[0].clone();
    assert_eq!((row.n, row.means), (0, None));
    insta::assert_snapshot!(row.words.join("\n"));
}

#[test]
fn reasons_for_no_account_are_said_once() {
    let header = planned(&[65536], 2);
    let records = records(&header, |record| {
        let reason = "this kernel offers no tracefs with instances".to_owned();
        record.phases[0].account = Some(AccountRecord::NotTaken { reason });
    });
    let row = viewed(&header, &records).accounts[0].rows[0].clone();
    assert_eq!((row.not_taken.len(), row.not_taken[0].trials), (1, 2));
    assert!(row.words[0].starts_with("No account in 2 trials: this kernel"), "{:?}", row.words);
    let none = viewed(&header, &self::records(&header, |_| {}));
    assert!(none.accounts.is_empty(), "nobody asked");
}

#[test]
fn words_of_other_accounts() {
    let header = planned(&[4096], 1);
    let said = |change: &dyn Fn(&mut fsarena_model::account::Account)| {
        let records = records(&header, |record| {
            add_account(&mut record.phases[0], 0);
            if let Some(AccountRecord::Taken(account)) = &mut record.phases[0].account {
                change(account);
            }
        });
        viewed(&header, &records).accounts[0].rows[0].words.join("\n")
    };
    let bare = said(&|account| {
        account.spans.iter_mut().for_each(|span| span.parts.retain(|part, _| *part == Part::Data));
        account.journal.clear();
        account.allocated_bytes = account.contents_bytes;
    });
    let unplaced = said(&|account| account.unplaced_files = 39_000);
    insta::assert_snapshot!(format!("{bare}\n---\n{unplaced}"));
}

/// Blocks of 4096 to 65536: the least in the middle, as the article found.
fn swept(blocks: u32, factor: impl Fn(u64, u32) -> f64) -> (RunHeader, Vec<TrialRecord>) {
    let header = planned(&[4096, 8192, 16384, 32768, 65536], blocks);
    let sizes: Vec<u64> = header
        .plan
        .contenders
        .iter()
        .map(|one| one.levels.fs.mkfs["block_size"].parse().unwrap())
        .collect();
    let contenders = header.plan.schedule.clone();
    let records = records(&header, |record| {
        let slot = contenders[record.key.sequence as usize];
        let by = factor(sizes[slot.contender], slot.block);
        for cycle in &mut record.phases[0].cycles.as_mut().unwrap().cycles {
            let work_ns = cycle.work_ns() as f64 * by;
            cycle.report.returned_ns = cycle.report.started_ns + work_ns as u64;
        }
    });
    (header, records)
}

/// A ten-thousandth, another for each level and block.
fn noise(size: u64, block: u32) -> f64 {
    let mixed = (size / 4096 + 1) * 7 + u64::from(block + 1) * (size / 4096 + 3) * 13;
    1.0 + (mixed % 11) as f64 * 1e-4
}

#[test]
fn a_sweep_says_where_it_is_flat() {
    let (header, records) = swept(5, |size, block| {
        noise(size, block)
            * match size {
                4096 => 1.3,
                65536 => 1.2,
                _ => 1.0,
            }
    });
    let study = viewed(&header, &records);
    assert_eq!(study.sweeps.len(), 1);
    let view = &study.sweeps[0];
    assert_eq!((view.file_system.as_str(), view.option.as_str()), ("xfs", "block_size"));
    let levels: Vec<&str> = view.levels.iter().map(|level| level.text.as_str()).collect();
    assert_eq!(levels, ["4096", "8192", "16384", "32768", "65536"]);
    let curve = &view.curves[0];
    assert_eq!(curve.measure, SweepMeasure::Work);
    assert_eq!(curve.flat, Some((1, 3)), "{curve:?}");
    let best = curve.best.unwrap();
    assert!((1..=3).contains(&best));
    assert_eq!(curve.points[best].ratio_to_best, Some(1.0));
    let first = curve.points[0];
    assert_eq!(first.against_best, Some(Verdict::Slower));
    assert!((first.ratio_to_best.unwrap() - 1.3).abs() < 1e-3, "{first:?}");
    assert!(first.ratio_low.unwrap() > 1.25 && first.ratio_high.unwrap() < 1.35);
    assert!(first.low.unwrap() < first.geometric_mean.unwrap());
    assert!(curve.words.contains("flat within 5 % from 8192 to 32768"), "{}", curve.words);
    assert!(curve.words.ends_with("shown to be more at 4096, 65536"), "{}", curve.words);
    // All written bytes are alike.
    let same = view.curves.iter().find(|one| one.measure == SweepMeasure::Amplification).unwrap();
    assert!(same.words.contains("flat within 5 % over all levels"), "{}", same.words);
    let slack = view.levels[0].slack_bytes.unwrap();
    assert_eq!(slack.median, ASKED_BYTES as f64, "twice what is stored is used");
}

#[test]
fn a_noisy_sweep_and_one_block_show_nothing() {
    let (header, records) =
        swept(5, |size, block| 1.0 + f64::from((block * 7 + size as u32 / 4096 * 5) % 11) * 0.1);
    let curve = viewed(&header, &records).sweeps[0].curves[0].clone();
    assert_eq!(curve.flat, None);
    assert!(curve.words.ends_with("; not shown to be flat"), "{}", curve.words);
    let (header, records) = swept(1, noise);
    let curve = viewed(&header, &records).sweeps[0].curves[0].clone();
    assert_eq!((curve.flat, curve.points[0].low), (None, None));
    assert!(curve.points.iter().all(|point| point.against_best != Some(Verdict::Same)));
}

#[test]
fn a_measure_of_which_trials_have_0_has_no_curve() {
    let (header, mut records) = swept(2, noise);
    for cycle in &mut records[0].phases[0].cycles.as_mut().unwrap().cycles {
        cycle.period.insert("device.busy_ns".to_owned(), 0);
    }
    let study = viewed(&header, &records);
    let of = |wanted| study.sweeps[0].curves.iter().find(|one| one.measure == wanted).unwrap();
    let busy = of(SweepMeasure::Busy);
    assert_eq!((busy.best, busy.points.len()), (None, 5));
    assert_eq!(
        busy.words,
        "busy: no curve, since 1 of 10 trials had 0, of which there is no ratio"
    );
    assert!(of(SweepMeasure::Work).best.is_some());
}

#[test]
fn what_is_on_or_off_or_differs_in_more_is_no_sweep() {
    let mut contenders = block_sizes("xfs", &[4096, 8192]);
    contenders[1].levels.fs.mount.push("noatime".to_owned());
    let header = header(contenders, vec![periodic()], 1);
    assert!(viewed(&header, &records(&header, |_| {})).sweeps.is_empty());
    let mut contenders = block_sizes("xfs", &[0, 1]);
    contenders.extend(block_sizes("ext4", &[4096]));
    let header = self::header(contenders, vec![periodic()], 1);
    assert!(viewed(&header, &records(&header, |_| {})).sweeps.is_empty());
}
