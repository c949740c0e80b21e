//! What is asked of a phase follows from what it was told to do.

use crate::rules::{file, plan};
use fsarena_model::spec::Step;
use fsarena_model::verdict::Metric;
use fsarena_model::work::FreeQuantity;

/// An experiment whose workload is these fio jobs, and further lines of it.
fn fio(jobs: &str, lines: &str) -> String {
    let workload = format!("name = \"w\"\ntitle = \"jobs\"\nfio = \"\"\"\n{jobs}\"\"\"\n");
    file("fs = ['ext4', 'xfs']\ndevice = 'loop:1G'")
        .replace("use = \"small-files\"", &workload)
        .replace("[factors]", &format!("{lines}[factors]"))
}

fn asked(text: &str) -> Vec<(String, Metric)> {
    let plan = plan(text).unwrap_or_else(|error| panic!("{error}"));
    let questions = plan.verdict.as_ref().expect("it asks").questions.iter();
    questions.map(|one| (one.phase.clone(), one.metric)).collect()
}

#[test]
fn jobs_of_fio_are_compared_by_what_their_options_leave_free() {
    let jobs = "[global]\nsize=8m\n[work]\nrw=write\n[timed]\nstonewall\nrw=randread\n\
                time_based\nruntime=2\n[paced]\nstonewall\nrw=randwrite\nrate_iops=200\n\
                [blind]\nstonewall\nrw=randwrite\nrate=1m\ngtod_reduce=1\n";
    let expected = [("work", Metric::Time), ("timed", Metric::PerOp), ("paced", Metric::P99)];
    assert_eq!(asked(&fio(jobs, "")), expected.map(|(name, metric)| (name.to_owned(), metric)));
    let plan = plan(&fio(jobs, "")).expect("a plan");
    let without = plan.phases_without_verdict().map(|(_, phase)| phase.name.as_str());
    assert_eq!(without.collect::<Vec<_>>(), ["blind"]);
}

#[test]
fn what_was_not_left_free_cannot_be_asked() {
    let refusal = |jobs: &str, ask: &str| {
        let lines = format!("[run]\nask = [\"w:a:{ask}\"]\n");
        plan(&fio(jobs, &lines)).expect_err("it has no such figure").to_string()
    };
    let timed = "[a]\nrw=randread\nsize=1m\nruntime=2\n";
    assert!(refusal(timed, "time").contains("the clock decides how many ops it has"));
    assert!(refusal(timed, "cpu").contains("the clock decides how many ops it has"));
    assert!(refusal(timed, "per-mib").contains("its work is counted in ops"));
    let work = "[a]\nrw=randread\nsize=1m\n";
    assert!(refusal(work, "per-op").contains("its work is the same in every trial"));
    let paced = "[a]\nrw=randwrite\nsize=1m\nrate_iops=9\n";
    assert!(refusal(paced, "time").contains("its ops come at a set rate"));
    assert!(refusal(paced, "per-op").contains("its ops come at a set rate"));
    let blind = "[a]\nrw=randwrite\nsize=1m\nrate_iops=9\ndisable_clat=1\n";
    assert!(refusal(blind, "p99").contains("its ops are not timed"));
}

/// An executor knows one phase at a time: what a phase before it has decided is in its spec.
#[test]
fn a_spec_says_what_a_stonewall_of_an_earlier_phase_has_decided() {
    let text = file("fs = 'ext4'\ndevice = 'loop:1G'").replace(
        "use = \"small-files\"",
        "name = \"w\"\ntitle = \"t\"\nfiles = 100\nsize = \"4K\"\nphases = [{ op = \"create\", \
         stonewall = \"1s\" }, \"stat\", \"delete\"]",
    );
    let plan = plan(&text).unwrap_or_else(|error| panic!("{error}"));
    let steps = fsarena_plan::steps(&plan.workloads[0], &plan.contenders[0].levels, false);
    let measured = steps.iter().filter_map(|step| match step {
        Step::Measure { phase } => Some(phase.constraints().free()),
        _ => None,
    });
    assert_eq!(measured.collect::<Vec<_>>(), [FreeQuantity::Ops; 3]);
}
