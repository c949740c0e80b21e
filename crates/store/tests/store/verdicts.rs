//! What a RUN asks can be read in SQL before its first block; what was decided never changes.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::run::{Clock, RunHeader, RunState};
use fsarena_model::verdict::{
    DecidedPair, InterimAnalysis, METHOD_VERSION, Metric, Pairs, Rule, Stop, StopWhy, Verdict,
};
use fsarena_store::{Owner, RunId, Store, StoreError};
use fsarena_testkit::records::{self, SECOND_NS, big_file, contender, small_files};
use rusqlite::Connection;
use tempfile::TempDir;

fn owner() -> Owner {
    Owner { pid: 4711, start_ticks: 9, boot_id: "b".to_owned() }
}

/// Three contenders on two workloads: four questions, twelve pairs.
fn header() -> RunHeader {
    let mut late = contender("late", "ext4", 1);
    late.levels.handicap_ns = 30_000_000;
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1), late];
    let mut header = records::header(contenders, vec![small_files(), big_file()], 10);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Looks { cap: 8 }));
    header
}

fn new(header: &RunHeader) -> (TempDir, Store, RunId) {
    let dir = TempDir::new().unwrap();
    let store = Store::open(&dir.path().join("records.db")).unwrap();
    let run = store.create_run(header, &owner()).unwrap();
    (dir, store, run)
}

fn rows(store: &Store, sql: &str) -> Vec<String> {
    let raw = Connection::open(store.path()).unwrap();
    let mut rows = raw.prepare(sql).unwrap();
    let all = rows.query_map([], |row| row.get(0)).unwrap();
    all.collect::<Result<_, _>>().unwrap()
}

fn interim(blocks: u32, decided: &[(usize, usize, usize, Verdict)]) -> InterimAnalysis {
    let pair = |&(question, a, b, verdict)| DecidedPair { question, a, b, verdict };
    InterimAnalysis {
        blocks,
        at_unix_ns: u64::from(blocks),
        decided: decided.iter().map(pair).collect(),
    }
}

#[test]
fn what_is_asked_is_in_columns_before_the_first_block() {
    let mut header = header();
    let ask = header.plan.verdict.as_mut().unwrap();
    ask.margin = 0.02;
    ask.budget_ns = Some(1_800_000_000_000);
    ask.pairs = Pairs::Baseline { contender: 1 };
    ask.questions[1].metric = Metric::Cpu;
    ask.questions[2].metric = Metric::Written;
    ask.questions[2].clock = Clock::Drained;
    ask.questions[3].metric = Metric::P99;
    ask.headline = Some(3);
    let (_dir, store, run) = new(&header);
    assert_eq!(store.header(run).unwrap(), header);
    let sql = "SELECT concat_ws(' ', method_version, rule, rule_blocks, blocks, margin, budget_ns,
               baseline_position, coalesce(stop_why, '-')) FROM run";
    let expected = format!("{METHOD_VERSION} looks 8 10 0.02 1800000000000 1 -");
    assert_eq!(rows(&store, sql), [expected]);
    let sql =
        "SELECT concat_ws(' ', question.position, workload.name, phase, metric, clock, headline)
               FROM question JOIN workload ON workload.id = workload_id ORDER BY question.position";
    let expected = [
        "0 small-files create time durable 0",
        "1 small-files read-random cpu durable 0",
        "2 small-files delete written drained 0",
        "3 big-file write p99 durable 1",
    ];
    assert_eq!(rows(&store, sql), expected);
    let sql = "SELECT label || ' ' || value FROM contender JOIN level ON contender_id = id
               WHERE factor = 'handicap' ORDER BY position";
    assert_eq!(rows(&store, sql), ["ext4 0ms", "xfs 0ms", "late 30ms"]);
}

