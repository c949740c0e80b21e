//! A figure over RUNs, made by hand: where it changed, what counts as one, and what is never in one
//! series.

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::host::Host;
use fsarena_model::record::{CacheState, TimeBase, TrialRecord};
use fsarena_model::run::{Clock, RunHeader, RunSession};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_testkit::records::{self, NEW_YEAR_UNIX_NS, SECOND_NS, contender, session};
use fsarena_verdict::compare::{
    CompareError, Facts, GroupBy, History, HistoryAsk, HistorySeries, QuestionName, RunOf, Unit,
    history,
};
use proptest::prelude::*;

const BLOCKS: u32 = 3;
const DAY_NS: u64 = 86_400 * SECOND_NS;
/// Deviations of boots in percent, in no order.
const BOOTS: [f64; 7] = [0.4, -0.7, 0.1, 0.8, -0.3, -0.6, 0.3];

/// A RUN of ext4 and xfs, made by hand.
#[derive(Clone)]
struct Made {
    header: RunHeader,
    sessions: Vec<RunSession>,
    records: Vec<TrialRecord>,
}

impl Made {
    /// The RUN of one night, in a boot of its own: `create` takes `seconds` on ext4, about 1 s on
    /// xfs.
    fn new(night: usize, seconds: f64) -> Self {
        let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
        let work = vec![records::small_files()];
        let mut header = records::header(contenders, work, BLOCKS);
        header.uid = format!("{night:016x}");
        header.created_unix_ns = NEW_YEAR_UNIX_NS + night as u64 * DAY_NS;
        header.title = format!("commit {}", night / 2);
        header.host.hostname = "desk".to_owned();
        header.host.kernel_release = "6.1.0".to_owned();
        header.host.boot_id = format!("boot {night}");
        let record = |sequence: usize| {
            let slot = header.plan.schedule[sequence];
            let mut record = records::record(&header, sequence as u32);
            record.started_unix_ns = header.created_unix_ns + sequence as u64 * SECOND_NS;
            let boot = BOOTS[(night * 3 + slot.contender) % BOOTS.len()] / 100.0;
            let own = if slot.contender == 0 { seconds } else { 1.0 };
            let trial = [0.001, -0.002, 0.001][slot.block as usize % 3];
            let length_ns = (own * (1.0 + boot + trial) * SECOND_NS as f64) as u64;
            record.phases[0].clocks.durable_ns = Some(length_ns);
            record
        };
        let records = (0..header.plan.schedule.len()).map(record).collect();
        let sessions = vec![session(&header.host.boot_id, 0)];
        Self { sessions, records, header }
    }

    fn kernel(mut self, release: &str) -> Self {
        self.header.host.kernel_release = release.to_owned();
        self
    }

    fn boot(mut self, boot: &str) -> Self {
        self.header.host.boot_id = boot.to_owned();
        self.sessions = vec![session(boot, 0)];
        self
    }

    fn change(mut self, change: impl Fn(&mut RunHeader)) -> Self {
        change(&mut self.header);
        self
    }

    fn run<'a>(&'a self, scores: &'a [TrialScore]) -> RunOf<'a> {
        let number = u64::from_str_radix(&self.header.uid, 16).unwrap() + 1;
        RunOf {
            name: number.to_string(),
            header: &self.header,
            sessions: &self.sessions,
            scores,
            stop: None,
            looks: &[],
            facts: Facts::new(),
        }
    }

    fn change_records(mut self, change: impl Fn(&mut TrialRecord)) -> Self {
        self.records.iter_mut().for_each(change);
        self
    }
}

/// As many nights before as after a change of ext4 by `ratio`, with another kernel.
fn nights(before: usize, after: usize, ratio: f64) -> Vec<Made> {
    let one = |night: usize| match night < before {
        true => Made::new(night, 1.0),
        false => Made::new(night, ratio).kernel("6.18.0"),
    };
    (0..before + after).map(one).collect()
}

fn create() -> QuestionName {
    QuestionName {
        workload: "small-files".to_owned(),
        phase: "create".to_owned(),
        metric: Metric::Time,
        clock: Clock::Durable,
    }
}

fn ask(by: GroupBy) -> HistoryAsk {
    HistoryAsk { margin: 0.05, questions: vec![create()], contender: None, by }
}

fn try_history(made: &[Made], ask: &HistoryAsk) -> Result<History, CompareError> {
    let score = |made: &Made| made.records.iter().map(TrialScore::from_record).collect();
    let scores: Vec<Vec<TrialScore>> = made.iter().map(score).collect();
    let scored = made.iter().zip(&scores);
    let runs = scored.map(|(one, scores)| one.run(scores));
    history(runs.map(|run| (run.clone(), ask.figures(&run))).collect(), ask)
}

