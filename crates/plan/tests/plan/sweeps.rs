//! Ranges of mkfs options, and room that is predicted for each level.

use crate::rules::{TestRules, file, labels, plan};
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{DeviceLevel, FsLevel};
use fsarena_plan::{Overrides, Rules, builtin, expand, from_options, kernel_files, parse, to_toml};
use std::path::Path;

/// A guest kernel is named by its release and hash from then on; one that is not there is refused,
/// and real and virtual time are two RUNs.
#[test]
fn devices_of_guests_name_their_kernel() {
    let of = |device: &str| plan(&file(&format!("fs = \"ext4\"\ndevice = {device}")));
    for text in ["virtual:4G:model=hdd-2007", "virtual:4G:model=hdd-2007:kernel=6.1"] {
        let plan = of(&format!("\"{text}\"")).unwrap();
        let written = plan.contenders[0].levels.device.written();
        assert_eq!(written, "virtual:4G:model=hdd-2007:kernel=6.1.192-16c9f89d7291");
        assert_eq!(of(&format!("\"{written}\"")).unwrap().contenders, plan.contenders);
    }
    let refused = |device: &str| of(device).unwrap_err().to_string();
    let kernel = refused("\"virtual:4G:model=const:kernel=5\"");
    assert!(kernel.contains("no guest kernel is called \"5\""), "{kernel}");
    let path = refused("\"virtual:4G:model=const:kernel=./linux\"");
    assert!(path.contains("write the whole path, from /"), "{path}");
    let path = refused("\"virtual:4G:model=const:kernel=/src/linux\"");
    assert!(path.contains("names a file as its guest kernel"), "{path}");
    let twice = refused("[\"virtual:4G:model=const\", \"virtual:4G:model=const:kernel=6.1\"]");
    assert!(twice.contains("both kernels are the same"), "{twice}");
    let option = refused("\"vdisk:4G:model=const:kernel=6.1\"");
    assert!(option.contains("has no option \"kernel=6.1\""), "{option}");
    let both = refused("[\"loop:4G\", \"virtual:4G:model=const\"]");
    assert!(both.contains("t.toml:5") && both.contains("make it two RUNs"), "{both}");
}

/// Of devices that differ in their kernels alone, the kernels are the labels.
#[test]
fn kernels_that_are_compared_are_labels() {
    let of = |one: &str, other: &str| {
        let disk = "virtual:4G:model=const";
        let devices = format!("[\"{disk}:kernel={one}\", \"{other}\"]");
        labels(&plan(&file(&format!("fs = \"ext4\"\ndevice = {devices}"))).unwrap())
    };
    let releases = of("6.1", "virtual:4G:model=const:kernel=6.12");
    assert_eq!(releases, "ext4 on const Linux 6.1.192\next4 on const Linux 6.12.117");
    let builds = of("6.1", "virtual:4G:model=const:kernel=/own/linux");
    assert_eq!(
        builds,
        "ext4 on const Linux 6.1.192-16c9f89d7291\next4 on const Linux 6.1.192-aaaaaaaaaaaa"
    );
    let sizes = of("6.1", "virtual:2G:model=const:kernel=6.12");
    assert!(sizes.starts_with("ext4 on const of 4G Linux 6.1.192\n"), "{sizes}");
}

/// `--kernel` is that of every device in a guest that names none.
#[test]
fn a_kernel_of_the_command_line_is_put_where_none_is_named() {
    let text = file(
        "fs = \"ext4\"\ndevice = [\"virtual:4G:model=const\", \"virtual:2G:model=const\", \
         \"virtual:4G:model=const:kernel=/src/linux\"]",
    );
    let experiment = parse(&text, "t.toml").unwrap();
    let with = |kernel: &str| Overrides { kernel: Some(kernel.to_owned()), ..Overrides::default() };
    let files = |overrides: &Overrides| kernel_files(&experiment, overrides).unwrap();
    assert_eq!(files(&Overrides::default()), [Path::new("/src/linux")]);
    assert_eq!(files(&with("6.1")), [Path::new("/src/linux")]);
    assert_eq!(files(&with("/own/linux")), [Path::new("/own/linux"), Path::new("/src/linux")]);
    let refused = |overrides: &Overrides, device: &str| {
        let text = file(&format!("fs = \"ext4\"\ndevice = {device}"));
        let experiment = parse(&text, "t.toml").unwrap();
        expand(&experiment, overrides, &TestRules).unwrap_err().to_string()
    };
    let none = refused(&with("6.1"), "\"loop:4G\"");
    assert!(none.starts_with("--kernel: no device is in a guest kernel"), "{none}");
    let named = refused(&with("6.1"), "\"virtual:4G:model=const:kernel=6.1\"");
    assert!(named.contains("that is not named already"), "{named}");
    let name = refused(&with("/own/a:b"), "\"virtual:4G:model=const\"");
    assert!(name.contains("give the file another name"), "{name}");
}

