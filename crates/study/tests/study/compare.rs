//! Several RUNs next to each other, made by hand: what counts as one, what is said of few, what is
//! refused, and what is averaged before it counts.

use fsarena_model::contender::{Cache, Contender, DeviceLevel};
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_model::run::{Clock, RunHeader, RunSession};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::{
    Limits, METHOD_VERSION, Metric, Pairs, Question, Rule, Verdict, VerdictPlan,
};
use fsarena_study::facts;
use fsarena_testkit::records::{self, SECOND_NS, contender, session, small_files};
use fsarena_verdict::compare::{
    Ask, CompareError, Facts, Forest, RunOf, Sides, Unit, forest, only, sides,
};
use fsarena_verdict::verdicts;

const BLOCKS: u32 = 4;

/// A RUN of ext4, the baseline, and xfs, made by hand.
struct Made {
    header: RunHeader,
    sessions: Vec<RunSession>,
    records: Vec<TrialRecord>,
    scores: Vec<TrialScore>,
    facts: Facts,
}

/// Small deviations, all of them different: block by block and contender by contender.
fn jitter(seed: u64, block: u32, contender: usize) -> f64 {
    let mixed = (seed * 31 + u64::from(block) * 17 + contender as u64 * 7 + 3) * 2_654_435_761;
    ((mixed >> 7) % 1000) as f64 / 1000.0 - 0.5
}

impl Made {
    /// On machine `host`, in `boot`; `create` takes 1 s on ext4 and `ratio` times as long on xfs,
    /// up to 1 % of noise.
    fn new(uid: &str, host: &str, boot: &str, ratio: f64) -> Self {
        Self::with(uid, host, boot, |at, block| {
            let base = if at == 1 { ratio } else { 1.0 };
            base * (1.0 + 0.01 * jitter(uid.len() as u64 + uid.as_bytes()[0] as u64, block, at))
        })
    }

    fn with(uid: &str, host: &str, boot: &str, seconds: impl Fn(usize, u32) -> f64) -> Self {
        let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
        Self::from_contenders(contenders, uid, host, boot, seconds)
    }

    fn from_contenders(
        contenders: Vec<Contender>,
        uid: &str,
        host: &str,
        boot: &str,
        seconds: impl Fn(usize, u32) -> f64,
    ) -> Self {
        let mut header = records::header(contenders, vec![small_files()], BLOCKS);
        header.uid = uid.to_owned();
        header.host.hostname = host.to_owned();
        header.host.boot_id = boot.to_owned();
        header.plan.verdict = Some(VerdictPlan {
            method: METHOD_VERSION,
            rule: Rule::Fixed { blocks: BLOCKS },
            margin: 0.05,
            questions: ["create", "delete"]
                .map(|phase| Question {
                    workload: 0,
                    phase: phase.to_owned(),
                    metric: Metric::Time,
                    clock: Clock::Durable,
                })
                .to_vec(),
            headline: Some(0),
            pairs: Pairs::Baseline { contender: 0 },
            budget_ns: None,
            begun_unix_ns: None,
            spare_blocks: 0,
            limits: Limits::default(),
        });
        let record = |sequence: usize| {
            let slot = header.plan.schedule[sequence];
            let mut record = records::record(&header, sequence as u32);
            let length_ns = (seconds(slot.contender, slot.block) * SECOND_NS as f64) as u64;
            record.phases[0].clocks.durable_ns = Some(length_ns);
            record
        };
        let records: Vec<TrialRecord> = (0..header.plan.schedule.len()).map(record).collect();
        let mut made = Self {
            sessions: vec![session(boot, 0)],
            scores: Vec::new(),
            facts: Facts::new(),
            header,
            records,
        };
        made.read();
        made
    }

    /// Reads plan and records again after a change.
    fn read(&mut self) {
        self.scores = self.records.iter().map(TrialScore::from_record).collect();
        self.facts = facts(&self.header, &self.records);
    }

    fn kernel(mut self, release: &str) -> Self {
        self.header.host.kernel_release = release.to_owned();
        self.read();
        self
    }