fn history_of(made: &[Made], by: GroupBy) -> History {
    try_history(made, &ask(by)).expect("RUNs that have a history")
}

fn of_ext4(found: &History) -> Vec<&HistorySeries> {
    found.questions[0].series.iter().filter(|series| series.contender == "ext4").collect()
}

const NOWHERE: [[&str; 2]; 0] = [];

/// Where ext4 changed: names of the points around each change.
fn changes(found: &History) -> Vec<[String; 2]> {
    let mut all = Vec::new();
    for series in of_ext4(found) {
        let name = |at: usize| series.points[at].name.clone();
        all.extend(series.changes.iter().map(|one| [name(one.before), name(one.after)]));
    }
    all
}

#[test]
fn a_change_is_marked_between_the_runs_where_it_is() {
    let found = history_of(&nights(6, 6, 1.3), GroupBy::Run);
    assert_eq!(changes(&found), [["RUN 6", "RUN 7"]]);
    let series = of_ext4(&found)[0];
    assert_eq!((series.unit, series.units, series.points.len()), (Unit::Boot, 12, 12));
    let change = &series.changes[0];
    assert_eq!(change.verdict, Verdict::Slower);
    assert!((change.ratio - 1.3).abs() < 0.01, "{change:?}");
    assert!(change.low > 1.2 && change.high < 1.4 && change.low < 1.3, "{change:?}");
    assert_eq!((change.units_before, change.units_after), (6, 6));
    assert_eq!((&series.why, series.least), (&None, None));
    // 84 cuts of 12 boots, for ext4 and for xfs.
    assert_eq!(found.cuts, 168);
    assert!((found.level - (1.0 - 0.05 / 168.0)).abs() < 1e-12);
    let xfs = found.questions[0].series.iter().find(|one| one.contender == "xfs").unwrap();
    assert_eq!(xfs.changes, []);
    assert_eq!(xfs.why.as_deref(), Some("no change is decided among 12 boots"));
    assert!(xfs.least.is_some_and(|least| (1.0..1.2).contains(&least)), "{:?}", xfs.least);
    let point = &series.points[6];
    assert_eq!((point.kernels.as_slice(), point.n), (["6.18.0".to_owned()].as_slice(), 3));
    assert_eq!(point.started_unix_ns, NEW_YEAR_UNIX_NS + 6 * DAY_NS);
    assert!(point.low.unwrap() < point.value && point.value < point.high.unwrap());
    let faster = history_of(&nights(6, 6, 0.8), GroupBy::Run);
    assert_eq!(of_ext4(&faster)[0].changes[0].verdict, Verdict::Faster);
}

#[test]
fn a_change_that_was_taken_back_is_two() {
    let mut made = nights(7, 5, 1.3);
    made.extend((12..18).map(|night| Made::new(night, 1.0)));
    let found = history_of(&made, GroupBy::Run);
    assert_eq!(changes(&found), [["RUN 7", "RUN 8"], ["RUN 12", "RUN 13"]]);
}

#[test]
fn fewer_than_three_on_a_side_are_never_enough() {
    let why = |made: &[Made]| {
        let found = history_of(made, GroupBy::Run);
        assert_eq!(changes(&found), NOWHERE);
        of_ext4(&found)[0].why.clone().unwrap()
    };
    let few = "no change is decided: it takes 3 boots on each side, and there are 4 boots in all";
    assert_eq!(why(&nights(2, 2, 3.0)), few);
    assert_eq!(why(&nights(10, 2, 3.0)), "no change is decided among 12 boots");
    let one = "no change is decided: it takes 3 RUNs on each side, and there is one RUN";
    assert_eq!(why(&nights(1, 0, 1.0)), one);
}

#[test]
fn a_change_within_the_margin_is_none() {
    assert_eq!(changes(&history_of(&nights(8, 8, 1.04), GroupBy::Run)), NOWHERE);
    let narrow = HistoryAsk { margin: 0.01, ..ask(GroupBy::Run) };
    let found = try_history(&nights(8, 8, 1.04), &narrow).unwrap();
    assert_eq!(changes(&found), [["RUN 8", "RUN 9"]]);
}

/// What all RUNs of a boot have in common says nothing of the next one.
#[test]
fn boots_are_the_units_and_runs_where_there_is_one_boot() {
    let in_boots = |boots: [&str; 2]| -> Vec<Made> {
        let nights = nights(6, 6, 1.3).into_iter().enumerate();
        nights.map(|(night, made)| made.boot(boots[usize::from(night >= 6)])).collect()
    };
    let found = history_of(&in_boots(["a", "b"]), GroupBy::Run);
    let series = of_ext4(&found)[0];
    assert_eq!((series.unit, series.units, series.points.len()), (Unit::Boot, 2, 12));
    assert_eq!(changes(&found), NOWHERE);
    assert!(series.why.as_ref().unwrap().ends_with("there are 2 boots in all"));
    let found = history_of(&in_boots(["a", "a"]), GroupBy::Run);
    assert_eq!((of_ext4(&found)[0].unit, of_ext4(&found)[0].units), (Unit::Run, 12));
    assert_eq!(changes(&found), [["RUN 6", "RUN 7"]]);
}

