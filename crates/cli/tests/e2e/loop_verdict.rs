//! Verdicts on differences that are known: found, not found where there is none, computed again
//! from the file, and as exit codes.

use crate::support::{Course, NEVER_SAME, PROGRAM, Ran, TestEnv, assert_nothing_left, tool};
use fsarena_model::verdict::{Stop, StopWhy};
use serde_json::{Value, json};
use std::fs;

const FAR: &str = "fs = \"ext4\"\nhandicap = [\"500 ms\", \"2 s\"]";
const QUICK: &str = "ext4 handicap=500ms";
const LATE: &str = "ext4 handicap=2s";
const EQUAL: &str = "fs = [\"ext4\", \"ext4\"]";

/// Four times as slow: decided at the first look.
#[test]
fn loop_alone_a_known_difference_is_found() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let file = env.known("cap = 8", FAR, &["create"]);
    let ran = env.run(&["run", &file, "--require-decision"]).good();
    ran.says(&[&format!("{QUICK} is FASTER than {LATE}"), "after 4 blocks: 1 of 1 decided"]);
    assert_nothing_left(&env);
    let course = env.course();
    assert_eq!(course.stop, Some(Stop { blocks: 4, why: StopWhy::Decided }));
    assert_eq!(course.looks, [4]);
    assert_eq!(course.attempts.len(), 8);
    let four: Vec<u32> = (0..4).collect();
    assert_eq!(course.done(), [(LATE, four.clone()), (QUICK, four)].into());
    let listed = env.run(&["list", "--json"]).good().json();
    assert_eq!(listed["runs"][0]["state"], "done");
    let shown = env.run(&["show"]).good();
    shown.says(&["done", &format!("{QUICK} is FASTER than {LATE}"), "4 blocks"]);
    found(&env.studied(1), &course);
    the_same_wherever_it_lies(&env);
    a_run_that_has_ended_does_not_go_on(&env);
    which_of_two_is_asked_for(&env);
    assert_nothing_left(&env);
}

/// What `study --json` says of it.
fn found(document: &Value, course: &Course) {
    assert_eq!((&document["schema"], &document["kind"]), (&json!(2), &json!("verdicts")));
    assert_eq!(document["agrees_with_stored_looks"], json!(true));
    assert_eq!(document["stop"], json!({ "blocks": 4, "why": "decided" }));
    assert_eq!(document["rule"], json!({ "kind": "looks", "cap": 8 }));
    assert_eq!(document["margin"], json!(0.05));
    let questions = document["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 1);
    let question = &questions[0];
    assert_eq!(question["looks"], json!([4]));
    let pairs = question["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 1);
    let pair = &pairs[0];
    assert_eq!((&pair["a_label"], &pair["b_label"]), (&json!(QUICK), &json!(LATE)));
    assert_eq!((&pair["verdict"], &pair["n"]), (&json!("FASTER"), &json!(4)));
    assert_eq!((&pair["at_blocks"], &pair["forecast"]), (&json!(4), &Value::Null));
    let number = |value: &Value| value.as_f64().unwrap();
    let (low, ratio, high) = (number(&pair["low"]), number(&pair["ratio"]), number(&pair["high"]));
    assert!(0.0 < low && low < ratio && ratio < high && high < 1.0, "{pair}");
    // The work itself comes to both, on a busy machine sometimes more to the one: the ratio is
    // about a quarter, and within those of the blocks.
    let (quick, late) = (course.returned_s(QUICK), course.returned_s(LATE));
    assert!(quick.values().all(|s| *s >= 0.5) && late.values().all(|s| *s >= 2.0), "{quick:?}");
    let mut ratios: Vec<f64> = quick.iter().map(|(block, s)| s / late[block]).collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0] * (1.0 - 1e-9), ratios[3] * (1.0 + 1e-9));
    assert!(least <= ratio && ratio <= most, "{ratio} is not in {ratios:?}: {pair}");
    let level = number(&pair["level"]);
    assert!(0.95 < level && level < 1.0, "it allows for the looks to come: {pair}");
    let row = |at: usize| {
        let row = &question["rows"][at];
        [&row["label"], &row["letters"], &row["n"]].map(Value::clone)
    };
    assert_eq!(row(0), [json!(QUICK), json!("a"), json!(4)]);
    assert_eq!(row(1), [json!(LATE), json!("b"), json!(4)]);
    assert_eq!(question["rows"][1]["against_reference"], json!("SLOWER"));
}