    fn run(&self) -> RunOf<'_> {
        RunOf {
            name: self.header.uid.clone(),
            header: &self.header,
            sessions: &self.sessions,
            scores: &self.scores,
            stop: None,
            looks: &[],
            facts: self.facts.clone(),
        }
    }
}

fn ask() -> Ask {
    Ask { margin: 0.05, pair: None, question: None, all: false }
}

fn forest_of(made: &[Made]) -> Forest {
    forest(&runs_of(made), &ask()).expect("RUNs that can be compared")
}

fn sides_of(before: &[Made], after: &[Made]) -> Result<Sides, CompareError> {
    sides(&runs_of(before), &runs_of(after), &ask())
}

fn runs_of(side: &[Made]) -> Vec<RunOf<'_>> {
    side.iter().map(Made::run).collect()
}

#[test]
fn three_machines_speak_for_others() {
    let made = [("a", 1.20), ("b", 1.24), ("c", 1.22)]
        .map(|(name, ratio)| Made::new(name, name, "boot", ratio));
    let forest = forest_of(&made);
    assert_eq!((forest.unit, forest.units.len()), (Unit::Machine, 3));
    assert_eq!(forest.baseline.as_deref(), Some("ext4"));
    assert_eq!(forest.questions.len(), 1, "the headline alone");
    let pair = &forest.questions[0].pairs[0];
    assert_eq!((pair.a_label.as_str(), pair.b_label.as_str()), ("xfs", "ext4"));
    assert_eq!((pair.verdict, pair.agreeing), (Verdict::Slower, 3));
    // The mean of three log ratios, each of which lies within its noise of what was put in.
    assert!((pair.ratio.unwrap() - 1.22).abs() < 0.01, "{:?}", pair.ratio);
    assert!(pair.low.unwrap() > 1.1 && pair.high.unwrap() < 1.4);
    assert_eq!((pair.level, pair.why.as_deref()), (Some(0.95), None));
    let row = &pair.rows[1];
    assert_eq!((row.unit, row.n, row.runs.as_slice()), (1, 4, ["b".to_owned()].as_slice()));
    assert!(row.low.unwrap() < row.ratio && row.ratio < row.high.unwrap());
    assert!(pair.i_squared.is_some());
}

/// Each of two machines is as sure as can be, and yet two are two.
#[test]
fn two_machines_never_do() {
    let made = [("a", 1.5), ("b", 1.5)].map(|(name, ratio)| Made::new(name, name, "boot", ratio));
    let pair = &forest_of(&made).questions[0].pairs[0];
    assert_eq!(pair.verdict, Verdict::Undecided);
    let why = "two machines can never speak for others; both are listed";
    assert_eq!(pair.why.as_deref(), Some(why));
    assert_eq!((pair.rows.len(), pair.low), (2, None));
    assert!(pair.ratio.unwrap() > 1.4);
}

/// Three RUNs, of which two are of one machine: still two machines.
#[test]
fn runs_of_one_machine_are_averaged_first() {
    let made = [
        Made::new("a", "desk", "boot 1", 1.0),
        Made::new("b", "desk", "boot 2", 1.21),
        Made::new("c", "server", "boot 3", 1.1),
    ];
    let forest = forest_of(&made);
    let pair = &forest.questions[0].pairs[0];
    assert_eq!((forest.unit, pair.verdict), (Unit::Machine, Verdict::Undecided));
    assert_eq!(pair.rows[0].runs, ["a", "b"]);
    assert!((pair.rows[0].ratio - 1.1).abs() < 0.01, "{}", pair.rows[0].ratio);
    assert!((pair.ratio.unwrap() - 1.1).abs() < 0.01, "{:?}", pair.ratio);
}

/// Machines that contradict each other: each alone is sure, all blocks in one sample would be
/// wrong, and nothing can be said of a further machine.
#[test]
fn machines_that_contradict_each_other_are_undecided() {
    let made = [("a", 1.3), ("b", 1.2), ("c", 0.9)]
        .map(|(name, ratio)| Made::new(name, name, "boot", ratio));
    let pair = &forest_of(&made).questions[0].pairs[0];
    assert_eq!((pair.verdict, pair.agreeing), (Verdict::Undecided, 2));
    assert_eq!(pair.why, None);
    assert!(pair.rows.iter().all(|row| row.low.unwrap() > 1.0 || row.high.unwrap() < 1.0));
    assert!(pair.i_squared.unwrap() > 0.9, "{:?}", pair.i_squared);
}

