//! `[crash]`: what is asked, whom it concerns, and what is refused.

use crate::errors::all;
use crate::rules::{TestRules, plan};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_model::crash::{Campaign, CrashFaults, CrashSlot};
use fsarena_plan::{Experiment, Overrides, PlanError, expand, parse, to_toml};

fn text(device: &str, section: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\n[factors]\nfs = [\"ext4\", \"xfs\"]\ndevice = \"{device}\"\n\
         [[workload]]\nuse = \"small-files\"\n[crash]\n{section}\n"
    )
}

fn file(text: &str) -> Result<Experiment, PlanError> {
    parse(text, "t.toml")
}

const GUEST: &str = "virtual:8G:model=hdd-2007";

#[test]
fn an_empty_section_has_the_defaults() {
    let plan = plan(&text(GUEST, "")).unwrap();
    let crash = plan.crash.as_ref().unwrap();
    assert_eq!(crash.workloads, ["unsynced", "synced"]);
    assert_eq!(crash.states, ["dropall"]);
    assert_eq!((crash.runs, crash.points, crash.seconds), (10, 20, 120));
    assert_eq!(plan.crashed_contenders(), [0, 1]);
    let slots = plan.crash_slots();
    assert_eq!(slots.len(), 2 * 2 * 10);
    // The first run of everything comes before the second of anything.
    assert!(slots[..4].iter().all(|slot| slot.number == 0));
    assert_eq!(slots[4], CrashSlot { number: 1, workload: 0, contender: 0 });
    assert_ne!(plan.crash_seed(0), plan.crash_seed(1));
    let expected_s = fsarena_plan::crash_runs_s(&plan, 2).unwrap();
    assert!(expected_s > fsarena_plan::crash_runs_s(&plan, 4).unwrap(), "{expected_s}");
}

#[test]
fn the_section_has_its_old_name_too() {
    let new = text(GUEST, "runs = 3");
    let old = new.replace("[crash]", "[safety]");
    assert_eq!(file(&old).unwrap().crash, file(&new).unwrap().crash);
    let both = format!("{old}[crash]\n");
    assert!(file(&both).unwrap_err().to_string().contains("duplicate"), "{both}");
}

#[test]
fn power_is_cut_on_modelled_disks_of_this_machine_too() {
    let in_guests = plan(&text(GUEST, "")).unwrap();
    let native = plan(&text("vdisk:8G:model=hdd-2007", "")).unwrap();
    assert_eq!(native.crashed_contenders(), [0, 1]);
    // There the work takes its own time.
    let expected_s = fsarena_plan::crash_runs_s(&native, 2).unwrap();
    assert!(expected_s > 40.0 * 120.0, "{expected_s}");
    assert!(expected_s > fsarena_plan::crash_runs_s(&in_guests, 2).unwrap());
}

#[test]
fn power_is_cut_on_modelled_disks_alone() {
    let plan = plan(&text("loop:2G", "")).unwrap();
    assert!(plan.crash_slots().is_empty());
    let crash = plan.crash.unwrap();
    assert!(crash.not_run(1).unwrap().starts_with("power is cut on modelled disks alone"));
}

#[test]
fn what_was_read_is_written_again() {
    let section = "workloads = \"journal\"\nstates = [\"torn\", \"lying=3\"]\nruns = 2\npoints = 9";
    let read = file(&text(GUEST, section)).unwrap();
    let again = file(&to_toml(&read)).unwrap();
    assert_eq!(again.crash, read.crash);
    assert_eq!(again.crash.unwrap().states, ["torn", "lying=3"]);
}

const MINE: &str = "schema = 1\nname = \"mine\"\ntitle = \"t\"\nsource = \"s\"\n\
                    command = \"echo 1\"\ncheck = \"echo found 1\"\n";

/// Without trials.
fn alone(device: &str, section: &str) -> String {
    text(device, section).replace("[[workload]]\nuse = \"small-files\"\n", "")
}