/// `study` prints the same bytes again, from a copy, from one that cannot be written to, and from
/// a database that took the RUN over.
fn the_same_wherever_it_lies(env: &TestEnv) {
    let elsewhere = env.make_dir("elsewhere");
    let copy = format!("{elsewhere}/kept.db");
    fs::copy(env.db(), &copy).unwrap();
    let bytes = fs::read(&copy).unwrap();
    let merged = format!("{elsewhere}/merged.db");
    env.run(&["merge", "--db", &merged, &env.db().display().to_string()]).good();
    let read_only = |args: &[&str]| {
        let unshare = tool("unshare")?;
        let script = format!(
            "mount --bind {elsewhere} {elsewhere}; mount -o remount,bind,ro {elsewhere}; \
             ! touch {elsewhere}/x 2> /dev/null; exec \"$@\""
        );
        let all = [&["-m", "sh", "-ec", &script, "sh", PROGRAM], args].concat();
        Some(env.finish(env.command_of(&unshare, &all)))
    };
    for form in [&["study", "1"][..], &["study"], &["study", "--all-pairs"], &["study", "--json"]] {
        let first = env.run(form).good();
        assert!(first.stdout.contains(LATE), "{}", first.stdout);
        let copied = [form, &["--db", &copy]].concat();
        let mut others = vec![env.run(form), env.run(&copied)];
        others.push(env.run(&[form, &["--db", &merged]].concat()));
        others.extend(read_only(&copied));
        for ran in others.into_iter().map(Ran::good) {
            assert_eq!(ran.stdout, first.stdout, "{form:?}");
            assert_eq!(ran.stderr, "", "{form:?}");
        }
    }
    assert!(fs::read(&copy).unwrap() == bytes, "the copy was changed");
    let mut studied = env.studied(1);
    let shown = env.run(&["show", "--json"]).good().json();
    for own in ["schema", "kind"] {
        studied.as_object_mut().unwrap().remove(own);
    }
    assert_eq!(shown["verdicts"], studied);
}

/// What is looked at until it pleases is no verdict.
#[track_caller]
fn a_run_that_has_ended_does_not_go_on(env: &TestEnv) {
    let before = fs::read(env.db()).unwrap();
    env.run(&["run", "--resume=1"]).refused(2, &["--resume: RUN 1 is done"]);
    env.run(&["run", "--resume"]).refused(2, &["no RUN was interrupted"]);
    for more in [["--cap", "16"], ["--runs", "20"], ["--budget", "1h"], ["--margin", "1%"]] {
        let ran = env.run(&[&["run", "--resume=1"], &more[..]].concat()).code(2);
        let ran = ran.says(&["cannot be used with", more[0]]);
        assert_eq!(ran.stdout, "");
    }
    assert!(fs::read(env.db()).unwrap() == before, "the database was changed");
}

/// Without a baseline, SLOWER is said of nobody in particular.
fn which_of_two_is_asked_for(env: &TestEnv) {
    let compare = |args: &[&str]| env.run(&[&["compare", "1"], args].concat());
    compare(&["--fail-on", "slower"]).refused(2, &["there is no baseline", "--pair new,old"]);
    compare(&["--bisect"]).refused(128, &["there is no baseline", "--pair new,old"]);
    let (slower, faster) = (format!("{LATE},{QUICK}"), format!("{QUICK},{LATE}"));
    compare(&["--pair", &slower, "--fail-on", "slower"]).code(3).says(&["SLOWER"]);
    compare(&["--pair", &faster, "--fail-on", "slower"]).code(0).says(&["FASTER"]);
    compare(&["--pair", &slower, "--bisect"]).code(1);
    compare(&["--pair", &faster, "--bisect"]).code(0);
    compare(&["--pair", "ext4,xfs", "--bisect"]).code(128).says(&["xfs"]);
    compare(&["--margin", "1%"]).refused(2, &["--margin", "cannot be changed afterwards"]);
}

/// With a baseline: 3 and 1 where the other is slower, 0 where it is faster, 125 where it is open.
#[test]
fn exit_codes_against_a_baseline() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let file = env.known("blocks = 3", FAR, &["create"]);
    let begin = |name: &str| env.run(&["run", &file, "--baseline", name]).good();
    begin(QUICK);
    begin(LATE);
    env.known("blocks = 1\nbaseline = \"ext4#1\"", EQUAL, &["create"]);
    env.run(&["run", &file]).good().says(&["UNDECIDED"]);
    let compare = |args: &[&str]| env.run(&[&["compare"], args].concat());
    for (run, by_slower, by_bisect, word) in
        [("1", 3, 1, "SLOWER"), ("2", 0, 0, "FASTER"), ("3", 0, 125, "UNDECIDED")]
    {
        compare(&[run]).code(0).says(&[word]);
        compare(&[run, "--fail-on", "slower"]).code(by_slower).says(&[word]);
        compare(&[run, "--bisect"]).code(by_bisect).says(&[word]);
        let open = if word == "UNDECIDED" { 4 } else { 0 };
        compare(&[run, "--require-decision"]).code(open);
        let document = compare(&[run, "--bisect", "--json"]).code(by_bisect).json();
        assert_eq!(document["kind"], "compare-run");
    }
    compare(&["--fail-on", "slower"]).code(0).says(&["UNDECIDED"]);
    compare(&["9", "--bisect"]).refused(128, &["no such RUN"]);
    assert_nothing_left(&env);
}

