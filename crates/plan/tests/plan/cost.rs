//! What a plan will cost, and where each figure comes from.

use crate::rules::{TestRules, file, ops_per_trial, plan};
use fsarena_model::op::Op;
use fsarena_model::past::{PastStart, PastTrial, PastWork};
use fsarena_model::record::StepTime;
use fsarena_plan::cost::{
    CostSource, FSYNC_BYTES, METADATA_BYTES_PER_FILE, OpCost, device_kinds, mkfs_bytes,
    stated_block_ns,
};
use fsarena_plan::{CostBasis, Overrides, builtin, estimate, expand};

#[test]
fn bytes_are_images_once_and_datasets_in_blocks() {
    let text = file("fs = [\"ext4\", \"tmpfs\"]\ndevice = \"loop:2G\"").replace("small", "tiny");
    let cost = estimate(&plan(&text).unwrap(), &CostBasis::default());
    let data = 10_000 * (4096 + METADATA_BYTES_PER_FILE);
    assert_eq!(cost.image_bytes, 2 << 30);
    assert_eq!(cost.disk_written_bytes, (2 << 30) + 3 * (data + mkfs_bytes(2 << 30)));
    assert_eq!(cost.memory_written_bytes, 3 * data, "tmpfs has no mkfs");
    assert_eq!((cost.trials, cost.rows.len(), cost.images.len()), (6, 2, 1));
    let rows: u64 = cost.rows.iter().map(|row| row.trials * row.trial_ns).sum();
    assert_eq!(cost.total_ns, rows + cost.start_ns);
}

#[test]
fn a_measurement_goes_before_a_calibration_before_an_assumption() {
    let text = file("fs = \"ext4\"\ndevice = \"/var/tmp\"").replace("ext4", "directory");
    let text = text.replace("small-files", "big-file");
    let plan = plan(&text).unwrap();
    let per_byte = |ns_per_byte| OpCost { ns_per_op: 0.0, ns_per_byte };
    let kind = "directory".to_owned();
    let mut basis = CostBasis::default();
    basis.trial_overheads_ns.insert(("directory".to_owned(), kind.clone()), 0.0);
    assert_eq!(estimate(&plan, &basis).sources.last(), Some(&CostSource::Assumed));
    basis.calibrated = [(Op::BigWrite, per_byte(3.0)), (Op::BigRead, per_byte(1.0))].into();
    let cost = estimate(&plan, &basis);
    assert_eq!(cost.rows[0].trial_ns, 4 * (256 << 20));
    assert_eq!(cost.rows[0].source, CostSource::Calibrated);
    for op in [Op::BigWrite, Op::BigRead] {
        basis.measured.insert(("directory".to_owned(), kind.clone(), op), per_byte(2.0));
    }
    basis.measured.insert(("xfs".to_owned(), kind, Op::BigRead), per_byte(1000.0));
    let cost = estimate(&plan, &basis);
    assert_eq!(
        (cost.rows[0].trial_ns, cost.rows[0].source),
        (4 * (256 << 20), CostSource::Measured)
    );
    assert_eq!((cost.image_bytes, cost.images.len()), (0, 0), "a directory has no image");
}

/// What one RUN on `ram:` leaves in the store, an op in a nanosecond.
fn basis_of_a_ram_run(fs: &str) -> CostBasis {
    let one = |ns_per_op| OpCost { ns_per_op, ns_per_byte: 0.0 };
    let of = |op| ((fs.to_owned(), "ram".to_owned(), op), one(1.0));
    CostBasis {
        measured: Op::ALL.map(of).into(),
        calibrated: Op::ALL.map(|op| (op, one(1000.0))).into(),
        trial_overheads_ns: [((fs.to_owned(), "ram".to_owned()), 7.0)].into(),
        ..CostBasis::default()
    }
}

#[test]
fn a_run_in_memory_says_nothing_about_the_same_file_system_on_a_disk() {
    let plan = plan(&file("fs = \"xfs\"\ndevice = [\"loop:1G\", \"ram:1G\"]")).unwrap();
    let cost = estimate(&plan, &basis_of_a_ram_run("xfs"));
    let sources: Vec<_> = cost.rows.iter().map(|r| (r.source, r.overhead_source)).collect();
    assert_eq!(
        sources,
        [
            (CostSource::Calibrated, CostSource::Assumed),
            (CostSource::Measured, CostSource::Measured)
        ]
    );
    let ops = ops_per_trial(&plan.workloads[0]);
    assert_eq!(cost.rows[1].trial_ns, ops + 7);
    assert!(cost.rows[0].trial_ns > ops * 1000 + 1_000_000_000, "{}", cost.rows[0].trial_ns);
}

