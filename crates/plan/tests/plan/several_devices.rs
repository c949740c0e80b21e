//! Several devices as one level: how they are written, and which file systems take them.

use crate::rules::{file, labels};
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use fsarena_model::run::RunPlan;
use fsarena_plan::{Overrides, PlanError, Rules, builtin, expand, parse};
use std::path::Path;

/// The rules of the drivers, and two disks.
struct DriverRules;

impl Rules for DriverRules {
    fn check(&self, fs: &FsLevel, device: &DeviceLevel) -> Result<(), String> {
        let driver = fsarena_filesystems::driver(fs).map_err(|error| error.to_string())?;
        driver.check_devices(fs, &device.sizes_bytes()).map_err(|error| error.to_string())
    }

    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>> {
        ["/dev/vdb", "/dev/vdd"].contains(&path.to_str()?).then_some(Ok(8 << 30))
    }

    fn logical_sector_bytes(&self, _: &DeviceLevel) -> Option<u64> {
        Some(512)
    }

    fn capacity(&self, fs: &FsLevel, device: &DeviceLevel) -> Option<Capacity> {
        fsarena_filesystems::driver(fs).ok()?.capacity_on(fs, &device.sizes_bytes())
    }
}

fn plan(text: &str) -> Result<RunPlan, PlanError> {
    expand(&parse(text, "t.toml")?, &Overrides::default(), &DriverRules)
}

/// The only device of a plan with `--on` this.
fn on(text: &str) -> Result<DeviceLevel, String> {
    let overrides = Overrides {
        fs: Some("btrfs".to_owned()),
        on: vec![text.to_owned()],
        ..Overrides::default()
    };
    let quick = builtin::experiment("quick").expect("it is built in");
    let plan = expand(&quick, &overrides, &DriverRules).map_err(|error| error.to_string())?;
    assert_eq!(plan.contenders.len(), 1);
    Ok(plan.contenders[0].levels.device.clone())
}

#[test]
fn several_devices_are_written_with_a_plus_or_a_number() {
    let image = |gib: u64| DeviceLevel::Loop { size_bytes: gib << 30 };
    let several = |members| Ok(DeviceLevel::Several { members });
    let disk = |path: &str| DeviceLevel::Block { path: path.into(), size_bytes: 8 << 30 };
    for text in ["loop:1G+loop:1G", "loop:1G*2", "loop:1024M + loop:1G"] {
        assert_eq!(on(text), several(vec![image(1); 2]), "{text}");
    }
    assert_eq!(on("loop:2G*2+loop:1G"), several(vec![image(2), image(2), image(1)]));
    let mixed = vec![image(1), DeviceLevel::Ram { size_bytes: 1 << 30 }];
    assert_eq!(on("loop:1G+ram:1G"), several(mixed));
    let disks = several(vec![disk("/dev/vdb"), disk("/dev/vdd")]);
    assert_eq!(on("/dev/vdb+/dev/vdd"), disks);
    assert_eq!(on("loop:1G+/dev/vdb"), several(vec![image(1), disk("/dev/vdb")]));
    assert_eq!(on(&on("loop:2G*2+/dev/vdb").unwrap().written()), on("loop:2G*2+/dev/vdb"));
}

/// A `+` of a path is one.
#[test]
fn a_directory_may_have_a_plus_in_its_name() {
    for path in ["/srv/c++/data", "/srv/a+/dev/b", "/srv/a+loop:1G", "/srv/x*2"] {
        let overrides = Overrides { on: vec![path.to_owned()], ..Overrides::default() };
        let quick = builtin::experiment("quick").unwrap();
        let plan = expand(&quick, &overrides, &DriverRules).unwrap();
        assert_eq!(plan.contenders[0].levels.device, DeviceLevel::Directory { path: path.into() });
    }
    let modelled = on("virtual:1G:model=hdd-2007:kernel=/own/a+b").unwrap_err();
    assert!(modelled.contains("names a file as its guest kernel"), "{modelled}");
}