/// A reboot in the middle of a RUN: no change is looked for inside of it.
#[test]
fn a_run_of_two_boots_is_one_point_with_two_units() {
    let mut made = nights(6, 6, 1.3);
    made[3].sessions.push(session("boot again", 4));
    let found = history_of(&made, GroupBy::Run);
    let series = of_ext4(&found)[0];
    assert_eq!((series.units, series.points.len(), series.points[3].units), (13, 12, 2));
    assert_eq!(changes(&found), [["RUN 6", "RUN 7"]]);
}

#[test]
fn changes_are_looked_for_between_kernels_alone_where_these_are_points() {
    let made = nights(6, 6, 1.3);
    let found = history_of(&made, GroupBy::Kernel);
    let series = of_ext4(&found)[0];
    assert_eq!(changes(&found), [["6.1.0", "6.18.0"]]);
    let points: Vec<(&str, usize, usize)> =
        series.points.iter().map(|one| (one.name.as_str(), one.units, one.n)).collect();
    assert_eq!(points, [("6.1.0", 6, 18), ("6.18.0", 6, 18)]);
    assert!(series.points[0].low.unwrap() < 1.0 * 1e9 && series.points[0].high.unwrap() > 1e9);
    assert_eq!(found.cuts, 2 * 16);
    // The change came in the middle of a kernel.
    let one_kernel: Vec<Made> = made.iter().map(|one| one.clone().kernel("6.1.0")).collect();
    let found = history_of(&one_kernel, GroupBy::Kernel);
    let why = "no change is decided: nowhere does a new kernel begin with 3 boots on each side";
    assert_eq!(of_ext4(&found)[0].why.as_deref(), Some(why));
    // Kernels in turns: each is one point, of all its boots.
    let in_turns = |night: usize| match night % 2 {
        0 => Made::new(night, 1.0),
        _ => Made::new(night, 1.3).kernel("6.18.0"),
    };
    let made: Vec<Made> = (0..12).map(in_turns).collect();
    assert_eq!(changes(&history_of(&made, GroupBy::Kernel)), [["6.1.0", "6.18.0"]]);
    assert_eq!(changes(&history_of(&made, GroupBy::Run)), NOWHERE);
}

#[test]
fn titles_versions_and_boots_are_points_too() {
    let newer = |(at, one): (usize, Made)| {
        one.change(|header| header.program_version = format!("0.{}.0", at / 6))
    };
    let made: Vec<Made> = nights(6, 6, 1.3).into_iter().enumerate().map(newer).collect();
    assert_eq!(changes(&history_of(&made, GroupBy::Version)), [["0.0.0", "0.1.0"]]);
    assert_eq!(changes(&history_of(&made, GroupBy::Title)), [["commit 2", "commit 3"]]);
    assert_eq!(changes(&history_of(&made, GroupBy::Boot)), [["boot 6", "boot 7"]]);
    assert_eq!(of_ext4(&history_of(&made, GroupBy::Title))[0].points.len(), 6);
}

/// A boot has one number in all series, and one that has two kernels is no border between others.
#[test]
fn boots_have_one_number_and_a_boot_of_several_points_is_no_border() {
    let mut made = nights(3, 0, 1.0);
    let lap = |night: usize| {
        Made::new(night, 1.5).change(|header| header.host.hostname = "lap".to_owned())
    };
    made.extend((3..6).map(lap));
    let found = history_of(&made, GroupBy::Boot);
    let names: Vec<&str> = of_ext4(&found)
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.name.as_str())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["boot 1", "boot 2", "boot 3", "boot 4", "boot 5", "boot 6"]);

    // Three boots of the first kernel, three of the second, and three that have the first and a
    // third: where these lie in the order says nothing of the second.
    let kernels = [["a", "a"], ["b", "b"], ["a", "c"]];
    let in_boot = |night: usize| {
        let kernel = kernels[night / 6][night % 2];
        let seconds = if kernel == "b" { 1.3 } else { 1.0 };
        Made::new(night, seconds).kernel(kernel).boot(&format!("boot {}", night / 2))
    };
    let made: Vec<Made> = (0..18).map(in_boot).collect();
    let found = history_of(&made, GroupBy::Kernel);
    assert_eq!(changes(&found), NOWHERE);
}