/// Times of records in virtual time are no real times, and waiting costs nothing there.
#[test]
fn a_trial_in_a_guest_takes_real_time_for_ops_alone() {
    let text = file("fs = \"ext4\"\ndevice = \"virtual:2G:model=hdd-2003\"");
    let plan = plan(&text).unwrap();
    let slow = OpCost { ns_per_op: 1e9, ns_per_byte: 1e9 };
    let of = |op| (("ext4".to_owned(), "virtual".to_owned(), op), slow);
    let overheads = [(("ext4".to_owned(), "virtual".to_owned()), 1e12)].into();
    let basis = CostBasis {
        measured: Op::ALL.map(of).into(),
        trial_overheads_ns: overheads,
        guests_at_once: 1,
        ..CostBasis::default()
    };
    let cost = estimate(&plan, &basis);
    assert!(cost.rows[0].trial_ns < 60_000_000_000, "{:?}", cost.rows[0]);
    assert_eq!(cost.rows[0].source, CostSource::Assumed);
    let trials = cost.rows[0].trials;
    let trials_ns = cost.total_ns - cost.start_ns;
    assert_eq!(trials_ns, (trials + 1) * cost.rows[0].trial_ns, "the first is done twice");
    let beside = estimate(&plan, &CostBasis { guests_at_once: 4, ..basis });
    assert_eq!(beside.total_ns - beside.start_ns, trials_ns / 4);
}

#[test]
fn a_file_system_without_a_device_costs_the_same_whatever_device_it_is_beside() {
    let plan = plan(&file("fs = \"tmpfs\"\ndevice = \"loop:1G\"")).unwrap();
    let row = &estimate(&plan, &basis_of_a_ram_run("tmpfs")).rows[0];
    assert_eq!((row.source, row.overhead_source), (CostSource::Measured, CostSource::Measured));
}

#[test]
fn kinds_of_device_have_the_names_of_the_records() {
    for device in ["loop:1G", "ram:1G", "zram:1G", "brd:1G", "null_blk:1G", "/dev/vdb", "loop:1G*2"]
    {
        let plan = plan(&file(&format!("fs = \"xfs\"\ndevice = \"{device}\""))).unwrap();
        let device = &plan.contenders[0].levels.device;
        assert!(device_kinds().any(|kind| kind == device.kind()), "{}", device.kind());
    }
}

#[test]
fn memory_and_disk_are_not_mixed() {
    let cost = estimate(
        &plan(&file("fs = \"xfs\"\ndevice = [\"ram:1G\", \"loop:1G\"]")).unwrap(),
        &CostBasis::default(),
    );
    assert_eq!((cost.images.len(), cost.image_bytes), (2, 1 << 30));
    assert_eq!(cost.memory_written_bytes, cost.disk_written_bytes);
}

/// Images of several devices are written once each; of several in memory and on a disk both kinds
/// are told.
#[test]
fn every_image_of_several_devices_is_counted() {
    let cost = |device: &str| {
        let text = file(&format!("fs = \"btrfs\"\ndevice = \"{device}\""));
        estimate(&plan(&text).unwrap(), &CostBasis::default())
    };
    let two = cost("loop:1G*2");
    assert_eq!((two.images.len(), two.image_bytes), (1, 2 << 30));
    assert_eq!(two.images[0].device, "loop:1G*2");
    let mixed = cost("loop:1G+ram:2G");
    assert_eq!((mixed.images.len(), mixed.image_bytes), (2, 1 << 30));
    assert!(!two.rows[0].in_memory && !mixed.rows[0].in_memory);
    assert!(cost("ram:1G*2").rows[0].in_memory);
}

#[test]
fn contenders_that_discard_have_an_image_of_their_own() {
    let factors = "fs = [\"ext4\", \"xfs\"]\ndevice = \"loop:2G\"\ndiscard = [\"none\", \"on\"]";
    let cost = estimate(&plan(&file(factors)).unwrap(), &CostBasis::default());
    assert_eq!((cost.images.len(), cost.image_bytes), (2, 4 << 30));
    assert!(cost.disk_written_bytes > 4 << 30);
}

