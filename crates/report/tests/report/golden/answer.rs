//! The answer on one screen of 80 columns, in the shapes that RUNs have: all or nothing decided,
//! cut off, a contender missing, many contenders, one alone, a directory without root.

use super::verdict::{against, pair, row};
use super::{plain, run_of};
use fsarena_model::contender::{AskedBy, Cache, Contender, DeviceLevel, RequestedLevel};
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use fsarena_model::run::{NotRun, RunHeader, RunSession, RunState};
use fsarena_model::verdict::{Metric, Pairs, Rule, Stop, StopWhy, Verdict};
use fsarena_model::work::Workload;
use fsarena_report::{
    Detail, Run, Style, answer, answer_text, baselines, json, markdown, run_text,
};
use fsarena_study::{Study, study};
use fsarena_testkit::records::{
    self, SECOND_NS, big_file, contender, metadata, own_work, real_work, small_files,
};
use fsarena_verdict::watchers::Watch;
use fsarena_verdict::{
    Excluded, Forecast, ForecastFor, MachineEffect, QuestionView, RankRow, Scope, Verdicts,
};

/// What is said of a contender against the first in one question, and their ratio.
type MarkedRatio = (char, f64);

/// Of one contender alone.
const NOBODY: &[MarkedRatio] = &[];

/// A RUN with all that its answer is made from.
struct Sample {
    header: RunHeader,
    records: Vec<TrialRecord>,
    sessions: Vec<RunSession>,
    state: RunState,
    verdicts: Option<Verdicts>,
}

impl Sample {
    /// Questions on every phase of `workloads` for contenders of these labels, the first being the
    /// baseline. `cells` has a row a question and in it one entry for each of the others: `f`
    /// faster, `s` slower, `m` slower by the machine, `=` same, `d` same and yet different, `?` not
    /// known, `w` wide open, `-` missing.
    fn new(labels: &[&str], workloads: Vec<Workload>, cells: &[&[MarkedRatio]]) -> Self {
        let contenders: Vec<Contender> = labels
            .iter()
            .map(|label| contender(label, label.split(' ').next().unwrap(), 1))
            .collect();
        let mut header = records::header(contenders, workloads, 8);
        header.experiment = "quick".to_owned();
        header.host.hypervisor = Some("KVM".to_owned());
        let mut asked = records::asked(&header.plan, Rule::Fixed { blocks: 8 });
        asked.pairs = Pairs::Baseline { contender: 0 };
        asked.budget_ns = Some(240 * SECOND_NS);
        let verdicts = verdicts(&header, labels, cells);
        header.plan.verdict = Some(asked);
        let number = header.plan.schedule.len() as u32;
        let records = (0..number).map(|at| records::record(&header, at)).collect();
        let sessions = vec![records::session("b", 0)];
        Self { header, records, sessions, state: RunState::Done, verdicts: Some(verdicts) }
    }

    fn study(&self) -> Study {
        study(&self.header, self.state, &self.sessions, &self.records)
    }

