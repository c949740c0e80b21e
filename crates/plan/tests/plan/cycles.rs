//! Cycles: defaults, mistakes with their places, scale, cost, and the way back to text.

use crate::rules::{TestRules, plan};
use fsarena_model::cycle::{Cycle, Disturb, Load, Overrun, Shares};
use fsarena_model::run::RunPlan;
use fsarena_model::spec::Step;
use fsarena_plan::{CostBasis, Overrides, estimate, expand, notices, parse, steps, to_toml};

fn file(phases: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\n[factors]\nfs = \"ext4\"\ndevice = \"loop:2G\"\n[[workload]]\n\
         name = \"w\"\nfiles = 1000\nsize = \"8 KiB\"\ndirs = 10\nphases = [\n{phases}\n]\n"
    )
}

fn first(phases: &str) -> Cycle {
    let plan = plan(&file(phases)).expect("it is read");
    plan.workloads[0].phases[0].cycle.clone().expect("it has cycles")
}

fn error(phases: &str) -> String {
    plan(&file(phases)).expect_err("it is refused").to_string()
}

fn at(text: &str, scale: f64) -> RunPlan {
    let overrides = Overrides { scale: Some(scale), ..Overrides::default() };
    let experiment = parse(text, "t.toml").expect("it is read");
    expand(&experiment, &overrides, &TestRules).expect("it expands")
}

#[test]
fn the_word_alone_has_the_defaults() {
    let shares = Shares { in_place: 25, truncate: 25, replace: 25, recreate: 15, temporary: 10 };
    let plain = Cycle {
        cycles: 3,
        period_ns: 300_000_000_000,
        overrun: Overrun::Overlap,
        updates: 1000,
        shares,
        disturb: None,
    };
    assert_eq!(first("\"cycle\""), plain, "40,000 or all there are");
    assert_eq!(first("{ op = \"cycle\" }"), plain);
    let phases = "{ op = \"cycle\", period = \"2 s\", cycles = 4, updates = 7, overrun = \"skip\", \
                  shares = { replace = 3 }, bs = \"4 KiB\", disturb = { load = \"create\" } }";
    let load = Load::Create { files: 1000, size_bytes: 4096, rate: 0 };
    let written = Cycle {
        cycles: 4,
        period_ns: 2_000_000_000,
        overrun: Overrun::Skip,
        updates: 7,
        shares: Shares { in_place: 0, truncate: 0, replace: 3, recreate: 0, temporary: 0 },
        disturb: Some(Disturb { load, cycles: Vec::new() }),
    };
    assert_eq!(first(phases), written);
    let read = "{ op = \"cycle\", disturb = { load = \"read\", rate = \"1M\", cycles = [3, 1] } }";
    let load = Load::Read { size_bytes: 64 << 20, bs_bytes: 1 << 20, rate_bytes: 1 << 20 };
    assert_eq!(first(read).disturb.unwrap(), Disturb { load, cycles: vec![1, 3] });
}

#[test]
fn mistakes_have_their_places() {
    let of = |keys: &str| error(&format!("{{ op = \"cycle\", {keys} }}"));
    assert_eq!(
        of("threads = 2"),
        "t.toml:12:17: `threads` with `cycle`: it is one thread of blocking calls, as the \
         application was; leave it out"
    );
    assert_eq!(
        of("order = \"random\""),
        "t.toml:12:17: `order` with `cycle`: the files of a cycle are drawn anew for each; leave \
         it out"
    );
    assert_eq!(
        of("updates = 1001"),
        "t.toml:12:27: a cycle of 1001 updates over 1000 files; use as many files, or fewer \
         updates: each is of one"
    );
    assert_eq!(of("period = \"1 ms\""), "t.toml:12:26: a period of 1.00 ms; use 10 ms to 24 h");
    assert_eq!(
        of("overrun = \"wait\""),
        "t.toml:12:27: unknown kind of overrun \"wait\"; known: overlap, skip, queue"
    );
    assert_eq!(
        of("shares = { replaced = 1 }"),
        "t.toml:12:28: unknown key in [workload.phases.shares]: \"replaced\"; did you mean \
         \"replace\"?"
    );
    assert_eq!(
        of("shares = { replace = 0 }"),
        "t.toml:12:26: shares of nothing; give at least one a weight: in-place = 1"
    );
    assert_eq!(
        of("disturb = { load = \"create\", bs = 1 }"),
        "t.toml:12:46: unknown key in [workload.phases.disturb]: \"bs\"; known: load, files, \
         size, rate, cycles"
    );
    assert_eq!(
        of("disturb = { load = \"write\", cycles = [4] }"),
        "t.toml:12:55: `workload.phases.disturb.cycles` is 4; it has to be from 1 to 3"
    );
    assert_eq!(
        error("{ op = \"read\", period = \"1 s\" }"),
        "t.toml:12:16: `period` with `read`: it is for `cycle`; leave it out, or use op = \
         \"cycle\""
    );
    assert_eq!(
        error("\"cycle\", \"cycle\""),
        "t.toml:12:10: two phases are named \"cycle\"; name one: { name = \"cycle-2\", op = \
         \"cycle\" }"
    );
    assert!(error("\"delete\", \"cycle\"").contains("put the deletion last"));
    assert!(error("\"cycle-random\"").contains("unknown phase"));
}