#[test]
fn work_that_is_not_timed_is_added_to_a_measured_overhead_once() {
    let factors = "fs = \"xfs\"\ndevice = \"ram:1G\"";
    let work = "name = \"w\"\nfiles = 10\nsize = 0\nphases = [\"read\"]";
    let run = "[run]\nverify = true\n[factors]";
    let text = file(factors).replace("use = \"small-files\"", work).replace("[factors]", run);
    let cost = estimate(&plan(&text).unwrap(), &basis_of_a_ram_run("xfs"));
    assert_eq!(cost.rows[0].trial_ns, 7 + 10 + 10 + 10, "overhead, prepare, read, verify");
}

#[test]
fn quick_is_quick() {
    let quick = builtin::experiment("quick").unwrap();
    let plan = expand(&quick, &Overrides::default(), &TestRules).unwrap();
    let cost = estimate(&plan, &CostBasis::default());
    let budget_ns = plan.verdict.as_ref().unwrap().budget_ns.unwrap();
    assert!(budget_ns <= 240_000_000_000);
    // Assumptions are about twice what a trial takes on a disk of today: its look, after four
    // blocks, is within its budget.
    let look_ns = cost.least.total_ns / 2;
    assert!(look_ns < budget_ns, "{} s", look_ns / 1_000_000_000);
    let trials = (cost.least.trials, cost.trials, plan.schedule.len());
    assert_eq!(trials, (4 * 12, 24 * 12, 28 * 12), "four blocks are spare");
    // Each phase is long enough to be measured, and short enough for many blocks.
    let block_ns: u64 = cost.rows.iter().map(|row| row.trial_ns).sum();
    assert!(block_ns < budget_ns / 8, "{} s a block", block_ns / 1_000_000_000);
}

#[test]
fn a_run_that_may_end_early_costs_least_and_most() {
    let factors = "fs = [\"ext4\", \"xfs\", \"tmpfs\"]\ndevice = \"loop:2G\"";
    let at = |run: &str| {
        let text = file(factors).replace("[factors]", &format!("[run]\n{run}\n[factors]"));
        estimate(&plan(&text).unwrap(), &CostBasis::default())
    };
    let (most, least) = (at("cap = 12"), at("blocks = 4"));
    assert_eq!((most.least.trials, most.trials), (3 * 4, 3 * 12));
    let of_fixed = (least.trials, least.total_ns, least.disk_written_bytes);
    let of_first_look = (most.least.trials, most.least.total_ns, most.least.disk_written_bytes);
    assert_eq!(of_first_look, of_fixed);
    assert_eq!(most.least.memory_written_bytes, least.memory_written_bytes);
    assert_eq!(most.total_ns - most.start_ns, 3 * (least.total_ns - least.start_ns));
    assert_eq!(least.least.total_ns, least.total_ns, "a fixed number is what it is");
    assert!(most.rows.iter().all(|row| (row.least_trials, row.trials) == (4, 12)));
}

#[test]
fn a_handicap_takes_its_time_in_every_phase() {
    let work = "files = 10\nsize = 4096\n\
                phases = [\"create\", { op = \"stat\", timed = false }, \"read\"]";
    let on = |factors: &str| {
        one(work, &format!("fs = \"ext4\"\ndevice = \"loop:1G\"\n{factors}")).rows[0].trial_ns
    };
    assert_eq!(on("handicap = \"70 ms\"") - on(""), 2 * 70_000_000);
}

fn one(work: &str, factors: &str) -> fsarena_plan::Cost {
    let text = file(factors).replace("use = \"small-files\"", &format!("name = \"w\"\n{work}"));
    let plan = plan(&text).expect("a legal file");
    estimate(&plan, &CostBasis::default())
}