    fn with<T>(&self, show: impl FnOnce(&Run<'_>) -> T) -> T {
        let study = self.study();
        let run = run_of(&self.header, &self.records, &study, self.verdicts.as_ref());
        show(&Run { sessions: &self.sessions, ..run })
    }

    /// As it is shown on 80 columns.
    fn text(&self) -> String {
        let text =
            |run: &Run<'_>| answer_text(&answer(run, None), Some("quick-1.html"), 80, plain());
        self.with(text)
    }
}

fn verdicts(header: &RunHeader, labels: &[&str], cells: &[&[MarkedRatio]]) -> Verdicts {
    let phases = header.plan.workloads.iter().flat_map(|work| {
        work.phases.iter().filter(|phase| phase.timed).map(move |phase| (work, phase))
    });
    let questions =
        phases.zip(cells).enumerate().map(|(at, ((work, phase), cells))| QuestionView {
            workload: work.name.clone(),
            workload_title: work.title.clone(),
            phase: phase.name.clone(),
            metric: Metric::Time,
            changes: phase.op.changes() || !phase.op.is_of_engine(),
            ..question(labels, cells, 0.1 * (at + 1) as f64)
        });
    Verdicts {
        rule: Rule::Fixed { blocks: 8 },
        baseline: Some(labels[0].to_owned()),
        reference: Some(labels[0].to_owned()),
        budget_ns: Some(240 * SECOND_NS),
        most_blocks: 8,
        stop: Some(Stop { blocks: 8, why: StopWhy::Cap }),
        scope: Some(Scope {
            machine: "a machine".to_owned(),
            boots: 1,
            sessions: 1,
            started_unix_ns: Some(1),
            ended_unix_ns: Some(232 * SECOND_NS),
            virtual_on: None,
        }),
        ..super::verdict::verdicts(questions.collect())
    }
}

/// `median_s` is that of the baseline.
fn question(labels: &[&str], cells: &[MarkedRatio], median_s: f64) -> QuestionView {
    let mut of = super::verdict::question(vec![row(0, labels[0], median_s * 1e9, 1.0)], Vec::new());
    of.watch = Watch::default();
    for (at, &(said, ratio)) in cells.iter().enumerate() {
        let (at, label) = (at + 1, labels[at + 1]);
        let (verdict, wide) = match said {
            'f' => (Verdict::Faster, 1.04),
            's' | 'm' => (Verdict::Slower, 1.04),
            '=' => (Verdict::Same, 1.03),
            'd' => (Verdict::Same, 1.01),
            'w' => (Verdict::Undecided, 30.0),
            '?' => (Verdict::Undecided, 1.2),
            _ => {
                let why = "no trial gave this figure".to_owned();
                of.left.push(Excluded { contender: at, label: label.to_owned(), why });
                continue;
            }
        };
        let (low, high) = (ratio / wide, ratio * wide);
        let one: RankRow = row(at, label, median_s * ratio * 1e9, ratio);
        of.rows.push(against(one, verdict, low, high));
        let mut one = pair((at, label), (0, labels[0]), verdict, [ratio, low, high]);
        one.forecast = (said == '?').then_some(Forecast {
            of: ForecastFor::Difference,
            blocks: 14,
            more_blocks: 6,
            seconds: 60.0,
            most_blocks: 40,
            most_more_blocks: 32,
            most_seconds: 320.0,
        });
        one.no_difference_in_sight = said == 'w';
        one.machine_effect = (said == 'm').then_some(MachineEffect {
            time_ratio: ratio,
            cpu_ratio: 1.004,
            a_others_share: 0.77,
            b_others_share: 0.02,
        });
        of.pairs.push(one);
    }
    of
}

const QUICK: [&str; 3] = ["ext4", "xfs", "btrfs"];

fn quick_work() -> Vec<Workload> {
    vec![small_files(), big_file(), metadata()]
}

fn all_decided() -> Sample {
    let cells: [&[MarkedRatio]; 7] = [
        &[('f', 0.89), ('s', 1.92)],
        &[('=', 1.0), ('=', 0.99)],
        &[('f', 0.75), ('s', 1.41)],
        &[('d', 1.02), ('s', 12.3)],
        &[('s', 1.08), ('s', 5.66)],
        &[('=', 1.0), ('f', 0.6)],
        &[('=', 1.01), ('s', 1.2)],
    ];
    Sample::new(&QUICK, quick_work(), &cells)
}

fn none_decided() -> Sample {
    let cells: [&[MarkedRatio]; 7] = [&[('?', 0.89), ('w', 1.4)]; 7];
    Sample::new(&QUICK, quick_work(), &cells)
}

#[test]
fn all_is_decided() {
    insta::assert_snapshot!(all_decided().text(), @"
    quick: 8 blocks in 11m55, loop image 1 GiB, VM                             RUN 1
    time until safe on disk    ext4      xfs     btrfs
    small-files create       100 ms  -11 % ▼   +92 % ▲
                read-random  200 ms        =         =
                delete       300 ms  -25 % ▼   +41 % ▲
    big-file    write        400 ms   +2 % =  12.3 × ▲
    metadata    create       500 ms   +8 % ▲  +466 % ▲
                list         600 ms        =   -40 % ▼
                rename       700 ms        =   +20 % ▲
    ▼ faster  ▲ slower  = same within ±5 % (with a figure: differs by that)

    xfs is faster than ext4 in 2 of 7: small-files delete (22-28 % less time),
    small-files create (7-14 % less time); slower in 1: metadata create (4-12 % more
    time); as fast in 4 (big-file write 1.02 times, within ±5 %). btrfs is faster
    than ext4 in 1 of 7: metadata list (38-42 % less time); slower in 5: big-file
    write (11.8-12.8 times the time), metadata create (5.44-5.89 times the time) and
    3 more; as fast in 1 (within ±5 %).
    All 14 comparisons are decided. Holds on this machine, this boot, in these 4
    minutes; `fsarena compare` joins RUNs of other days.
    page: quick-1.html   all figures: fsarena show 1
    ");
}

#[test]
fn nothing_is_decided() {
    insta::assert_snapshot!(none_decided().text(), @"
    quick: 8 blocks in 11m55, loop image 1 GiB, VM                             RUN 1
    time until safe on disk    ext4      xfs  btrfs
    small-files create       100 ms  -11 % ?      ?
                read-random  200 ms  -11 % ?      ?
                delete       300 ms  -11 % ?      ?
    big-file    write        400 ms  -11 % ?      ?
    metadata    create       500 ms  -11 % ?      ?
                list         600 ms  -11 % ?      ?
                rename       700 ms  -11 % ?      ?
    ? not known yet

    Whether xfs and btrfs differ from ext4 is not known yet.
    Not known yet: 14 of 14. 6 to 32 more blocks (9 min to 48 min) would probably
    decide 7 of them: --runs 40; for 7 no difference is in sight. Holds on this
    machine, this boot, in these 4 minutes; `fsarena compare` joins RUNs of other
    days.
    page: quick-1.html   all figures: fsarena show 1
    ");
}

fn cut_off() -> Sample {
    let mut sample = none_decided();
    let verdicts = sample.verdicts.as_mut().unwrap();
    (verdicts.blocks_done, verdicts.blocks_counted) = (4, 4);
    verdicts.stop = Some(Stop { blocks: 4, why: StopWhy::Budget });
    sample.records.retain(|record| record.key.block < 4);
    sample
}

/// Planned, done, left and why.
#[test]
fn a_run_that_its_budget_cut_off_says_so() {
    insta::assert_snapshot!(cut_off().text(), @"
    quick: 4 blocks in 5m55, loop image 1 GiB, VM                              RUN 1
    time until safe on disk    ext4      xfs  btrfs
    small-files create       100 ms  -11 % ?      ?
                read-random  200 ms  -11 % ?      ?
                delete       300 ms  -11 % ?      ?
    big-file    write        400 ms  -11 % ?      ?
    metadata    create       500 ms  -11 % ?      ?
                list         600 ms  -11 % ?      ?
                rename       700 ms  -11 % ?      ?
    ? not known yet

    Whether xfs and btrfs differ from ext4 is not known yet.
    Not known yet: 14 of 14. 6 to 32 more blocks (9 min to 47 min) would probably
    decide 7 of them: --runs 36; for 7 no difference is in sight. Holds on this
    machine, this boot, in these 4 minutes; `fsarena compare` joins RUNs of other
    days.
    mind: cut off after 4 of 8 blocks (36 of 72 trials, 36 left), since its budget
          of 4 min was used up
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// What takes days is not what the cost of all that is near is told by.
#[test]
fn what_is_near_is_told_without_what_is_far() {
    let mut sample = none_decided();
    let questions = &mut sample.verdicts.as_mut().unwrap().questions;
    let pairs = questions.iter_mut().flat_map(|one| &mut one.pairs);
    for far in pairs.filter_map(|pair| pair.forecast.as_mut()).skip(1) {
        (far.more_blocks, far.most_more_blocks) = (180, 16_000);
    }
    let sentence = |sample: &Sample| sample.with(|run| answer(run, None).undecided.sentence);
    let near = "6 to 32 more blocks (9 min to 48 min) would probably decide 1 of them";
    assert!(sentence(&sample).contains(near), "{}", sentence(&sample));
}

/// Two blocks more were carried out than count.
#[test]
fn blocks_that_were_run_again_are_not_among_those_of_a_run_that_was_cut_off() {
    let mut sample = cut_off();
    sample.verdicts.as_mut().unwrap().blocks_counted = 2;
    let text = sample.text();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = "cut off after 2 of 8 blocks (2 more were disturbed and run again), since its budget";
    assert!(flat.contains(cut), "{text}");
}

/// `show` and Markdown say it where they say the state of a RUN that came to its end.
#[test]
fn a_run_that_was_cut_off_is_not_called_done() {
    let sample = cut_off();
    let show = |run: &Run<'_>| run_text(run, Detail::Brief, false, 80, plain());
    let texts = [sample.with(show), sample.with(|run| markdown(run, plain()))];
    for text in texts {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let how = "cut off by its budget of 4m00s: 4 of 8 blocks done, 4 left";
        assert!(flat.contains(how) && !flat.contains(" done, 36"), "{text}");
    }
}

/// Nothing was measured: no matrix, no question that stays open, and why.
#[test]
fn no_trial_came_to_its_end() {
    let mut sample = none_decided();
    sample.state = RunState::Done;
    for record in &mut sample.records {
        record.phases.clear();
        record.outcome = Outcome::Failed {
            step: "prepare".to_owned(),
            error: "no space left on device (os error 28)".to_owned(),
            remedy: Some("take a larger device, such as --on loop:4G".to_owned()),
        };
    }
    let verdicts = sample.verdicts.as_mut().unwrap();
    (verdicts.blocks_done, verdicts.blocks_counted) = (8, 0);
    verdicts.reference = None;
    for question in &mut verdicts.questions {
        question.rows.clear();
        question.pairs.clear();
        let left = |(contender, label): (usize, &&str)| Excluded {
            contender,
            label: (*label).to_owned(),
            why: "no trial gave this figure".to_owned(),
        };
        question.left = QUICK.iter().enumerate().map(left).collect();
    }
    insta::assert_snapshot!(sample.text(), @"
    quick: 8 blocks in 11m55, loop image 1 GiB, VM                             RUN 1

    There is no answer: no trial came to its end.
    mind: ext4, xfs and btrfs failed in 72 trials of small-files, big-file and
          metadata: no space left on device (os error 28); take a larger device,
          such as --on loop:4G
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// Wall time differs and CPU time does not: said in the matrix, in the sentence and with figures.
#[test]
fn the_machine_and_not_the_file_system() {
    let cells: [&[MarkedRatio]; 7] = [
        &[('m', 1.32), ('s', 1.92)],
        &[('=', 1.0), ('m', 1.2)],
        &[('f', 0.75), ('m', 1.41)],
        &[('=', 1.0), ('m', 1.3)],
        &[('=', 1.0), ('=', 1.0)],
        &[('=', 1.0), ('=', 1.0)],
        &[('=', 1.0), ('=', 1.0)],
    ];
    insta::assert_snapshot!(Sample::new(&QUICK, quick_work(), &cells).text(), @"
    quick: 8 blocks in 11m55, loop image 1 GiB, VM                             RUN 1
    time until safe on disk    ext4       xfs     btrfs
    small-files create       100 ms  +32 % ▲*   +92 % ▲
                read-random  200 ms         =  +20 % ▲*
                delete       300 ms   -25 % ▼  +41 % ▲*
    big-file    write        400 ms         =  +30 % ▲*
    metadata    create       500 ms         =         =
                list         600 ms         =         =
                rename       700 ms         =         =
    ▼ faster  ▲ slower  = same within ±5 %  * the machine, not the file system

    xfs is faster than ext4 in 1 of 7: small-files delete (22-28 % less time); as
    fast in 5 (within ±5 %); in 1 it differs by the machine, not by the file system:
    small-files create. btrfs is slower than ext4 in 1 of 7: small-files create
    (85-100 % more time); as fast in 3 (within ±5 %); in 3 it differs by the
    machine, not by the file system: small-files read-random, small-files delete and
    1 more.
    All 14 comparisons are decided. Holds on this machine, this boot, in these 4
    minutes; `fsarena compare` joins RUNs of other days.
    mind: xfs in small-files create: wall +32 %, CPU +0 %: the machine, not the code
          (others had 77 % of it in trials of xfs, 2 % in those of ext4); 3 more of
          this kind; measure again on a quiet machine
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// A contender that was to be warm and was not has a column, a dash in it, and the reason below.
#[test]
fn a_dash_has_its_reason() {
    let cells: [&[MarkedRatio]; 3] = [&[('f', 0.8)], &[('-', 0.0)], &[('-', 0.0)]];
    let mut sample = Sample::new(&["ext4", "xfs"], vec![small_files()], &cells);
    let xfs = sample.header.plan.contenders[1].id();
    for record in sample.records.iter_mut().filter(|record| record.key.contender == xfs) {
        let cache = &mut record.phases[1].cache;
        (cache.asked, cache.state) = (Cache::Warm, CacheState::NotWarm);
        cache.why = "the device delivered 4.0 MiB".to_owned();
        record.notices.push(fsarena_model::record::Notice {
            code: "not-warm".to_owned(),
            text: "phase read-random was to be warm: the device delivered 4.0 MiB".to_owned(),
            remedy: Some("end what drops caches".to_owned()),
            measure: None,
        });
    }
    insta::assert_snapshot!(sample.text(), @"
    quick: 8 blocks in 2m35, loop image 1 GiB, VM                              RUN 1
    time until safe on disk    ext4      xfs
    small-files create       100 ms  -20 % ▼
                read-random  200 ms        -
                delete       300 ms        -
    ▼ faster

    xfs is faster than ext4 in 1 of 1: small-files create (17-23 % less time).
    The comparison is decided. Holds on this machine, this boot, in these 4 minutes;
    `fsarena compare` joins RUNs of other days.
    mind: not warm, so in no comparison: xfs in small-files read-random (the device
          delivered 4.0 MiB); end what drops caches or needs the memory, and run it
          again
    mind: xfs has no figure in small-files delete: no trial gave this figure
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// Its reason stands once, however many questions it is missing from.
#[test]
fn a_contender_is_missing() {
    let cells: [&[MarkedRatio]; 7] = [&[('f', 0.78), ('-', 0.0)]; 7];
    let mut sample = Sample::new(&QUICK, quick_work(), &cells);
    let reason = "mkfs.btrfs is not installed; install the package btrfs-progs".to_owned();
    sample.header.plan.not_run.push(NotRun { contender: 2, workload: None, reason });
    sample.header.plan.contenders.push(contender("zfs", "zfs", 1));
    let reason = "this kernel has no zfs".to_owned();
    sample.header.plan.not_run.push(NotRun { contender: 3, workload: None, reason });
    let btrfs = sample.header.plan.contenders[2].id();
    sample.records.retain(|record| record.key.contender != btrfs);
    let text = sample.text();
    for once in ["btrfs-progs", "btrfs (", "zfs (this kernel"] {
        assert_eq!(text.matches(once).count(), 1, "{once}\n{text}");
    }
    insta::assert_snapshot!(text, @"
    quick: 8 blocks in 11m45, loop image 1 GiB, VM                             RUN 1
    time until safe on disk    ext4      xfs
    small-files create       100 ms  -22 % ▼
                read-random  200 ms  -22 % ▼
                delete       300 ms  -22 % ▼
    big-file    write        400 ms  -22 % ▼
    metadata    create       500 ms  -22 % ▼
                list         600 ms  -22 % ▼
                rename       700 ms  -22 % ▼
    ▼ faster

    xfs is faster than ext4 in 7 of 7: small-files create (19-25 % less time),
    small-files read-random (19-25 % less time) and 5 more.
    All 7 comparisons are decided. Holds on this machine, this boot, in these 4
    minutes; `fsarena compare` joins RUNs of other days.
    not run: btrfs (apt install btrfs-progs); zfs (this kernel has no zfs)
    page: quick-1.html   all figures: fsarena show 1
    ");
}

fn twelve(workloads: Vec<Workload>) -> Sample {
    let labels = [
        "ext2",
        "ext3",
        "ext4",
        "ext4 data=writeback",
        "xfs",
        "xfs noatime",
        "btrfs",
        "f2fs",
        "jfs",
        "reiserfs",
        "nilfs2",
        "ntfs3",
    ];
    let row: Vec<MarkedRatio> = (1..12)
        .map(|at| match at % 4 {
            0 => ('f', 0.9 - 0.02 * f64::from(at)),
            1 => ('s', 1.0 + 0.2 * f64::from(at)),
            2 => ('=', 1.0),
            _ => ('?', 1.1),
        })
        .collect();
    let cells: Vec<&[MarkedRatio]> = (0..12).map(|_| row.as_slice()).collect();
    Sample::new(&labels, workloads, &cells)
}

#[test]
fn twelve_contenders_of_few_questions() {
    insta::assert_snapshot!(twelve(vec![small_files()]).text(), @"
    quick: 8 blocks in 15m55, loop image 1 GiB, VM                             RUN 1
                                                              ext4
    time until safe on disk    ext2     ext3  ext4  data=writeback
    small-files create       100 ms  +20 % ▲     =         +10 % ?
                read-random  200 ms  +20 % ▲     =         +10 % ?
                delete       300 ms  +20 % ▲     =         +10 % ?
    time until safe on disk      xfs  xfs noatime  btrfs     f2fs
    small-files create       -18 % ▼     +100 % ▲      =  +10 % ?
                read-random  -18 % ▼     +100 % ▲      =  +10 % ?
                delete       -18 % ▼     +100 % ▲      =  +10 % ?
    time until safe on disk      jfs  reiserfs  nilfs2    ntfs3
    small-files create       -26 % ▼  +180 % ▲       =  +10 % ?
                read-random  -26 % ▼  +180 % ▲       =  +10 % ?
                delete       -26 % ▼  +180 % ▲       =  +10 % ?
    ▼ faster  ▲ slower  = same within ±5 %  ? not known yet

    The 11 others against ext2, in 33 comparisons: 6 faster, 9 slower, 9 the same
    and 9 not known yet. Best: jfs in small-files create (23-29 % less time); worst:
    reiserfs in small-files create (2.69-2.91 times the time).
    Not known yet: 9 of 33. 6 to 32 more blocks (12 min to 64 min) would probably
    decide them: --runs 40. Holds on this machine, this boot, in these 4 minutes;
    `fsarena compare` joins RUNs of other days.
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// More than a screen, and still no more than two.
#[test]
fn twelve_contenders_of_many_questions() {
    let text = twelve([quick_work(), vec![real_work()]].concat()).text();
    assert!(text.lines().count() <= 80, "{text}");
    insta::assert_snapshot!(text, @"
    quick: 8 blocks in 63m57, loop image 1 GiB, VM                             RUN 1
                                                              ext4
    time until safe on disk    ext2     ext3  ext4  data=writeback
    small-files create       100 ms  +20 % ▲     =         +10 % ?
                read-random  200 ms  +20 % ▲     =         +10 % ?
                delete       300 ms  +20 % ▲     =         +10 % ?
    big-file    write        400 ms  +20 % ▲     =         +10 % ?
    metadata    create       500 ms  +20 % ▲     =         +10 % ?
                list         600 ms  +20 % ▲     =         +10 % ?
                rename       700 ms  +20 % ▲     =         +10 % ?
    tree        untar        800 ms  +20 % ▲     =         +10 % ?
                copy         900 ms  +20 % ▲     =         +10 % ?
                copy-engine  1.00 s  +20 % ▲     =         +10 % ?
                archive      1.10 s  +20 % ▲     =         +10 % ?
                delete       1.20 s  +20 % ▲     =         +10 % ?
    time until safe on disk      xfs  xfs noatime  btrfs     f2fs
    small-files create       -18 % ▼     +100 % ▲      =  +10 % ?
                read-random  -18 % ▼     +100 % ▲      =  +10 % ?
                delete       -18 % ▼     +100 % ▲      =  +10 % ?
    big-file    write        -18 % ▼     +100 % ▲      =  +10 % ?
    metadata    create       -18 % ▼     +100 % ▲      =  +10 % ?
                list         -18 % ▼     +100 % ▲      =  +10 % ?
                rename       -18 % ▼     +100 % ▲      =  +10 % ?
    tree        untar        -18 % ▼     +100 % ▲      =  +10 % ?
                copy         -18 % ▼     +100 % ▲      =  +10 % ?
                copy-engine  -18 % ▼     +100 % ▲      =  +10 % ?
                archive      -18 % ▼     +100 % ▲      =  +10 % ?
                delete       -18 % ▼     +100 % ▲      =  +10 % ?
    time until safe on disk      jfs  reiserfs  nilfs2    ntfs3
    small-files create       -26 % ▼  +180 % ▲       =  +10 % ?
                read-random  -26 % ▼  +180 % ▲       =  +10 % ?
                delete       -26 % ▼  +180 % ▲       =  +10 % ?
    big-file    write        -26 % ▼  +180 % ▲       =  +10 % ?
    metadata    create       -26 % ▼  +180 % ▲       =  +10 % ?
                list         -26 % ▼  +180 % ▲       =  +10 % ?
                rename       -26 % ▼  +180 % ▲       =  +10 % ?
    tree        untar        -26 % ▼  +180 % ▲       =  +10 % ?
                copy         -26 % ▼  +180 % ▲       =  +10 % ?
                copy-engine  -26 % ▼  +180 % ▲       =  +10 % ?
                archive      -26 % ▼  +180 % ▲       =  +10 % ?
                delete       -26 % ▼  +180 % ▲       =  +10 % ?
    ▼ faster  ▲ slower  = same within ±5 %  ? not known yet

    The 11 others against ext2, in 132 comparisons: 24 faster, 36 slower, 36 the
    same and 36 not known yet. Best: jfs in small-files create (23-29 % less time);
    worst: reiserfs in small-files create (2.69-2.91 times the time).
    Not known yet: 36 of 132. 6 to 32 more blocks (48 min to 4.3 h) would probably
    decide them: --runs 40. Holds on this machine, this boot, in these 4 minutes;
    `fsarena compare` joins RUNs of other days.
    page: quick-1.html   all figures: fsarena show 1
    ");
}

#[test]
fn many_contenders_of_which_nothing_is_known() {
    let row: &[MarkedRatio] = &[('?', 1.1); 4];
    let sample = Sample::new(&["ext4", "ext3", "ext2", "xfs", "btrfs"], quick_work(), &[row; 7]);
    let text = sample.text();
    let said = "Whether any of the 4 others differs from ext4 is not known yet (28 comparisons).";
    assert!(text.contains(said), "{text}");
}

#[test]
fn one_contender_alone() {
    let mut sample = Sample::new(&["ext4"], quick_work(), &[NOBODY; 7]);
    let verdicts = sample.verdicts.as_mut().unwrap();
    (verdicts.baseline, verdicts.reference) = (None, None);
    insta::assert_snapshot!(sample.text(), @"
    quick: 8 blocks in 3m55, loop image 1 GiB, VM                              RUN 1
    time until safe on disk    ext4    least    most  n
    small-files create       100 ms  96.0 ms  104 ms  8
                read-random  200 ms   192 ms  208 ms  8
                delete       300 ms   288 ms  312 ms  8
    big-file    write        400 ms   384 ms  416 ms  8
    metadata    create       500 ms   480 ms  520 ms  8
                list         600 ms   576 ms  624 ms  8
                rename       700 ms   672 ms  728 ms  8

    ext4 alone has figures: nothing is compared. These are medians and ranges.
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// Warm, no file system of its own, and nothing to compare.
#[test]
fn a_directory_without_root() {
    let mut sample = Sample::new(&["directory"], vec![small_files()], &[NOBODY; 3]);
    let why = "it is never unmounted".to_owned();
    let asked = RequestedLevel { level: "cold".to_owned(), by: AskedBy::Program, why };
    let contender = &mut sample.header.plan.contenders[0];
    contender.levels.device = DeviceLevel::Directory { path: "/srv/people/ann/fsarena".into() };
    contender.levels.cache = Cache::Warm;
    contender.asked.insert("cache".to_owned(), asked);
    sample.header.host.hypervisor = None;
    let id = sample.header.plan.contenders[0].id();
    for record in &mut sample.records {
        record.key.contender = id.clone();
        for phase in &mut record.phases {
            (phase.cache.state, phase.cache.asked) = (CacheState::Warm, Cache::Cold);
        }
    }
    sample.verdicts = None;
    sample.header.plan.verdict = None;
    insta::assert_snapshot!(sample.text(), @"
    quick: 8 blocks in 75 s, directory /srv/people/ann/fsarena                 RUN 1
    time until safe on disk, warm  directory   least    most  n
    small-files create                1.00 s  1.00 s  1.00 s  8
                read-random           1.00 s  1.00 s  1.00 s  8
                delete                1.00 s  1.00 s  1.00 s  8

    directory alone has figures: nothing is compared. These are medians and ranges.
    mind: cache = cold was asked for and is not possible for directory, so cache =
          warm: it is never unmounted
    page: quick-1.html   all figures: fsarena show 1
    ");
}

/// Twelve phases of two rivals, with everything that can be said below them.
#[test]
fn quick_is_one_screen() {
    let work = vec![small_files(), big_file(), metadata(), real_work(), own_work()];
    let cells: Vec<&[MarkedRatio]> = (0..40).map(|_| &[('f', 0.7), ('?', 1.3)][..]).collect();
    let mut sample = Sample::new(&QUICK, work, &cells);
    let questions = &mut sample.verdicts.as_mut().unwrap().questions;
    assert!(questions.len() >= 12, "{}", questions.len());
    questions.truncate(12);
    for number in 0..4 {
        sample.records[0].notices.push(fsarena_model::record::Notice {
            code: format!("disturbance-{number}"),
            text: format!(
                "something of kind {number} happened, which takes a line and a bit to say"
            ),
            remedy: Some("do something about it, which takes another line to say".to_owned()),
            measure: None,
        });
    }
    let text = sample.text();
    assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn colours_and_characters_are_those_that_a_terminal_has() {
    let sample = all_decided();
    let text = |style| sample.with(|run| answer_text(&answer(run, None), None, 80, style));
    let coloured = text(Style { colour: true, ..plain() });
    assert!(coloured.contains("\u{1b}[32m-11 % ▼\u{1b}[0m"), "{coloured}");
    assert!(coloured.contains("\u{1b}[31m+92 % ▲\u{1b}[0m"), "{coloured}");
    let ascii = text(Style { ascii: true, ..plain() });
    assert!(ascii.is_ascii() && ascii.contains("-11 % v") && ascii.contains("+92 % ^"), "{ascii}");
    assert!(!text(plain()).contains('\u{1b}'));
}

/// Every pair was asked: whoever is compared with, the same pair has one ratio.
#[test]
fn another_baseline_turns_the_ratio_round() {
    let mut sample = all_decided();
    sample.verdicts.as_mut().unwrap().baseline = None;
    sample.with(|run| {
        assert_eq!(baselines(run), [0, 1, 2]);
        let (first, other) = (answer(run, None), answer(run, Some(1)));
        assert_eq!((first.baseline, other.baseline), (Some(0), Some(1)));
        let labels: Vec<&str> = other.columns.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["xfs", "ext4", "btrfs"]);
        let (here, there) = (&first.rows[0].cells[1], &other.rows[0].cells[1]);
        assert!((here.ratio.unwrap() * there.ratio.unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(
            (here.mark, there.mark),
            (fsarena_report::Mark::Faster, fsarena_report::Mark::Slower)
        );
    });
}

#[test]
fn as_json_values_have_their_unit() {
    let sample = all_decided();
    let document = sample.with(json::show);
    let cell = &document["answer"]["rows"][0]["cells"][1];
    assert_eq!((&cell["mark"], &cell["ratio"]), (&"faster".into(), &0.89.into()));
    assert!(cell["median_ns"].is_number() && cell.get("median").is_none(), "{cell}");
    assert_eq!(document["answer"]["undecided"]["asked"], 14);
}