/// ext4 with blocks up to 4096, and a room of inodes by the ratio.
struct Rooms;

impl Rules for Rooms {
    fn check(&self, fs: &FsLevel, _: &DeviceLevel) -> Result<(), String> {
        let block = fs.mkfs.get("block_size").and_then(|text| text.parse::<u64>().ok());
        match block.filter(|block| *block > 4096) {
            Some(block) => Err(format!("blocks of {block} are too large; use 4096")),
            None => Ok(()),
        }
    }

    fn block_device_bytes(&self, _: &Path) -> Option<Result<u64, String>> {
        None
    }

    fn logical_sector_bytes(&self, _: &DeviceLevel) -> Option<u64> {
        None
    }

    fn capacity(&self, fs: &FsLevel, device: &DeviceLevel) -> Option<Capacity> {
        let device_bytes = device.size_bytes()?;
        let number = |key: &str, absent: u64| {
            fs.mkfs.get(key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(absent)
        };
        let unit_bytes = number("block_size", 4096);
        Some(Capacity {
            predicted: Predicted {
                free_bytes: device_bytes,
                inodes: Some(device_bytes / number("inode_ratio", 16384)),
            },
            kept_for_root_bytes: 0,
            unit_bytes,
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: unit_bytes,
            moves_on_write: false,
        })
    }
}

fn with_rooms(text: &str) -> Result<fsarena_model::run::RunPlan, String> {
    let plan = parse(text, "t.toml")
        .and_then(|experiment| expand(&experiment, &Overrides::default(), &Rooms));
    plan.map_err(|error| error.to_string())
}

#[test]
fn a_range_is_its_levels() {
    let text = file(
        "fs = [\"ext4\", \"xfs:mkfs.block_size=1024..4096:noatime\"]\ndevice = \"loop:2G\"\n\
         [factors.ext4]\nmkfs.inode_size = [\"default\", \"256..512\"]\nmkfs.x = \"4..8 step 4\"",
    );
    let experiment = parse(&text, "t.toml").unwrap();
    insta::assert_snapshot!(labels(&plan(&text).unwrap()), @r"
    ext4 x=4
    ext4 x=8
    ext4 inode_size=256 x=4
    ext4 inode_size=256 x=8
    ext4 inode_size=512 x=4
    ext4 inode_size=512 x=8
    xfs block_size=1024 noatime
    xfs block_size=2048 noatime
    xfs block_size=4096 noatime
    ");
    let again = parse(&to_toml(&experiment), "again.toml").unwrap();
    let expand = |e| expand(e, &Overrides::default(), &TestRules).unwrap();
    assert_eq!(expand(&again), expand(&experiment), "the levels are written out");
}

#[test]
fn options_take_ranges_too() {
    let overrides = Overrides {
        fs: Some("ext4:mkfs.cluster_size=16K..64K,ext4".to_owned()),
        on: vec!["loop:2G".to_owned()],
        workloads: Some("small-files".to_owned()),
        baseline: Some("ext4:mkfs.cluster_size=32K".to_owned()),
        ..Overrides::default()
    };
    let plan = expand(&from_options(&overrides).unwrap(), &overrides, &TestRules).unwrap();
    insta::assert_snapshot!(labels(&plan), @r"
    ext4 cluster_size=16K
    ext4 cluster_size=32K
    ext4 cluster_size=64K
    ext4
    ");
    let bad = Overrides { fs: Some("ext4:mkfs.a=9..4".to_owned()), ..overrides };
    let error = from_options(&bad).unwrap_err().to_string();
    assert!(error.contains("--fs: the range \"9..4\" does not go up"), "{error}");
}

#[test]
fn illegal_levels_of_a_range_are_not_run_where_others_are() {
    for factors in [
        "fs = \"ext4:mkfs.block_size=2048..8192\"\ndevice = \"loop:2G\"",
        "fs = \"ext4\"\ndevice = \"loop:2G\"\n[factors.ext4]\nmkfs.block_size = \"2048..8192\"",
    ] {
        let plan = with_rooms(&file(factors)).unwrap();
        assert_eq!((plan.contenders.len(), plan.not_run.len()), (3, 1));
        assert_eq!(plan.not_run[0].reason, "blocks of 8192 are too large; use 4096");
        let error =
            with_rooms(&file(&factors.replace("2048..", "8192..").replace("..8192", "..16384")));
        let error = error.unwrap_err();
        assert!(error.starts_with("t.toml:4:") || error.starts_with("t.toml:7:"), "{error}");
        assert!(error.contains("is not possible; blocks of 8192 are too large"), "{error}");
    }
}

#[test]
fn too_few_inodes_are_seen_before_the_run() {
    let of = |factors: &str| with_rooms(&file(factors));
    let plan =
        of("fs = [\"ext4\", \"ext4:mkfs.inode_ratio=262144\"]\ndevice = \"loop:1G\"").unwrap();
    assert_eq!(plan.not_run.len(), 1);
    assert_eq!(
        plan.not_run[0].reason,
        "ext4:mkfs.inode_ratio=262144 on loop:1G will have 4096 free inodes, and \"small-files\" \
         needs 10101; say mkfs.inode_ratio=65536, use --scale below 1, or 2527M or more"
    );
    let error = of("fs = \"ext4:mkfs.inode_ratio=1048576\"\ndevice = \"loop:1G\"").unwrap_err();
    assert!(error.starts_with("t.toml:5:10: ext4:mkfs.inode_ratio=1048576 on loop:1G"), "{error}");
}

#[test]
fn too_little_room_is_seen_for_each_level() {
    let factors = "fs = \"ext4:mkfs.block_size=1024..4096:mkfs.inode_ratio=2048\"\n\
                   device = [\"loop:256M\", \"loop:42M\"]";
    let text = file(factors).replace("use = \"small-files\"", WORK);
    let plan = with_rooms(&text).unwrap();
    let reasons: Vec<&str> = plan.not_run.iter().map(|row| row.reason.as_str()).collect();
    assert_eq!(
        reasons,
        ["ext4:mkfs.block_size=4096:mkfs.inode_ratio=2048 on loop:42M will have 42 MiB free, \
             and \"w\" needs 44.3 MiB in \
         units of 4K; use a device of 46M or more, or --scale below 1",]
    );
}

const WORK: &str = "name = \"w\"\nfiles = 11000\nsize = 100\nphases = [\"create\", \"delete\"]";

#[test]
fn the_sweep_of_2007_expands() {
    let experiment = builtin::experiment("2007-ufs-block-fragment").unwrap();
    let small = expand(&experiment, &Overrides::default(), &TestRules).unwrap();
    let cycle = small.workloads[0].phases[0].cycle.as_ref().unwrap();
    assert_eq!((cycle.updates, cycle.period_ns), (800, 6_000_000_000), "scaled to an hour");
    let whole = Overrides { scale: Some(1.0), ..Overrides::default() };
    let plan = expand(&experiment, &whole, &TestRules).unwrap();
    assert!(plan.account && plan.verdict.is_some());
    assert_eq!(plan.contenders.len(), 3 + 5 + 7);
    let cycle = plan.workloads[0].phases[0].cycle.as_ref().unwrap();
    assert_eq!((cycle.updates, cycle.cycles, cycle.is_disturbed(3)), (40_000, 4, true));
    assert!(!cycle.is_disturbed(4));
    let set = &plan.workloads[0].dataset;
    let sizes = set.draw_sizes();
    let mut all: Vec<u64> = (0..set.files).map(|file| sizes.value_at(file)).collect();
    all.sort_unstable();
    let empty = all.iter().filter(|size| **size == 0).count();
    assert_eq!(
        (set.bytes(), all[20_000], all[36_000], all[39_600]),
        (313_799_378, 1020, 15_710, 142_018)
    );
    assert_eq!((set.bytes() / set.files, empty), (7844, 3), "as its file says");
}