#[test]
fn what_is_written_again_and_synced_counts() {
    let on = "fs = \"ext4\"\ndevice = \"loop:1G\"";
    let set = "files = 100\nsize = \"8K\"";
    let written = |phases: &str| {
        let row = one(&format!("{set}\nphases = [{phases}]"), on).rows[0].clone();
        row.trial_written_bytes - mkfs_bytes(1 << 30)
    };
    let made = 100 * (8192 + METADATA_BYTES_PER_FILE);
    assert_eq!(written("\"create\""), made);
    assert_eq!(written("\"read\""), made, "made for it");
    assert_eq!(written("\"create\", \"overwrite\""), made + 100 * 8192);
    assert_eq!(written("\"create\", \"append\""), made + 100 * 4096);
    assert_eq!(written("{ op = \"create\", fsync = \"file\" }"), made + 100 * FSYNC_BYTES);
    let random = "{ op = \"randwrite\", fsync = \"op\", ops = 50, bs = 512 }";
    assert_eq!(written(random), made + 50 * (4096 + FSYNC_BYTES));
    let mixed = "{ op = \"randrw\", ops = 1000, rwmixread = 70 }";
    assert_eq!(written(mixed), made + 300 * 4096);
    let null = "{ op = \"create\", backend = \"null\" }";
    assert_eq!(written(null), 0);
}

#[test]
fn an_fsync_takes_time_where_there_is_a_disk() {
    let work = "files = 1000\nsize = 4096\nphases = [{ op = \"create\", fsync = \"file\" }]";
    let plain = "files = 1000\nsize = 4096\nphases = [\"create\"]";
    let more = |device: &str| {
        let on = format!("fs = \"ext4\"\ndevice = \"{device}\"");
        one(work, &on).rows[0].trial_ns - one(plain, &on).rows[0].trial_ns
    };
    assert_eq!(more("loop:1G"), 2_000_000_000);
    assert_eq!(more("/dev/vdb"), 2_000_000_000);
    assert_eq!(more("zram:1G"), 50_000_000);
}

#[test]
fn conditioning_is_counted_for_every_trial() {
    let work = "files = 10\nsize = 4096\nphases = [\"create\"]";
    let on =
        |ssd: &str| one(work, &format!("fs = \"xfs\"\ndevice = \"/dev/vdb\"\nssd = \"{ssd}\""));
    let (none, discarded, filled) = (on("none"), on("blkdiscard"), on("precondition"));
    assert_eq!((none.conditioning_bytes, discarded.conditioning_bytes), (0, 0));
    let size: u64 = 8 << 30;
    let each = 2 * size + 8 * 6_000_000_000;
    assert_eq!(filled.rows[0].conditioning_bytes, each);
    assert_eq!(filled.conditioning_bytes, 3 * each);
    assert_eq!(filled.disk_written_bytes - none.disk_written_bytes, 3 * each);
    assert!(filled.total_ns - none.total_ns > 3 * 480_000_000_000, "eight rounds of a minute");
    assert_eq!((none.images.len(), none.image_bytes), (0, 0), "a device of the user's");
    let image = "fs = \"xfs\"\ndevice = \"loop:1G\"\nssd = [\"none\", \"blkdiscard\"]";
    assert_eq!(one(work, image).images.len(), 2, "a discard makes holes");
}

/// A plan whose one workload is a fio job file.
fn fio_plan(jobs: &str) -> fsarena_model::run::RunPlan {
    let work = format!("name = \"w\"\nfio = \"\"\"\n{jobs}\"\"\"");
    let text = file("fs = \"ext4\"\ndevice = \"loop:1G\"");
    plan(&text.replace("use = \"small-files\"", &work)).expect("a legal file")
}

#[test]
fn a_stated_time_is_what_a_trial_takes() {
    let plan = fio_plan("[a]\nrw=randread\nsize=8m\ntime_based\nruntime=1h\n");
    let row = &estimate(&plan, &CostBasis::default()).rows[0];
    assert!(row.trial_ns >= 3600 * SECOND_NS && row.trial_ns < 3610 * SECOND_NS, "{row:?}");
    assert_eq!(stated_block_ns(&plan), 3600 * SECOND_NS);
    let rated = fio_plan("[a]\nrw=randwrite\nbs=4k\nsize=2m\nrate_iops=200\n");
    let row = &estimate(&rated, &CostBasis::default()).rows[0];
    assert!(row.trial_ns >= 2_560_000_000, "{row:?}");
    let native = "files = 1\nsize = \"8M\"\nphases = [{ op = \"randread\", runtime = \"20 s\" }]";
    let row = &one(native, "fs = \"ext4\"\ndevice = \"loop:1G\"").rows[0];
    assert!(row.trial_ns >= 20 * SECOND_NS, "{row:?}");
}