#[test]
fn files_are_there_before_and_after() {
    let phases = "\"cycle\", \"read\", { op = \"cycle\", name = \"again\" }, \"delete\"";
    let plan = plan(&file(phases)).unwrap();
    let steps = steps(&plan.workloads[0], &plan.contenders[0].levels, true);
    let names: Vec<&str> = steps.iter().map(Step::name).collect();
    let prepared = names.iter().position(|name| *name == "prepare").unwrap();
    assert!(prepared < names.iter().position(|name| *name == "measure").unwrap(), "{names:?}");
    // Defaults of the workload go to the others.
    let text = file(phases).replace("dirs = 10", "dirs = 10\nthreads = 2\nfsync = \"end\"");
    let plan = crate::rules::plan(&text).unwrap();
    let threads: Vec<u32> = plan.workloads[0].phases.iter().map(|p| p.io.threads).collect();
    assert_eq!(threads, [1, 2, 1, 2]);
}

#[test]
fn a_scale_shrinks_all_of_it_together_and_says_so() {
    let text = file(
        "{ op = \"cycle\", updates = 500, disturb = { load = \"create\", files = 50 } },\n\
         { op = \"cycle\", name = \"w\", \
         disturb = { load = \"write\", size = \"2M\", bs = \"1M\" } }",
    );
    let plan = at(&text, 0.1);
    let work = &plan.workloads[0];
    let cycle = work.phases[0].cycle.as_ref().unwrap();
    assert_eq!((work.dataset.files, cycle.updates, cycle.cycles), (100, 50, 3));
    assert_eq!(cycle.period_ns, 30_000_000_000);
    let Load::Create { files, size_bytes, .. } = cycle.disturb.as_ref().unwrap().load else {
        panic!()
    };
    assert_eq!((files, size_bytes), (5, 4096));
    let load = work.phases[1].cycle.as_ref().unwrap().disturb.as_ref().unwrap().load;
    assert!(matches!(load, Load::Write { size_bytes: 1_048_576, .. }), "{load:?}");
    let said = notices(work, plan.scale);
    assert_eq!(said.len(), 2);
    assert_eq!(
        said[0].text,
        "workload \"w\": at --scale 0.1 a cycle of \"cycle\" is 50 updates over 100 files every \
         30.0 s, next to 5 files of the second load: files and period are scaled together, and its \
         figures are not those of the whole"
    );
    assert!(notices(work, 1.0).is_empty());
    let least = at(&text, 0.000_01);
    assert_eq!(least.workloads[0].phases[0].cycle.as_ref().unwrap().updates, 1);
    let said = &notices(&least.workloads[0], least.scale)[0].text;
    assert!(
        said.contains("10.0 ms") && said.contains("the period is the shortest there"),
        "{said}"
    );
}

#[test]
fn a_trial_lasts_as_long_as_its_periods() {
    let plan = plan(&file("{ op = \"cycle\", cycles = 4, period = \"100 s\" }")).unwrap();
    let cost = estimate(&plan, &CostBasis::default());
    let seconds = cost.rows[0].trial_ns / 1_000_000_000;
    assert!((400..410).contains(&seconds), "{seconds}");
    // The files once, and once more in each cycle.
    let files = cost.rows[0].trial_written_bytes / (1000 * (8192 + 1024));
    assert!((5..=13).contains(&files), "{files}");
}

#[test]
fn what_is_written_reads_back() {
    let text = file(
        "{ op = \"cycle\", name = \"a\", period = \"1500 ms\", updates = 9, overrun = \"queue\", \
         bs = \"4 KiB\", shares = { in-place = 1, temporary = 2 } },\n\
         { op = \"cycle\", disturb = { load = \"create\", files = 3, size = 5, rate = 7, cycles = \
         [2] } },\n\
         { op = \"cycle\", name = \"c\", disturb = { load = \"read\", size = \"3M\", bs = \"1M\", \
         rate = 5000 } }",
    );
    let text = text.replace("[factors]", "[run]\naccount = true\n[factors]");
    let experiment = parse(&text, "t.toml").unwrap();
    assert!(experiment.run.account);
    let written = to_toml(&experiment);
    let again = parse(&written, "again.toml").unwrap();
    assert!(again.run.account, "{written}");
    assert_eq!(again.workloads[0].value, experiment.workloads[0].value, "{written}");
    assert_eq!(to_toml(&again), written);
    let overrides = Overrides { account: true, ..Overrides::default() };
    let plain = parse(&file("\"cycle\""), "t.toml").unwrap();
    assert!(expand(&plain, &overrides, &TestRules).unwrap().account);
}