#[test]
fn one_machine_is_taken_by_boots_and_one_boot_by_runs() {
    let made = ["a", "b", "c"].map(|name| Made::new(name, "desk", name, 1.001));
    let forest = forest_of(&made);
    assert_eq!((forest.unit, forest.units.len()), (Unit::Boot, 3));
    assert_eq!(forest.questions[0].pairs[0].verdict, Verdict::Same);
    let made = ["a", "b", "c"].map(|name| Made::new(name, "desk", "boot", 0.7));
    let forest = forest_of(&made);
    assert_eq!((forest.unit, forest.units[1].name.as_str()), (Unit::Run, "RUN b"));
    assert_eq!(forest.questions[0].pairs[0].verdict, Verdict::Faster);
}

/// A RUN that was gone on with after a reboot is of two boots, and a block that the reboot cut in
/// two is of none.
#[test]
fn an_interrupted_run_is_of_several_boots() {
    let mut one = Made::new("a", "desk", "boot 1", 1.2);
    // Two trials a block: the third block begins in the first boot and ends in the second.
    one.sessions.push(session("boot 2", 5));
    let forest = forest_of(&[one, Made::new("b", "desk", "boot 3", 1.2)]);
    assert_eq!((forest.unit, forest.units.len()), (Unit::Boot, 3));
    let pair = &forest.questions[0].pairs[0];
    let blocks: Vec<usize> = pair.rows.iter().map(|row| row.n).collect();
    assert_eq!(blocks, [2, 1, 4]);
    assert_eq!(pair.verdict, Verdict::Slower);
    // One block has no error of its own.
    assert_eq!((pair.rows[1].low, pair.i_squared), (None, None));
}

/// Machines so much alike that the interval of SAME lies within the margin, while that of
/// differences does not.
#[test]
fn same_has_an_interval_of_its_own() {
    let made = [("a", 0.98), ("b", 1.0), ("c", 1.02)].map(|(name, ratio)| {
        Made::with(name, name, "boot", |at, _| if at == 1 { ratio } else { 1.0 })
    });
    let pair = &forest_of(&made).questions[0].pairs[0];
    assert_eq!(pair.verdict, Verdict::Same);
    // With 2 degrees of freedom Student's t is 4.303 at 95 % and 2.920 at 90 %.
    assert!(pair.high.unwrap() > 1.05, "{pair:?}");
    assert!(pair.same_high.unwrap() < 1.05 && pair.same_low.unwrap() > 1.0 / 1.05, "{pair:?}");
    let [wide, narrow] = [(pair.low, pair.high), (pair.same_low, pair.same_high)]
        .map(|(low, high)| (high.unwrap() / low.unwrap()).ln());
    assert!((wide / narrow - 4.303 / 2.920).abs() < 1e-3, "{wide} {narrow}");
    assert!((pair.same_level.unwrap() - 0.90).abs() < 1e-12);
}

/// Only the first phase of a trial is cold after a cold start. There it is compared with what is
/// always cold, in all others with what is always warm.
#[test]
fn a_cold_start_is_cold_in_the_first_phase() {
    let of = |name: &str, cache: Cache| {
        let mut contender = contender(name, name, 1);
        contender.levels.cache = cache;
        contender
    };
    let made = ["a", "b", "c"].map(|name| {
        let contenders =
            vec![of("ext4", Cache::ColdStart), of("xfs", Cache::Cold), of("btrfs", Cache::Warm)];
        let mut made = Made::from_contenders(contenders, name, name, "boot", |_, _| 1.0);
        made.header.plan.verdict.as_mut().unwrap().pairs = Pairs::All;
        for record in &mut made.records {
            let contender = &made.header.plan.contenders;
            let cache = contender.iter().find(|one| one.id() == record.key.contender).unwrap();
            for (at, phase) in record.phases.iter_mut().enumerate() {
                phase.cache.state = match (cache.levels.cache, at) {
                    (Cache::Cold, _) | (Cache::ColdStart, 0) => CacheState::Cold,
                    _ => CacheState::Warm,
                };
            }
        }
        made.read();
        made
    });
    let forest = forest(&runs_of(&made), &Ask { all: true, ..ask() }).unwrap();
    let pairs = |phase: usize| -> Vec<(&str, &str, usize)> {
        let mut found = Vec::new();
        for pair in &forest.questions[phase].pairs {
            found.push((pair.a_label.as_str(), pair.b_label.as_str(), pair.rows.len()));
        }
        found
    };
    assert_eq!(pairs(0), [("ext4", "xfs", 3)]);
    assert_eq!(pairs(1), [("ext4", "btrfs", 3)]);
}