/// The slowest leaves when it is decided; the others go on without it.
#[test]
fn the_decided_leave() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    // Two that differ by a microsecond, which nothing here can tell.
    let factors = "fs = \"ext4\"\nhandicap = [\"300 ms\", \"300001 us\", \"2 s\"]";
    let file = env.known(&format!("cap = 8\n{NEVER_SAME}"), factors, &["create", "stat"]);
    let ran = env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    let course = env.course();
    assert_eq!(course.stop, Some(Stop { blocks: 8, why: StopWhy::Cap }));
    assert_eq!(course.looks, [4, 6, 8]);
    let done = course.done();
    let all: Vec<u32> = (0..8).collect();
    assert_eq!(done["ext4 handicap=300ms"], all);
    assert_eq!(done["ext4 handicap=300001us"], all);
    let far = &done["ext4 handicap=2s"];
    assert!(far.len() < 8 && *far == all[..far.len()], "{done:?}");
    assert!([4, 6].contains(&far.len()), "it leaves at a look: {done:?}");
    ran.says(&[&format!("block {} of at most 8: 2 trials", far.len() + 1)]);
    let document = env.studied(1);
    assert_eq!(document["agrees_with_stored_looks"], json!(true));
    for question in document["questions"].as_array().unwrap() {
        let rows = question["rows"].as_array().unwrap();
        assert_eq!(rows[2]["label"], "ext4 handicap=2s");
        assert_eq!(rows[2]["n"], json!(far.len()));
        let letters = |at: usize| rows[at]["letters"].as_str().unwrap().to_owned();
        assert!(letters(0).contains('a'), "{question}");
        assert!(!letters(2).contains('a') && !letters(2).is_empty(), "{question}");
    }
    assert_nothing_left(&env);
}

/// Shown, not assumed: the whole interval lies within the margin.
#[test]
fn equal_ones_are_the_same() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let factors = format!("{EQUAL}\nhandicap = \"500 ms\"");
    let file = env.known("cap = 8\nmargin = \"25%\"", &factors, &["create"]);
    let ran = env.run(&["run", &file, "--require-decision"]).good();
    ran.says(&["SAME", "25 %", "The comparison is decided."]);
    assert_nothing_left(&env);
    assert!(matches!(env.course().stop, Some(Stop { why: StopWhy::Decided, .. })));
    let document = env.studied(1);
    let question = &document["questions"][0];
    let pair = &question["pairs"][0];
    assert_eq!(pair["verdict"], json!("SAME"));
    let ends = ["same_low", "same_high"].map(|end| pair[end].as_f64().unwrap());
    assert!(0.8 < ends[0] && ends[0] < ends[1] && ends[1] < 1.25, "{pair}");
    for row in question["rows"].as_array().unwrap() {
        assert_eq!((&row["letters"], &row["tier"]), (&json!("a"), &json!(1)), "{row}");
    }
    let labels = ["ext4 handicap=500ms#1", "ext4 handicap=500ms#2"].join(",");
    let compare = |args: &[&str]| env.run(&[&["compare", "--pair", &labels], args].concat());
    compare(&["--fail-on", "slower", "--require-decision"]).good().says(&["SAME"]);
    compare(&["--bisect"]).good();
}

/// Three RUNs can speak for others of this boot, two cannot; boots are on neither side enough.
#[test]
fn several_runs_are_units() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let factors = "fs = \"ext4\"\nhandicap = [\"200 ms\", \"1 s\"]";
    let file = env.known("blocks = 2", factors, &["create"]);
    for _ in 0..3 {
        env.run(&["run", &file]).good();
    }
    let compare = |args: &[&str]| env.run(&[&["compare"], args].concat());
    let slower = ["--pair", "ext4 handicap=1s,ext4 handicap=200ms"];
    let faster = ["--pair", "ext4 handicap=200ms,ext4 handicap=1s"];
    let three = ["1", "2", "3"];
    compare(&[&three[..], &slower, &["--fail-on", "slower"]].concat()).code(3).says(&["SLOWER"]);
    compare(&[&three[..], &slower, &["--bisect"]].concat()).code(1);
    let ran = compare(&[&three[..], &faster, &["--bisect"]].concat()).good();
    ran.says(&["FASTER", "3 RUNs", "3 of 3 below 1"]);
    let two = compare(&["1", "2", "--require-decision"]).code(4);
    two.says(&["UNDECIDED", "two RUNs can never speak for others"]);
    compare(&["1", "2", "1"]).refused(2, &["RUN 1 is given twice"]);
    let sides = ["--before", "1,2", "--after", "3"];
    let ran = compare(&[&sides[..], &["--bisect"]].concat()).code(125);
    ran.says(&["nothing that is recorded", "UNDECIDED", "it takes 3 on each side"]);
    compare(&["--before", "1,2", "--after", "2,3"]).refused(2, &["RUN 2 is given twice"]);
    for args in [&three[..], &sides] {
        let first = compare(args).good().stdout;
        assert_eq!(compare(args).good().stdout, first);
    }
    assert_nothing_left(&env);
}