#[test]
fn what_cannot_be_one_of_several_is_refused_in_plain_words() {
    let refusals = [
        "loop:1G*9",
        "loop:1G*0",
        "loop:1G*x",
        "loop:1G*1",
        "loop:1G*4+loop:2G*5",
        "zram:1G*2",
        "brd:1G+loop:1G",
        "loop:1G+vdisk:1G:model=hdd-2007",
        "virtual:1G:model=hdd-2007+virtual:1G:model=hdd-2007",
        "loop:1G+/srv/data",
        "loop:1G+",
        "/dev/vdb+/dev/vdb",
        "/dev/vdb+/dev/vdx",
    ];
    let text: Vec<String> = refusals.into_iter().map(|text| on(text).unwrap_err()).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    --on: "loop:1G*9": there is no such number of devices; write it like loop:1G*2, up to 8 devices
    --on: "loop:1G*0": there is no such number of devices; write it like loop:1G*2, up to 8 devices
    --on: "loop:1G*x": there is no such number of devices; write it like loop:1G*2, up to 8 devices
    --on: "loop:1G*1": the number of devices is 1; use 2 to 8; one device stands alone
    --on: "loop:1G*4+loop:2G*5": the number of devices is 9; use 2 to 8; one device stands alone
    --on: "zram:1G" cannot be one of several devices; several devices are loop:SIZE, ram:SIZE and /dev/NAME, with + between them
    --on: "brd:1G" cannot be one of several devices; several devices are loop:SIZE, ram:SIZE and /dev/NAME, with + between them
    --on: "vdisk:1G:model=hdd-2007" cannot be one of several devices; several devices are loop:SIZE, ram:SIZE and /dev/NAME, with + between them
    --on: "virtual:1G:model=hdd-2007" cannot be one of several devices; several devices are loop:SIZE, ram:SIZE and /dev/NAME, with + between them
    --on: "/srv/data" cannot be one of several devices; several devices are loop:SIZE, ram:SIZE and /dev/NAME, with + between them
    --on: "loop:1G+" has an empty element; write the devices with one + between them
    --on: "/dev/vdb+/dev/vdb" names /dev/vdb twice; name it once
    --fs: "btrfs" is not possible; /dev/vdx is no block device here; `fsarena devices` lists those that are
    "#);
}

/// As other illegal combinations: left out where the file system has a device that it takes, else
/// refused.
#[test]
fn file_systems_that_take_one_device_are_left_out_or_refused() {
    let devices = "device = ['loop:1G', 'loop:1G*2']";
    let both = plan(&file(&format!("fs = ['ext4', 'btrfs', 'tmpfs']\n{devices}"))).unwrap();
    insta::assert_snapshot!(labels(&both), @r"
    ext4 on loop:1G
    ext4 on loop:1G*2
        not run: ext4: it lies on one device, and here are 2; name one device, or use btrfs, which takes several
    btrfs on loop:1G
    btrfs on loop:1G*2
    tmpfs of 1G
    tmpfs of 2G
    ");
    let alone = plan(&file("fs = 'ext4'\ndevice = 'loop:1G*2'")).unwrap_err();
    insta::assert_snapshot!(alone.to_string(), @r#"
    t.toml:4:6: "ext4" is not possible; ext4: it lies on one device, and here are 2; name one device, or use btrfs, which takes several
    "#);
    let raw = plan(&file("fs = 'raw'\ndevice = 'loop:1G*2'")).unwrap_err();
    assert!(raw.to_string().contains("raw: it lies on one device, and here are 2"), "{raw}");
    let directory = plan(&file("fs = 'directory'\ndevice = 'loop:1G*2'")).unwrap_err();
    assert!(directory.to_string().contains("works in a directory"), "{directory}");
}

#[test]
fn profiles_go_by_the_number_of_devices() {
    let on = |device: &str| {
        file(&format!("fs = ['btrfs', 'btrfs:mkfs.data_profile=raid1c3']\ndevice = {device}"))
    };
    let two = plan(&on("['loop:1G*2', 'loop:1G*3']")).unwrap();
    insta::assert_snapshot!(labels(&two), @r"
    btrfs on loop:1G*2
    btrfs on loop:1G*3
    btrfs data_profile=raid1c3 on loop:1G*2
        not run: btrfs: data_profile = raid1c3 needs 3 devices, and there are 2; use --on loop:1G*3, or another profile
    btrfs data_profile=raid1c3 on loop:1G*3
    ");
    let one = plan(&on("'loop:1G*2'")).unwrap_err();
    assert!(one.to_string().contains("raid1c3 needs 3 devices"), "{one}");
    let profile = plan(&file("fs = 'btrfs:mkfs.data_profile=raid1'\ndevice = 'loop:1G'"));
    let profile = profile.unwrap_err().to_string();
    assert!(profile.contains("raid1 needs 2 devices, and there is one"), "{profile}");
}

/// Room is what statfs will tell, so work that fits into half of the sum does not fit into raid1.
#[test]
fn room_goes_by_the_profile() {
    let of = |fs: &str| {
        let factors = format!("fs = '{fs}'\ndevice = 'loop:1G*2'");
        let work = "name = \"w\"\nfiles = 1\nsize = \"1200M\"\nphases = [\"create\"]";
        plan(&file(&factors).replace("use = \"small-files\"", work))
    };
    assert!(of("btrfs").unwrap().not_run.is_empty());
    let text = of("btrfs:mkfs.data_profile=raid1").unwrap_err().to_string();
    assert!(
        text.contains("on loop:1G*2 will have 913") && text.contains("with a sum of"),
        "{text}"
    );
}

/// A device of the user's is under test once.
#[test]
fn a_device_in_two_levels_is_refused() {
    let factors = "fs = 'btrfs'\ndevice = ['/dev/vdb', '/dev/vdb+/dev/vdd']";
    let text = plan(&file(factors)).unwrap_err().to_string();
    assert!(text.contains("/dev/vdb is there in two levels of the device"), "{text}");
}