#[test]
fn what_is_not_alike_is_said_or_left_out() {
    let mut made = ["a", "b", "c", "d"].map(|name| Made::new(name, name, "boot", 1.2));
    made[1].header.plan.contenders[1].levels.device = DeviceLevel::Loop { size_bytes: 1 << 31 };
    made[2].header.plan.workloads[0].dataset.files = 9;
    made[3].header.plan.contenders[1].label = "xfs crc=0".to_owned();
    let forest = forest_of(&made);
    let pair = &forest.questions[0].pairs[0];
    assert_eq!(pair.rows.len(), 2);
    assert_eq!(pair.without[0].run, "c");
    assert_eq!(pair.without[0].why, "its small-files is another workload of that name");
    assert_eq!(pair.without[1].why, "it has no xfs");
    assert_eq!(
        forest.notes,
        [
            "xfs is not the same in RUN b as in RUN a: device (loop of 1 GiB; loop of 2 GiB)",
            "small-files of RUN c is left out, since it is not that of RUN a: 5000 files with \
             1280000 bytes, and 9 with 2304",
        ]
    );
}

#[test]
fn questions_and_pairs_are_chosen_by_name() {
    let made = ["a", "b", "c"].map(|name| Made::new(name, name, "boot", 1.2));
    let runs = runs_of(&made);
    let all = forest(&runs, &Ask { all: true, ..ask() }).unwrap();
    let phases: Vec<&str> = all.questions.iter().map(|one| one.phase.as_str()).collect();
    assert_eq!(phases, ["create", "delete"]);
    // Both questions are one family: each has 2.5 % for its first step.
    assert_eq!(all.questions[1].pairs[0].verdict, Verdict::Same);
    let named = |workload: &str, phase: &str| {
        let question = Some((workload.to_owned(), phase.to_owned()));
        forest(&runs, &Ask { question, ..ask() })
    };
    let found = named("small-files", "read-random").unwrap();
    assert_eq!(found.questions[0].phase, "read-random", "timed, though it was not asked");
    let error = named("small-files", "rename").unwrap_err().to_string();
    assert!(error.contains("small-files:rename; there are small-files:create,"), "{error}");
    let pair = |a: &str, b: &str| {
        forest(&runs, &Ask { pair: Some((a.to_owned(), b.to_owned())), ..ask() })
    };
    let turned = pair("ext4", "xfs").unwrap();
    assert_eq!(turned.questions[0].pairs[0].verdict, Verdict::Faster);
    assert_eq!(turned.baseline, None);
    assert!(matches!(pair("ext4", "zfs"), Err(CompareError::NoSuchPair { .. })));
    assert!(matches!(pair("ext4", "ext4"), Err(CompareError::NoSuchPair { .. })));
}

#[test]
fn a_run_given_twice_is_one() {
    let made = Made::new("a", "desk", "boot", 1.2);
    let twice = forest(&[made.run(), made.run()], &ask());
    assert_eq!(twice.unwrap_err(), CompareError::Twice { run: "a".to_owned() });
    let both = sides(&[made.run()], &[made.run()], &ask());
    assert_eq!(both.unwrap_err(), CompareError::Twice { run: "a".to_owned() });
    assert_eq!(forest(&[], &ask()).unwrap_err(), CompareError::Nothing);
}

