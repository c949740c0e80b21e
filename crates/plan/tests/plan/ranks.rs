//! Ranks and hosts as factors: what becomes a contender, what a workload is at its level, and what
//! is refused.

use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::factor;
use fsarena_model::run::RunPlan;
use fsarena_plan::{Overrides, at_levels, expand, from_options, most_ranks, parse, to_toml};

fn options(levels: &[(&'static str, &str)]) -> Overrides {
    Overrides {
        on: vec!["/srv/bench".to_owned()],
        workloads: Some("small-files".to_owned()),
        levels: levels.iter().map(|(key, text)| (*key, (*text).to_owned())).collect(),
        ..Overrides::default()
    }
}

fn planned(levels: &[(&'static str, &str)]) -> Result<RunPlan, String> {
    let overrides = options(levels);
    let experiment = from_options(&overrides).map_err(|error| error.to_string())?;
    expand(&experiment, &overrides, &TestRules).map_err(|error| error.to_string())
}

/// Ranks and threads of the timed phases of each contender.
fn spread(plan: &RunPlan) -> Vec<(u32, u32)> {
    let of = |one: &fsarena_model::contender::Contender| {
        let workload = at_levels(&plan.workloads[0], &one.levels);
        let mut all = workload.phases.iter().filter(|phase| phase.timed);
        let io = &all.next().expect("a timed phase").io;
        let numbers = (io.ranks, io.threads);
        assert!(all.all(|phase| (phase.io.ranks, phase.io.threads) == numbers));
        numbers
    };
    plan.contenders.iter().map(of).collect()
}

#[test]
fn several_numbers_of_ranks_are_levels_of_the_contender() {
    let plan = planned(&[("ranks", "1..8")]).unwrap();
    insta::assert_snapshot!(labels(&plan), @r"
    directory ranks=1
    directory ranks=2
    directory ranks=4
    directory ranks=8
    ");
    assert_eq!(spread(&plan), [(1, 1), (2, 2), (4, 4), (8, 8)]);
    assert_eq!(plan.workloads[0].phases[0].io.ranks, 1, "the workload is as it is written");
    assert_eq!(most_ranks(&plan), 8);
    let of_first_block = plan.schedule.iter().filter(|slot| slot.block == 0).count();
    assert_eq!(of_first_block, 4, "each is a trial in every block");
}

#[test]
fn one_number_of_ranks_belongs_to_the_workload() {
    let plan = planned(&[("ranks", "4")]).unwrap();
    assert_eq!(labels(&plan), "directory");
    assert_eq!(spread(&plan), [(4, 4)]);
    assert_eq!(plan.workloads[0].phases[0].io.ranks, 4);
    let plain = planned(&[]).unwrap();
    assert_eq!(plan.contenders, plain.contenders, "no other contender than without");
    assert_eq!((most_ranks(&plan), most_ranks(&plain)), (4, 1));
}

#[test]
fn hosts_have_one_rank_each_unless_ranks_are_said() {
    let plan = planned(&[("host_count", "1,2,4")]).unwrap();
    insta::assert_snapshot!(labels(&plan), @r"
    directory hosts=1
    directory hosts=2
    directory hosts=4
    ");
    assert_eq!(spread(&plan), [(1, 1), (2, 2), (4, 4)]);
    let plan = planned(&[("host_count", "1,2,4"), ("ranks", "8")]).unwrap();
    assert_eq!(spread(&plan), [(8, 8); 3]);
    let hosts = |plan: &RunPlan| -> Vec<_> {
        plan.contenders.iter().map(|one| factor::host_count(&one.levels)).collect()
    };
    assert_eq!(hosts(&plan), [Some(1), Some(2), Some(4)]);
    let plan = planned(&[("host_count", "1,2"), ("ranks", "1,2")]).unwrap();
    insta::assert_snapshot!(labels(&plan), @r"
    directory hosts=1 ranks=1
    directory hosts=1 ranks=2
    directory hosts=2 ranks=1
        not run: fewer ranks (1) than hosts (2): name at least one for each
    directory hosts=2 ranks=2
    ");
}

#[test]
fn a_file_has_the_same_levels() {
    let with = |factors: &str| {
        plan(&file(&format!("fs = \"directory\"\ndevice = \"/srv/bench\"\n{factors}")))
    };
    let numbers = with("ranks = [1, 2, 4, 8]").unwrap();
    assert_eq!(numbers.contenders, with("ranks = \"1..8\"").unwrap().contenders);
    assert_eq!(spread(&numbers), [(1, 1), (2, 2), (4, 4), (8, 8)]);
    assert_eq!(spread(&with("ranks = 2").unwrap()), [(2, 2)]);
    let uneven = with("host_count = \"2..6 step 2\"").unwrap();
    assert_eq!(spread(&uneven), [(2, 2), (4, 4), (6, 6)]);
    let error = with("ranks = [1, \"1..4\"]").unwrap_err().to_string();
    assert!(error.contains("the level of 6:10 again"), "{error}");

    let experiment = from_options(&options(&[("ranks", "1..4"), ("host_count", "1")])).unwrap();
    assert!(experiment.text.contains("host_count = \"1\"\nranks = [\"1\", \"2\", \"4\"]\n"));
    let again = parse(&to_toml(&experiment), "again.toml").unwrap();
    let again = expand(&again, &Overrides::default(), &TestRules).unwrap();
    assert_eq!(spread(&again), [(1, 1), (2, 2), (4, 4)]);
}

#[test]
fn each_thread_of_a_workload_is_in_every_rank() {
    let text = file("fs = \"directory\"\ndevice = \"/srv/bench\"\nranks = [1, 3]").replace(
        "use = \"small-files\"",
        "name = \"w\"\nfiles = 100\nsize = 1\ndirs = 20\nthreads = 4\n\
         phases = [\"create\", { op = \"read\", ranks = 2 }]",
    );
    let plan = plan(&text).unwrap();
    let of = |contender: usize| -> Vec<(u32, u32)> {
        let levels = &plan.contenders[contender].levels;
        let work = at_levels(&plan.workloads[0], levels);
        work.phases.iter().map(|phase| (phase.io.ranks, phase.io.threads)).collect()
    };
    assert_eq!(of(0), [(1, 4), (1, 2)], "four in a rank, and two in each of two");
    assert_eq!(of(1), [(3, 12), (3, 6)]);
}

#[test]
fn what_cannot_be_done_in_so_many_ranks_is_refused() {
    let error = |levels: &[(&'static str, &str)]| planned(levels).unwrap_err();
    assert_eq!(
        error(&[("ranks", "1,2000")]),
        "--ranks: \"2000\" is no number of ranks; use a number from 1 to 1024, such as 1,2,4 or \
         1..8"
    );
    let many = error(&[("ranks", "1..1024")]);
    assert!(many.starts_with("--ranks: 128 ranks for workload \"small-files\": 128 thr"), "{many}");
    assert!(many.contains("leaf directories; name fewer ranks, or use more directories"), "{many}");
    let hosts = error(&[("host_count", "1..1024")]);
    assert!(hosts.starts_with("--host-count: 128 ranks for workload"), "{hosts}");
    let fewer = error(&[("host_count", "4"), ("ranks", "2")]);
    assert!(
        fewer.contains("fewer ranks (2) than hosts (4): name at least one for each"),
        "{fewer}"
    );
    let overrides =
        Overrides { workloads: Some("cycle".to_owned()), ..options(&[("ranks", "1,2")]) };
    let experiment = from_options(&overrides).unwrap();
    let cycles = expand(&experiment, &overrides, &TestRules).unwrap_err().to_string();
    assert!(
        cycles.contains("2 ranks for workload \"cycle\": cycles are one process's"),
        "{cycles}"
    );
}