/// A number that was asked for is carried out, and looked at once; nobody leaves before.
#[test]
fn a_fixed_number_of_blocks() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    // Noise can feign a difference in one of the phases, hardly in all four of them.
    let phases = ["create", "read", "read-random", "stat"];
    let file = env.known("margin = \"0.01%\"", EQUAL, &phases);
    let args = ["run", &file, "--runs", "3"];
    env.run(&[&args[..], &["--require-decision"]].concat()).code(4).says(&["UNDECIDED"]);
    assert_nothing_left(&env);
    let course = env.course();
    assert_eq!(course.stop, Some(Stop { blocks: 3, why: StopWhy::Cap }));
    assert_eq!((course.schedule.len(), course.attempts.len()), (6, 6));
    assert_eq!(course.looks, [3]);
    let three: Vec<u32> = (0..3).collect();
    assert_eq!(course.done(), [("ext4#1", three.clone()), ("ext4#2", three)].into());
    env.run(&["study", "--require-decision"]).code(4).says(&["UNDECIDED"]);
    env.run(&["study"]).good();
    let document = env.studied(1);
    assert_eq!(document["rule"], json!({ "kind": "fixed", "blocks": 3 }));
    assert_eq!(document["agrees_with_stored_looks"], json!(true));
    assert_eq!(document["margin"], json!(0.0001));
    let pairs: Vec<&Value> =
        document["questions"].as_array().unwrap().iter().map(|one| &one["pairs"][0]).collect();
    assert_eq!(pairs.len(), 4);
    assert!(pairs.iter().all(|pair| pair["n"] == json!(3) && pair["verdict"] != json!("SAME")));
    assert!(pairs.iter().any(|pair| pair["verdict"] == json!("UNDECIDED")));
    a_run_that_has_ended_does_not_go_on(&env);
    assert_nothing_left(&env);
}

/// The first trial is done in any case; no other is begun that would not end in time, and where the
/// RUN ended it is looked at once more.
#[test]
fn a_budget_that_is_used_up() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let run = format!("cap = 8\nbudget = \"1 s\"\n{NEVER_SAME}");
    let factors = format!("{EQUAL}\nhandicap = \"200 ms\"");
    let file = env.known(&run, &factors, &["create", "read", "stat"]);
    let ran = env.run(&["run", &file]).good();
    let cut_off = "cut off by its budget of 1.00 s: 0 of at most 8 blocks done, 8 left";
    ran.says(&[cut_off, "budget"]);
    env.run(&["list"]).good().says(&[cut_off]);
    assert_nothing_left(&env);
    let course = env.course();
    assert_eq!(course.stop, Some(Stop { blocks: 0, why: StopWhy::Budget }));
    assert_eq!(course.looks, [0; 0], "no block says nothing about the spread");
    assert_eq!(course.attempts.len(), 1, "a second trial of 0.6 s and more does not fit");
    let document = env.studied(1);
    assert_eq!(document["stop"], json!({ "blocks": 0, "why": "budget" }));
    assert_eq!(document["budget_ns"], json!(1_000_000_000));
    env.run(&["study", "--require-decision"]).code(4);
    a_run_that_has_ended_does_not_go_on(&env);
    // Six blocks of 1.2 s at most.
    env.run(&["run", &file, "--budget", "8s"]).good();
    let course = env.course_of(2);
    let Some(Stop { blocks, why: StopWhy::Budget }) = course.stop else {
        panic!("{:?}", course.stop);
    };
    assert!((1..=6).contains(&blocks), "{blocks}");
    let trials = course.attempts.len();
    assert!((2 * blocks as usize..=2 * blocks as usize + 1).contains(&trials), "{trials}");
    assert_eq!(course.looks.last().copied(), Some(blocks).filter(|blocks| *blocks > 1));
    assert_eq!(env.studied(2)["stop"], json!({ "blocks": blocks, "why": "budget" }));
    // A number that is asked for takes the place of the file's budget.
    env.run(&["run", &file, "--runs", "2"]).good();
    let course = env.course_of(3);
    assert_eq!(course.stop, Some(Stop { blocks: 2, why: StopWhy::Cap }));
    assert_eq!(course.looks, [2]);
    assert_nothing_left(&env);
}