/// One RUN a boot in which everything takes `factor` times as long.
fn boot(name: &str, kernel: &str, factor: f64) -> Made {
    let number = u64::from(name.as_bytes()[0]);
    Made::with(name, "desk", name, |at, block| factor * (1.0 + 0.01 * jitter(number, block, at)))
        .kernel(kernel)
}

fn three(names: [&str; 3], kernel: &str, factor: f64) -> [Made; 3] {
    names.map(|name| boot(name, kernel, factor))
}

#[test]
fn a_slower_kernel_is_found() {
    let found =
        sides_of(&three(["a", "b", "c"], "6.1", 1.0), &three(["d", "e", "f"], "6.2", 1.2)).unwrap();
    assert_eq!((found.before.len(), found.after.len()), (3, 3));
    let rows = &found.questions[0].rows;
    let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["ext4", "xfs"]);
    for row in rows {
        assert_eq!(row.verdict, Verdict::Slower, "{row:?}");
        assert!((row.ratio.unwrap() - 1.2).abs() < 0.02);
        assert!(row.low.unwrap() > 1.1 && row.level.unwrap() >= 0.95);
        assert_eq!((row.before.len(), row.before[0].n), (3, 4));
        assert!((row.before[0].value / SECOND_NS as f64 - 1.0).abs() < 0.01);
    }
    let changes: Vec<&str> = found.changes.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(changes, ["kernel release"]);
    assert_eq!(found.changes[0].before, ["6.1"]);
    assert_eq!(found.changes[0].after, ["6.2"]);
    assert_eq!(found.notes, Vec::<String>::new());
}

#[test]
fn the_same_kernel_twice_is_the_same_or_undecided() {
    let found =
        sides_of(&three(["a", "b", "c"], "6.1", 1.0), &three(["d", "e", "f"], "6.1", 1.0)).unwrap();
    assert!(found.questions[0].rows.iter().all(|row| row.verdict == Verdict::Same));
    assert_eq!(found.changes, []);
}

/// Six RUNs a side, and yet two boots: what a boot does to a machine is not averaged out.
#[test]
fn runs_of_one_boot_are_one() {
    let side = |names: [&str; 4], kernel: &str, factor: f64| {
        let mut made = names.map(|name| boot(name, kernel, factor));
        for (at, one) in made.iter_mut().enumerate() {
            let boot = format!("{kernel}, boot {}", at % 2);
            one.sessions = vec![session(&boot, 0)];
        }
        made
    };
    let before = side(["a", "b", "c", "d"], "6.1", 1.0);
    let after = side(["e", "f", "g", "h"], "6.2", 1.5);
    let found = sides_of(&before, &after).unwrap();
    assert_eq!(found.before[0].runs, ["a", "c"]);
    let row = &found.questions[0].rows[0];
    assert_eq!((row.verdict, row.before.len()), (Verdict::Undecided, 2));
    assert_eq!(
        row.why.as_deref(),
        Some(
            "2 boots before and 2 boots after: it takes 3 on each side to tell how much boots \
             differ among themselves"
        )
    );
    assert!((row.ratio.unwrap() - 1.5).abs() < 0.01);
}

/// The mean of a boot counts once, however many trials are behind it.
#[test]
fn a_boot_with_many_trials_counts_once() {
    let mut before = three(["a", "b", "c"], "6.1", 1.0);
    // The last RUN was interrupted and gone on with in a fourth boot after three of four blocks.
    before[2].sessions.push(session("another", 6));
    let found = sides_of(&before, &three(["d", "e", "f"], "6.2", 1.2)).unwrap();
    let trials: Vec<usize> = found.questions[0].rows[0].before.iter().map(|one| one.n).collect();
    assert_eq!(trials, [4, 4, 3, 1]);
}