const SECOND_NS: u64 = 1_000_000_000;

/// Trials of a plan's first cell, each so many seconds long, a second of it around the work.
fn past(plan: &fsarena_model::run::RunPlan, seconds: &[u64]) -> PastWork {
    let trial = |s: &u64| PastTrial {
        whole_ns: s * SECOND_NS,
        steps: vec![StepTime {
            step: "measure".to_owned(),
            phase: None,
            elapsed_ns: (s - 1) * SECOND_NS,
        }],
    };
    PastWork {
        workload: plan.workloads[0].clone(),
        levels: plan.contenders[0].levels.clone(),
        verify: plan.verify,
        trials: seconds.iter().map(trial).collect(),
    }
}

#[test]
fn records_of_the_same_work_go_before_all_else_and_then_the_nearest() {
    let planned = |factors: &str, files: u64| {
        let work = format!("name = \"w\"\nfiles = {files}\nsize = 4096\nphases = [\"create\"]");
        plan(&file(factors).replace("use = \"small-files\"", &work)).expect("a legal file")
    };
    let ext4 = planned("fs = \"ext4\"\ndevice = \"loop:1G\"", 100);
    let told = |wanted: &fsarena_model::run::RunPlan, past: PastWork| {
        let basis = CostBasis { past: vec![past], ..CostBasis::default() };
        let row = estimate(wanted, &basis).rows[0].clone();
        (row.trial_ns / SECOND_NS, row.records, row.source)
    };
    let words = |text: &str| Some(text.to_owned());
    // The longest of four was on a busy machine.
    let same = (10, words("4 records of the same work"), CostSource::SameWork);
    assert_eq!(told(&ext4, past(&ext4, &[9, 10, 10, 99])), same);
    let mut renamed = past(&ext4, &[10]);
    renamed.workload.name = "other".to_owned();
    assert_eq!(told(&ext4, renamed).1, words("1 record of the same work"));
    let larger = planned("fs = \"ext4\"\ndevice = \"loop:1G\"", 300);
    let scaled = (13, words("records of another scale"), CostSource::Near);
    assert_eq!(told(&larger, past(&ext4, &[5])), scaled, "1 s around 4 s of work");
    let options = planned("fs = \"ext4\"\ndevice = \"loop:2G\"", 100);
    let other = words("records of the same work with other options");
    assert_eq!(told(&options, past(&ext4, &[5])).1, other);
    let xfs = planned("fs = \"xfs\"\ndevice = \"loop:1G\"", 100);
    assert_eq!(told(&xfs, past(&ext4, &[5])).1, words("records of ext4"));
    let ram = planned("fs = \"ext4\"\ndevice = \"ram:1G\"", 100);
    assert_eq!(told(&ram, past(&ext4, &[5])).1, None, "a disk says nothing of memory");
}

#[test]
fn what_is_done_once_takes_as_long_as_it_did_before() {
    let planned = |device: &str| {
        plan(&file(&format!("fs = \"ext4\"\ndevice = \"{device}\""))).expect("a legal file")
    };
    let (one, two) = (planned("loop:1G"), planned("loop:2G"));
    let start = |of: &fsarena_model::run::RunPlan, elapsed_ns| PastStart {
        levels: vec![of.contenders[0].levels.clone()],
        workloads: of.workloads.clone(),
        elapsed_ns,
    };
    let with = |wanted: &fsarena_model::run::RunPlan, starts: Vec<PastStart>| {
        let cost = estimate(wanted, &CostBasis { starts, ..CostBasis::default() });
        let has = |source| cost.sources.contains(&source);
        (cost.start_ns, has(CostSource::SameWork), has(CostSource::Near))
    };
    let startup_ns = with(&planned("/dev/vdb"), Vec::new()).0;
    let assumed = 2 * (1 << 30);
    assert_eq!(with(&one, Vec::new()), (startup_ns + assumed, false, false));
    let latest = vec![start(&one, 700), start(&one, 90)];
    assert_eq!(with(&one, latest.clone()), (startup_ns + 700, true, false));
    assert_eq!(with(&two, latest), (startup_ns + 1400, false, true), "twice as many bytes");
}
