//! Programs of 32 bits under a kernel of 64: the commands of their cache, and trials by programs
//! whose width is proved.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::factor::has_i386_programs;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunHeader;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const FACTORS: &str = "fs = \"tmpfs\"\ndevice = \"loop:256M\"\ncache = \"warm\"\n\
                       programs = [\"native\", \"i386\"]";
const TREE: &str = "dataset = { small = 20, size = \"20 KiB\", dirs = 2 }";

/// The programs in the cache of this user, which tests do not fetch.
fn cached() -> Option<PathBuf> {
    let cache = fsarena_guests::program_tree::ProgramCache::of_user().ok()?;
    let tree = cache.tree().filter(|tree| tree.start_loader().is_ok());
    if tree.is_none() {
        println!("not run: there are no programs of i386 here (fsarena programs add i386)");
    }
    tree.map(|_| cache.dir().to_owned())
}

/// `fsarena` with the programs in `dir`.
fn run_with(env: &TestEnv, dir: &Path, args: &[&str]) -> crate::support::Ran {
    let mut command = env.command(args);
    command.env("FSARENA_PROGRAMS_DIR", dir);
    env.finish(command)
}

/// Records of RUN number `run` with whether programs of i386 did their work.
fn records(env: &TestEnv, run: usize) -> Vec<(bool, TrialRecord)> {
    let shown = env.run(&["show", &run.to_string(), "--json"]).good().json();
    let header: RunHeader = serde_json::from_value(shown["run"].clone()).unwrap();
    let is_i386 = |record: &TrialRecord| {
        let mut all = header.plan.contenders.iter();
        let own = all.find(|contender| contender.id() == record.key.contender).unwrap();
        has_i386_programs(&own.levels)
    };
    env.records(run).into_iter().map(|record| (is_i386(&record), record)).collect()
}

#[test]
fn without_programs_contenders_are_left_out_and_lists_are_empty() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let none = env.path("none");
    let listed = run_with(&env, &none, &["programs", "list"]).good();
    listed.says(&["fsarena programs add i386"]);
    let json = run_with(&env, &none, &["programs", "list", "--json"]).good().json();
    assert_eq!(json["programs"].as_array().unwrap().len(), 0);
    run_with(&env, &none, &["programs", "delete", "i386", "--yes"])
        .refused(2, &["there are no programs of i386"]);
    let work = format!("[[workload]]\nname = \"trees\"\n{TREE}\nphases = [\"copy\"]\n");
    let file = env.real_experiment(FACTORS, &work);
    let ran = run_with(&env, &none, &["run", &file]).good();
    ran.says(&["there are no programs of i386 here: fsarena programs add i386"]);
    assert_eq!(env.records(1).len(), 1, "those of this machine are measured all the same");
    assert_nothing_left(&env);
}

#[test]
fn a_cache_of_another_user_is_refused() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let dir = env.path("theirs");
    fs::create_dir(&dir).unwrap();
    std::os::unix::fs::chown(&dir, Some(65_533), None).unwrap();
    run_with(&env, &dir, &["programs", "add", "i386", "--yes"])
        .refused(1, &["belongs to user 65533", "FSARENA_PROGRAMS_DIR"]);
}

#[test]
fn every_program_of_a_trial_is_of_its_width() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let Some(dir) = cached() else { return };
    let work = format!(
        "[[workload]]\nname = \"trees\"\n{TREE}\nphases = [\"copy\", \
         {{ op = \"archive\", name = \"pack\", compression = \"gzip\" }}, \
         {{ op = \"untar\", of = \"pack\" }}, {{ op = \"delete\", of = \"copy\" }}]\n"
    );
    let file = env.real_experiment(FACTORS, &work);
    run_with(&env, &dir, &["run", &file]).good().says(&["i386 programs"]);
    let records = records(&env, 1);
    assert_eq!(records.iter().map(|(is_i386, _)| *is_i386).filter(|is| *is).count(), 1);
    for (is_i386, record) in &records {
        assert_eq!(record.outcome, Outcome::Done);
        let bits = if *is_i386 { 32 } else { 64 };
        let pack = record.phases.iter().find(|phase| phase.name == "pack").unwrap();
        let figures = &pack.program.as_ref().unwrap().figures;
        let started: u64 = figures[&format!("elf_{bits}_files_started")].parse().unwrap();
        // tar, gzip and the shell between them, each with its loader, and versions asked for.
        assert!(started >= 6, "{figures:?}");
        let task_cpu = record.phases.iter().filter_map(|phase| phase.task_cpu);
        assert_eq!(task_cpu.count(), 4, "every phase has a task clock");
    }
    assert_nothing_left(&env);
}

#[test]
fn a_helper_of_the_other_width_fails_the_trial() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let Some(dir) = cached() else { return };
    // Not below /usr, where the tree would be laid over it.
    let helper = env.path("helper");
    fs::copy("/bin/true", &helper).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let work = format!(
        "[[workload]]\nname = \"planted\"\n{TREE}\n\
         phases = [{{ name = \"c\", op = \"command\", \
         run = \"cp -r {{data}} {{mnt}}/x && {}\" }}]\n",
        helper.display()
    );
    let file = env.real_experiment(FACTORS, &work);
    run_with(&env, &dir, &["run", &file, "--yes"]);
    for (is_i386, record) in records(&env, 1) {
        match (&record.outcome, is_i386) {
            (Outcome::Done, false) => {}
            (Outcome::Failed { error, .. }, true) => {
                let named = format!("{} was started, which has 64 bits", helper.display());
                assert!(error.contains(&named), "{error}");
            }
            (other, _) => panic!("i386: {is_i386}: {other:?}"),
        }
    }
    assert_nothing_left(&env);
}