#[test]
fn other_machines_and_other_work_are_refused() {
    let before = three(["a", "b", "c"], "6.1", 1.0);
    let mut after = three(["d", "e", "f"], "6.2", 1.2);
    after[1].header.host.memory_bytes = 8 << 30;
    after[1].header.host.cpu_model = Some("Duron".to_owned());
    let error = sides_of(&before, &after).unwrap_err().to_string();
    assert_eq!(
        error,
        "RUN a and RUN e are not of one machine: CPU model unknown and Duron, memory 0 and \
         8589934592 bytes; absolute figures are never compared across machines"
    );
    let mut after = three(["d", "e", "f"], "6.2", 1.2);
    after[2].header.plan.workloads[0].phases[1].bs_bytes = 512;
    let error = sides_of(&before, &after).unwrap_err().to_string();
    assert_eq!(
        error,
        "the workload small-files of RUN f is not that of RUN a: its files or phases are defined \
         otherwise"
    );
}

/// What another kernel keeps of the memory for itself makes no other machine.
#[test]
fn a_little_memory_more_is_no_other_machine() {
    let mut before = three(["a", "b", "c"], "6.1", 1.0);
    let mut after = three(["d", "e", "f"], "6.2", 1.2);
    before.iter_mut().for_each(|one| one.header.host.memory_bytes = 4_100_000_000);
    after.iter_mut().for_each(|one| one.header.host.memory_bytes = 4_000_000_000);
    assert!(sides_of(&before, &after).is_ok());
}

#[test]
fn cold_is_not_compared_with_warm() {
    let before = three(["a", "b", "c"], "6.1", 1.0);
    let mut after = three(["d", "e", "f"], "6.2", 1.2);
    for one in &mut after {
        for record in &mut one.records {
            record.phases[0].cache.state = CacheState::WarmByNature;
        }
        one.read();
    }
    let row = &sides_of(&before, &after).unwrap().questions[0].rows[0];
    assert_eq!(row.verdict, Verdict::Undecided);
    let why = "cache or memory were not alike before and after";
    assert_eq!(row.why.as_deref(), Some(why));
    for one in &mut after {
        for record in &mut one.records {
            record.phases[0].cache.state = CacheState::Warm;
        }
        one.read();
    }
    let row = &sides_of(&before, &after).unwrap().questions[0].rows[0];
    let why = "after: it was to be cold, and that was not proved";
    assert_eq!(row.why.as_deref(), Some(why));
}

#[test]
fn what_changed_is_listed_the_kernel_first() {
    let before = three(["a", "b", "c"], "6.1", 1.0);
    let mut after = three(["d", "e", "f"], "6.2", 1.0);
    after[0].header.host.kernel_release = "6.3".to_owned();
    for one in &mut after {
        one.header.host.settings.insert("thp".to_owned(), "never".to_owned());
        for record in &mut one.records {
            record.filesystem.tool_version = Some("mkfs 9".to_owned());
        }
        one.read();
    }
    let found = sides_of(&before, &after).unwrap();
    let lines: Vec<String> = found
        .changes
        .iter()
        .map(|one| format!("{}: {} > {}", one.what, one.before.join("/"), one.after.join("/")))
        .collect();
    assert_eq!(
        lines,
        [
            "kernel release: 6.1 > 6.2/6.3",
            "setting thp:  > never",
            "ext4: made by: mkfs.ext4 1.2.3 > mkfs 9",
            "xfs: made by: mkfs.xfs 1.2.3 > mkfs 9",
        ]
    );
    assert_eq!(found.notes, ["the RUNs after are not of one kernel release: 6.2; 6.3"]);
}

/// RUNs that were planned before there were verdicts have figures all the same.
#[test]
fn old_runs_are_compared_by_every_timed_phase() {
    let mut made = ["a", "b", "c"].map(|name| Made::new(name, name, "boot", 1.2));
    made.iter_mut().for_each(|one| one.header.plan.verdict = None);
    let forest = forest_of(&made);
    let phases: Vec<&str> = forest.questions.iter().map(|one| one.phase.as_str()).collect();
    assert_eq!(phases, ["create", "read-random", "delete"]);
    let pair = &forest.questions[0].pairs[0];
    assert_eq!((pair.a_label.as_str(), pair.verdict), ("ext4", Verdict::Faster));
}

