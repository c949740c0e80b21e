//! A plan with verdicts: what is asked, when it is looked at, and what it costs at least and at
//! most.

use crate::golden::plain;
use crate::golden::width::fits;
use fsarena_model::contender::Cache;
use fsarena_model::crash::{CrashNotRun, CrashPlan};
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::verdict::{Limits, Metric, Pairs, Question, Rule, VerdictPlan};
use fsarena_report::{FullSize, PlanCost, PlanCostRow, plan_table};
use fsarena_testkit::crash;
use fsarena_testkit::records::{self, contender, small_files};
use proptest::prelude::*;

/// Four contenders, of which tmpfs is warm.
fn sample(rule: Rule) -> RunPlan {
    let names = ["ext4", "xfs", "btrfs", "tmpfs"];
    let mut contenders = names.map(|name| contender(name, name, 1)).to_vec();
    contenders[3].levels.cache = Cache::Warm;
    let header = records::header(contenders, vec![small_files()], rule.blocks());
    let verdict = VerdictPlan {
        limits: Limits { steal_share: Some(0.2), foreign_share: Some(0.2), short_phases: true },
        ..records::asked(&header.plan, rule)
    };
    RunPlan { verdict: Some(verdict), ..header.plan }
}

fn cost(plan: &RunPlan) -> PlanCost {
    let rule = plan.verdict.as_ref().unwrap().rule;
    let (least, most) = (rule.least_blocks() as usize, rule.blocks() as usize);
    let row = |contender| PlanCostRow {
        contender,
        workload: 0,
        trials: most,
        least_trials: least,
        expected_s: Some(2.5 * most as f64),
        written_bytes: (most as u64) << 30,
        source: "earlier records".to_owned(),
    };
    PlanCost {
        rows: (0..plan.contenders.len()).map(row).collect(),
        total_s: 10.0 * most as f64,
        least_s: 10.0 * least as f64,
        written_bytes: (most as u64) << 32,
        least_written_bytes: (least as u64) << 32,
        image_bytes: 1 << 30,
        source: "Times from: earlier records".to_owned(),
        crash_runs_s: None,
        needs: Vec::new(),
        full_size: None,
    }
}

/// All but the table of contenders.
fn shown(plan: &RunPlan, width: usize) -> String {
    let text = plan_table(plan, &cost(plan), width, plain());
    text[text.find("Verdicts").unwrap()..].to_owned()
}