#[test]
fn a_fixed_number_and_nothing_at_all() {
    let mut header = header();
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 10 }));
    let (_dir, store, _) = new(&header);
    header.uid = "ffffffffffffffff".to_owned();
    header.plan.verdict = None;
    let run = store.create_run(&header, &owner()).unwrap();
    assert_eq!(store.header(run).unwrap(), header);
    let sql = "SELECT concat_ws(' ', id, method_version, rule, rule_blocks, margin, budget_ns,
               baseline_position) FROM run ORDER BY id";
    assert_eq!(rows(&store, sql), [format!("1 {METHOD_VERSION} fixed 10 0.05"), "2".to_owned()]);
    assert_eq!(rows(&store, "SELECT DISTINCT run_id || '' FROM question"), ["1"]);
    assert_eq!((store.looks(run).unwrap(), store.stop(run).unwrap()), (Vec::new(), None));
}

#[test]
fn looks_and_the_stop_come_back_and_are_kept_by_a_resumed_run() {
    let header = header();
    let (_dir, store, run) = new(&header);
    assert_eq!(store.looks(run).unwrap(), []);
    let first = interim(4, &[(3, 1, 0, Verdict::Faster), (0, 0, 2, Verdict::Slower)]);
    store.put_look(run, &first).unwrap();
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C")).unwrap();
    store.adopt(run, &owner(), |_| false).unwrap();
    assert_eq!(store.looks(run).unwrap(), std::slice::from_ref(&first), "in the order it was said");
    let looks = [first, interim(6, &[]), interim(8, &[(3, 0, 2, Verdict::Same)])];
    store.put_look(run, &looks[1]).unwrap();
    store.put_look(run, &looks[2]).unwrap();
    assert_eq!(store.looks(run).unwrap(), looks);
    assert_eq!(store.stop(run).unwrap(), None);
    let sql = "SELECT concat_ws(' ', look, blocks, workload, phase, metric, clock, headline, a,
               verdict, b, margin) FROM decided ORDER BY look, workload";
    let expected = [
        "1 4 big-file write time durable 0 xfs FASTER ext4 0.05",
        "1 4 small-files create time durable 1 ext4 SLOWER late 0.05",
        "3 8 big-file write time durable 0 ext4 SAME late 0.05",
    ];
    assert_eq!(rows(&store, sql), expected);

    let stop = Stop { blocks: 9, why: StopWhy::Cap };
    store.set_stop(run, stop).unwrap();
    assert_eq!(store.stop(run).unwrap(), Some(stop));
    for other in [stop, Stop { blocks: 10, why: StopWhy::Decided }] {
        let error = store.set_stop(run, other).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyStopped { blocks: 9, .. }), "{error:?}");
        assert!(error.to_string().contains("block 9 (cap)"), "{error}");
    }
    let error = store.put_look(run, &interim(12, &[])).unwrap_err();
    assert!(matches!(error, StoreError::AlreadyStopped { .. }), "{error:?}");
    store.set_state(run, RunState::Done, None).unwrap();
    assert_eq!((store.looks(run).unwrap().len(), store.stop(run).unwrap()), (3, Some(stop)));
}

#[test]
fn every_stop_has_its_word() {
    let mut header = header();
    for (at, why) in [StopWhy::Decided, StopWhy::Cap, StopWhy::Budget].into_iter().enumerate() {
        header.uid = format!("{at:016x}");
        let (_dir, store, run) = new(&header);
        let stop = Stop { blocks: 4, why };
        store.set_stop(run, stop).unwrap();
        assert_eq!(store.stop(run).unwrap(), Some(stop));
        assert_eq!(rows(&store, "SELECT stop_why FROM run"), [why.name()]);
    }
}