/// Each kind of campaign, with some key of its own.
fn campaigns() -> Vec<String> {
    let described = toml::Value::String(MINE.to_owned());
    [
        "recovery_every = 2\nlose_flush = 7\nseed = 3\nkeep = 2".to_owned(),
        "kind = \"every-entry\"\nstates_most = 9\nlose_flush = 7\nworkloads = \"synced\""
            .to_owned(),
        format!(
            "kind = \"applications\"\nworkloads = [\"maildir\", \"mine\"]\n\
             described = {{ mine = {described} }}\nstates = [\"dropall\", \"lying=2\"]"
        ),
        "kind = \"sequences\"\nlength = 2\nsample = 70\nevery_entry = true\npublished = true"
            .to_owned(),
        "kind = \"litmus\"\nprograms = 20\nworkloads = \"prefix-append\"\nseed = 1".to_owned(),
        "kind = \"medium-errors\"\ncases = 4\nruns = 2\nseconds = 30".to_owned(),
    ]
    .into()
}

#[test]
fn every_kind_of_campaign_is_read_and_written_alike() {
    for section in campaigns() {
        let read = file(&alone(GUEST, &section)).unwrap();
        assert!(read.crash.as_ref().unwrap().is_alone && read.workloads.is_empty(), "{section}");
        let again = file(&to_toml(&read)).unwrap();
        assert_eq!(again.crash, read.crash, "{}", to_toml(&read));
        let json = serde_json::to_string(&read.crash).unwrap();
        assert_eq!(serde_json::from_str::<Option<_>>(&json).unwrap(), read.crash, "{json}");
        let plan = plan(&alone(GUEST, &section)).unwrap();
        assert!(plan.schedule.is_empty() && plan.verdict.is_none() && plan.is_crash_alone());
        assert!(!plan.crash_slots().is_empty() && fsarena_plan::crash_runs_s(&plan, 2).is_some());
    }
    let read = file(&alone(GUEST, &campaigns()[0])).unwrap().crash.unwrap();
    let faults = CrashFaults { recovery_every: 2, lose_flush: Some(7) };
    assert_eq!(read.campaign, Campaign::PowerCuts { faults });
    let plan = plan(&alone(GUEST, "seed = 3")).unwrap();
    assert_eq!((plan.crash_seed(0), plan.crash_seed(4)), (3, 7), "the seeds count up");
}

#[test]
fn runs_share_the_programs_of_a_campaign() {
    let of = |section: &str| plan(&alone(GUEST, section)).unwrap().crash.unwrap().runs;
    assert_eq!(of("kind = \"sequences\"\nsample = 200"), 3);
    assert_eq!(of("kind = \"litmus\"\nprograms = 20"), 3);
    let all = plan(&alone(GUEST, "kind = \"sequences\"")).unwrap().crash.unwrap().campaign;
    assert!(matches!(all, Campaign::Sequences { sample, all, .. } if sample == all && all > 100));
}

#[test]
fn crash_runs_alone_need_their_devices() {
    let refused =
        |device: &str, section: &str| plan(&alone(device, section)).unwrap_err().to_string();
    let modelled = refused("loop:2G", "");
    assert!(modelled.starts_with("--on: power is cut on modelled disks alone"), "{modelled}");
    plan(&alone("vdisk:2G:model=hdd-2007", "")).unwrap();
    let guests = refused("vdisk:2G:model=hdd-2007", "kind = \"litmus\"");
    assert!(guests.starts_with("--on: sequences are carried out in guests alone"), "{guests}");
    // Beside trials others are left out.
    let beside = plan(&text("vdisk:2G:model=hdd-2007", "kind = \"litmus\"")).unwrap();
    assert!(beside.crash_slots().is_empty() && !beside.schedule.is_empty());
    let read = file(&alone(GUEST, "")).unwrap();
    let none = Overrides { crash_runs: Some(0), ..Overrides::default() };
    let error = expand(&read, &none, &TestRules).unwrap_err().to_string();
    assert!(error.starts_with("--crash-runs: the experiment has crash runs alone"), "{error}");
    let with_work = plan(&text(GUEST, "alone = true\nworkloads = \"small-files\"")).unwrap();
    assert!(with_work.schedule.is_empty() && !with_work.workloads.is_empty());
}