/// Another scale than that of the workloads: what they would cost as they are.
#[test]
fn a_plan_at_another_scale_says_what_full_size_costs() {
    let plan = sample(Rule::Fixed { blocks: 5 });
    let line = |full_size| {
        let cost = PlanCost { full_size, ..cost(&plan) };
        let text = plan_table(&plan, &cost, 100, plain());
        text.lines().filter(|line| line.contains("full size")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(line(None), "");
    let whole = cost(&plan).full_size(&plan);
    let fixed = matches!(&whole, FullSize::Costs { blocks, .. } if *blocks == plan.blocks);
    assert!(fixed, "{whole:?}");
    let costs = FullSize::Costs { blocks: 4, expected_s: 72_000.0, written_bytes: 3 << 40 };
    assert_eq!(
        line(Some(costs)),
        "At full size (--scale 1) 4 blocks are expected to take 20h00m and to write 3 TiB."
    );
    let refused = FullSize::Refused("it does not fit".to_owned());
    assert_eq!(line(Some(refused)), "At full size (--scale 1) it is refused: it does not fit");
}

/// The power cuts after the trials, and whose power is not cut.
#[test]
fn a_plan_with_crash_runs() {
    let mut plan = sample(Rule::Fixed { blocks: 2 });
    let reason = "power is cut on modelled disks alone".to_owned();
    let not_run = vec![CrashNotRun { contender: 3, reason }];
    plan.crash = Some(CrashPlan { not_run, ..crash::plan() });
    let cost = PlanCost { crash_runs_s: Some(33.0), ..cost(&plan) };
    let text = plan_table(&plan, &cost, 100, plain());
    insta::assert_snapshot!(text[text.find("Crash safety").unwrap()..].to_owned());
}

#[test]
fn a_plan_with_looks_80() {
    let mut plan = sample(Rule::Looks { cap: 32 });
    plan.contenders[1].levels.handicap_ns = 30_000_000;
    let verdict = plan.verdict.as_mut().unwrap();
    verdict.budget_ns = Some(1_800_000_000_000);
    verdict.spare_blocks = 4;
    let text = plan_table(&plan, &cost(&plan), 80, plain());
    insta::assert_snapshot!(text, @r"
    Contenders
    contender  file system  on             cache  memory  handicap  discard
    -----------------------------------------------------------------------
    ext4       ext4         loop of 1 GiB  cold   whole   none         none
    xfs        xfs          loop of 1 GiB  cold   whole   30.0 ms      none
    btrfs      btrfs        loop of 1 GiB  cold   whole   none         none
    tmpfs      tmpfs        loop of 1 GiB  warm   whole   none         none

    Verdicts
      - at most 32 blocks, looks after 4, 6, 8, 12, 16, 24, 32; contenders stop
        early once decided
      - 3 questions, 9 pairs in all: small-files:create, small-files:read-random,
        small-files:delete
      - headline: small-files:create
      - margin 5 %: SAME means a ratio within 0.952 and 1.050
      - budget 30m00s: no block is begun that is not expected to end within it
      - a block is run again where a hypervisor took over 20 % of the machine during
        a timed phase, or other programs had 20 % more of it around one contender; 4
        spare blocks for that

    Trials
    workload     contender  trials    time    time  written  known from
                                     after   after    after
                                         4      32       32
    ------------------------------------------------------------------------
    small-files  ext4         4-32  10.0 s  80.0 s   32 GiB  earlier records
    small-files  xfs          4-32  10.0 s  80.0 s   32 GiB  earlier records
    small-files  btrfs        4-32  10.0 s  80.0 s   32 GiB  earlier records
    small-files  tmpfs        4-32  10.0 s  80.0 s   32 GiB  earlier records

    16 trials in 4 blocks, if all is decided at the first look: expected 40.0 s, 16
    GiB written; at most 128 trials in 32 blocks: 5m20s, 128 GiB; images take 1 GiB
    at one time. Times from: earlier records. Nothing has been touched.
    ");
}

#[test]
fn a_plan_with_a_baseline_and_a_short_budget_100() {
    let mut plan = sample(Rule::Looks { cap: 8 });
    let verdict = plan.verdict.as_mut().unwrap();
    verdict.budget_ns = Some(30_000_000_000);
    verdict.spare_blocks = 2;
    verdict.pairs = Pairs::Baseline { contender: 1 };
    verdict.margin = 0.125;
    verdict.questions.truncate(1);
    let ask = |metric, clock| Question { workload: 0, phase: "create".to_owned(), metric, clock };
    verdict.questions.push(ask(Metric::Time, Clock::Returned));
    verdict.questions.push(ask(Metric::Cpu, Clock::Durable));
    verdict.headline = Some(2);
    insta::assert_snapshot!(shown(&plan, 100), @r"
    Verdicts
      - at most 8 blocks, looks after 4, 6, 8; contenders stop early once decided
      - 3 questions, 6 pairs with the baseline xfs in all: small-files:create,
        small-files:create:time:returned, small-files:create:cpu
      - headline: small-files:create:cpu
      - margin 12.5 %: SAME means a ratio within 0.889 and 1.125
      - budget 30.0 s: no block is begun that is not expected to end within it; the first look is
        expected later, after 40.0 s
      - a block is run again where a hypervisor took over 20 % of the machine during a timed phase, or
        other programs had 20 % more of it around one contender; 2 spare blocks for that

    Trials
    workload     contender  trials    time    time  written  known from
                                     after   after  after 8
                                         4       8
    ------------------------------------------------------------------------
    small-files  ext4          4-8  10.0 s  20.0 s    8 GiB  earlier records
    small-files  xfs           4-8  10.0 s  20.0 s    8 GiB  earlier records
    small-files  btrfs         4-8  10.0 s  20.0 s    8 GiB  earlier records
    small-files  tmpfs         4-8  10.0 s  20.0 s    8 GiB  earlier records

    16 trials in 4 blocks, if all is decided at the first look: expected 40.0 s, 16 GiB written; at most
    32 trials in 8 blocks: 80.0 s, 32 GiB; images take 1 GiB at one time. Times from: earlier records.
    Nothing has been touched.
    ");
}

#[test]
fn a_plan_of_as_many_as_fit_80() {
    let mut plan = sample(Rule::Fit { least: 4, most: 12 });
    let verdict = plan.verdict.as_mut().unwrap();
    (verdict.budget_ns, verdict.spare_blocks) = (Some(30_000_000_000), 2);
    insta::assert_snapshot!(shown(&plan, 80), @"
    Verdicts
      - 4 to 12 blocks, as many as fit into the budget by the time that blocks take;
        one look after the last
      - 3 questions, 9 pairs in all: small-files:create, small-files:read-random,
        small-files:delete
      - headline: small-files:create
      - margin 5 %: SAME means a ratio within 0.952 and 1.050
      - budget 30.0 s: no block is begun that is not expected to end within it; 4
        blocks are expected to take longer, 40.0 s
      - a block is run again where a hypervisor took over 20 % of the machine during
        a timed phase, or other programs had 20 % more of it around one contender; 2
        spare blocks for that

    Trials
    workload     contender  trials    time    time  written  known from
                                     after   after    after
                                         4      12       12
    ------------------------------------------------------------------------
    small-files  ext4         4-12  10.0 s  30.0 s   12 GiB  earlier records
    small-files  xfs          4-12  10.0 s  30.0 s   12 GiB  earlier records
    small-files  btrfs        4-12  10.0 s  30.0 s   12 GiB  earlier records
    small-files  tmpfs        4-12  10.0 s  30.0 s   12 GiB  earlier records

    16 trials in 4 blocks, if no more fit into the budget: expected 40.0 s, 16 GiB
    written; at most 48 trials in 12 blocks: 2m00s, 48 GiB; images take 1 GiB at one
    time. Times from: earlier records. Nothing has been touched.
    ");
    plan.verdict.as_mut().unwrap().budget_ns = None;
    let text = shown(&plan, 80);
    assert!(
        text.contains("- 12 blocks, as there is no budget; one look after the last\n"),
        "{text}"
    );
}

#[test]
fn a_plan_of_a_fixed_number_80() {
    insta::assert_snapshot!(shown(&sample(Rule::Fixed { blocks: 5 }), 80), @r"
    Verdicts
      - 5 blocks, one look after the last
      - 3 questions, 9 pairs in all: small-files:create, small-files:read-random,
        small-files:delete
      - headline: small-files:create
      - margin 5 %: SAME means a ratio within 0.952 and 1.050

    Trials
    workload     contender  trials  expected time  written  known from
    -----------------------------------------------------------------------
    small-files  ext4            5         12.5 s    5 GiB  earlier records
    small-files  xfs             5         12.5 s    5 GiB  earlier records
    small-files  btrfs           5         12.5 s    5 GiB  earlier records
    small-files  tmpfs           5         12.5 s    5 GiB  earlier records

    20 trials in 5 blocks: expected 50.0 s, 20 GiB written; images take 1 GiB at one
    time. Times from: earlier records. Nothing has been touched.
    ");
    let mut alone = sample(Rule::Fixed { blocks: 3 });
    alone.contenders.truncate(1);
    alone.schedule.retain(|slot| slot.contender == 0);
    insta::assert_snapshot!(shown(&alone, 80), @r"
    Verdicts
      - 3 blocks; nothing here can be compared with another

    Trials
    workload     contender  trials  expected time  written  known from
    -----------------------------------------------------------------------
    small-files  ext4            3         7.50 s    3 GiB  earlier records

    3 trials in 3 blocks: expected 30.0 s, 12 GiB written; images take 1 GiB at one
    time. Times from: earlier records. Nothing has been touched.
    ");
}

proptest! {
    #[test]
    fn no_plan_is_wider_than_asked(
        label in "\\PC{0,60}",
        name in "\\PC{0,60}",
        width in 80usize..160,
    ) {
        let mut plan = sample(Rule::Looks { cap: 96 });
        plan.contenders[0].label.clone_from(&label);
        plan.workloads[0].name = name;
        plan.verdict.as_mut().unwrap().pairs = Pairs::Baseline { contender: 0 };
        fits(&plan_table(&plan, &cost(&plan), width, plain()), width)?;
    }
}