#[test]
fn a_look_must_follow_the_one_before() {
    let (_dir, store, run) = new(&header());
    let first = interim(4, &[(0, 0, 1, Verdict::Same)]);
    store.put_look(run, &first).unwrap();
    for (wrong, why) in [
        (interim(4, &[]), "after 4 blocks"),
        (interim(3, &[]), "after 4 blocks"),
        (interim(6, &[(4, 0, 1, Verdict::Same)]), "not there"),
        (interim(6, &[(1, 0, 3, Verdict::Same)]), "not there"),
        (interim(6, &[(1, 0, 1, Verdict::Undecided)]), "decides nothing"),
        (interim(6, &[(1, 1, 1, Verdict::Same)]), "decides nothing"),
        (interim(6, &[(1, 0, 1, Verdict::Same), (0, 0, 1, Verdict::Same)]), "decided before"),
        (interim(6, &[(0, 1, 0, Verdict::Faster)]), "decided before"),
        (interim(6, &[(2, 1, 0, Verdict::Faster), (2, 0, 1, Verdict::Slower)]), "decided before"),
    ] {
        let error = store.put_look(run, &wrong).unwrap_err();
        assert!(matches!(error, StoreError::BadLook { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(store.looks(run).unwrap(), [first], "nothing is stored half");
    for error in [
        store.put_look(RunId(9), &interim(4, &[])).unwrap_err(),
        store.looks(RunId(9)).unwrap_err(),
        store.set_stop(RunId(9), Stop { blocks: 1, why: StopWhy::Cap }).unwrap_err(),
        store.stop(RunId(9)).unwrap_err(),
        store.scores(RunId(9)).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NoSuchRun { .. }), "{error}");
    }
}

#[test]
fn questions_about_what_is_not_there_are_refused() {
    let good = header();
    let (_dir, store, _) = new(&good);
    let refused = |change: &dyn Fn(&mut fsarena_model::verdict::VerdictPlan)| {
        let mut header = good.clone();
        header.uid = "ffffffffffffffff".to_owned();
        change(header.plan.verdict.as_mut().unwrap());
        match store.create_run(&header, &owner()).unwrap_err() {
            StoreError::BadPlan { detail } => detail,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(&|ask| ask.questions[1].workload = 2).contains("questions[1].workload"));
    assert!(refused(&|ask| ask.headline = Some(4)).contains("headline"));
    assert!(
        refused(&|ask| ask.pairs = Pairs::Baseline { contender: 3 }).contains("pairs.contender")
    );
    for margin in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(refused(&|ask| ask.margin = margin).contains("margin"));
    }
    assert_eq!(store.runs().unwrap().len(), 1);
}

#[test]
fn a_handicap_is_no_estimate() {
    let mut contenders = vec![contender("ext4", "ext4", 1), contender("late", "ext4", 1)];
    contenders[1].levels.handicap_ns = SECOND_NS;
    let header = records::header(contenders, vec![small_files()], 500);
    let (_dir, store, run) = new(&header);
    store.put_record(run, &records::record(&header, 0)).unwrap();
    let alone = store.costs().unwrap();
    assert_eq!((alone.ops.len(), alone.overheads.len()), (3, 1));
    let mut slow = records::record(&header, 1);
    slow.elapsed_ns *= 2;
    for phase in &mut slow.phases {
        phase.clocks.durable_ns = Some(3 * SECOND_NS);
    }
    store.put_record(run, &slow).unwrap();
    assert_eq!(store.costs().unwrap(), alone);
    let raw = Connection::open(store.path()).unwrap();
    raw.execute_batch(
        "BEGIN; CREATE TEMP TABLE one AS SELECT id, slot_id, attempt, outcome, time_base,
         started_unix_ns, elapsed_ns, bad_files, raw, raw_sha256 FROM trial WHERE id = 2;
         CREATE TEMP TABLE phases AS SELECT * FROM score WHERE trial_id = 2;",
    )
    .unwrap();
    for id in 3..500 {
        raw.execute_batch(&format!(
            "UPDATE one SET id = {id}, slot_id = 2 * {id}; INSERT INTO trial SELECT * FROM one;
             UPDATE phases SET phase_id = NULL, trial_id = {id};
             INSERT INTO score SELECT * FROM phases;"
        ))
        .unwrap();
    }
    raw.execute_batch("COMMIT").unwrap();
    assert_eq!(store.run(run).unwrap().trials_done, 499);
    assert_eq!(store.costs().unwrap(), alone, "nor does it take the place of others");
}