#[test]
fn one_run_alone_is_restricted_and_turned() {
    let made = Made::new("a", "desk", "boot", 1.5);
    let all = verdicts(&made.header, &[], &made.scores, None, &[]).unwrap();
    let headline = only(&all, &ask()).unwrap();
    assert_eq!((headline.questions.len(), headline.headline), (1, Some(0)));
    assert_eq!(headline.questions[0].pairs[0].verdict, Verdict::Slower);
    assert_eq!(only(&all, &Ask { all: true, ..ask() }).unwrap().questions.len(), 2);
    let pair = Some(("ext4".to_owned(), "xfs".to_owned()));
    let turned = only(&all, &Ask { pair, ..ask() }).unwrap();
    let (pair, before) = (&turned.questions[0].pairs[0], &headline.questions[0].pairs[0]);
    assert_eq!(pair.verdict, Verdict::Faster);
    assert!((pair.ratio.unwrap() * before.ratio.unwrap() - 1.0).abs() < 1e-12);
    let turned = |one: Option<f64>, other: Option<f64>| (one.unwrap() * other.unwrap() - 1.0).abs();
    assert!(turned(pair.low, before.high) < 1e-12 && turned(pair.high, before.low) < 1e-12);
    // The interval of SAME turns with its pair: it lies around the same ratio.
    assert!(turned(pair.same_low, before.same_high) < 1e-12);
    assert!(turned(pair.same_high, before.same_low) < 1e-12);
    assert!(pair.same_low < pair.ratio && pair.ratio < pair.same_high, "{pair:?}");
    assert_eq!(pair.turned(), *before);
    let question = Some(("small-files".to_owned(), "delete".to_owned()));
    let other = only(&all, &Ask { question, ..ask() }).unwrap();
    assert_eq!((other.questions[0].phase.as_str(), other.headline), ("delete", None));
    let question = Some(("small-files".to_owned(), "rename".to_owned()));
    assert!(matches!(
        only(&all, &Ask { question, ..ask() }),
        Err(CompareError::NoSuchQuestion { .. })
    ));
}

/// An imported RUN: nothing says where it was done.
fn imported(name: &str, ratio: f64) -> Made {
    let mut made = Made::new(name, "", "", ratio);
    made.header.host = fsarena_model::host::Host::default();
    made.read();
    made
}

#[test]
fn a_machine_that_is_not_known_is_no_other_runs() {
    let made = ["a", "b", "c"].map(|name| imported(name, 1.2));
    let forest = forest_of(&made);
    assert_eq!((forest.unit, forest.units.len()), (Unit::Machine, 3));
    let (one, known) = (imported("a", 1.2), Made::new("b", "h", "boot", 1.2));
    let forest = forest_of(&[one, known, imported("c", 1.2)]);
    let runs: Vec<_> = forest.units.iter().map(|unit| unit.runs.as_slice()).collect();
    assert_eq!(runs, [["a"], ["b"], ["c"]]);
    assert_eq!(
        forest.notes,
        ["a", "c"].map(|name| format!(
            "the machine and the boot of RUN {name} are not known: it is taken for a machine of \
             its own"
        ))
    );
    let forest = forest_of(&[imported("a", 1.2)]);
    assert_eq!((forest.unit, forest.notes.len()), (Unit::Run, 0), "one RUN is itself");
}

#[test]
fn before_and_after_need_a_machine_that_is_known() {
    let imports = |names: [&str; 3]| names.map(|name| imported(name, 1.2));
    let error = sides_of(&imports(["a", "b", "c"]), &imports(["d", "e", "f"])).unwrap_err();
    assert!(matches!(&error, CompareError::UnknownMachine { run } if run == "a"), "{error}");
    let error = sides_of(&three(["a", "b", "c"], "6.1", 1.0), &imports(["d", "e", "f"]));
    assert!(error.unwrap_err().to_string().starts_with("RUN d: its machine is not known"));
}

#[test]
fn a_boot_that_is_not_known_is_no_other_runs() {
    let made = ["a", "b"].map(|name| Made::new(name, "h", "", 1.2));
    assert_eq!(forest_of(&made).units.len(), 2);
    let sides = sides_of(&made[..1], &made[1..]).unwrap();
    assert!(sides.notes.iter().all(|note| !note.contains("on both sides")), "{:?}", sides.notes);
}