#[test]
fn phases_of_the_experiment_are_a_workload() {
    let own = "workloads = [\"synced\", \"small-files\"]";
    let asked = plan(&text(GUEST, own)).unwrap();
    let crash = asked.crash.unwrap();
    assert_eq!((&crash.workloads[1], &crash.workload_notes), (&"small-files".to_owned(), &vec![]));
    let workload = CrashWorkload::named("small-files", &asked.workloads).unwrap();
    assert_eq!(workload.name(), "small-files");
    // Another workload by an option: the crash runs of the one that is gone are gone, too.
    let read = file(&text(GUEST, own)).unwrap();
    let other = Overrides { workloads: Some("big-file".to_owned()), ..Overrides::default() };
    assert_eq!(expand(&read, &other, &TestRules).unwrap().crash.unwrap().workloads, ["synced"]);
    let metadata = text(GUEST, own).replace("small-files", "metadata-calls");
    let notes = plan(&metadata).unwrap().crash.unwrap().workload_notes;
    assert!(notes[0].starts_with("metadata-calls: setxattr, link, symlink: left out"), "{notes:?}");
    let archive = text(GUEST, own).replace("small-files", "untar");
    let error = plan(&archive).unwrap_err().to_string();
    assert!(error.starts_with("t.toml:6:1: untar, untar: its contents are those"), "{error}");
    let named = "[[workload]]\nname = \"synced\"\nfiles = 1\nsize = \"1 KiB\"\n\
                 phases = [\"create\"]\n[crash]";
    let both = text(GUEST, "workloads = \"synced\"").replace("[crash]", named);
    let error = file(&both).unwrap_err().to_string();
    assert!(error.contains("\"synced\" is a crash workload and a workload of the exp"), "{error}");
}

#[test]
fn an_option_takes_the_place_of_the_runs() {
    let read = file(&text(GUEST, "runs = 7")).unwrap();
    let with = |crash_runs| {
        let overrides = Overrides { crash_runs: Some(crash_runs), ..Overrides::default() };
        expand(&read, &overrides, &TestRules)
    };
    assert_eq!(with(3).unwrap().crash.unwrap().runs, 3);
    assert_eq!(with(0).unwrap().crash, None);
    let without = text(GUEST, "").replace("[crash]\n", "");
    let read = file(&without).unwrap();
    let overrides = Overrides { crash_runs: Some(2), ..Overrides::default() };
    let error = expand(&read, &overrides, &TestRules).unwrap_err().to_string();
    assert!(error.starts_with("--crash-runs: the experiment has no section [crash]"), "{error}");
}

#[test]
fn mistakes_are_named_with_their_places() {
    let sections = [
        "workloads = [\"unsynced\", \"unsinced\"]",
        "workloads = [\"synced\", \"synced\"]",
        "states = \"lying\"",
        "states = [\"torn\", \"torn\"]",
        "states = [\"torn\", \"prefix\"]\npoints = 1",
        "runs = 0",
        "seconds = 4",
        "point = 3",
        "kind = \"power-cut\"",
        "kind = \"litmus\"\nseconds = 9",
        "kind = \"litmus\"\nworkloads = \"synced\"",
        "kind = \"sequences\"\nworkloads = \"synced\"",
        "kind = \"medium-errors\"\nworkloads = \"small-files\"",
        "kind = \"applications\"",
        "kind = \"applications\"\nworkloads = \"oracle\"",
        "described = { mine = \"schema = 1\" }",
        "kind = \"applications\"\nworkloads = \"mine\"\ndescribed = { mine = \"schema = 1\" }",
        "cases = 3",
    ];
    let errors = all(&sections.map(|section| text(GUEST, section)));
    insta::assert_snapshot!(errors);
}
