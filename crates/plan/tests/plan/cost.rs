//! What a plan will cost, and where each figure comes from.

use crate::rules::{TestRules, file, plan};
use fsarena_model::work::Op;
use fsarena_plan::cost::{CostSource, DeviceKind, METADATA_BYTES_PER_FILE, OpCost, mkfs_bytes};
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
    assert_eq!(cost.total_ns, rows + cost.images[0].write_ns);
}

#[test]
fn a_measurement_goes_before_a_calibration_before_an_assumption() {
    let text = file("fs = \"ext4\"\ndevice = \"/var/tmp\"").replace("ext4", "directory");
    let text = text.replace("small-files", "big-file");
    let plan = plan(&text).unwrap();
    let per_byte = |ns_per_byte| OpCost { ns_per_op: 0.0, ns_per_byte };
    let kind = DeviceKind::Directory;
    let mut basis = CostBasis::default();
    basis.trial_overheads_ns.insert(("directory".to_owned(), kind), 0.0);
    assert_eq!(estimate(&plan, &basis).sources.last(), Some(&CostSource::Assumed));
    basis.calibrated = [(Op::BigWrite, per_byte(3.0)), (Op::BigRead, per_byte(1.0))].into();
    let cost = estimate(&plan, &basis);
    assert_eq!(cost.rows[0].trial_ns, 4 * (256 << 20));
    assert_eq!(cost.rows[0].source, CostSource::Calibrated);
    for op in [Op::BigWrite, Op::BigRead] {
        basis.measured.insert(("directory".to_owned(), kind, op), per_byte(2.0));
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
    let of = |op| ((fs.to_owned(), DeviceKind::Ram, op), one(1.0));
    CostBasis {
        measured: Op::ALL.map(of).into(),
        calibrated: Op::ALL.map(|op| (op, one(1000.0))).into(),
        trial_overheads_ns: [((fs.to_owned(), DeviceKind::Ram), 7.0)].into(),
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
    let ops = fsarena_plan::ops_per_trial(&plan.workloads[0]);
    assert_eq!(cost.rows[1].trial_ns, ops + 7);
    assert!(cost.rows[0].trial_ns > ops * 1000 + 1_000_000_000, "{}", cost.rows[0].trial_ns);
}

#[test]
fn a_file_system_without_a_device_costs_the_same_whatever_device_it_is_beside() {
    let plan = plan(&file("fs = \"tmpfs\"\ndevice = \"loop:1G\"")).unwrap();
    let row = &estimate(&plan, &basis_of_a_ram_run("tmpfs")).rows[0];
    assert_eq!((row.source, row.overhead_source), (CostSource::Measured, CostSource::Measured));
}

#[test]
fn kinds_of_device_have_the_names_of_the_records() {
    for kind in [DeviceKind::Loop, DeviceKind::Ram, DeviceKind::Directory] {
        assert_eq!(DeviceKind::named(kind.name()), Some(kind));
    }
    assert_eq!(DeviceKind::named("nvme"), None);
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
    assert!(cost.total_ns < 240_000_000_000, "{} s", cost.total_ns / 1_000_000_000);
}