/// Each of these would be a change of 30 % if it stood in the series.
#[test]
fn what_is_not_comparable_is_left_out_with_the_reason() {
    let other = || Made::new(8, 1.3);
    let cases: [(&str, Made); 7] = [
        ("another machine than RUN 1: another host name", {
            other().change(|header| header.host.hostname = "lap".to_owned())
        }),
        ("another small-files than in RUN 1: 5000 files with 1280000 bytes, and", {
            other().change(|header| header.plan.workloads[0].dataset.files = 10)
        }),
        ("ext4 is not the same as in RUN 1: device", {
            other().change(|header| {
                header.plan.contenders[0].levels.device = DeviceLevel::Ram { size_bytes: 1 << 30 };
            })
        }),
        ("another device than in RUN 1: its images are in another directory", {
            other().change(|header| header.place.as_mut().unwrap().image_dir = "/other".into())
        }),
        ("in virtual time, unlike RUN 1", {
            other().change_records(|record| record.time_base = TimeBase::Virtual)
        }),
        ("ext4 is not the same as in RUN 1: cache (cold; warm)", {
            let warm = other().change(|header| {
                header.plan.contenders.iter_mut().for_each(|one| one.levels.cache = Cache::Warm);
            });
            warm.change_records(|record| record.phases[0].cache.state = CacheState::Warm)
        }),
        ("its machine is not known, as that of any imported RUN", {
            other().change(|header| header.host = Host::default())
        }),
    ];
    for (why, one) in cases {
        let mut made = nights(8, 0, 1.0);
        made.push(one);
        let found = history_of(&made, GroupBy::Run);
        assert_eq!(of_ext4(&found).len(), 1, "{why}");
        assert_eq!(of_ext4(&found)[0].points.len(), 8, "{why}");
        let excluded = &found.questions[0].excluded;
        let own = excluded.iter().find(|one| one.contender == "ext4").unwrap();
        assert!(own.run == "9" && own.why.contains(why), "{why}: {own:?}");
    }
}

/// Enough of them are a series of their own, beside that of most RUNs.
#[test]
fn another_machine_is_a_series_of_its_own() {
    let mut made = nights(4, 3, 1.0);
    let lap = |night: usize| {
        Made::new(night, 1.5).change(|header| header.host.hostname = "lap".to_owned())
    };
    made.extend((7..10).map(lap));
    let found = history_of(&made, GroupBy::Run);
    let series = of_ext4(&found);
    assert_eq!(series.iter().map(|one| one.points.len()).collect::<Vec<_>>(), [7, 3]);
    assert_eq!(series[0].apart, None);
    let apart = "another machine than RUN 1: another host name";
    assert_eq!(series[1].apart.as_deref(), Some(apart));
    assert_eq!(changes(&found), NOWHERE);
    assert_eq!(found.questions[0].excluded, []);
}

#[test]
fn what_has_no_figure_is_named_and_a_contender_has_to_be_known() {
    let mut made = nights(4, 3, 1.0);
    let failed = made.pop().unwrap().change_records(|record| record.phases.clear());
    made.push(failed);
    let found = history_of(&made, GroupBy::Run);
    assert_eq!(of_ext4(&found)[0].points.len(), 6);
    let excluded = &found.questions[0].excluded[0];
    assert_eq!((excluded.run.as_str(), excluded.why.as_str()), ("7", "it has no such figure"));
    let refused = |made: &[Made], label: &str| {
        let asked = HistoryAsk { contender: Some(label.to_owned()), ..ask(GroupBy::Run) };
        try_history(made, &asked).unwrap_err().to_string()
    };
    assert_eq!(refused(&made, "zfs"), "no RUN has the contender zfs; there are ext4, xfs");
    assert_eq!(refused(&[], "ext4"), "no RUN to compare");
    let twice = [made[0].clone(), made[0].clone()];
    assert_eq!(refused(&twice, "ext4"), "RUN 1 is given twice: it is one unit and not two");
    let asked = HistoryAsk { contender: Some("xfs".to_owned()), ..ask(GroupBy::Run) };
    let found = try_history(&made, &asked).unwrap();
    assert!(found.questions[0].series.iter().all(|series| series.contender == "xfs"));
}

proptest! {
    /// Boots that differ among themselves and no change: whatever the order in which RUNs are
    /// given, the history is the same, and a point has the mean of its trials.
    #[test]
    fn the_order_of_the_runs_does_not_matter(
        lengths in prop::collection::vec(0.5f64..2.0, 1..14),
        turn in 0usize..14,
    ) {
        let mut made: Vec<Made> =
            lengths.iter().enumerate().map(|(night, own)| Made::new(night, *own)).collect();
        let found = history_of(&made, GroupBy::Run);
        let turn = turn % made.len();
        made.rotate_left(turn);
        prop_assert_eq!(&history_of(&made, GroupBy::Run), &found);
        for (point, own) in of_ext4(&found)[0].points.iter().zip(&lengths) {
            prop_assert!((point.value / (own * 1e9)).ln().abs() < 0.012);
        }
    }
}
